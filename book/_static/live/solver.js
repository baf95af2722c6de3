// Proved solutions of small kernel machines (at most a hundred points), in the page itself.
//
// Every machine is the same quadratic program. Variable k belongs to the point p(k) and has a
// sign s(k); with beta the sum of s(k) x(k) over the variables of a point,
//
//     minimise  1/2 beta' K beta + q' x   subject to  s' x = total,  0 <= x(k) <= upper(k).
//
// Pairwise steps find the face of the box on which the minimum lies, Newton steps in that face
// polish it, and a certificate that knows nothing of either tells how far from optimal it is.
globalThis.kernelbookSolver = (() => {
  const EPS = Number.EPSILON;
  const ENOUGH = 1e-12; // a relative gap below which nothing is left to gain
  const ROUNDS = 60;
  const CLOSE = 1e-8; // below it, rounds that bring nothing show that rounding allows no more
  const PATIENCE = 2;
  const PAIRS = 200; // pairwise steps in each round

  function dot(x, z) {
    let sum = 0;
    for (let k = 0; k < x.length; k += 1) sum += x[k] * z[k];
    return sum;
  }
  const squaredDistance = (x, z) => x.reduce((sum, value, k) => sum + (value - z[k]) ** 2, 0);

  function kernelFunction({ kernel, gamma, degree, coef0 }) {
    return {
      linear: dot,
      rbf: (x, z) => Math.exp(-gamma * squaredDistance(x, z)),
      poly: (x, z) => (gamma * dot(x, z) + coef0) ** degree,
    }[kernel];
  }

  function start(problem) {
    const x = new Float64Array(problem.sign.length);
    let rest = problem.total;
    for (let k = 0; k < x.length && rest > 0; k += 1) {
      x[k] = Math.min(rest, problem.upper[k]);
      rest -= x[k];
    }
    return { ...problem, x, gradient: gradientAt(problem, x) };
  }

  function coefficients({ K, point, sign }, x) {
    const beta = new Float64Array(K.length);
    x.forEach((value, k) => { beta[point[k]] += sign[k] * value; });
    return beta;
  }

  function gradientAt(problem, x) {
    const beta = coefficients(problem, x);
    const f = problem.K.map((row) => dot(row, beta));
    return Float64Array.from(x, (_, k) => problem.sign[k] * f[problem.point[k]] + problem.q[k]);
  }

  // The pair that promises the largest decrease, after Fan, Chen and Lin (2005).
  function choosePair({ K, point, sign, upper, x, gradient }) {
    const slope = (k) => -sign[k] * gradient[k];
    const canRise = (k) => (sign[k] > 0 ? x[k] < upper[k] : x[k] > 0);
    const canFall = (k) => (sign[k] > 0 ? x[k] > 0 : x[k] < upper[k]);
    let i = -1;
    for (let k = 0; k < x.length; k += 1) {
      if (canRise(k) && (i < 0 || slope(k) > slope(i))) i = k;
    }
    let best = null;
    for (let j = 0; i >= 0 && j < x.length; j += 1) {
      const excess = slope(i) - slope(j);
      if (!canFall(j) || excess <= 0) continue;
      const [a, b] = [point[i], point[j]];
      const trace = K[a][a] + K[b][b];
      const curvature = Math.max(trace - 2 * K[a][b], EPS * trace, Number.MIN_VALUE);
      const decrease = excess ** 2 / curvature;
      if (!best || decrease > best.decrease) best = { i, j, decrease, length: excess / curvature };
    }
    return best;
  }

  function stepPair({ K, point, sign, upper, x, gradient }, { i, j, length }) {
    const roomI = sign[i] > 0 ? upper[i] - x[i] : x[i];
    const roomJ = sign[j] > 0 ? x[j] : upper[j] - x[j];
    const step = Math.min(length, roomI, roomJ);
    x[i] += sign[i] * step;
    x[j] -= sign[j] * step;
    // What meets a bound lies on it, not within rounding of it.
    if (step === roomI) x[i] = sign[i] > 0 ? upper[i] : 0;
    if (step === roomJ) x[j] = sign[j] > 0 ? 0 : upper[j];
    const [rising, falling] = [K[point[i]], K[point[j]]];
    for (let k = 0; k < x.length; k += 1) {
      gradient[k] += sign[k] * step * (rising[point[k]] - falling[point[k]]);
    }
  }

  // A Newton step among the variables between their bounds, as far as the first bound on its way.
  // Returns whether one was met: then there is a smaller face to go on in.
  function stepFace(state) {
    const { K, point, sign, upper, x, gradient } = state;
    const free = [...x.keys()].filter((k) => x[k] > 0 && x[k] < upper[k]);
    if (free.length < 2) return false;
    const scale = Math.max(...free.map((k) => K[point[k]][point[k]]), Number.MIN_VALUE);
    const ridge = 4 * EPS * scale * free.length; // a direction without curvature leads to a bound
    const system = free.map((k) => [
      ...free.map((l) => sign[k] * sign[l] * K[point[k]][point[l]] + (k === l ? ridge : 0)),
      sign[k] * scale,
      -gradient[k],
    ]);
    system.push([...free.map((k) => sign[k] * scale), 0, 0]);
    const direction = eliminate(system).slice(0, free.length);
    if (!direction.every(Number.isFinite)) return false;
    let [length, blocking] = [1, -1];
    direction.forEach((d, place) => {
      const k = free[place];
      const room = (d > 0 ? upper[k] - x[k] : x[k]) / Math.abs(d);
      if (room < length) [length, blocking] = [room, place];
    });
    direction.forEach((d, place) => {
      const k = free[place];
      const bound = d > 0 ? upper[k] : 0;
      x[k] = place === blocking ? bound : Math.min(Math.max(x[k] + length * d, 0), upper[k]);
    });
    state.gradient = gradientAt(state, x);
    return blocking >= 0;
  }

  // Gaussian elimination with partial pivoting; the last column is the right-hand side.
  function eliminate(rows) {
    const n = rows.length;
    for (let column = 0; column < n; column += 1) {
      let pivot = column;
      for (let row = column + 1; row < n; row += 1) {
        if (Math.abs(rows[row][column]) > Math.abs(rows[pivot][column])) pivot = row;
      }
      [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
      for (let row = column + 1; row < n; row += 1) {
        const factor = rows[row][column] / rows[column][column];
        for (let k = column; k <= n; k += 1) rows[row][k] -= factor * rows[column][k];
      }
    }
    const solution = new Array(n);
    for (let row = n - 1; row >= 0; row -= 1) {
      let rest = rows[row][n];
      for (let k = row + 1; k < n; k += 1) rest -= rows[row][k] * solution[k];
      solution[row] = rest / rows[row][row];
    }
    return solution;
  }

  // A sum of products in twice the working precision, after Ogita, Rump and Oishi (2005).
  function preciseDot(a, b) {
    let [sum, rest] = [0, 0];
    for (let k = 0; k < a.length; k += 1) {
      const product = a[k] * b[k];
      const [aHead, aTail] = halves(a[k]);
      const [bHead, bTail] = halves(b[k]);
      const lost = aTail * bTail - (product - aHead * bHead - aTail * bHead - aHead * bTail);
      const next = sum + product;
      const added = next - sum;
      rest += sum - (next - added) + (product - added) + lost;
      sum = next;
    }
    return sum + rest;
  }

  function halves(value) {
    const shifted = 134217729 * value; // 2 ** 27 + 1
    const high = shifted - (shifted - value);
    return [high, value - high];
  }

  // How far x can be from optimal, judged by x alone. For any multiplier of the equality and
  // r = gradient + multiplier * s, the objective exceeds the minimum by at most the sum of
  // r x where r > 0 and of -r (upper - x) where r < 0. Rounding may have changed each r: the gap
  // that is claimed is the largest one within that, plus what the equality lacks.
  function certify(problem, x) {
    const { K, point, sign, q, upper, total } = problem;
    const beta = coefficients(problem, x);
    const f = K.map((row) => preciseDot(row, beta));
    const gradient = Array.from(x, (_, k) => sign[k] * f[point[k]] + q[k]);
    const size = K.map((row) => row.reduce((sum, value, j) => sum + Math.abs(value * beta[j]), 0));
    const noise = gradient.map((_, k) => 2 * EPS * (size[point[k]] + Math.abs(q[k])));
    const defect = Math.abs(preciseDot([...sign, total], [...x, -1]));
    const gapAt = (multiplier) => gradient.reduce((sum, g, k) => {
      const r = g + multiplier * sign[k];
      const noisy = noise[k] + EPS * Math.abs(r);
      return sum + Math.max((r + noisy) * x[k], (noisy - r) * (upper[k] - x[k]), 0);
    }, defect * Math.abs(multiplier));
    const quadratic = dot(beta, f);
    const objective = quadratic / 2 + dot(q, x);
    const terms = q.reduce((sum, value, k) => sum + Math.abs(value) * upper[k], 0);
    const corners = gradient.flatMap((g, k) => [-sign[k] * (g - noise[k]), -sign[k] * (g + noise[k])]);
    const gaps = corners.map(gapAt);
    // Where several multipliers are as good, to rounding, the middle of them.
    const worst = Math.min(...gaps) + 4 * EPS * (Math.abs(objective) + terms);
    const good = corners.filter((_, k) => gaps[k] <= worst);
    const multiplier = (Math.min(...good) + Math.max(...good)) / 2;
    const gap = gapAt(multiplier);
    // Nothing is small relative to a minimum of zero: then the size of its terms is the unit.
    const value = Math.max(Math.abs(objective), Math.abs(objective - gap));
    const unit = value > 16 * EPS * terms ? value : terms || 1;
    return { beta, multiplier, quadratic, objective, gap: gap / unit };
  }

  function minimise(problem) {
    const state = start(problem);
    let best = { x: state.x.slice(), ...certify(problem, state.x) };
    let idle = 0;
    for (let round = 0; round < ROUNDS && idle < PATIENCE && best.gap > ENOUGH; round += 1) {
      for (let step = 0; step < PAIRS; step += 1) {
        const pair = choosePair(state);
        if (!pair) break;
        stepPair(state, pair);
      }
      while (stepFace(state));
      const found = certify(problem, state.x);
      idle = best.gap < CLOSE && found.gap > best.gap / 2 ? idle + 1 : 0;
      if (found.gap < best.gap) best = { x: state.x.slice(), ...found };
    }
    return best;
  }

  // A fitted machine: f(z) = sum of beta(j) k(x_j, z) plus b, which callers shift and scale.
  function machine(X, parameters, describe) {
    const k = kernelFunction(parameters);
    const K = X.map((x) => Float64Array.from(X, (z) => k(x, z)));
    const problem = describe(K);
    const found = minimise({ K, ...problem });
    const own = X.map(() => ({ used: false, bounded: false }));
    found.x.forEach((value, variable) => {
      const state = own[problem.point[variable]];
      state.used ||= value > 0;
      state.bounded ||= value > 0 && value === problem.upper[variable];
    });
    const support = [...X.keys()].filter((i) => own[i].used);
    const weights = support.map((i) => found.beta[i]);
    const atoms = support.map((i) => X[i]);
    return {
      ...found,
      kernel: k,
      support,
      bounded: support.filter((i) => own[i].bounded),
      free: support.filter((i) => !own[i].bounded),
      decide: (z) => atoms.reduce((sum, x, j) => sum + weights[j] * k(x, z), found.multiplier),
    };
  }

  const indices = (X) => [...X.keys()];

  // min 1/2 |w|^2 + sum C_i xi_i, labels -1 and +1; C is one number, or one for each point.
  function svc(X, y, { C, ...parameters }) {
    const { objective, multiplier, ...rest } = machine(X, parameters, () => ({
      point: indices(X), sign: y, q: y.map(() => -1),
      upper: y.map((_, i) => C[i] ?? C), total: 0,
    }));
    return { ...rest, objective: -objective, b: multiplier };
  }

  // min 1/2 |w|^2 + C sum max(0, |y_i - f(x_i)| - epsilon)
  function svr(X, y, { C, epsilon, ...parameters }) {
    const { objective, multiplier, ...rest } = machine(X, parameters, () => ({
      point: [...indices(X), ...indices(X)],
      sign: [...y.map(() => 1), ...y.map(() => -1)],
      q: [...y.map((value) => epsilon - value), ...y.map((value) => epsilon + value)],
      upper: new Array(2 * X.length).fill(C),
      total: 0,
    }));
    return { ...rest, objective: -objective, b: multiplier };
  }

  // min 1/2 |w|^2 - rho + sum xi_i / (nu n); decides w'phi(z) - rho.
  function oneClass(X, { nu, ...parameters }) {
    const { objective, multiplier, ...rest } = machine(X, parameters, () => ({
      point: indices(X), sign: X.map(() => 1), q: X.map(() => 0),
      upper: X.map(() => 1 / (nu * X.length)), total: 1,
    }));
    return { ...rest, objective: -objective, rho: -multiplier };
  }

  // min R^2 + C sum xi_i; decides R^2 less the squared distance from the centre.
  function svdd(X, { C, ...parameters }) {
    const { objective, multiplier, decide, ...rest } = machine(X, parameters, (K) => ({
      point: indices(X), sign: X.map(() => 1), q: K.map((row, i) => -row[i] / 2),
      upper: X.map(() => C), total: 1,
    }));
    return {
      ...rest,
      objective: -2 * objective,
      radiusSquared: 2 * multiplier + rest.quadratic,
      decide: (z) => 2 * decide(z) - rest.kernel(z, z),
    };
  }

  return { svc, svr, oneClass, svdd };
})();
