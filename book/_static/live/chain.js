// A random walk Metropolis chain on a line, what its draws are worth, and the exact answer.
globalThis.kernelbookChain = (() => {
  const [M1, M2] = [4294967087, 4294944443];
  const SEED = 12345;

  // Uniform numbers by two recurrences of order three, after L'Ecuyer (1999). Each remainder is
  // below 2 ** 32, so that every product is exact.
  function uniforms(stream) {
    const x = [SEED, SEED, SEED + stream];
    const y = [SEED, SEED, SEED];
    const next = (row, value, modulus) => {
      row.shift();
      row.push(((value % modulus) + modulus) % modulus);
      return row[2];
    };
    return () => {
      const a = next(x, 1403580 * x[1] - 810728 * x[0], M1);
      const b = next(y, 527612 * y[2] - 1370589 * y[0], M2);
      return (a > b ? a - b : a - b + M1) / (M1 + 1);
    };
  }

  // Normal steps by the polar form of Box and Muller (1958), one of each pair.
  const normal = (uniform) => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

  // Draws of a density, given its logarithm up to a constant; a rejected proposal repeats a state.
  function metropolis(logDensity, { from, step, count, stream = 0 }) {
    const uniform = uniforms(stream);
    const draws = new Float64Array(count);
    let accepted = 0;
    let at = from;
    let level = logDensity(at);
    for (let k = 0; k < count; k += 1) {
      const proposal = at + step * normal(uniform);
      const height = logDensity(proposal);
      if (Math.log(uniform()) < height - level) {
        [at, level] = [proposal, height];
        accepted += 1;
      }
      draws[k] = at;
    }
    return { draws, accepted: accepted / count };
  }

  // Number of independent draws whose mean is as sure, by the sum of autocorrelations in pairs as
  // long as the pairs are positive, and never larger than an earlier pair (Geyer 1992).
  function effectiveSize(values) {
    const n = values.length;
    const mean = values.reduce((sum, value) => sum + value, 0) / n;
    const centred = Float64Array.from(values, (value) => value - mean);
    const covariance = (lag) => {
      let sum = 0;
      for (let k = lag; k < n; k += 1) sum += centred[k] * centred[k - lag];
      return sum / n;
    };
    const variance = covariance(0);
    if (!(variance > 0)) return { mean, size: 1, error: Infinity };
    let total = -variance;
    let least = Infinity;
    for (let lag = 0; lag + 1 < n; lag += 2) {
      least = Math.min(least, covariance(lag) + covariance(lag + 1));
      if (least <= 0) break;
      total += 2 * least;
    }
    // No chain is worth more than its draws here: antithetic ones are not meant.
    const size = Math.min(n, Math.max(1, (n * variance) / total));
    return { mean, size, error: Math.sqrt(variance / size) };
  }

  // The mean of a function under a density by the trapezoidal rule, whose error falls faster than
  // any power where both ends vanish; `error` is the change when every second node is left out.
  function expectation(f, logDensity, [low, high], nodes = 4096) {
    let all = [0, 0];
    let half = [0, 0];
    for (let k = 0; k <= nodes; k += 1) {
      const x = low + ((high - low) * k) / nodes;
      const weight = Math.exp(logDensity(x)) * (k % nodes ? 1 : 0.5);
      const terms = [weight * f(x), weight];
      all = all.map((sum, part) => sum + terms[part]);
      if (k % 2 === 0) half = half.map((sum, part) => sum + terms[part]);
    }
    const value = all[0] / all[1];
    return { value, error: Math.abs(value - half[0] / half[1]), mass: (all[1] * (high - low)) / nodes };
  }

  return { effectiveSize, expectation, metropolis, uniforms };
})();
