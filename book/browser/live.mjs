// Uses the live figures of a page as a reader does who has a keyboard, a mouse or a finger, and
// tells where one is not solved, does not answer, or says nothing.
const SILENCE = 5000; // milliseconds in which a sentence has to follow a change

// Runs in the page before its scripts: what the solver of the figures is asked, and what it finds.
export function record() {
  const seen = new Map();
  globalThis.kernelbookSolved = seen;
  const observed = (machine, fit) => (X, ...rest) => {
    const found = fit(X, ...rest);
    const [y, parameters] = rest.length > 1 ? rest : [null, ...rest];
    const problem = { machine, X, y, parameters };
    const { gap, free } = found;
    seen.set(JSON.stringify(problem), { ...structuredClone(problem), gap, free, decision: X.map(found.decide) });
    return found;
  };
  let solver;
  Object.defineProperty(globalThis, "kernelbookSolver", {
    get: () => solver,
    set: (made) => {
      solver = Object.fromEntries(Object.entries(made).map(([name, fit]) => [name, observed(name, fit)]));
    },
  });
}

// `driven` holds the figures that earlier pages have had: those need only be there, and solved. Sliders
// are moved by `key`: an arrow for each position, PageUp for some.
export async function driveFigures(page, say, pictures, driven, key) {
  for (const figure of await page.locator("figure.live").all()) {
    const name = await figure.getAttribute("data-live");
    const complain = (text) => say(`figure ${name}: ${text}`);
    if (await figure.getAttribute("data-ready") !== "true") {
      complain("is not drawn");
      continue;
    }
    await proved(figure, complain, "at first");
    if (driven.has(name)) continue;
    driven.add(name);
    await figure.screenshot({ path: `${pictures}-${name}.png` });
    const overflow = await figure.evaluate((box) => [...box.querySelectorAll("*")]
      .filter((part) => !part.closest("svg") && !part.closest("mjx-container")
        && part.getBoundingClientRect().right > box.getBoundingClientRect().right + 1)
      .map((part) => part.className || part.tagName));
    if (overflow.length) complain(`is left by ${overflow.slice(0, 3)}`);
    // What is not chosen at first, but for the class of points that are still to come.
    const choices = await figure.locator("label:not(:has(svg)) > input:not(:checked):not([type=range])")
      .elementHandles();
    await moveSliders(page, figure, complain, key);
    for (const choice of choices) {
      await choice.focus();
      await page.keyboard.press("Space");
      await moveSliders(page, figure, complain, key);
    }
    if (await figure.locator(".live-point").count()) await movePoints(page, figure, complain);
    for (const hold of await figure.locator(":is(.live-grip, .live-knob)").all()) {
      await moveHold(page, figure, hold, complain);
    }
    await pressButtons(page, figure, complain);
    await figure.screenshot({ path: `${pictures}-${name}-moved.png` });
  }
}

// The gap on the screen, two frames after what was asked of the figure: then it has been drawn. A
// certificate that is no gap may fail, as that of chains does which do not agree; then it says so.
async function proved(figure, complain, where) {
  const { name, gap, limit, told } = await figure.evaluate(async (box) => {
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    const shown = box.querySelector(".live-gap");
    const row = shown.closest("dd");
    return {
      name: row.previousSibling.textContent, gap: Number(shown.value), limit: Number(shown.dataset.limit),
      told: row.classList.contains("live-unproved") && row.textContent.includes("not proved"),
    };
  });
  const holds = gap >= 0 && gap <= limit;
  const mayFail = name === "Largest R-hat";
  if (!holds && !mayFail) complain(`has a certificate of ${gap}, not below ${limit}, ${where}`);
  if (told === holds) complain(`does not say whether ${gap} is enough ${where}`);
}

async function heard(page, figure, complain, before, what) {
  const sentence = figure.locator(".live-sentence");
  await page.waitForFunction(([node, old]) => node.textContent && node.textContent !== old,
    [await sentence.elementHandle(), before], { timeout: SILENCE })
    .catch(() => complain(`says nothing new after ${what}`));
}

// From one end of each slider to the other.
async function moveSliders(page, figure, complain, key) {
  for (const slider of await figure.locator("input[type=range]:enabled").all()) {
    const sentence = await figure.locator(".live-sentence").textContent();
    const start = await slider.inputValue();
    const { label, steps } = await slider.evaluate(({ labels, min, max, step }) => (
      { label: labels[0].textContent, steps: Math.round((max - min) / step) }));
    await slider.focus();
    await page.keyboard.press("Home");
    await proved(figure, complain, `at the lower end of ${label}`);
    const ends = () => slider.evaluate(({ value, max }) => Number(value) === Number(max));
    for (let pressed = 1; pressed <= steps && !(await ends()); pressed += 1) {
      await page.keyboard.press(key);
      await proved(figure, complain, `after ${pressed} times ${key} on ${label}`);
    }
    if (!(await ends())) complain(`${label} does not reach its upper end by keyboard`);
    await heard(page, figure, complain, sentence, `moving ${label}`);
    const last = await figure.locator(".live-sentence").textContent();
    await slider.fill(start);
    await heard(page, figure, complain, last, `moving ${label} back`);
  }
}

async function movePoints(page, figure, complain) {
  const sentence = figure.locator(".live-sentence");
  const points = figure.locator(".live-point");
  const count = await points.count();
  const said = async (what, action) => {
    const before = await sentence.textContent();
    await action();
    await heard(page, figure, complain, before, what);
    await proved(figure, complain, `after ${what}`);
  };
  const place = (point) => point.getAttribute("transform");

  const chosen = figure.locator('.live-point[tabindex="0"]');
  if (await chosen.count() !== 1) complain("has not one stop for its points");
  await chosen.focus();
  await page.keyboard.press("PageDown");
  const before = await place(chosen);
  await said("an arrow key", () => page.keyboard.press("Shift+ArrowUp"));
  if (await place(chosen) === before) complain("has a point that no key moves");

  const dragged = points.nth(count - 1);
  await dragged.scrollIntoViewIfNeeded();
  const old = await place(dragged);
  const box = await dragged.locator(".live-reach").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await said("dragging", async () => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 30, y + 20, { steps: 6 });
    await page.mouse.up();
  });
  if (await place(dragged) === old) complain("has a point that no mouse moves");

  const fingers = await page.evaluate(() => navigator.maxTouchPoints);
  if (fingers) {
    await dragged.scrollIntoViewIfNeeded();
    const scrolled = await page.evaluate(() => window.scrollY);
    await said("a finger", () => swipe(page, dragged.locator(".live-reach")));
    if (await page.evaluate(() => window.scrollY) !== scrolled) {
      complain("lets the page scroll while a finger moves a point");
    }
  }

  await said("adding a point", () => figure.getByRole("button", { name: "Add a point" }).click());
  if (await points.count() !== count + 1) complain("adds no point");
  await said("removing a point", () => page.keyboard.press("Delete"));
  if (await points.count() !== count) complain("removes no point");
  await said("starting again", () => figure.getByRole("button", { name: "Reset" }).click());
}

// What is done to no point: another chain, for instance.
async function pressButtons(page, figure, complain) {
  const buttons = figure.locator(".live-buttons button:not([aria-label*=' point'])");
  for (const button of await buttons.all()) {
    const before = await figure.locator(".live-sentence").textContent();
    await button.focus();
    await page.keyboard.press("Enter");
    await heard(page, figure, complain, before, await button.getAttribute("aria-label"));
    await proved(figure, complain, "after a button");
  }
}

// A line that a mouse shifts or turns takes the sliders with it.
async function moveHold(page, figure, hold, complain) {
  const positions = () => figure.locator("input[type=range]")
    .evaluateAll((inputs) => inputs.map(({ value }) => value).join());
  const before = await positions();
  await hold.scrollIntoViewIfNeeded();
  const [x, y] = await hold.evaluate((path) => {
    const { x: across, y: down } = path.getPointAtLength(0.53 * path.getTotalLength());
    const seen = new DOMPoint(across, down).matrixTransform(path.getScreenCTM());
    return [seen.x, seen.y];
  });
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 25, y + 25, { steps: 5 });
  await page.mouse.up();
  await proved(figure, complain, "after dragging the line");
  if (await positions() === before) complain("has a line that no mouse moves");
}

// A finger that goes down on something, up the page by 40 pixels, and off.
async function swipe(page, target) {
  const box = await target.boundingBox();
  const at = (by) => [{ x: box.x + box.width / 2, y: box.y + box.height / 2 - by }];
  const session = await page.context().newCDPSession(page);
  const touch = (type, touchPoints) => session.send("Input.dispatchTouchEvent", { type, touchPoints });
  await touch("touchStart", at(0));
  for (const by of [10, 20, 30, 40]) await touch("touchMove", at(by));
  await touch("touchEnd", []);
  await session.detach();
}
