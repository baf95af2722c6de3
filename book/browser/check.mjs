// Opens every page of the built book in Chromium, from the disk and with the network off, and
// tells what a reader would stumble over: node check.mjs BOOK SCREENSHOTS [PART OF A PATH ...]
import { readFileSync, readdirSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { answerExercises } from "./answers.mjs";
import { driveFigures, record } from "./live.mjs";

const [book, screenshots, ...wanted] = process.argv.slice(2);
const root = resolve(book);
const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const WIDE = { width: 1400, height: 900 };
const PHONE = { width: 390, height: 844 };
const PRINTED = /^(index|book.pages.live|notebooks.0[13])/; // into a file, too
const PAPER = { width: 718, height: 1000 }; // A4 less the margins, in CSS pixels
const started = performance.now();
const only = (process.env.STEPS ?? "").split(/\W+/).filter(Boolean);
const problems = [];
const ids = new Map(); // of each page
const links = []; // [page, address]
const solved = new Map(); // what live figures were asked, and found

const pages = readdirSync(root, { recursive: true })
  .filter((name) => name.endsWith(".html") && !name.startsWith("_"))
  .filter((name) => !wanted.length || wanted.some((part) => name.includes(part)))
  .sort();
const address = (name) => pathToFileURL(join(root, name)).href;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// What leaves the folder of the book is a fault, even if it would work.
async function watch(context, say) {
  await context.setOffline(true);
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(pathToFileURL(root).href) && !url.startsWith("data:")) {
      say(`asks for ${url}`);
    }
  });
  context.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    // A page that is left before its pictures have come gives them up.
    if (why !== "net::ERR_ABORTED") say(`could not load ${request.url()}: ${why}`);
  });
  context.on("console", (message) => {
    if (message.type() === "error") say(`console: ${message.text()}`);
  });
  context.on("weberror", (error) => say(`script: ${error.error().message}`));
}

async function open(page, name) {
  await page.goto(address(name));
  await page.evaluate(() => window.MathJax?.startup?.promise);
  await page.evaluate(() => document.fonts.ready);
}

// Runs in the page: what is wrong with its text, and what it holds for the links of others.
function inspect() {
  const found = [];
  const main = document.querySelector("main");
  const headings = document.querySelectorAll("h1").length;
  if (headings !== 1) found.push(`has ${headings} first-level headings`);
  if (!document.title.trim()) found.push("has no title");
  if (!document.documentElement.lang) found.push("does not say its language");
  const search = location.pathname.endsWith("search.html");
  if (!search && !document.querySelector("meta[name=description]")) {
    found.push("has no description");
  }
  for (const image of document.images) {
    if (!image.alt.trim()) found.push(`has a picture without text: ${image.src}`);
    if (!image.naturalWidth) found.push(`has a picture that is not shown: ${image.src}`);
  }
  const formulas = document.querySelectorAll(".math").length;
  const typeset = document.querySelectorAll(".math mjx-container").length;
  if (typeset < formulas) found.push(`typeset ${typeset} of ${formulas} formulas`);
  for (const error of document.querySelectorAll("mjx-merror, [data-mjx-error]")) {
    found.push(`has a formula that is wrong: ${error.textContent}`);
  }
  const prose = main.cloneNode(true);
  prose.querySelectorAll("pre, code, script, mjx-container").forEach((node) => node.remove());
  const raw = prose.textContent.match(/.{0,30}(\$\$|\\\(|\\\[|\\[A-Za-z]{2}).{0,30}/);
  if (raw) found.push(`shows raw mathematics: ${raw[0]}`);
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  const doubled = ids.filter((id, place) => ids.indexOf(id) !== place && !id.startsWith("MJX"));
  if (doubled.length) found.push(`uses an id twice: ${[...new Set(doubled)].slice(0, 3)}`);
  const links = [...document.querySelectorAll("a[href]")].map((link) => link.href);
  return { found, ids, links };
}

// Runs in the page: what is wider than its column and cannot be scrolled there.
function cut() {
  const scrolls = (node) => /auto|scroll/.test(getComputedStyle(node).overflowX);
  const found = [];
  for (const node of document.querySelectorAll("main :is(table, pre, mjx-container, img, svg.live-plane)")) {
    const box = node.getBoundingClientRect();
    if (!box.width || box.right <= innerWidth + 1) continue;
    let around = node;
    while (around && !scrolls(around)) around = around.parentElement;
    if (!around || around.tagName === "HTML" || around.tagName === "BODY" || around.tagName === "MAIN") {
      found.push(`${node.tagName.toLowerCase()} ${node.textContent.trim().slice(0, 40)}`);
    }
  }
  return found;
}

async function accessible(page, say, what, part = "html") {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((selector) => (
    axe.run(selector, { resultTypes: ["violations"], preload: false })), part);
  for (const { id, impact, nodes } of violations) {
    if (["serious", "critical"].includes(impact)) {
      const first = nodes[0];
      say(`${what}: ${id} (${impact}), ${nodes.length} times, first ${first.html.slice(0, 160)}`
        + ` ${first.any[0]?.message ?? ""}`);
    }
  }
}

async function picture(page, kind, name) {
  const path = join(screenshots, kind, name.replaceAll("/", "-").replace(/html$/, "png"));
  await page.screenshot({ path });
}

async function readPages(colorScheme, viewport) {
  const kind = `${colorScheme}-${viewport.width}`;
  const first = colorScheme === "light" && viewport === WIDE;
  mkdirSync(join(screenshots, kind), { recursive: true });
  const context = await browser.newContext({ colorScheme, viewport, reducedMotion: "reduce" });
  let name = "";
  const say = (text) => problems.push(`${name} (${kind}): ${text}`);
  await watch(context, say);
  const page = await context.newPage();
  for (name of pages) {
    await open(page, name);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > viewport.width) say(`is ${width} pixels wide`);
    (await page.evaluate(cut)).forEach((what) => say(`is cut: ${what}`));
    if (first) {
      const { found, ids: own, links: out } = await page.evaluate(inspect);
      found.forEach(say);
      ids.set(name, new Set(own));
      out.forEach((link) => links.push([name, link]));
    }
    await accessible(page, say, kind);
    await picture(page, kind, name);
  }
  await context.close();
}

function followLinks() {
  for (const [page, link] of links) {
    const url = new URL(link);
    if (url.protocol !== "file:") continue;
    const path = fileURLToPath(new URL(url.pathname, "file:"));
    const name = relative(root, path);
    const anchor = decodeURIComponent(url.hash.slice(1));
    if (!existsSync(path)) problems.push(`${page}: leads nowhere: ${name}`);
    else if (anchor && ids.has(name) && !ids.get(name).has(anchor)) {
      problems.push(`${page}: leads to a place that is not there: ${name}#${anchor}`);
    }
  }
}

// Finds words by the one search box, whatever opens it, and sees that there are excerpts.
async function search(page, say) {
  await page.waitForSelector("dialog[open] input[type=search], .search-button__wrapper.show input");
  await page.keyboard.type("duality gap");
  await page.keyboard.press("Enter");
  await page.waitForURL(/search\.html/);
  await page.waitForSelector("#search-results li a", { timeout: 20000 }).catch(() => {
    say("the search finds nothing");
  });
  const excerpt = page.locator("#search-results li .context").filter({ hasText: /duality gap/i });
  await excerpt.first().waitFor({ timeout: 20000 }).catch(() => say("the search shows no excerpt"));
}

// A reader with a finger, or a mouse: the button of the search, a result, and where that leads.
async function searchByPointer(colorScheme, viewport) {
  const context = await browser.newContext({ colorScheme, viewport, hasTouch: viewport === PHONE });
  const say = (text) => problems.push(`search (${colorScheme}-${viewport.width}): ${text}`);
  await watch(context, say);
  const page = await context.newPage();
  await open(page, "index.html");
  const button = page.locator(".search-button, .search-button-field, .search-button__button").filter({ visible: true }).first();
  await (viewport === PHONE ? button.tap() : button.click());
  await search(page, say);
  await accessible(page, say, "search results");
  await page.locator("#search-results li a").first().click();
  await page.waitForURL((url) => !url.pathname.endsWith("search.html"));
  await context.close();
}

// A reader without a mouse: skip to the text, find a word, follow the navigation.
async function useKeyboard() {
  const context = await browser.newContext({ viewport: WIDE });
  const say = (text) => problems.push(`keyboard: ${text}`);
  await watch(context, say);
  const page = await context.newPage();
  await open(page, "index.html");
  await page.keyboard.press("Tab");
  const skip = await page.evaluate(() => document.activeElement.textContent.trim());
  if (!/skip to main/i.test(skip)) say(`the first stop is "${skip}", not "Skip to main content"`);
  await page.keyboard.press("Enter");
  if (!page.url().endsWith("#main-content")) say("the skip link does not skip");

  const reach = async (selector, what) => {
    await open(page, "index.html");
    for (let stop = 0; stop < 60; stop += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((css) => document.activeElement.matches(css), selector)) return;
    }
    say(`60 stops do not reach ${what}`);
  };
  await reach(".search-button-field, .search-button, .search-button__button", "the search");
  await page.keyboard.press("Enter");
  await search(page, say);
  await reach(".bd-sidebar-primary nav a[href*='notebooks/']", "the navigation");
  await page.keyboard.press("Enter");
  await page.waitForURL(/notebooks\//);
  await context.close();
}

// Every exercise and prediction that has an input: mistakes are named, the right answer is right.
async function answerPages(colorScheme, viewport) {
  const context = await browser.newContext({ colorScheme, viewport, reducedMotion: "reduce" });
  let name = "";
  const say = (text) => problems.push(`${name} (${colorScheme}-${viewport.width}): ${text}`);
  await watch(context, say);
  const page = await context.newPage();
  for (name of pages.filter((each) => readFileSync(join(root, each), "utf8").includes("data-answer="))) {
    await open(page, name);
    await answerExercises(page, say);
    await accessible(page, say, "answered", "form.answer");
  }
  await context.close();
}

// Every live figure at both widths, light and dark: at first at each position of each slider, then
// in larger steps.
async function moveFigures(colorScheme, viewport) {
  const hasTouch = viewport === PHONE;
  const context = await browser.newContext({ colorScheme, viewport, hasTouch, reducedMotion: "reduce" });
  const kind = `${colorScheme}-${viewport.width}`;
  const first = colorScheme === "light" && viewport === WIDE;
  const driven = new Set();
  mkdirSync(join(screenshots, "live"), { recursive: true });
  let name = "";
  const say = (text) => problems.push(`${name} (${kind}): ${text}`);
  await watch(context, say);
  await context.addInitScript(record);
  const page = await context.newPage();
  for (name of pages.filter((each) => readFileSync(join(root, each), "utf8").includes("data-live="))) {
    await open(page, name);
    await driveFigures(page, say, join(screenshots, "live", kind), driven, first ? "ArrowRight" : "PageUp");
    for (const [key, one] of await page.evaluate(() => [...kernelbookSolved])) solved.set(key, one);
    await accessible(page, say, kind, "figure.live");
  }
  await context.close();
}

// On paper nothing scrolls, and what was dark is light.
async function print() {
  const context = await browser.newContext({ colorScheme: "dark", viewport: PAPER, reducedMotion: "reduce" });
  let name = "";
  const say = (text) => problems.push(`${name} (print): ${text}`);
  await watch(context, say);
  const page = await context.newPage();
  for (name of pages) {
    await open(page, name);
    await page.emulateMedia({ media: "print" });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > PAPER.width) say(`is ${width} pixels wide`);
    await page.emulateMedia({ media: "screen" });
    if (!PRINTED.test(name)) continue;
    await page.evaluate(() => {
      window.addEventListener("beforeprint", () => {
        document.documentElement.dataset.paper = getComputedStyle(document.body).backgroundColor;
      });
    });
    const path = join(screenshots, name.replaceAll("/", "-").replace(/html$/, "pdf"));
    await page.pdf({ path, format: "A4" });
    const { paper, theme } = await page.evaluate(() => ({ ...document.documentElement.dataset }));
    if (paper !== "rgb(255, 255, 255)") say(`prints on ${paper}`);
    if (theme !== "dark") say(`leaves the screen ${theme} after printing`);
  }
  await context.close();
}

async function step(what, ...actions) {
  if (only.length && !only.includes(what)) return;
  for (const action of actions) {
    await action().catch((error) => problems.push(`${what}: stopped by ${error.message}`));
  }
  const minutes = (performance.now() - started) / 60000;
  console.log(`${what}: ${problems.length} problems so far, ${minutes.toFixed(1)} minutes`);
}

const schemes = ["light", "dark"];
const viewports = [WIDE, PHONE];
const each = (act) => schemes.flatMap((scheme) => viewports.map((viewport) => () => act(scheme, viewport)));

await step("pages", ...each(readPages), async () => followLinks());
await step("figures", ...each(moveFigures));
await step("answers", () => answerPages("light", WIDE), () => answerPages("dark", PHONE));
if (!wanted.length) await step("search", useKeyboard, ...each(searchByPointer));
await step("print", print);
await browser.close();
writeFileSync(join(screenshots, "solved.json"), JSON.stringify([...solved.values()]));
problems.forEach((problem) => console.log(problem));
console.log(`${pages.length} pages, ${links.length} links, ${problems.length} problems; `
  + `pictures in ${screenshots}`);
process.exit(problems.length ? 1 : 0);
