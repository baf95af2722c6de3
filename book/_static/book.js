// What the theme leaves undone for readers who use a keyboard or a screen reader, and for those
// who open the book from the disk.
(() => {
  // Only a server hands out the texts of the pages that a search has found.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  const AROUND = 80; // characters before a match

  function nameControls() {
    // The button says "Search Ctrl+K": a shorter label would hide that from those who hear it.
    document.querySelectorAll(".search-button-field").forEach((button) => {
      button.removeAttribute("aria-label");
    });
    // What folds code says on its face what it does: a label beside that would hide it.
    document.querySelectorAll("summary[aria-label='Toggle hidden content']").forEach((summary) => {
      summary.removeAttribute("aria-label");
    });
    // A list holds items only, and an entry of a bibliography is none.
    document.querySelectorAll(".citation-list").forEach((list) => list.removeAttribute("role"));
    document.querySelectorAll(".bd-sidebar-primary summary").forEach((summary) => {
      const link = summary.closest("li").querySelector("a");
      summary.setAttribute("aria-label", `Pages below: ${link.textContent.trim()}`);
    });
  }

  // What scrolls by itself can be reached and scrolled with the keyboard.
  const SCROLLING = "mjx-container[display], mjx-container.wide, .math, .cell_output .output, pre, table, "
    + ".pst-scrollable-table-container, .highlight, dl dt.sig";
  function reachScrolling() {
    document.querySelectorAll(SCROLLING).forEach((box) => {
      const style = getComputedStyle(box).overflowX;
      const scrolls = box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(style);
      if (scrolls) box.setAttribute("tabindex", "0");
      else if (box.getAttribute("tabindex") === "0") box.removeAttribute("tabindex");
    });
  }

  // A formula within a line that is wider than its column becomes a box that scrolls.
  function boxWideFormulas() {
    document.querySelectorAll("mjx-container:not([display])").forEach((formula) => {
      formula.classList.remove("wide");
      let column = formula.parentElement;
      while (getComputedStyle(column).display === "inline") column = column.parentElement;
      const { right } = column.getBoundingClientRect();
      formula.classList.toggle("wide", formula.getBoundingClientRect().right > right + 1);
    });
  }

  // A checksum or a long name in a table may be broken, so that the table fits on paper.
  function loosenTables() {
    document.querySelectorAll("main td").forEach((cell) => {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      const long = [];
      while (texts.nextNode()) if (/\S{18}/.test(texts.currentNode.data)) long.push(texts.currentNode);
      long.filter((text) => !text.parentElement.closest("mjx-container")).forEach((text) => {
        const pieces = text.data.match(/\s+|[^\s_/.]{1,14}[_/.]?|[_/.]/g);
        text.replaceWith(...pieces.flatMap((piece) => [piece, document.createElement("wbr")]));
      });
    });
  }

  // Words around the first match on each page that a search has found, where there is no server.
  function excerpt(text, terms) {
    const lower = text.toLowerCase();
    const places = [terms.join(" "), ...terms].map((term) => lower.indexOf(term));
    const first = places.find((place) => place >= 0) ?? 0;
    const start = first > AROUND ? text.lastIndexOf(" ", first - AROUND) + 1 : 0;
    return `${start ? "… " : ""}${text.slice(start, start + 3 * AROUND).replace(/\s\S*$/, "")} …`;
  }

  function showExcerpts(results) {
    const terms = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().split(/\W+/)
      .filter((term) => term.length > 1);
    const root = new URL(document.documentElement.dataset.content_root, location.href).href;
    const add = () => results.querySelectorAll("li:not(:has(.context)) > a").forEach((link) => {
      const name = link.href.split(/[?#]/)[0].slice(root.length).replace(/\.html$/, "");
      const text = globalThis.kernelbookExcerpts[name];
      if (!text) return;
      const context = document.createElement("p");
      context.className = "context";
      context.textContent = excerpt(text, terms);
      link.parentElement.append(context);
    });
    new MutationObserver(add).observe(results, { childList: true, subtree: true });
    add();
  }

  function loadExcerpts() {
    const results = document.getElementById("search-results");
    if (location.protocol !== "file:" || !results) return;
    const script = document.createElement("script");
    script.src = new URL("_static/excerpts.js", new URL(document.documentElement.dataset.content_root, location.href));
    script.addEventListener("load", () => showExcerpts(results));
    document.head.append(script);
  }

  // Paper is white.
  let theme;
  window.addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => { document.documentElement.dataset.theme = theme; });

  window.addEventListener("DOMContentLoaded", nameControls);
  window.addEventListener("DOMContentLoaded", loosenTables);
  window.addEventListener("DOMContentLoaded", loadExcerpts);
  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    const fit = () => {
      boxWideFormulas();
      reachScrolling();
    };
    fit();
    window.addEventListener("resize", fit);
    document.addEventListener("toggle", fit, true); // what was folded has no width
  });
})();
