// Prevalence and cut-off: scores of two classes, and what three published rates say of the share
// of the rare one.
(() => {
  const { Plane } = globalThis.kernelbookPlane;
  const { glyph } = globalThis.kernelbookPoints;
  const { Panel, logarithmic, oncePerFrame, short, start } = globalThis.kernelbookPanel;
  const [LOW, HIGH] = [-4, 7];
  const STEPS = 220;
  const HALF_DIGIT = 0.005; // what rounding to two decimals hides

  const density = (z) => Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);

  // The normal distribution by its series, after Marsaglia (2004).
  function below(z) {
    let [sum, last, term] = [z, 0, z];
    for (let odd = 3; sum !== last; odd += 2) {
      last = sum;
      term *= (z * z) / odd;
      sum += term;
    }
    return 0.5 + sum * density(z);
  }

  // accuracy - specificity = share * (sensitivity - specificity), solved for the share
  const shareOf = (accuracy, sensitivity, specificity) => (accuracy - specificity)
    / (sensitivity - specificity);

  // The shares that agree with the three rates as two decimals give them.
  function possibleShares(rates) {
    const rounded = rates.map((rate) => Math.round(100 * rate) / 100);
    if (Math.abs(rounded[1] - rounded[2]) <= 2 * HALF_DIGIT) return [0, 1];
    const signs = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1, k & 2, k & 4].map((bit) => (bit ? 1 : -1)));
    const corners = signs.map((by) => shareOf(...rounded.map((rate, k) => rate + by[k] * HALF_DIGIT)));
    return [Math.max(Math.min(...corners), 0), Math.min(Math.max(...corners), 1)];
  }

  const percent = (value) => `${short(100 * value)} %`;

  function make(figure) {
    const panel = new Panel(figure);
    const { values } = panel;
    const plane = new Plane(panel.stage, {
      limits: [[LOW, HIGH], [0, 0.42]], ratio: 0.62, labels: ["score", "density"],
      name: "Densities of the scores of two classes, and the cut-off",
    });

    // A density, tinted where the score is above the cut-off: there the answer is rare.
    function drawClass(mean, height, kind) {
      const curve = (from) => Array.from({ length: STEPS + 1 }, (_, k) => {
        const x = from + ((HIGH - from) * k) / STEPS;
        return [x, height * density(x - mean)];
      });
      const answered = curve(values.cutoff);
      plane.curve([[values.cutoff, 0], ...answered, [HIGH, 0]], `live-answered live-tint-${kind}`, true);
      plane.curve(curve(LOW), `live-class live-class-${kind}`);
    }

    function draw() {
      const { share, separation, cutoff, heights } = values;
      plane.clear();
      drawClass(0, heights === "count" ? 1 - share : 1, "negative");
      drawClass(separation, heights === "count" ? share : 1, "positive");
      const best = separation / 2 + Math.log((1 - share) / share) / separation;
      plane.curve([[best, 0], [best, 0.42]], "live-radius");
      plane.curve([[cutoff, 0], [cutoff, 0.42]], "live-boundary");
      const sensitivity = below(separation - cutoff);
      const specificity = below(cutoff);
      const accuracy = share * sensitivity + (1 - share) * specificity;
      const alarms = share * sensitivity + (1 - share) * below(-cutoff);
      return { sensitivity, specificity, accuracy, precision: (share * sensitivity) / alarms, best };
    }

    function report(now, what) {
      const { share } = values;
      const rates = [now.accuracy, now.sensitivity, now.specificity];
      const [least, most] = possibleShares(rates);
      // Without a division: at equal sensitivity and specificity the rates tell no share.
      const error = Math.abs(rates[0] - rates[2] - share * (rates[1] - rates[2]));
      panel.legend([
        [glyph("triangle"), `rare, ${percent(share)}`],
        [glyph("circle"), `common, ${percent(1 - share)}`],
        [panel.line("live-boundary"), "cut-off; rare to its right"],
        [panel.line("live-radius"), `most accurate cut-off: ${short(now.best)}`],
      ]);
      panel.show({
        Sensitivity: now.sensitivity.toFixed(2),
        Specificity: now.specificity.toFixed(2),
        Accuracy: now.accuracy.toFixed(2),
        Precision: now.precision.toFixed(2),
        "Possible share": `${short(100 * least)}–${percent(most)}`,
      }, error, "Equation error");
      panel.say(`${what}. Sensitivity ${now.sensitivity.toFixed(2)}, specificity ${now.specificity.toFixed(2)}, `
        + `accuracy ${now.accuracy.toFixed(2)}, precision ${now.precision.toFixed(2)}. Two decimals allow a share `
        + `of ${percent(least)} to ${percent(most)}.`);
    }

    const update = oncePerFrame((what) => report(draw(), what));
    panel.choice({
      key: "heights", label: "Heights",
      options: [["class", "each class alike"], ["count", "by its share"]],
    }, update);
    panel.slider({
      key: "share", label: "share of the rare class", min: -3, max: -0.3, step: 0.1, value: -1,
      scale: logarithmic,
    }, update);
    panel.slider({ key: "cutoff", label: "cut-off", min: -3, max: 6, step: 0.25, value: 1.5 }, update);
    panel.slider({ key: "separation", label: "distance of the means", min: 0.5, max: 4, step: 0.25, value: 2 }, update);
    report(draw(), "share of the rare class = 0.1");
    return { plane, draw };
  }

  start("cutoff", make);
})();
