// What stands around a drawing: controls, a legend, numbers, and a sentence that says what has
// changed, which a screen reader speaks once the changes pause.
globalThis.kernelbookPanel = (() => {
  const PAUSE = 400; // milliseconds without a change
  const PROVED = 1e-6;
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  let panels = 0;

  function html(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "boolean") made.toggleAttribute(key, value);
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  // Three digits, without an exponent where one can do without.
  const short = (value) => String(Number(value.toPrecision(3))).replace("-", "\u2212");

  function power(value) {
    if (value === 0) return "0";
    const [factor, exponent] = value.toExponential(1).split("e");
    const digits = [...exponent.slice(1)].map((digit) => SUPERSCRIPTS[digit]).join("");
    return `${factor} × 10${exponent.startsWith("-") ? "⁻" : ""}${digits}`;
  }

  class Panel {
    constructor(figure) {
      panels += 1;
      this.name = `live-${panels}`;
      this.values = {};
      this.stage = html("div", { class: "live-stage" });
      this.key = html("ul", { class: "live-legend" });
      this.controls = html("div", { class: "live-controls" });
      this.numbers = html("dl", { class: "live-numbers" });
      this.sentence = html("p", { class: "live-sentence", role: "status", "aria-live": "polite" });
      const side = html("div", { class: "live-side" }, this.controls, this.numbers);
      figure.prepend(html("div", { class: "live-body" }, this.stage, this.key, side, this.sentence));
    }

    // `scale` turns the position of a slider into its value.
    slider({ key, label, min, max, step, value, scale = (position) => position }, changed) {
      const id = `${this.name}-${key}`;
      const input = html("input", { id, type: "range", min, max, step, value });
      const shown = html("output", { for: id });
      const read = () => {
        this.values[key] = scale(Number(input.value));
        shown.textContent = short(this.values[key]);
        input.setAttribute("aria-valuetext", shown.textContent);
        const filled = (100 * (Number(input.value) - min)) / (max - min);
        input.style.setProperty("--live-filled", `${filled}%`);
      };
      read();
      input.addEventListener("input", () => {
        read();
        changed(`${label} = ${shown.textContent}`);
      });
      const row = html("div", { class: "live-slider" }, html("label", { for: id }, label), shown, input);
      this.controls.append(row);
      return input;
    }

    // One of several; `options` are [value, label, picture or nothing].
    choice({ key, label, options }, changed) {
      const set = html("fieldset", { class: "live-choice" }, html("legend", {}, label));
      const row = html("div", { class: "live-segments" });
      options.forEach(([value, words, ...picture], place) => {
        const input = html("input", { type: "radio", name: `${this.name}-${key}`, value, checked: !place });
        input.addEventListener("change", () => {
          this.values[key] = value;
          changed(`${label}: ${words}`);
        });
        row.append(html("label", {}, input, html("span", {}, ...picture, words)));
      });
      [[this.values[key]]] = options;
      set.append(row);
      this.controls.append(set);
    }

    tick({ key, label }, changed) {
      const input = html("input", { type: "checkbox" });
      this.values[key] = false;
      input.addEventListener("change", () => {
        this.values[key] = input.checked;
        changed(`${label}: ${input.checked ? "on" : "off"}`);
      });
      this.controls.append(html("label", { class: "live-tick" }, input, html("span", {}, label)));
    }

    // What can be done, at first to the points: [word on the button, the whole of it, action].
    buttons(actions, title = "Points") {
      const row = html("div", { class: "live-buttons" });
      for (const [word, name, action] of actions) {
        const button = html("button", { type: "button", "aria-label": name }, word);
        button.addEventListener("click", action);
        row.append(button);
      }
      this.controls.append(html("fieldset", { class: "live-choice" }, html("legend", {}, title), row));
    }

    legend(entries) {
      this.key.replaceChildren(...entries.map(([picture, words]) => html("li", {}, picture, words)));
    }

    // A line of a legend, drawn as on the plane.
    line(kind) {
      return html("span", { class: `live-dash ${kind}`, "aria-hidden": "true" });
    }

    // { term: words }, and last what certifies them: a relative gap, or another number that has to
    // stay below a limit.
    show(numbers, gap, name = "Duality gap", { limit = PROVED, words: shown = power(gap) } = {}) {
      const rows = Object.entries(numbers).map(([term, words]) => [term, String(words)]);
      this.numbers.replaceChildren(...rows.flatMap(([term, words]) => [
        html("dt", {}, term), html("dd", {}, words),
      ]));
      const kind = gap <= limit ? "live-proved" : "live-unproved";
      const value = html("data", { class: "live-gap", value: gap, "data-limit": limit }, shown);
      this.numbers.append(
        html("dt", { class: kind }, name),
        html("dd", { class: kind }, value, gap <= limit ? " ✓" : " not proved"),
      );
    }

    say(words) {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => { this.sentence.textContent = words; }, PAUSE);
    }
  }

  // "14 (2 fewer)": a number beside what it was.
  function compared(now, before) {
    if (before === undefined || now === before) return String(now);
    return `${now} (${Math.abs(now - before)} ${now < before ? "fewer" : "more"})`;
  }

  // Calls `update` at the next frame, however often it is asked to before.
  function oncePerFrame(update) {
    let asked = false;
    let last;
    return (what) => {
      last = what;
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        update(last);
      });
    };
  }

  // Starts every figure of one kind, and draws again when its width has changed.
  function start(kind, make) {
    document.querySelectorAll(`figure.live[data-live="${kind}"]`).forEach((figure) => {
      const { plane, draw } = make(figure);
      new ResizeObserver(() => { if (plane.measure()) draw(); }).observe(plane.svg);
      figure.dataset.ready = "true";
    });
  }

  const logarithmic = (position) => Number((10 ** position).toPrecision(3));

  return { Panel, compared, html, logarithmic, oncePerFrame, power, short, start };
})();
