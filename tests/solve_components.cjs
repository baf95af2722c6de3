// Kernel principal components of what it reads from standard input, a list of problems, by the
// script of the live figure.
require("../book/_static/live/components.js");
const { certify, components, decompose } = globalThis.kernelbookComponents;

function solve({ X, parameters, queries, matrix, bend }) {
  if (matrix) {
    const { values, vectors } = decompose(matrix);
    vectors[0][0] += bend;
    return { values, vectors: vectors.map((u) => [...u]), ...certify(matrix, values, vectors) };
  }
  const { score, vectors, ...found } = components(X, parameters);
  return { ...found, scores: queries.map((z) => [0, 1, 2].map((c) => score(c, z))) };
}

const problems = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(problems.map(solve)));
