// The posterior of a description: how sure is it of its inside, and on how many points does it rest?
(() => {
  const { grid, slider } = globalThis.kernelbookFrame;
  const { Plane } = globalThis.kernelbookPlane;
  const { SHAPES, glyph } = globalThis.kernelbookPoints;
  const { Panel, oncePerFrame, short, start } = globalThis.kernelbookPanel;
  const [DOUBT, HALF, SURE] = [0.05, 0.5, 0.95];
  const AGREE = 1.01; // R-hat of chains that agree (Vehtari et al. 2021)
  const LARGEST = 26; // pixels, the radius of a circle for all of the weight

  function make(figure) {
    const data = globalThis.kernelbookFrames.posterior;
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: data.limits, ratio: 0.8, labels: ["x₁", "x₂"],
      name: "Points of one class, their weights, and how probable each place is inside",
    });
    let before = {};

    function current() {
      const off = ({ at }) => Math.abs(10 ** at / values.s - 1);
      return data.frames.filter(({ prior }) => prior === values.prior)
        .reduce((best, frame) => (off(frame) < off(best) ? frame : best));
    }

    function draw() {
      const frame = current();
      const inside = grid(data, frame.inside);
      plane.clear();
      for (const level of [DOUBT, HALF, SURE]) plane.region(inside, level, "live-tint live-tint-negative");
      for (const level of [DOUBT, SURE]) plane.region(inside, level, "live-margin");
      plane.region(inside, HALF, "live-boundary");
      data.points.forEach((point, i) => {
        plane.mark(point, SHAPES.circle, "live-circle");
        const r = LARGEST * Math.sqrt(frame.weights[i]);
        plane.mark(point, `M0 ${-r}A${r} ${r} 0 1 1 0 ${r}A${r} ${r} 0 1 1 0 ${-r}Z`, "live-free");
      });
      return frame;
    }

    function report(now, what) {
      panel.legend([
        [glyph("circle"), `points: ${data.points.length}`],
        [glyph("free"), "area: mean weight"],
        [panel.line("live-boundary"), "P(inside) = 0.5"],
        [panel.line("live-margin"), "P(inside) = 0.05, 0.95"],
      ]);
      const heaviest = `${short(100 * Math.max(...now.weights))} %`;
      const atoms = `${short(now.atoms)} of ${data.points.length}`;
      panel.show({
        "Effective atoms": atoms,
        "Heaviest point": heaviest,
        "Effective draws": `${now.worth} of ${now.draws}`,
      }, now.rHat, "Largest R-hat", { limit: AGREE, words: String(now.rHat.toFixed(3)) });
      const turn = now.atoms < before.atoms ? ", fewer" : now.atoms > before.atoms ? ", more" : "";
      panel.say(`${what}. A draw of the centre rests on ${atoms} points${turn}; the heaviest has ${heaviest}. `
        + `R-hat ${now.rHat.toFixed(3)}: the chains ${now.rHat <= AGREE ? "agree" : "do not agree"}.`);
      before = now;
    }

    const update = oncePerFrame((what) => report(draw(), what));
    panel.choice({
      key: "prior", label: "Prior mean",
      options: [["row_mean", "row means"], ["row_sum", "row sums"]],
    }, update);
    const frames = data.frames.filter(({ prior }) => prior === "row_mean");
    slider(panel, { key: "s", label: "scale s", frames, value: frames.findIndex(({ at }) => at === 0) }, update);
    report(draw(), "scale s = 1");
    return { plane, draw };
  }

  start("posterior", make);
})();
