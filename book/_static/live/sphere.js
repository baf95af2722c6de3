// One class: the smallest sphere around most of the points, and the hyperplane that leaves them.
(() => {
  const { oneClass, svdd } = globalThis.kernelbookSolver;
  const { Plane } = globalThis.kernelbookPlane;
  const { Points, glyph } = globalThis.kernelbookPoints;
  const { Panel, compared, logarithmic, oncePerFrame, power, short, start } = globalThis.kernelbookPanel;
  const TARGETS = [
    [-1.5, 0.9], [-1.1, 1.2], [-0.7, 0.7], [-1.8, 0.3], [-1.2, 0.2], [-0.6, 1.3], [-1.6, -0.2],
    [-0.9, -0.3], [-0.3, 0.4], [-0.4, -0.6], [0.1, -0.2], [0.3, -0.9], [0.7, -0.5], [0.9, -1.1],
    [1.2, -0.4], [1.3, -0.9], [0.6, 0.1], [1.7, -0.2], [1.6, 0.4], [1.1, 0.3], [1.9, 0.8],
    [0.0, 0.9], [-0.1, -1.2], [-2.0, 1.1], [2.4, 1.9], [-0.9, -1.7], [1.5, -1.4], [0.5, 0.6],
  ];

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[-3, 3], [-2.4, 2.4]], ratio: 0.8, labels: ["x₁", "x₂"],
      name: "Points of one class and the boundary around them",
    });
    let before = {};
    const points = new Points(plane, {
      groups: { circle: TARGETS },
      names: { circle: "point" },
      keep: 2,
      update: (what) => update(what),
      say: (why) => panel.say(why),
    });

    function fit(X) {
      const { nu, gamma } = values;
      if (values.machine === "plane") return oneClass(X, { nu, kernel: "rbf", gamma });
      const kernel = values.machine === "circle" ? "linear" : "rbf";
      return svdd(X, { C: 1 / (nu * X.length), kernel, gamma });
    }

    function drawRadius(machine, X) {
      const centre = [0, 1].map((axis) => X.reduce((sum, x, i) => sum + machine.beta[i] * x[axis], 0));
      const radius = Math.sqrt(Math.max(machine.radiusSquared, 0));
      plane.curve([centre, [centre[0] + radius, centre[1]]], "live-radius");
    }

    function draw() {
      const X = points.all.map(({ at }) => at);
      const machine = fit(X);
      plane.clear();
      const grid = plane.grid(machine.decide);
      plane.region({ ...grid, values: grid.values.map((value) => -value) }, 0, "live-tint live-tint-positive");
      plane.region(grid, 0, "live-tint live-tint-negative");
      plane.region(grid, 0, "live-boundary");
      if (values.machine === "circle") drawRadius(machine, X);
      const bounded = new Set(machine.bounded);
      const support = new Set(machine.support);
      points.draw((i) => support.has(i) && (bounded.has(i) ? "bounded" : "free"));
      return {
        gap: machine.gap, total: X.length, allowed: values.nu * X.length,
        support: support.size, free: machine.free.length, bounded: bounded.size,
        size: values.machine === "plane" ? machine.rho : machine.radiusSquared,
      };
    }

    function report(now, what) {
      const entries = [
        [glyph("circle"), `points: ${now.total}`],
        [panel.line("live-boundary"), "boundary; blue inside"],
        [glyph("free"), `free, on the boundary: ${now.free}`],
        [glyph("bounded"), `bounded, outside: ${now.bounded}`],
      ];
      if (values.machine === "circle") entries.push([panel.line("live-radius"), "centre and radius"]);
      panel.legend(entries);
      const allowed = short(now.allowed);
      panel.show({
        "Bounded ≤ νn": `${now.bounded} ≤ ${allowed}`,
        "Support ≥ νn": `${now.support} ≥ ${allowed}`,
        [values.machine === "plane" ? "Offset ρ" : "Radius² R²"]: short(now.size),
      }, now.gap);
      panel.say(`${what}. Outside: ${compared(now.bounded, before.bounded)} of ${now.total}, where nu allows `
        + `${allowed}. Support vectors: ${compared(now.support, before.support)}. `
        + `Duality gap: ${power(now.gap)}.`);
      before = now;
    }

    const update = oncePerFrame((what) => report(draw(), what));
    panel.choice({
      key: "machine", label: "Machine",
      options: [["circle", "circle"], ["sphere", "sphere"], ["plane", "hyperplane"]],
    }, (what) => {
      gamma.disabled = values.machine === "circle";
      update(what);
    });
    panel.slider({ key: "nu", label: "nu", min: 0.02, max: 1, step: 0.02, value: 0.1 }, update);
    const gamma = panel.slider({
      key: "gamma", label: "gamma", min: -2, max: 1, step: 0.125, value: 0, scale: logarithmic,
    }, update);
    gamma.disabled = true;
    panel.buttons(points.actions());
    report(draw(), "nu = 0.1");
    return { plane, draw };
  }

  start("sphere", make);
})();
