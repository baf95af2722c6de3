// The factor of Amari and Wu on the bell: what it enlarges, by the width of its bumps.
(() => {
  const { grid, mirrored, slider } = globalThis.kernelbookFrame;
  const { Plane } = globalThis.kernelbookPlane;
  const { SHAPES, glyph } = globalThis.kernelbookPoints;
  const { Panel, compared, oncePerFrame, power, short, start } = globalThis.kernelbookPanel;
  const ENLARGED = [1.1, 2, 5, 10]; // times, where the shade deepens
  const SHRUNK = [1 / 2, 1 / 10];

  function make(figure) {
    const data = globalThis.kernelbookFrames.factor;
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: data.limits, ratio: 0.9, labels: ["x₁", "x₂"],
      name: "Points above and below a bell, the boundary of the machine, and what its kernel enlarges",
    });
    let before = {};

    const nearest = () => data.frames.reduce((best, frame) => {
      const off = ({ at }) => Math.abs(10 ** at / values.tau - 1);
      return off(frame) < off(best) ? frame : best;
    });

    function drawPoints(first) {
      data.points.forEach((point, i) => {
        const shape = data.positive[i] ? "triangle" : "circle";
        plane.mark(point, SHAPES[shape], `live-${shape}`);
        if (first.has(i)) plane.mark(point, SHAPES.free, "live-free");
      });
    }

    function draw() {
      const frame = nearest();
      const level = grid(data, frame.level);
      plane.clear();
      ENLARGED.forEach((times) => plane.region(level, Math.log10(times), "live-shade"));
      SHRUNK.forEach((times) => plane.region(mirrored(level), -Math.log10(times), "live-margin"));
      plane.curve(data.bell, "live-radius");
      drawPoints(new Set(values.support ? frame.first : []));
      if (values.boundary) plane.region(grid(data, frame.decision), 0, "live-boundary");
      return frame;
    }

    function report(now, what) {
      panel.legend([
        [glyph("triangle"), "positive"],
        [glyph("circle"), "negative"],
        [panel.line("live-radius"), "bell, the true boundary"],
        [panel.line("live-shade"), "enlarged, darker by 1.1, 2, 5, 10"],
        [panel.line("live-margin"), "shrunk to a half, a tenth"],
        ...(values.support ? [[glyph("free"), "support vector, first pass"]] : []),
        ...(values.boundary ? [[panel.line("live-boundary"), "boundary, second pass"]] : []),
      ]);
      const range = `${short(now.least)} to ${short(now.most)}`;
      panel.show({
        "On the bell, times": range,
        "Errors before": `${now.before} of ${data.new}`,
        "Errors after": `${now.after} of ${data.new}`,
      }, now.gap);
      panel.say(`${what}. On the bell the kernel is enlarged ${range} times. Errors on ${data.new} new points: `
        + `${now.before} before, ${compared(now.after, before.after)} after. Larger duality gap of both `
        + `machines: ${power(now.gap)}.`);
      before = now;
    }

    const update = oncePerFrame((what) => report(draw(), what));
    const middle = (data.frames.length - 1) / 2;
    slider(panel, { key: "tau", label: "width τ, in σ/√d", frames: data.frames, value: middle }, update);
    panel.tick({ key: "boundary", label: "boundary of the second pass" }, update);
    panel.tick({ key: "support", label: "support vectors of the first pass" }, update);
    report(draw(), "width = 1");
    return { plane, draw };
  }

  start("factor", make);
})();
