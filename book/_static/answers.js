// Judges answers to exercises, and predictions, in the page, by the rules of kernelcourse.exercises.
globalThis.kernelbookAnswers = (() => {
  const FUNCTIONS = { sqrt: Math.sqrt, exp: Math.exp, log: Math.log, abs: Math.abs };
  const NAMES = { pi: Math.PI, e: Math.E };
  const TOKEN = /\s*(\*\*|[-+*/^(),[\]]|\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|[a-z]+)/y;

  // The numbers that a text such as "0.24, -3/4, 5**0.5" holds; throws where it is none.
  function read(text) {
    const tokens = split(text.replace(/[\u2212\u2013]/g, "-").replace(/\u00d7/g, "*").toLowerCase());
    let place = 0;
    const take = (...wanted) => (wanted.includes(tokens[place]) ? tokens[place++] : null);

    function chain(operators, next) {
      let value = next();
      for (let sign = take(...Object.keys(operators)); sign; sign = take(...Object.keys(operators))) {
        value = operators[sign](value, next());
      }
      return value;
    }
    const sum = () => chain({ "+": (a, b) => a + b, "-": (a, b) => a - b }, product);
    const product = () => chain({ "*": (a, b) => a * b, "/": (a, b) => a / b }, signed);

    function signed() {
      const sign = take("-", "+");
      if (sign) return sign === "-" ? -signed() : signed();
      const base = atom();
      return take("**", "^") ? base ** signed() : base;
    }

    function bracket() {
      const value = sum();
      if (!take(")")) throw new Error("a bracket is not closed");
      return value;
    }

    function atom() {
      if (take("(")) return bracket();
      const token = tokens[place];
      place += 1;
      if (/^[\d.]/.test(token ?? "")) return Number(token);
      if (Object.hasOwn(NAMES, token)) return NAMES[token];
      if (Object.hasOwn(FUNCTIONS, token) && take("(")) return FUNCTIONS[token](bracket());
      throw new Error(token ? `"${token}" is no number here` : "a number is missing");
    }

    const values = [];
    while (place < tokens.length) {
      values.push(sum());
      if (!take(",") && place < tokens.length) throw new Error("separate numbers by commas");
    }
    return values;
  }

  // Without the brackets around a whole row, "(1, 2)" or "[1, 2]".
  function split(text) {
    const tokens = [];
    TOKEN.lastIndex = 0;
    for (let found = TOKEN.exec(text); found; found = TOKEN.exec(text)) tokens.push(found[1]);
    const read = tokens.join("").length;
    if (read !== text.replace(/\s/g, "").length) throw new Error("write numbers, separated by commas");
    const ends = tokens[0] + tokens.at(-1);
    const row = ends === "[]" || (ends === "()" && closes(tokens) && tokens.includes(","));
    return row ? tokens.slice(1, -1) : tokens;
  }

  // Whether the first bracket is closed by the last one.
  function closes(tokens) {
    let depth = 0;
    return tokens.every((token, place) => {
      depth += (token === "(") - (token === ")");
      return depth > 0 || place === tokens.length - 1;
    });
  }

  function agree(given, known, { rtol, atol }) {
    if (typeof known === "string") return given.trim().toLowerCase() === known.trim().toLowerCase();
    const wanted = [known].flat();
    const allowed = rtol * Math.max(0, ...wanted.map(Math.abs)) + atol;
    return wanted.every((value, k) => Math.abs(given[k] - value) <= allowed);
  }

  const amount = (count) => (count === 1 ? "one number" : `${count} numbers`);

  // "right", "not answered yet", or a sentence on what is wrong.
  function verdict(text, key) {
    if (!text.trim() || text.trim() === "None") return "not answered yet";
    let given = text;
    if (typeof key.right !== "string") {
      try {
        given = read(text);
      } catch (error) {
        return `Not yet. That cannot be read: ${error.message}.`;
      }
      const wanted = [key.right].flat().length;
      if (given.length !== wanted) {
        const point = wanted === 1 && given.length === 2 ? " A decimal point is a point." : "";
        return `Not yet. The answer has to be ${amount(wanted)}; yours is ${amount(given.length)}.${point}`;
      }
      if (!given.every(Number.isFinite)) return "Not yet. The answer has to be finite.";
    }
    if (agree(given, key.right, key)) return "right";
    const mistake = key.mistakes.find(([wrong]) => agree(given, wrong, key));
    return key.refusal ?? `Not yet. ${mistake ? mistake[1] : key.otherwise}`;
  }

  function decode(code) {
    const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  }

  function start(form) {
    const key = decode(form.dataset.answer);
    const [shown, place] = [form.querySelector("output"), form.querySelector(".answer-place")];
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const words = verdict(form.elements.answer.value, key);
      form.dataset.verdict = words === "right" ? "right" : "wrong";
      shown.textContent = "";
      // Said again, even if it is the same as before.
      setTimeout(() => {
        shown.textContent = words === "right" ? "✓ right" : words;
        if (!place || !["right", key.refusal].includes(words)) return;
        place.hidden = false;
        shown.append(" ", place);
      }, 50);
    });
    form.addEventListener("input", () => {
      delete form.dataset.verdict;
      shown.textContent = "";
    });
    // Not every browser unfolds what it is sent to.
    place?.addEventListener("click", () => {
      const found = document.querySelector(place.hash);
      for (let box = found.closest("details"); box; box = box.parentElement.closest("details")) {
        box.open = true;
      }
    });
    form.dataset.ready = "true";
  }

  globalThis.document?.querySelectorAll("form.answer").forEach(start);
  return { decode, read, verdict };
})();
