// A plane of two coordinates in SVG: axes, curves, regions above a level. Colours come from
// live.css, so that a change of theme needs no drawing.
globalThis.kernelbookPlane = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const ROOM = { left: 34, right: 8, top: 8, bottom: 30 }; // pixels for ticks and labels
  const CELL = 8; // pixels between the nodes of a grid
  let planes = 0;

  function element(name, attributes = {}, parent = null) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent?.append(made);
    return made;
  }

  const path = (points) => points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`)
    .join("");

  // Marching squares: closed rings around the nodes whose value is above a level. A ring leaves a
  // cell through the edge by which it enters the next one; a frame of low values closes it.
  function rings({ columns, rows, values, place }, level) {
    const at = (i, j) => (i > 0 && j > 0 && i < columns - 1 && j < rows - 1
      ? values[j * columns + i] : -Number.MAX_VALUE);
    const next = new Map();
    const crossing = new Map();
    for (let j = 0; j < rows - 1; j += 1) {
      for (let i = 0; i < columns - 1; i += 1) {
        const nodes = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
        const height = nodes.map((node) => at(...node));
        const inside = height.map((value) => value > level);
        if (inside.every(Boolean) || !inside.some(Boolean)) continue;
        const corner = 2 * (j * columns + i);
        const edges = [corner, corner + 3, corner + 2 * columns, corner + 1];
        const joined = height.reduce((sum, value) => sum + value / 4, 0) > level;
        const alone = inside[0] === inside[2] && inside[1] === inside[3] && !joined;
        for (let k = 0; k < 4; k += 1) {
          if (!inside[k] || inside[(k + 1) % 4]) continue;
          let entry = alone ? k + 3 : k + 1;
          while (inside[entry % 4] || !inside[(entry + 1) % 4]) entry += 1;
          next.set(edges[k], edges[entry % 4]);
          const [low, high] = [height[(k + 1) % 4], height[k]];
          const [from, to] = [place(...nodes[(k + 1) % 4]), place(...nodes[k])];
          const t = (level - low) / (high - low);
          crossing.set(edges[k], from.map((value, axis) => value + t * (to[axis] - value)));
        }
      }
    }
    const found = [];
    while (next.size) {
      const ring = [];
      let edge = next.keys().next().value;
      while (next.has(edge)) {
        ring.push(crossing.get(edge));
        const following = next.get(edge);
        next.delete(edge);
        edge = following;
      }
      found.push(ring);
    }
    return found;
  }

  function ticks([low, high], wanted) {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length: count }, (_, k) => Number(((first + k) * step).toPrecision(6)));
  }

  class Plane {
    // limits: [[x low, x high], [y low, y high]]; ratio: height of the picture over its width.
    constructor(parent, { limits, ratio, labels, name }) {
      Object.assign(this, { limits, ratio, labels });
      planes += 1;
      this.clip = `live-clip-${planes}`;
      this.svg = element("svg", { class: "live-plane", role: "group", "aria-label": name });
      parent.append(this.svg);
      const clip = element("clipPath", { id: this.clip }, element("defs", {}, this.svg));
      this.window = element("rect", {}, clip);
      this.field = element("rect", { class: "live-field" }, this.svg);
      this.axes = element("g", { class: "live-axes", "aria-hidden": "true" }, this.svg);
      this.under = element("g", { "clip-path": `url(#${this.clip})`, "aria-hidden": "true" }, this.svg);
      this.titles = element("g", { "aria-hidden": "true" }, this.svg);
      this.over = element("g", {}, this.svg);
      this.measure();
    }

    // Takes the width that the page gives; true if it has changed.
    measure() {
      const width = Math.round(this.svg.clientWidth) || 480;
      if (width === this.width) return false;
      this.width = width;
      this.height = Math.round(width * this.ratio);
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      const size = {
        x: ROOM.left, y: ROOM.top,
        width: this.width - ROOM.left - ROOM.right, height: this.height - ROOM.top - ROOM.bottom,
      };
      for (const box of [this.window, this.field]) {
        for (const [key, value] of Object.entries(size)) box.setAttribute(key, value);
      }
      this.size = size;
      this.drawAxes();
      return true;
    }

    pixel([x, y]) {
      const [[left, right], [low, high]] = this.limits;
      return [
        this.size.x + ((x - left) / (right - left)) * this.size.width,
        this.size.y + ((high - y) / (high - low)) * this.size.height,
      ];
    }

    // Coordinates of a place on the screen, such as that of a pointer.
    coordinates({ clientX, clientY }) {
      const box = this.svg.getBoundingClientRect();
      const [[left, right], [low, high]] = this.limits;
      const x = (clientX - box.left) * (this.width / box.width) - this.size.x;
      const y = (clientY - box.top) * (this.height / box.height) - this.size.y;
      return this.inside([
        left + (x / this.size.width) * (right - left),
        high - (y / this.size.height) * (high - low),
      ]);
    }

    inside(place) {
      return place.map((value, axis) => Math.min(Math.max(value, this.limits[axis][0]), this.limits[axis][1]));
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.titles.replaceChildren();
      const { x, y, width, height } = this.size;
      const [bottom, right] = [y + height, x + width];
      element("path", { d: `M${x} ${y}V${bottom}H${right}` }, this.axes);
      for (const value of ticks(this.limits[0], 6)) {
        const [place] = this.pixel([value, 0]);
        element("path", { d: `M${place} ${bottom}v4` }, this.axes);
        this.text(this.axes, value, place, bottom + 16, "middle");
      }
      for (const value of ticks(this.limits[1], 5)) {
        const place = this.pixel([0, value])[1];
        element("path", { d: `M${x} ${place}h-4` }, this.axes);
        this.text(this.axes, value, x - 7, place + 4, "end");
      }
      const [horizontal, vertical] = this.labels;
      this.text(this.titles, horizontal, right - 2, bottom - 6, "end", "live-axis-name");
      this.text(this.titles, vertical, x + 6, y + 12, "start", "live-axis-name");
    }

    text(parent, words, x, y, anchor, kind = "") {
      const made = element("text", { x, y, "text-anchor": anchor, class: kind }, parent);
      made.textContent = String(words).replace("-", "\u2212");
    }

    // Values of a function on a grid that is somewhat larger than what is seen.
    grid(decide) {
      const columns = Math.ceil(this.size.width / CELL) + 5;
      const rows = Math.ceil(this.size.height / CELL) + 5;
      const [[left, right], [low, high]] = this.limits;
      const place = (i, j) => [
        left + (((i - 2) * CELL) / this.size.width) * (right - left),
        low + (((j - 2) * CELL) / this.size.height) * (high - low),
      ];
      const values = new Float64Array(columns * rows);
      for (let j = 0; j < rows; j += 1) {
        for (let i = 0; i < columns; i += 1) values[j * columns + i] = decide(place(i, j));
      }
      return { columns, rows, values, place };
    }

    clear() {
      this.under.replaceChildren();
    }

    region(grid, level, kind) {
      const outline = rings(grid, level).map((ring) => `${path(ring.map((p) => this.pixel(p)))}Z`);
      return element("path", { d: outline.join(""), class: kind, "fill-rule": "evenodd" }, this.under);
    }

    curve(points, kind, closed = false) {
      return this.trace(element("path", { class: kind }, this.under), points, closed);
    }

    // Gives a path of any layer its course through points of the plane.
    trace(node, points, closed = false) {
      node.setAttribute("d", path(points.map((point) => this.pixel(point))) + (closed ? "Z" : ""));
      return node;
    }

    // A shape, such as that of a class, at one place.
    mark(at, d, kind) {
      const transform = `translate(${this.pixel(at).map((value) => value.toFixed(1)).join(" ")})`;
      return element("path", { d, class: kind, transform }, this.under);
    }
  }

  return { Plane, element };
})();
