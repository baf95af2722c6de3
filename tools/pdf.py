"""Print the whole book into one PDF, build/kernelbook.pdf, with bookmarks and working links.

python -m tools.pdf

Sphinx writes all pages as one, and Chromium prints it: chapters are bookmarks, what is folded is
open, and the solutions of the exercises are an appendix. The reference of the library is left out,
and so is what only a screen can do. Needs Chromium and node with npm, as the browser test does.
"""

import os
import shutil
import subprocess
import sys

from tools import book
from tools.browser_test import FOLDER, chromium, install, missing

__all__ = ["main"]

PAGE = book.ROOT / "build" / "book-in-one-page"
TARGET = book.ROOT / "build" / "kernelbook.pdf"


def main() -> int:
    browser = chromium()
    if complaint := missing(browser, shutil.which("npm"), "pdf"):
        print(complaint, file=sys.stderr)
        return 1
    if code := book.build("singlehtml", PAGE, book.ROOT / "build" / "pdf-doctrees"):
        return code
    if code := install():
        return code
    print("Printing takes a few minutes", flush=True)
    code = subprocess.run(
        ["node", "pdf.mjs", PAGE / "index.html", TARGET],
        cwd=FOLDER,
        env={**os.environ, "CHROMIUM": str(browser)},
    ).returncode
    if code == 0:
        print(f"The PDF is {TARGET.relative_to(book.ROOT)}")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
