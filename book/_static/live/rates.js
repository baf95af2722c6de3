// Rates of a classifier whose scores are normal in each class, and the prevalence that printed
// rates imply.
globalThis.kernelbookRates = (() => {
  const density = (z) => Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);

  // The normal distribution function by its series, after Marsaglia (2004); for |z| below 7.
  function below(z) {
    let [sum, last, term] = [z, 0, z];
    for (let odd = 3; sum !== last; odd += 2) {
      last = sum;
      term *= (z * z) / odd;
      sum += term;
    }
    return 0.5 + sum * density(z);
  }

  // Common scores have mean 0, rare ones `distance`; rare is answered above the cut-off.
  function ratesAt(cutoff, distance, prevalence) {
    const sensitivity = below(distance - cutoff);
    const specificity = below(cutoff);
    const found = prevalence * sensitivity;
    return {
      sensitivity,
      specificity,
      accuracy: found + (1 - prevalence) * specificity,
      precision: found / (found + (1 - prevalence) * below(-cutoff)),
    };
  }

  // The prevalences for which accuracy = prevalence * sensitivity + (1 - prevalence) *
  // specificity can hold before rounding to so many decimals: [least, largest].
  function impliedPrevalence({ accuracy, sensitivity, specificity }, decimals) {
    const [a, s, t] = [accuracy, sensitivity, specificity].map((rate) => {
      const printed = Number(rate.toFixed(decimals));
      const half = 0.5 * 10 ** -decimals;
      return [Math.max(0, printed - half), Math.min(1, printed + half)];
    });
    let [least, largest] = [0, 1];
    // Both conditions as slope * prevalence <= bound.
    for (const [slope, bound] of [[s[0] - t[0], a[1] - t[0]], [t[1] - s[1], t[1] - a[0]]]) {
      if (slope > 0) largest = Math.min(largest, bound / slope);
      else if (slope < 0) least = Math.max(least, bound / slope);
    }
    return [least, largest];
  }

  return { density, impliedPrevalence, ratesAt };
})();
