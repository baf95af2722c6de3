// Kernel principal components of few points, and a proof of every eigenvalue.
//
// With H = I - 11'/n the centred matrix is H K H, and its eigenvectors u give the components
// f(z) = sum of u(i) k(x_i, z) / sqrt(lambda), less the mean of f over the points.
globalThis.kernelbookComponents = (() => {
  const EPS = Number.EPSILON;
  const SWEEPS = 30;
  const TIE = 1e-6; // entries as close as this are equal: the first decides the sign

  const product = (x, z) => x.reduce((sum, value, k) => sum + value * z[k], 0);
  const squaredDistance = (x, z) => x.reduce((sum, value, k) => sum + (value - z[k]) ** 2, 0);

  // Less a constant, which centring takes away: what is small keeps its digits.
  function kernelFunction({ kernel, gamma, degree, coef0 }) {
    return {
      linear: product,
      rbf: (x, z) => Math.expm1(-gamma * squaredDistance(x, z)),
      poly: (x, z) => (gamma * product(x, z) + coef0) ** degree,
    }[kernel];
  }

  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  function centre(K) {
    const rows = K.map(mean);
    const all = mean(rows);
    return K.map((row, i) => Float64Array.from(row, (value, j) => value - rows[i] - rows[j] + all));
  }

  // Eigenvalues, descending, and vectors of a symmetric matrix by Jacobi's rotations.
  function decompose(matrix) {
    const n = matrix.length;
    const A = matrix.map((row) => Float64Array.from(row));
    const V = A.map((_, i) => Float64Array.from(A, (__, j) => Number(i === j))); // a vector a row
    for (let sweep = 0, turned = true; sweep < SWEEPS && turned; sweep += 1) {
      turned = false;
      for (let p = 0; p < n - 1; p += 1) {
        for (let q = p + 1; q < n; q += 1) {
          if (Math.abs(A[p][q]) <= 0.1 * EPS * Math.sqrt(Math.abs(A[p][p] * A[q][q]))) continue;
          turned = true;
          rotate(A, V, p, q);
        }
      }
    }
    const order = [...A.keys()].sort((i, j) => A[j][j] - A[i][i]);
    return { values: order.map((i) => A[i][i]), vectors: order.map((i) => V[i]) };
  }

  // Turns the axes p and q until A[p][q] is zero, by the smaller of the two angles.
  function rotate(A, V, p, q) {
    const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
    const c = 1 / Math.hypot(t, 1);
    const s = t * c;
    for (let k = 0; k < A.length; k += 1) {
      [A[k][p], A[k][q]] = [c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]];
    }
    for (const rows of [A, V]) {
      const [first, second] = [rows[p], rows[q]];
      for (let k = 0; k < A.length; k += 1) {
        [first[k], second[k]] = [c * first[k] - s * second[k], s * first[k] + c * second[k]];
      }
    }
    A[p][q] = 0;
    A[q][p] = 0;
  }

  // How far any of the eigenvalues can be from the true one of the same rank, judged by matrix,
  // values and vectors alone. With residual R = A U - U D and Q the orthogonal matrix next to U,
  // |U - Q| is at most |U'U - I|, so A differs from Q D Q', which has these eigenvalues, by at
  // most |R| + (|A| + |D|) |U'U - I|; no eigenvalue can move farther (Weyl).
  function certify(A, values, vectors) {
    const images = vectors.map((u) => A.map((row) => product(row, u)));
    const residuals = images.map((image, k) => Math.sqrt(
      image.reduce((sum, value, i) => sum + (value - values[k] * vectors[k][i]) ** 2, 0)));
    let skew = 0;
    vectors.forEach((u, k) => vectors.forEach((v, l) => {
      skew += (product(u, v) - Number(k === l)) ** 2;
    }));
    const size = (rows) => Math.sqrt(rows.reduce((sum, row) => sum + product(row, row), 0));
    const largest = Math.max(...values.map(Math.abs));
    // The sums above are rounded, too.
    const noise = 4 * EPS * A.length * size(A);
    return {
      residuals,
      error: size([residuals]) + (size(A) + largest) * Math.sqrt(skew) + noise,
    };
  }

  // The entry that is largest in size is positive; the first of those that are as large.
  function signed(u) {
    const largest = Math.max(...u.map(Math.abs));
    const first = u.find((value) => Math.abs(value) >= (1 - TIE) * largest);
    return first < 0 ? u.map((value) => -value) : u;
  }

  // All components of the points X; `score(k, z)` is that of a point on component k.
  function components(X, parameters) {
    const k = kernelFunction(parameters);
    const middle = X[0].map((_, axis) => mean(X.map((x) => x[axis])));
    const about = parameters.kernel === "linear" ? middle : X[0].map(() => 0);
    const shift = (z) => z.map((value, axis) => value - about[axis]);
    const points = X.map(shift);
    const A = centre(points.map((x) => points.map((z) => k(x, z))));
    const { values, vectors } = decompose(A);
    const U = vectors.map(signed);
    const { residuals, error } = certify(A, values, U);
    const trace = A.reduce((sum, row, i) => sum + row[i], 0);
    const weights = U.map((u, c) => (values[c] > error ? u.map((each) => each / Math.sqrt(values[c])) : null));
    const offsets = weights.map((w) => w && mean(points.map((z) => sumOver(w, z))));

    function sumOver(w, z) {
      return points.reduce((sum, x, i) => sum + w[i] * k(x, z), 0);
    }

    return {
      values, vectors: U, residuals, error,
      rank: weights.filter(Boolean).length,
      shares: values.map((value) => value / trace),
      score: (c, z) => (weights[c] ? sumOver(weights[c], shift(z)) - offsets[c] : 0),
    };
  }

  return { certify, components, decompose };
})();
