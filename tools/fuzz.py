"""Draw hostile problems, fit them, and list every certificate that does not hold.

    python -m tools.fuzz --minutes 20          until the time is up
    python -m tools.fuzz --number 2000         so many problems
    python -m tools.fuzz --first 715 --number 1

A draw is named by its number. ``tests/hostile.py`` makes it, and computes the gap of the fit again
in extended precision. The exit code is 1 if a fit called itself optimal beside a gap above 1e-6,
warned beside one below 1e-9, or ended in anything but a certified fit or an error of value.
"""

import argparse
import importlib
import itertools
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]

TESTS = Path(__file__).resolve().parents[1] / "tests"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The words after the name of the module. If None, those of the process.

    Returns
    -------
    int
        Exit code: 1 if a fit was judged wrongly.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--number", type=int, default=None)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--largest", type=int, default=300, help="most points of a problem")
    options = parser.parse_args(arguments)
    if options.number is None and options.minutes == float("inf"):
        options.number = 2000
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    sys.path.insert(0, str(TESTS))
    hostile = importlib.import_module("hostile")

    end, counts, wrong = time.monotonic() + 60.0 * options.minutes, Counter[str](), 0
    seeds = itertools.count(options.first)
    for seed in itertools.islice(seeds, options.number):
        if time.monotonic() > end:
            break
        problem = hostile.draw(seed, options.largest)
        found = hostile.outcome(problem)
        counts[found.kind] += 1
        if found.is_wrong:
            wrong += 1
            print(f"{seed}: {found.kind} ({found.status}), gap {found.gap:.2g}: {problem}")
    print(f"{counts.total()} problems: " + ", ".join(f"{n} {k}" for k, n in counts.most_common()))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
