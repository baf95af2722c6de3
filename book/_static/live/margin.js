// The widest margin: a line that the reader turns and shifts, beside the best one there is.
(() => {
  const { svc } = globalThis.kernelbookSolver;
  const { Plane, element } = globalThis.kernelbookPlane;
  const { Points, draggable, glyph } = globalThis.kernelbookPoints;
  const { Panel, oncePerFrame, power, short, start } = globalThis.kernelbookPanel;
  const RARE = [[1.0, 1.2], [1.7, 0.5], [1.9, 1.6], [0.8, 1.9], [2.4, 1.0]];
  const COMMON = [
    [-1.9, -0.6], [-1.2, -1.1], [-0.6, -0.4], [-1.5, 0.4], [-0.7, 0.9], [-2.2, 0.7], [-0.3, -1.5],
    [0.4, -1.1], [-2.4, -1.5], [1.2, -1.7], [-1.3, 1.6], [0.1, 0.0], [1.5, -1.1],
  ];
  const HARD = 1e4; // a price at which no point is left on the wrong side if that can be avoided
  const TOUCHING = 1e-3; // of a coordinate, between the nearest point and others as near
  const FAR = 10;
  const ARROW = 0.7; // length of the arrow that shows the normal of the line

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[-3, 3], [-2.4, 2.4]], ratio: 0.8, labels: ["x₁", "x₂"],
      name: "Points of two classes and a line between them",
    });
    const points = new Points(plane, {
      groups: { circle: COMMON, triangle: RARE },
      names: { circle: "common point", triangle: "rare point" },
      kinds: { free: "nearest to the line", bounded: "on the wrong side" },
      keep: 1,
      update: (what) => update(what),
      say: (why) => panel.say(why),
    });

    // Ends of the line normal . x = offset, beyond the plane.
    function ends([across, up], offset) {
      const at = (along) => [across * offset - up * along, up * offset + across * along];
      return [at(-FAR), at(FAR)];
    }

    const drawLine = (normal, offset, kind) => plane.curve(ends(normal, offset), kind);

    // What a pointer takes hold of: the line, which shifts, and the arrow of its normal, which turns
    // it about the foot of the arrow. The sliders do the same for a keyboard.
    const holds = element("g", { "aria-hidden": "true", "clip-path": `url(#${plane.clip})` });
    const [grip, arrow, knob] = ["live-grip", "live-arrow", "live-knob"]
      .map((kind) => element("path", { class: kind }, holds));
    plane.over.before(holds);
    plane.over.after(knob); // a point must not cover it

    function drawHolds(normal) {
      const line = ends(normal, values.offset);
      const tip = plane.inside(normal.map((each) => each * (values.offset + ARROW)));
      plane.trace(grip, line);
      plane.trace(arrow, [normal.map((each) => each * values.offset), tip]);
      plane.trace(knob, [tip, tip]);
    }

    function putLine(normal, through) {
      const turn = (Math.atan2(normal[1], normal[0]) * 180) / Math.PI;
      const offset = normal[0] * through[0] + normal[1] * through[1];
      for (const [input, value] of [[sliders.angle, turn], [sliders.offset, offset]]) {
        input.value = value;
        input.dispatchEvent(new Event("input"));
      }
      update(`The line: ${short(values.angle)} degrees, offset ${short(values.offset)}`);
    }

    let pivot;
    draggable(grip, (event) => putLine(normalNow(), plane.coordinates(event)));
    draggable(knob, (event) => {
      const to = plane.coordinates(event).map((each, axis) => each - pivot[axis]);
      if (Math.hypot(...to) > ARROW / 4) putLine(to.map((each) => each / Math.hypot(...to)), pivot);
    }, () => { pivot = normalNow().map((each) => each * values.offset); });

    function normalNow() {
      const turn = (values.angle * Math.PI) / 180;
      return [Math.cos(turn), Math.sin(turn)];
    }

    function best(X, y) {
      const machine = svc(X, y, { C: HARD, kernel: "linear" });
      const norm = Math.sqrt(machine.quadratic);
      const w = [0, 1].map((axis) => X.reduce((sum, x, i) => sum + machine.beta[i] * x[axis], 0));
      const separable = machine.bounded.length === 0;
      return { gap: machine.gap, separable, margin: 1 / norm, normal: w.map((each) => each / norm), offset: -machine.b / norm };
    }

    function draw() {
      const X = points.all.map(({ at }) => at);
      const y = points.all.map(({ shape }) => (shape === "triangle" ? 1 : -1));
      const normal = normalNow();
      const value = ([a, b]) => normal[0] * a + normal[1] * b - values.offset;
      const distances = X.map((x, i) => y[i] * value(x));
      const margin = Math.min(...distances);
      const found = best(X, y);
      plane.clear();
      const grid = plane.grid(value);
      plane.region(grid, 0, "live-tint live-tint-positive");
      plane.region({ ...grid, values: grid.values.map((each) => -each) }, 0, "live-tint live-tint-negative");
      if (margin > 0) {
        drawLine(normal, values.offset + margin, "live-margin");
        drawLine(normal, values.offset - margin, "live-margin");
      }
      drawLine(normal, values.offset, "live-boundary");
      drawHolds(normal);
      if (values.best && found.separable) drawLine(found.normal, found.offset, "live-radius");
      points.draw((i) => {
        if (distances[i] < 0) return "bounded";
        return distances[i] < margin + TOUCHING && "free";
      });
      return { ...found, mine: margin, wrong: distances.filter((each) => each < 0).length };
    }

    function report(now, what) {
      const widest = now.separable ? short(now.margin) : "no line separates";
      panel.legend([
        [glyph("triangle"), "rare, positive"],
        [glyph("circle"), "common, negative"],
        [glyph("free"), "nearest to your line"],
        [glyph("bounded"), `on the wrong side: ${now.wrong}`],
        [panel.line("live-boundary"), "your line"],
        [panel.line("live-margin"), "its margin"],
        ...(values.best ? [[panel.line("live-radius"), "the best line"]] : []),
      ]);
      panel.show({
        "Your margin": now.mine > 0 ? short(now.mine) : "none",
        "Widest margin": widest,
        "On the wrong side": now.wrong,
      }, now.gap);
      const mine = now.mine > 0
        ? `Your margin: ${short(now.mine)}` : `Points on the wrong side of your line: ${now.wrong}`;
      panel.say(`${what}. ${mine}; widest margin: ${widest}. Duality gap: ${power(now.gap)}.`);
    }

    const update = oncePerFrame((what) => report(draw(), what));
    const sliders = {
      angle: panel.slider({
        key: "angle", label: "direction, degrees", min: -180, max: 180, step: 3, value: 15,
      }, update),
      offset: panel.slider({ key: "offset", label: "offset", min: -2, max: 2, step: 0.05, value: 0.8 }, update),
    };
    panel.tick({ key: "best", label: "show the best line" }, update);
    panel.choice({
      key: "shape", label: "New points",
      options: [["circle", "common", glyph("circle")], ["triangle", "rare", glyph("triangle")]],
    }, () => { points.newShape = values.shape; });
    panel.buttons(points.actions());
    report(draw(), "direction, degrees = 15");
    return { plane, draw };
  }

  start("margin", make);
})();
