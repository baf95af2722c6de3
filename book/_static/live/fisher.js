// Fisher's discriminant: a direction that the reader turns, and the quotient of what lies on it.
(() => {
  const { Plane, element } = globalThis.kernelbookPlane;
  const { Points, draggable, glyph } = globalThis.kernelbookPoints;
  const { Panel, oncePerFrame, power, short, start } = globalThis.kernelbookPanel;
  const RARE = [[0.7, 1.9], [1.3, 1.3], [0.1, 2.0], [1.9, 0.9], [1.0, 1.6], [1.6, 0.6], [0.5, 1.4], [2.2, 0.2]];
  const COMMON = [
    [-1.9, 1.1], [-1.4, 0.7], [-0.9, 0.3], [-0.4, -0.2], [0.1, -0.5], [0.6, -1.1], [1.1, -1.4],
    [-1.7, 0.4], [-1.1, -0.1], [-0.7, -0.5], [-0.1, -0.9], [0.3, -1.4], [0.9, -1.9], [-2.3, 1.2],
    [-0.2, 0.2], [0.4, -0.4], [-1.2, 1.2], [-0.6, 0.8], [1.5, -1.7], [-1.5, -0.4],
  ];
  const SMALL = { circle: "M0 -3A3 3 0 1 1 0 3A3 3 0 1 1 0 -3Z", triangle: "M0 -4L3.7 2.8H-3.7Z" };
  const AHEAD = 2; // distance of the knob from the middle
  const FAR = 10;

  const dot = ([a, b], [c, d]) => a * c + b * d;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const square = (values) => { const m = mean(values); return values.reduce((sum, v) => sum + (v - m) ** 2, 0); };

  // The quotient of a direction, from nothing but the points that are projected on it.
  function quotient(w, classes) {
    const [first, second] = classes.map((points) => points.map((x) => dot(w, x)));
    return (mean(first) - mean(second)) ** 2 / (square(first) + square(second));
  }

  // The best direction, S w = d, and the bound on every quotient (Cauchy and Schwarz): d times it.
  function best(classes) {
    const [m, n] = classes.map((points) => [0, 1].map((axis) => mean(points.map((x) => x[axis]))));
    const d = [m[0] - n[0], m[1] - n[1]];
    let [a, b, c] = [0, 0, 0];
    classes.forEach((points, k) => points.forEach((x) => {
      const [u, v] = [x[0] - [m, n][k][0], x[1] - [m, n][k][1]];
      [a, b, c] = [a + u * u, b + u * v, c + v * v];
    }));
    const det = a * c - b * b;
    const w = [(c * d[0] - b * d[1]) / det, (a * d[1] - b * d[0]) / det];
    return { w, d, bound: dot(d, w), middle: [(m[0] + n[0]) / 2, (m[1] + n[1]) / 2] };
  }

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[-3, 3], [-2.4, 2.4]], ratio: 0.8, labels: ["x₁", "x₂"],
      name: "Points of two classes, a direction, and the points projected on it",
    });
    const points = new Points(plane, {
      groups: { circle: COMMON, triangle: RARE },
      names: { circle: "common point", triangle: "rare point" },
      keep: 3,
      update: (what) => update(what),
      say: (why) => panel.say(why),
    });
    const knob = element("path", { class: "live-knob", "aria-hidden": "true" });
    plane.over.after(knob);
    let middle = [0, 0];

    const direction = () => [Math.cos((values.angle * Math.PI) / 180), Math.sin((values.angle * Math.PI) / 180)];
    const along = (from, w, by) => from.map((each, axis) => each + by * w[axis]);

    draggable(knob, (event) => {
      const to = plane.coordinates(event);
      angle.value = (Math.atan2(to[1] - middle[1], to[0] - middle[0]) * 180) / Math.PI;
      angle.dispatchEvent(new Event("input"));
    });

    function draw() {
      const classes = ["triangle", "circle"].map((shape) => points.all.filter((p) => p.shape === shape).map(({ at }) => at));
      const found = best(classes);
      middle = found.middle;
      const w = direction();
      const sign = dot(w, found.d) < 0 ? -1 : 1;
      const value = (x) => sign * (dot(w, x) - dot(w, middle));
      plane.clear();
      const grid = plane.grid(value);
      plane.region(grid, 0, "live-tint live-tint-positive");
      plane.region({ ...grid, values: grid.values.map((each) => -each) }, 0, "live-tint live-tint-negative");
      plane.curve([along(middle, [-w[1], w[0]], -FAR), along(middle, [-w[1], w[0]], FAR)], "live-boundary");
      plane.curve([along(middle, w, -FAR), along(middle, w, FAR)], "live-margin");
      if (values.best) plane.curve([along(middle, found.w, -FAR * FAR), along(middle, found.w, FAR * FAR)], "live-radius");
      points.all.forEach(({ at, shape }) => {
        plane.mark(along(middle, w, dot(w, at) - dot(w, middle)), SMALL[shape], `live-${shape}`);
      });
      const tip = plane.inside(along(middle, w, AHEAD));
      plane.trace(knob, [tip, tip]);
      points.draw(() => false);
      return {
        mine: quotient(w, classes), largest: found.bound,
        wrong: points.all.filter(({ at, shape }) => (value(at) > 0) !== (shape === "triangle")).length,
        gap: Math.abs(found.bound - quotient(found.w, classes)) / found.bound,
      };
    }

    function report(now, what) {
      panel.legend([
        [glyph("triangle"), "rare"],
        [glyph("circle"), "common"],
        [panel.line("live-margin"), "direction, projections"],
        [panel.line("live-boundary"), "cut between the means"],
        ...(values.best ? [[panel.line("live-radius"), "Fisher's direction"]] : []),
      ]);
      panel.show({
        "Your quotient": short(now.mine), "Largest quotient": short(now.largest), "On the wrong side": now.wrong,
      }, now.gap, "Gap to bound");
      panel.say(`${what}. Quotient: ${short(now.mine)} of at most ${short(now.largest)}. On the wrong side: `
        + `${now.wrong}. Gap of the best direction to its bound: ${power(now.gap)}.`);
    }

    const update = oncePerFrame((what) => report(draw(), what));
    const angle = panel.slider({
      key: "angle", label: "direction, degrees", min: -180, max: 180, step: 3, value: 0,
    }, update);
    panel.tick({ key: "best", label: "show Fisher's direction" }, update);
    panel.choice({
      key: "shape", label: "New points",
      options: [["circle", "common", glyph("circle")], ["triangle", "rare", glyph("triangle")]],
    }, () => { points.newShape = values.shape; });
    panel.buttons(points.actions());
    report(draw(), "direction, degrees = 0");
    return { plane, draw };
  }

  start("fisher", make);
})();
