// Solves what it reads from standard input, a list of problems, with the solver of the live figures.
require("../book/_static/live/solver.js");

const solve = ({ machine, X, y, parameters, queries }) => {
  const fit = globalThis.kernelbookSolver[machine];
  const started = performance.now();
  const fitted = y ? fit(X, y, parameters) : fit(X, parameters);
  const { kernel, decide, ...numbers } = fitted;
  const plain = { ...numbers, x: [...numbers.x], beta: [...numbers.beta] };
  return { ...plain, decision: queries.map(decide), milliseconds: performance.now() - started };
};

const problems = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(problems.map(solve)));
