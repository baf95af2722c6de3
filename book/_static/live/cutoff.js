// Prevalence and cut-off: scores of two classes, and the prevalence that three rates imply.
(() => {
  const { density, impliedPrevalence, ratesAt } = globalThis.kernelbookRates;
  const { Plane } = globalThis.kernelbookPlane;
  const { SHAPES, glyph } = globalThis.kernelbookPoints;
  const { Panel, logarithmic, oncePerFrame, short, start } = globalThis.kernelbookPanel;
  const [LOW, HIGH] = [-4, 7];
  const STEPS = 220;
  const DECIMALS = 2; // of the rates as they would be printed

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[LOW, HIGH], [0, 0.42]], ratio: 0.62, labels: ["score", "density"],
      name: "Densities of the scores of two classes, and the cut-off",
    });

    // A density, tinted where the score is above the cut-off: there the answer is rare.
    function drawClass(mean, height, kind, shape) {
      const curve = (from) => Array.from({ length: STEPS + 1 }, (_, k) => {
        const x = from + ((HIGH - from) * k) / STEPS;
        return [x, height * density(x - mean)];
      });
      const answered = curve(values.cutoff);
      plane.curve([[values.cutoff, 0], ...answered, [HIGH, 0]], `live-answered live-tint-${kind}`, true);
      plane.curve(curve(LOW), `live-class live-class-${kind}`);
      plane.mark([mean, height * density(0)], SHAPES[shape], `live-${shape}`);
    }

    function draw() {
      const { prevalence, distance, cutoff, heights } = values;
      plane.clear();
      drawClass(0, heights === "count" ? 1 - prevalence : 1, "negative", "circle");
      drawClass(distance, heights === "count" ? prevalence : 1, "positive", "triangle");
      const best = distance / 2 + Math.log((1 - prevalence) / prevalence) / distance;
      plane.curve([[best, 0], [best, 0.42]], "live-radius");
      plane.curve([[cutoff, 0], [cutoff, 0.42]], "live-boundary");
      return { best, ...ratesAt(cutoff, distance, prevalence) };
    }

    function report(now, what) {
      const { prevalence } = values;
      const { sensitivity, specificity, accuracy } = now;
      const [least, largest] = impliedPrevalence(now, DECIMALS).map((end) => 100 * end);
      const implied = `${short(least)}–${short(largest)} %`;
      // Without a division: at equal sensitivity and specificity the rates tell nothing.
      const error = Math.abs(accuracy - specificity - prevalence * (sensitivity - specificity));
      panel.legend([
        [glyph("triangle"), `rare, ${short(100 * prevalence)} %`],
        [glyph("circle"), `common, ${short(100 * (1 - prevalence))} %`],
        [panel.line("live-boundary"), "cut-off; rare to its right"],
        [panel.line("live-radius"), `most accurate cut-off: ${short(now.best)}`],
      ]);
      const printed = Object.fromEntries(["Sensitivity", "Specificity", "Accuracy", "Precision"]
        .map((rate) => [rate, now[rate.toLowerCase()].toFixed(DECIMALS)]));
      panel.show({ ...printed, "Implied prevalence": implied }, error, "Equation error");
      const rates = Object.entries(printed).map(([rate, value]) => `${rate} ${value}`).join(", ").toLowerCase();
      panel.say(`${what}. Now ${rates}. Two decimals imply a prevalence of ${implied}.`);
    }

    const update = oncePerFrame((what) => report(draw(), what));
    panel.choice({
      key: "heights", label: "Heights",
      options: [["class", "each class alike"], ["count", "by prevalence"]],
    }, update);
    panel.slider({
      key: "prevalence", label: "prevalence", min: -3, max: -0.3, step: 0.1, value: -1,
      scale: logarithmic,
    }, update);
    panel.slider({ key: "cutoff", label: "cut-off", min: -3, max: 6, step: 0.25, value: 1.5 }, update);
    panel.slider({ key: "distance", label: "distance of the means", min: 0.5, max: 4, step: 0.25, value: 2 }, update);
    report(draw(), "prevalence = 0.1");
    return { plane, draw };
  }

  start("cutoff", make);
})();
