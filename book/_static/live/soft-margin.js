// The soft margin: points of two classes, C, a kernel, and what the machine makes of them.
(() => {
  const { svc } = globalThis.kernelbookSolver;
  const { Plane } = globalThis.kernelbookPlane;
  const { Points, glyph } = globalThis.kernelbookPoints;
  const { Panel, compared, logarithmic, oncePerFrame, power, short, start } = globalThis.kernelbookPanel;
  const RARE = [[0.9, 1.1], [1.5, 0.4], [1.9, 1.3], [0.6, 0.3], [1.3, 1.7], [2.3, 0.6], [0.2, 0.8], [-0.6, 0.1]];
  const COMMON = [
    [-1.9, -0.6], [-1.2, -1.1], [-0.6, -0.7], [-1.5, 0.3], [-0.9, 0.9], [-2.2, 0.5], [-0.3, -1.5],
    [-1.1, -0.2], [-2.4, -1.3], [0.2, -0.9], [0.7, -1.2], [-0.2, 0.1], [-1.6, 1.3], [-0.5, 1.5],
    [1.1, -0.5], [-1.7, -1.7], [0.1, -0.3], [-2.5, 1.2], [1.4, -1.5], [-0.9, -1.8], [0.5, 0.9],
    [2.0, -0.8], [-0.1, -1.1], [-1.3, 0.7],
  ];

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[-3, 3], [-2.4, 2.4]], ratio: 0.8, labels: ["x₁", "x₂"],
      name: "Points of two classes, the boundary of the machine and its margins",
    });
    let before = {};
    const points = new Points(plane, {
      groups: { circle: COMMON, triangle: RARE },
      names: { circle: "common point", triangle: "rare point" },
      keep: 1,
      update: (what) => update(what),
      say: (why) => panel.say(why),
    });

    function fit() {
      const y = points.all.map(({ shape }) => (shape === "triangle" ? 1 : -1));
      const rare = y.filter((label) => label > 0).length;
      const weight = { 1: y.length / (2 * rare), "-1": y.length / (2 * (y.length - rare)) };
      const C = y.map((label) => values.C * (values.balanced ? weight[label] : 1));
      const { kernel, gamma } = values;
      const machine = svc(points.all.map(({ at }) => at), y, { C, kernel, gamma, degree: 3, coef0: 1 });
      return { machine, y, rare };
    }

    function draw() {
      const { machine, y, rare } = fit();
      plane.clear();
      const grid = plane.grid(machine.decide);
      const mirrored = { ...grid, values: grid.values.map((value) => -value) };
      for (const level of [0, 1]) {
        plane.region(grid, level, "live-tint live-tint-positive");
        plane.region(mirrored, level, "live-tint live-tint-negative");
      }
      plane.region(grid, 1, "live-margin");
      plane.region(mirrored, 1, "live-margin");
      plane.region(grid, 0, "live-boundary");
      const bounded = new Set(machine.bounded);
      const support = new Set(machine.support);
      points.draw((i) => support.has(i) && (bounded.has(i) ? "bounded" : "free"));
      const decided = points.all.map(({ at }) => machine.decide(at) > 0);
      return {
        gap: machine.gap, total: y.length, rare,
        support: support.size, free: machine.free.length, bounded: bounded.size,
        margin: 1 / Math.sqrt(machine.quadratic),
        found: decided.filter((positive, i) => positive && y[i] > 0).length,
        alarms: decided.filter((positive, i) => positive && y[i] < 0).length,
      };
    }

    function report(now, what) {
      const width = Number.isFinite(now.margin) ? short(now.margin) : "infinite";
      panel.legend([
        [glyph("triangle"), `rare, positive: ${now.rare}`],
        [glyph("circle"), `common, negative: ${now.total - now.rare}`],
        [glyph("free"), `free support vector: ${now.free}`],
        [glyph("bounded"), `bounded, α = C: ${now.bounded}`],
        [panel.line("live-boundary"), "boundary, f = 0"],
        [panel.line("live-margin"), "margins, f = ±1"],
      ]);
      panel.show({
        "Support vectors": `${now.support} of ${now.total}`,
        "Margin 1/‖w‖": width,
        "Rare points found": `${now.found} of ${now.rare}`,
        "False alarms": `${now.alarms} of ${now.total - now.rare}`,
      }, now.gap);
      const turn = now.margin < before.margin ? ", narrower" : now.margin > before.margin ? ", wider" : "";
      panel.say(`${what}. Support vectors: ${compared(now.support, before.support)}. Margin: ${width}${turn}. `
        + `Rare points found: ${compared(now.found, before.found)}; `
        + `false alarms: ${compared(now.alarms, before.alarms)}. Duality gap: ${power(now.gap)}.`);
      before = now;
    }

    const update = oncePerFrame((what) => report(draw(), what));
    panel.choice({
      key: "kernel", label: "Kernel",
      options: [["linear", "linear"], ["rbf", "RBF"], ["poly", "cubic"]],
    }, (what) => {
      gamma.disabled = values.kernel === "linear";
      update(what);
    });
    panel.slider({ key: "C", label: "C", min: -2, max: 3, step: 0.125, value: 0, scale: logarithmic }, update);
    const gamma = panel.slider({
      key: "gamma", label: "gamma", min: -2, max: 1, step: 0.125, value: -0.25, scale: logarithmic,
    }, update);
    gamma.disabled = true;
    panel.tick({ key: "balanced", label: "balanced class weights" }, update);
    panel.choice({
      key: "shape", label: "New points",
      options: [["circle", "common", glyph("circle")], ["triangle", "rare", glyph("triangle")]],
    }, () => { points.newShape = values.shape; });
    panel.buttons(points.actions());
    report(draw(), "C = 1");
    return { plane, draw };
  }

  start("soft-margin", make);
})();
