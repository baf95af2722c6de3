// The tube of support vector regression: points of one feature, epsilon, C, a kernel.
(() => {
  const { svr } = globalThis.kernelbookSolver;
  const { Plane } = globalThis.kernelbookPlane;
  const { Points, glyph } = globalThis.kernelbookPoints;
  const { Panel, compared, logarithmic, oncePerFrame, power, short, start } = globalThis.kernelbookPanel;
  const DATA = [
    [-2.8, -0.44], [-2.6, -0.62], [-2.4, -0.73], [-2.1, -0.81], [-1.9, -1.19], [-1.7, -0.98],
    [-1.4, -1.07], [-1.2, -0.78], [-1.0, -0.95], [-0.7, -0.53], [-0.5, -0.55], [-0.3, -0.12],
    [0.0, 0.09], [0.2, 0.31], [0.4, 0.27], [0.7, 0.74], [0.9, 0.71], [1.2, 1.86], [1.4, 0.96],
    [1.6, 1.05], [1.9, 0.87], [2.1, 0.93], [2.4, 0.58], [2.6, 0.61], [2.8, 0.27],
  ];
  const STEPS = 160;

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[-3, 3], [-2.2, 2.2]], ratio: 0.75, labels: ["x", "y"],
      name: "Points, the fitted function and its tube",
    });
    let before = {};
    const points = new Points(plane, {
      groups: { datum: DATA },
      names: { datum: "point" },
      keep: 2,
      update: (what) => update(what),
      say: (why) => panel.say(why),
    });

    function draw() {
      const X = points.all.map(({ at }) => [at[0]]);
      const y = points.all.map(({ at }) => at[1]);
      const { C, epsilon, kernel, gamma } = values;
      const machine = svr(X, y, { C, epsilon, kernel, gamma, degree: 3, coef0: 1 });
      const curve = Array.from({ length: STEPS + 1 }, (_, k) => {
        const x = -3 + (6 * k) / STEPS;
        return [x, machine.decide([x])];
      });
      const moved = (by) => curve.map(([x, f]) => [x, f + by]);
      plane.clear();
      plane.curve([...moved(epsilon), ...moved(-epsilon).reverse()], "live-tint live-tint-negative", true);
      plane.curve(moved(epsilon), "live-margin");
      plane.curve(moved(-epsilon), "live-margin");
      plane.curve(curve, "live-boundary");
      const bounded = new Set(machine.bounded);
      const support = new Set(machine.support);
      points.draw((i) => support.has(i) && (bounded.has(i) ? "bounded" : "free"));
      const squares = X.map((x, i) => (machine.decide(x) - y[i]) ** 2);
      return {
        gap: machine.gap, total: y.length,
        support: support.size, free: machine.free.length, bounded: bounded.size,
        error: Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / y.length),
      };
    }

    function report(now, what) {
      panel.legend([
        [glyph("datum"), `data: ${now.total}`],
        [panel.line("live-boundary"), "prediction f"],
        [glyph("free"), `free, on the edge: ${now.free}`],
        [panel.line("live-margin"), "tube, f ± ε"],
        [glyph("bounded"), `bounded, α = C: ${now.bounded}`],
      ]);
      panel.show({
        "Support vectors": `${now.support} of ${now.total}`,
        "Within the tube": `${now.total - now.support} of ${now.total}`,
        "Error (RMS)": short(now.error),
      }, now.gap);
      panel.say(`${what}. Support vectors: ${compared(now.support, before.support)}, of which `
        + `${now.bounded} outside the tube. Error: ${short(now.error)}. Duality gap: ${power(now.gap)}.`);
      before = now;
    }

    const update = oncePerFrame((what) => report(draw(), what));
    panel.choice({
      key: "kernel", label: "Kernel",
      options: [["rbf", "RBF"], ["linear", "linear"], ["poly", "cubic"]],
    }, (what) => {
      gamma.disabled = values.kernel === "linear";
      update(what);
    });
    panel.slider({ key: "epsilon", label: "epsilon", min: 0, max: 1.5, step: 0.05, value: 0.2 }, update);
    panel.slider({ key: "C", label: "C", min: -2, max: 3, step: 0.125, value: 0, scale: logarithmic }, update);
    const gamma = panel.slider({
      key: "gamma", label: "gamma", min: -2, max: 1, step: 0.125, value: -0.25, scale: logarithmic,
    }, update);
    panel.buttons(points.actions());
    report(draw(), "epsilon = 0.2");
    return { plane, draw };
  }

  start("tube", make);
})();
