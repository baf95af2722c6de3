// Points on a plane that move by mouse, finger or keyboard. They are one stop of the tabulator
// key; Page Down and Page Up go from point to point.
globalThis.kernelbookPoints = (() => {
  const { element } = globalThis.kernelbookPlane;
  const REACH = 16; // pixels around a point that belong to it, for fingers
  const FINE = 1 / 200; // of the plane, for each press of an arrow
  const COARSE = 1 / 20;
  const MOST = 100; // what the solver does between two frames
  const SHAPES = {
    circle: "M0 -5A5 5 0 1 1 0 5A5 5 0 1 1 0 -5Z",
    datum: "M0 -5A5 5 0 1 1 0 5A5 5 0 1 1 0 -5Z",
    triangle: "M0 -6.6L6.2 4.6H-6.2Z",
    // Support vectors: a ring is between its bounds, a square is at the upper one.
    free: "M0 -9.5A9.5 9.5 0 1 1 0 9.5A9.5 9.5 0 1 1 0 -9.5Z",
    bounded: "M-8.5 -8.5H8.5V8.5H-8.5Z",
  };
  const SUPPORT = { free: "free support vector", bounded: "bounded support vector" };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

  // A picture of shapes for a legend or a button.
  function glyph(...shapes) {
    const svg = element("svg", { class: "live-glyph", viewBox: "-11 -11 22 22", "aria-hidden": "true" });
    shapes.forEach((shape) => element("path", { d: SHAPES[shape], class: `live-${shape}` }, svg));
    return svg;
  }

  // Lets a pointer drag a node; `begin` hears that it starts. A finger on the node does not scroll the
  // page, which `touch-action` cannot forbid in SVG.
  function draggable(node, move, begin = () => {}) {
    node.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    node.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      begin();
      node.setPointerCapture(event.pointerId);
      node.addEventListener("pointermove", move);
      const drop = () => node.removeEventListener("pointermove", move);
      node.addEventListener("lostpointercapture", drop, { once: true });
    });
  }

  class Points {
    // `groups` holds the places of the first points by their shape, `names` what a shape is called;
    // `keep` points of each shape stay. `update(what)` hears of every change, `say(why)` of what
    // is refused. `kinds` says what a ring and a square mean.
    constructor(plane, { groups, names, keep, update, say, kinds = SUPPORT }) {
      Object.assign(this, { plane, names, keep, update, say, kinds });
      this.start = Object.entries(groups).flatMap(([shape, places]) => places.map((at) => ({ at, shape })));
      this.shapes = Object.keys(groups);
      [this.newShape] = this.shapes;
      this.layer = element("g", { role: "application", "aria-roledescription": "points that move" }, plane.over);
      this.layer.setAttribute("aria-label", "Points. Arrow keys move the point, Page Down and Page Up "
        + "choose another, Delete removes it" + (this.shapes.length > 1 ? ", Space changes its class." : "."));
      this.reset();
      plane.field.addEventListener("click", (event) => this.add(plane.coordinates(event)));
    }

    reset() {
      this.all = this.start.map(({ at, shape }) => ({ at: [...at], shape }));
      this.current = this.all[0];
      this.rebuild();
    }

    rebuild() {
      this.layer.replaceChildren();
      this.all.forEach((point) => this.build(point));
    }

    build(point) {
      const group = element("g", { role: "button", "aria-roledescription": "point" }, this.layer);
      element("circle", { r: REACH, class: "live-reach" }, group);
      point.ring = element("path", { class: "live-ring" }, group);
      point.mark = element("path", {}, group);
      point.group = group;
      draggable(group, (event) => this.move(point, this.plane.coordinates(event)), () => {
        group.focus({ preventScroll: true });
      });
      group.addEventListener("keydown", (event) => this.press(event, point));
      group.addEventListener("focus", () => this.choose(point));
    }

    // Draws what has moved; `kindOf` tells which points have a ring ("free") or a square ("bounded").
    draw(kindOf) {
      this.all.forEach((point, index) => {
        const [x, y] = this.plane.pixel(point.at);
        const kind = kindOf(index);
        point.group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
        point.group.setAttribute("class", `live-point ${kind ? "" : "live-idle"}`);
        point.group.setAttribute("tabindex", point === this.current ? "0" : "-1");
        point.group.setAttribute("aria-label", this.describe(point, index, kind));
        point.mark.setAttribute("d", SHAPES[point.shape]);
        point.mark.setAttribute("class", `live-${point.shape}`);
        point.ring.setAttribute("d", kind ? SHAPES[kind] : "");
      });
    }

    describe({ at, shape }, index, kind) {
      const what = kind ? `, ${this.kinds[kind]}` : "";
      return `Point ${index + 1}, ${this.names[shape]}, at ${this.where({ at })}${what}`;
    }

    where({ at }) {
      return at.map((value) => value.toFixed(2).replace("-", "\u2212")).join(", ");
    }

    choose(point) {
      this.current.group.setAttribute("tabindex", "-1");
      this.current = point;
      point.group.setAttribute("tabindex", "0");
    }

    move(point, to) {
      point.at = this.plane.inside(to);
      this.update(`One ${this.names[point.shape]} moved to ${this.where(point)}`);
    }

    press(event, point) {
      const index = this.all.indexOf(point);
      const { key } = event;
      if (key in ARROWS) {
        const size = event.shiftKey ? COARSE : FINE;
        this.move(point, point.at.map((value, axis) => {
          const [low, high] = this.plane.limits[axis];
          return value + ARROWS[key][axis] * size * (high - low);
        }));
      } else if (key === "PageDown" || key === "PageUp") {
        const step = key === "PageDown" ? 1 : this.all.length - 1;
        this.all[(index + step) % this.all.length].group.focus();
      } else if (key === "Delete" || key === "Backspace") this.remove();
      else if (key === " ") this.exchange(point);
      else return;
      event.preventDefault();
    }

    add(at) {
      if (this.all.length >= MOST) {
        this.say(`A figure holds ${MOST} points at most. Remove one first.`);
        return;
      }
      const point = { at, shape: this.newShape };
      this.all.push(point);
      this.build(point);
      this.choose(point);
      this.update(`One ${this.names[point.shape]} more`);
    }

    // A place for a point that comes by a button: the middle, or beside what lies there.
    addNear() {
      const turn = 2.4 * this.all.length; // the golden angle spreads them
      const reach = 0.02 * Math.sqrt(this.all.length);
      this.add(this.plane.limits.map(([low, high], axis) => (low + high) / 2
        + reach * (high - low) * (axis ? Math.sin(turn) : Math.cos(turn))));
      this.current.group.focus();
    }

    remove() {
      const index = this.all.indexOf(this.current);
      if (!this.spares(this.current)) return;
      const focused = document.activeElement === this.current.group;
      const [gone] = this.all.splice(index, 1);
      gone.group.remove();
      this.current = this.all[Math.min(index, this.all.length - 1)];
      this.update(`One ${this.names[gone.shape]} fewer`);
      if (focused) this.current.group.focus();
    }

    exchange(point) {
      if (this.shapes.length < 2 || !this.spares(point)) return;
      point.shape = this.shapes.find((shape) => shape !== point.shape);
      this.update(`One point is now a ${this.names[point.shape]}`);
    }

    // Whether a point may go; if not, says why.
    spares(point) {
      const alike = this.all.filter(({ shape }) => shape === point.shape);
      if (alike.length > this.keep) return true;
      this.say(`Not removed: the machine needs every ${this.names[point.shape]} that is left.`);
      return false;
    }

    // For the buttons of a panel.
    actions() {
      return [
        ["Add", "Add a point", () => this.addNear()],
        ["Remove", "Remove the chosen point", () => this.remove()],
        ["Reset", "Reset all points", () => {
          this.reset();
          this.update("The first points again");
        }],
      ];
    }
  }

  return { Points, SHAPES, draggable, glyph };
})();
