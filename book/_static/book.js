// What the theme leaves undone for readers who use a keyboard or a screen reader, and for those
// who open the book from the disk.
(() => {
  // Only a server hands out the texts of the pages that a search has found.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  function nameControls() {
    // The button says "Search Ctrl+K": a shorter label would hide that from those who hear it.
    document.querySelectorAll(".search-button-field").forEach((button) => {
      button.removeAttribute("aria-label");
    });
    // A list holds items only, and an entry of a bibliography is none.
    document.querySelectorAll(".citation-list").forEach((list) => list.removeAttribute("role"));
    document.querySelectorAll(".bd-sidebar-primary summary").forEach((summary) => {
      const link = summary.closest("li").querySelector("a");
      summary.setAttribute("aria-label", `Pages below: ${link.textContent.trim()}`);
    });
  }

  // What scrolls by itself can be reached and scrolled with the keyboard.
  const SCROLLING = "mjx-container[display], .math, .cell_output .output, pre, table, "
    + ".pst-scrollable-table-container, .highlight, dl dt.sig";
  function reachScrolling() {
    document.querySelectorAll(SCROLLING).forEach((box) => {
      const style = getComputedStyle(box).overflowX;
      const scrolls = box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(style);
      if (scrolls) box.setAttribute("tabindex", "0");
      else if (box.getAttribute("tabindex") === "0") box.removeAttribute("tabindex");
    });
  }

  window.addEventListener("DOMContentLoaded", nameControls);
  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    reachScrolling();
    window.addEventListener("resize", reachScrolling);
  });
})();
