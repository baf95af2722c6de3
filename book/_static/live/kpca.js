// Kernel PCA: lines of equal score on one component after the other.
(() => {
  const { components } = globalThis.kernelbookComponents;
  const { Plane } = globalThis.kernelbookPlane;
  const { Points, glyph } = globalThis.kernelbookPoints;
  const { Panel, logarithmic, oncePerFrame, power, short, start } = globalThis.kernelbookPanel;
  const RING = 20;
  const BLOB = [
    [0.1, 0.2], [-0.3, 0.1], [0.2, -0.3], [-0.1, -0.2], [0.4, 0.1], [0, 0.4], [-0.4, -0.3],
    [0.3, 0.35], [-0.2, 0.45], [0.05, -0.05], [-0.35, 0.3], [0.35, -0.15], [0, -0.4], [-0.15, 0.15],
  ];
  const LEVELS = [0.25, 0.5, 0.75]; // of the largest score of a point
  const MOST = 6; // components to choose from

  // Not quite round, so that no two components have the same variance.
  const ring = Array.from({ length: RING }, (_, k) => {
    const turn = (2 * Math.PI * k) / RING;
    const wave = 0.12 * Math.sin(7 * k);
    return [(2.1 + wave) * Math.cos(turn), (1.9 + wave) * Math.sin(turn)];
  });

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[-3, 3], [-2.4, 2.4]], ratio: 0.8, labels: ["x₁", "x₂"],
      name: "Points and the lines of equal score on one principal component",
    });
    const points = new Points(plane, {
      groups: { circle: ring, triangle: BLOB },
      names: { circle: "ring point", triangle: "blob point" },
      keep: 2,
      update: (what) => update(what),
      say: (why) => panel.say(why),
    });

    function drawScores(score, reach) {
      const grid = plane.grid(score);
      const mirrored = { ...grid, values: grid.values.map((value) => -value) };
      for (const level of [0, ...LEVELS]) {
        plane.region(grid, level * reach, "live-tint live-tint-positive");
        plane.region(mirrored, level * reach, "live-tint live-tint-negative");
      }
      for (const level of LEVELS) {
        plane.region(grid, level * reach, "live-contour");
        plane.region(mirrored, level * reach, "live-contour");
      }
      plane.region(grid, 0, "live-boundary");
    }

    function draw() {
      const X = points.all.map(({ at }) => at);
      const { kernel, gamma, component } = values;
      const found = components(X, { kernel, gamma, degree: 3, coef0: 1 });
      const k = component - 1;
      const there = k < found.rank;
      const score = (z) => found.score(k, z);
      const scores = X.map(score);
      plane.clear();
      if (there) drawScores(score, Math.max(...scores.map(Math.abs)));
      points.draw(() => false);
      const value = found.values[k];
      const apart = points.all.filter(({ shape }, i) => (shape === "circle") === (scores[i] > 0)).length;
      return {
        there, value, rank: found.rank, component,
        share: there ? found.shares[k] : 0,
        residual: there ? found.residuals[k] / value : 0,
        gap: found.error / (there ? value : found.values[0]),
        mixed: Math.min(apart, X.length - apart),
      };
    }

    function report(now, what) {
      panel.legend([
        [glyph("circle"), "ring"],
        [glyph("triangle"), "blob; no class is used"],
        [panel.line("live-boundary"), "score 0, that of the mean"],
        [panel.line("live-contour"), "equal scores, tint by sign"],
      ]);
      const share = now.there ? `${short(100 * now.share)} %` : "none";
      panel.show({
        "Share of the variance": share,
        "Eigenvalue λ": now.there ? short(now.value) : "0",
        "‖K̃u − λu‖ / λ": power(now.residual),
        "Ring against blob": now.there ? `${now.mixed} wrong` : "–",
      }, now.gap, "Error of λ, at most");
      panel.say(now.there
        ? `${what}. Component ${now.component} has ${share} of the variance; its sign parts ring and `
          + `blob with ${now.mixed} wrong. The eigenvalue is proved to a relative error of ${power(now.gap)}.`
        : `${what}. There is no component ${now.component}: this kernel has ${now.rank} for these points. `
          + `Proved to an error of ${power(now.gap)} of the largest eigenvalue.`);
    }

    const update = oncePerFrame((what) => report(draw(), what));
    panel.choice({
      key: "kernel", label: "Kernel",
      options: [["rbf", "RBF"], ["linear", "linear"], ["poly", "cubic"]],
    }, (what) => {
      gamma.disabled = values.kernel === "linear";
      update(what);
    });
    panel.slider({ key: "component", label: "component", min: 1, max: MOST, step: 1, value: 1 }, update);
    const gamma = panel.slider({
      key: "gamma", label: "gamma", min: -2, max: 1, step: 0.125, value: -0.25, scale: logarithmic,
    }, update);
    panel.choice({
      key: "shape", label: "New points",
      options: [["circle", "ring", glyph("circle")], ["triangle", "blob", glyph("triangle")]],
    }, () => { points.newShape = values.shape; });
    panel.buttons(points.actions());
    report(draw(), "component = 1");
    return { plane, draw };
  }

  start("kpca", make);
})();
