"""Open every page of the book in a browser that has no network, and tell what is wrong.

python -m tools.browser_test                 all pages
python -m tools.browser_test notebooks/03    pages with this in their path
STEPS="figures print" python -m ...          of pages, figures, answers, search and print only these

Builds the book first if anything has changed. Needs Chromium and node with npm; pictures of the
pages go to build/screenshots. What the live figures have solved there is solved again by the
library, and compared.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tools import book, live_agreement

__all__ = ["FOLDER", "chromium", "install", "main", "missing"]

FOLDER = book.ROOT / "book" / "browser"
SCREENSHOTS = book.ROOT / "build" / "screenshots"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main(arguments: Sequence[str] | None = None) -> int:
    pages = list(sys.argv[1:] if arguments is None else arguments)
    browser = chromium()
    if complaint := missing(browser, shutil.which("npm")):
        print(complaint, file=sys.stderr)
        return 1
    if code := book.main([]):
        return code
    if code := install():
        return code
    command = ["node", "check.mjs", str(book.TARGET), str(SCREENSHOTS), *pages]
    environment = {**os.environ, "CHROMIUM": str(browser)}
    solved = SCREENSHOTS / "solved.json"
    solved.unlink(missing_ok=True)
    code = subprocess.run(command, cwd=FOLDER, env=environment).returncode
    return max(code, live_agreement.tell(solved)) if solved.exists() else code or 1


def chromium() -> str | None:
    """Path of the browser: that of the environment variable CHROMIUM, or one that is installed."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def missing(browser: str | None, npm: str | None, target: str = "browser-test") -> str:
    """What has to be installed before `make` can reach the target; empty if nothing."""
    wanted = [name for name, found in (("chromium", browser), ("npm", npm)) if not found]
    if not wanted:
        return ""
    return (
        f"make {target} needs {' and '.join(wanted)}. Debian, Ubuntu: apt install "
        f"{' '.join(wanted)}; a browser elsewhere: make {target} CHROMIUM=/path/to/chromium."
    )


def install() -> int:
    """The packages of package-lock.json, if they are not those that are installed already."""
    stamp = FOLDER / "node_modules" / ".package-lock.json"
    lock = FOLDER / "package-lock.json"
    if stamp.exists() and stamp.stat().st_mtime >= lock.stat().st_mtime:
        return 0
    return subprocess.run(["npm", "ci", "--silent"], cwd=FOLDER).returncode


if __name__ == "__main__":
    raise SystemExit(main())
