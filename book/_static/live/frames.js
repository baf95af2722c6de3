// Figures whose problems were solved when the book was built: one frame a place of the slider.
globalThis.kernelbookFrame = (() => {
  const HUNDREDTHS = 100;

  // What Plane.region draws: values on nodes that reach two beyond the limits on each side.
  function grid({ limits, nodes }, values) {
    const place = (i, j) => [i, j].map((node, axis) => {
      const [low, high] = limits[axis];
      return low + ((node - 2) * (high - low)) / (nodes - 5);
    });
    return { columns: nodes, rows: nodes, values: values.map((value) => value / HUNDREDTHS), place };
  }

  const mirrored = (drawn) => ({ ...drawn, values: drawn.values.map((value) => -value) });

  // A slider through the frames; `at` of each is the decimal logarithm of what the slider shows.
  function slider(panel, { key, label, frames, value }, changed) {
    const scale = (place) => Number((10 ** frames[place].at).toPrecision(3));
    return panel.slider({ key, label, min: 0, max: frames.length - 1, step: 1, value, scale }, changed);
  }

  return { grid, mirrored, slider };
})();
