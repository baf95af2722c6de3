// Prints the whole book, which Sphinx has written as one page, into a PDF with bookmarks:
// node pdf.mjs INDEX_HTML BOOK_PDF
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page_, target] = process.argv.slice(2);
const MINUTES = 10 * 60 * 1000;
// The parts of the book, and the path of the first document of each.
const PARTS = {
  "How to read this book": "book/run", "The lessons": "notebooks/00",
  "Teaching and using": "book/pages/", Reference: "book/glossary",
};
const LEFT_OUT = ["api/", "CHANGELOG"]; // documents whose paths begin so
const STYLE = `
  span[id^="document-"] { display: block; }
  h2.part, span[id^="document-"] { break-before: page; }
  h2.part + span[id^="document-"] { break-before: avoid; }
  details.hide > summary { list-style: none; }
  h2.part { font-size: 2.2em; }
  li.part { margin-top: 0.5rem; font-weight: 600; list-style: none; }
  div.cell_input { break-inside: auto !important; }
`;

// Runs in the page. One page holds all documents, which begin at marks: ids that several documents
// use are told apart, links find their documents, and the solutions move to the end.
function prepare([parts, leftOut, style]) {
  const main = document.querySelector("article");
  const make = (name, attributes, ...children) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  };

  document.head.append(make("style", {}, style));
  const gone = (name) => leftOut.some((start) => name.startsWith(start));
  for (const mark of main.querySelectorAll("[id^='document-']")) {
    if (!gone(mark.id.slice("document-".length))) continue;
    mark.nextElementSibling?.remove();
    mark.remove();
  }

  let documentName = "index";
  const names = new Map(); // of the document of each element
  const known = new Set();
  for (const node of main.querySelectorAll("*")) {
    if (node.id.startsWith("document-")) documentName = node.id.slice("document-".length);
    else if (node.id && !node.closest("mjx-container, svg")) node.id = `${documentName}--${node.id}`;
    names.set(node, documentName);
    if (node.id) known.add(node.id);
  }
  const dead = [];
  for (const link of main.querySelectorAll("a[href]")) {
    const address = link.getAttribute("href");
    if (/^https?:|^mailto:/.test(address)) continue;
    const [path, first, second] = decodeURIComponent(address).split("#");
    const marked = first?.startsWith("document-");
    const elsewhere = path.match(/^(?:\.\.\/)*(.+)\.html$/);
    const name = (marked && first.slice("document-".length)) || elsewhere?.[1] || names.get(link);
    const id = marked ? second : first;
    const wanted = marked && !id ? `document-${name}` : `${name}--${id}`;
    if (first && known.has(wanted)) link.setAttribute("href", `#${wanted}`);
    else {
      // Pictures link to themselves, and headings to their place: paper needs neither.
      if (first && !link.classList.contains("headerlink") && !gone(name)) dead.push(address);
      link.replaceWith(...link.childNodes);
    }
  }

  // A part's title stands before its first document.
  const contents = make("ul", {});
  const begun = new Set();
  for (const mark of main.querySelectorAll("[id^='document-']")) {
    const name = mark.id.slice("document-".length);
    const part = Object.keys(parts).find((each) => name.startsWith(parts[each]));
    if (part && !begun.has(part)) {
      begun.add(part);
      mark.before(make("h2", { className: "part" }, part));
      contents.append(make("li", { className: "part" }, part));
    }
    const heading = mark.nextElementSibling?.querySelector("h1, h2, h3, h4");
    const words = heading?.textContent.replace(/#$/, "").trim();
    if (words) contents.append(make("li", {}, make("a", { href: `#${mark.id}` }, words)));
  }

  // Solutions, in the order of the exercises.
  const appendix = make("section", { id: "solutions" }, make("h2", { className: "part" }, "Solutions"));
  contents.append(make("li", { className: "part" }, make("a", { href: "#solutions" }, "Solutions")));
  let lesson = "";
  for (const details of main.querySelectorAll("details")) {
    const title = details.querySelector("summary").textContent.trim();
    if (title !== "Solution") {
      details.open = !details.matches(".hide"); // of a cell of checks, its first line says which
      continue;
    }
    let before = details.previousElementSibling;
    while (before && !/^Exercise \d\d\.\d+/.test(before.textContent)) before = before.previousElementSibling;
    const number = before.textContent.match(/\d\d\.\d+/)[0];
    if (names.get(details) !== lesson) {
      lesson = names.get(details);
      appendix.append(make("h3", {}, `Notebook ${number.slice(0, 2)}`));
    }
    before.id ||= `exercise-${number}`;
    const back = make("a", { href: `#${before.id}` }, "exercise");
    const place = make("h4", { id: `solution-${number}` }, `${number} `, make("small", {}, "(", back, ")"));
    details.querySelector("summary").remove();
    appendix.append(place, ...details.childNodes);
    details.replaceWith(make("p", {}, make("a", { href: `#solution-${number}` }, `Solution ${number}`)));
  }
  main.append(appendix);
  main.querySelector("h2").before(make("h2", {}, "Contents"), contents);

  // What only a screen can do. The code of figures and the checks are in the notebooks.
  main.querySelectorAll("form.answer, p.still, .live-side, .live-sentence, .headerlink, "
    + ".cell.tag_hide-input details.hide").forEach((node) => node.remove());
  return dead;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const context = await browser.newContext({ viewport: { width: 900, height: 1200 }, colorScheme: "light" });
await context.setOffline(true);
const page = await context.newPage();
page.setDefaultTimeout(MINUTES);
await page.goto(pathToFileURL(resolve(page_)).href);
await page.evaluate(() => window.MathJax?.startup?.promise);
await page.evaluate(() => document.fonts.ready);
const dead = await page.evaluate(prepare, [PARTS, LEFT_OUT, STYLE]);
await page.pdf({
  path: target, format: "A4", outline: true, tagged: true, printBackground: true,
  margin: { top: "18mm", bottom: "18mm", left: "16mm", right: "16mm" },
  displayHeaderFooter: true, headerTemplate: "<span></span>",
  footerTemplate: '<div style="width:100%;text-align:center;font-size:8px"><span class="pageNumber"></span></div>',
});
await browser.close();
dead.forEach((address) => console.error(`a link of the book leads nowhere: ${address}`));
process.exit(dead.length ? 1 : 0);
