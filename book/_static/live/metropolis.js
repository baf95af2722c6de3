// A Metropolis chain on the posterior of two points, beside the exact answer.
(() => {
  const { effectiveSize, expectation, metropolis } = globalThis.kernelbookChain;
  const { Plane } = globalThis.kernelbookPlane;
  const { Panel, logarithmic, oncePerFrame, power, short, start } = globalThis.kernelbookPanel;
  const [LOW, HIGH] = [-8, 8];
  const FAR = [-30, 34]; // beyond it the density is below the smallest number
  const BINS = 64;
  const SHOWN = 500; // steps
  const TRUSTED = 100; // effective draws, below which the standard error is itself a guess
  const SHADE = 220; // nodes of the curve

  const weight = (delta) => 1 / (1 + Math.exp(-delta));

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[LOW, HIGH], [0, 0.5]], ratio: 0.5, labels: ["δ", "density"],
      name: "Histogram of the draws and the exact density",
    });
    const trace = new Plane(panel.stage, {
      limits: [[0, SHOWN], [LOW, HIGH]], ratio: 0.3, labels: ["step", "δ"],
      name: "The first steps of the chain",
    });
    let stream = 0;

    function drawBars(draws) {
      const width = (HIGH - LOW) / BINS;
      const counts = new Array(BINS).fill(0);
      draws.forEach((value) => { counts[Math.floor((value - LOW) / width)] += 1; });
      counts.forEach((count, bin) => {
        const [from, height] = [LOW + bin * width, count / (draws.length * width)];
        if (!count) return;
        plane.curve([[from, 0], [from, height], [from + width, height], [from + width, 0]], "live-bars", true);
      });
    }

    function draw() {
      const { step, count, from, prior } = values;
      const logDensity = (delta) => weight(delta) * weight(-delta) - (delta - prior) ** 2 / 4;
      const exact = expectation(weight, logDensity, FAR);
      const { draws, accepted } = metropolis(logDensity, { from, step, count, stream });
      const kept = values.later ? draws.slice(Math.floor(count / 10)) : draws;
      const found = effectiveSize(kept.map(weight));
      plane.clear();
      drawBars(kept);
      plane.curve(Array.from({ length: SHADE + 1 }, (_, k) => {
        const delta = LOW + ((HIGH - LOW) * k) / SHADE;
        return [delta, Math.exp(logDensity(delta)) / exact.mass];
      }), "live-boundary");
      trace.clear();
      trace.curve([[0, from], ...[...draws.slice(0, SHOWN)].map((delta, k) => [k + 1, delta])], "live-course");
      return { ...found, accepted, exact, kept: kept.length };
    }

    function report(now, what) {
      const { size, error, mean, exact, kept } = now;
      const off = Math.abs(mean - exact.value) / error;
      const trusted = size >= TRUSTED;
      const worth = `${short(Math.round(size))} of ${kept}`;
      const estimate = `${mean.toFixed(3)} ± ${Number.isFinite(error) ? error.toFixed(3) : "?"}`;
      panel.legend([
        [panel.line("live-boundary"), "exact posterior"],
        [panel.line("live-bars"), "draws of the chain"],
        [panel.line("live-course"), `first ${Math.min(SHOWN, values.count)} steps`],
      ]);
      panel.show({
        Accepted: `${short(Number((100 * now.accepted).toFixed(1)))} %`,
        "Effective draws": trusted ? worth : `${worth}, too few`,
        "Mean of t": estimate,
        "Exact mean": exact.value.toFixed(3),
        "Off by": Number.isFinite(error) ? `${off.toFixed(1)} standard errors` : "unknown",
      }, exact.error, "Exact mean errs by");
      panel.say(`${what}. Accepted: ${short(Math.round(100 * now.accepted))} %. Worth ${worth} independent `
        + `draws${trusted ? "" : ", too few to trust the error"}. Mean of t: ${estimate}; exact: `
        + `${exact.value.toFixed(3)}, to within ${power(exact.error)}.`);
    }

    const update = oncePerFrame((what) => report(draw(), what));
    panel.slider({ key: "step", label: "step h", min: -1.5, max: 2.5, step: 0.125, value: 0.5, scale: logarithmic }, update);
    panel.slider({
      key: "count", label: "number of steps", min: 2, max: 4, step: 0.25, value: 3.5,
      scale: (position) => Number((10 ** position).toPrecision(2)),
    }, update);
    panel.slider({ key: "from", label: "start", min: -7.5, max: 7.5, step: 0.5, value: -4 }, update);
    panel.slider({ key: "prior", label: "prior mean of δ", min: 0, max: 4, step: 0.25, value: 1 }, update);
    panel.tick({ key: "later", label: "leave out the first tenth" }, update);
    panel.buttons([
      ["Another", "Another chain", () => {
        stream += 1;
        update(`Chain ${stream + 1}`);
      }],
      ["First", "The first chain again", () => {
        stream = 0;
        update("Chain 1");
      }],
    ], "Chain");
    report(draw(), "step h = 3.16");
    const measure = () => [plane.measure(), trace.measure()].includes(true);
    return { plane: { svg: plane.svg, measure }, draw };
  }

  start("metropolis", make);
})();
