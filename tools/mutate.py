"""Change the library one place at a time, and see whether its tests notice.

    python -m tools.mutate audit qp          some modules or packages of the library
    python -m tools.mutate --number 5        five mutants of each module of the numerical core

The tests of a module, ``tests/test_<module>*.py`` and its doctests, should fail on its mutants.
A mutant on which they pass has survived: a test is missing, or the change alters nothing that
matters, and ``tools/equivalent_mutants.csv`` says why. The working tree is not touched. Files
that numba compiles are left out: compiling each mutant takes minutes, and their loops without
compilation take longer.
"""

import argparse
import contextlib
import csv
import queue
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tools.isolated import IsolatedCopy
from tools.mutants import Mutant, mutants_of

__all__ = ["CORE", "MutationError", "Result", "main", "sample"]

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "lib/kernelbook"
CORE = (
    "kernels", "qp", "svm", "svr", "oneclass", "svdd", "fisher", "kpca", "conformal", "bayes",
    "explain", "audit",
)  # fmt: skip
# Tests that a module shares with others or that bear another name.
MORE_TESTS = {
    "kernels": ("test_estimator.py",),
    "qp": ("test_exact*.py",),
    "svm": ("test_estimator_checks.py",),
    "svr": ("test_estimator_checks.py",),
}
EXPLAINED = "tools/equivalent_mutants.csv"
OUTCOMES = {"failed": "killed", "timeout": "timeout", "passed": "survived"}
COLUMNS = (*OUTCOMES.values(), "explained")
COMPILED = re.compile(rb"^ *(from|import) numba\b", re.MULTILINE)


class MutationError(Exception):
    """The tests cannot judge mutants; the message says why."""


@dataclass(frozen=True)
class Result:
    """What became of one mutant.

    Attributes
    ----------
    module, path : str
        The part of the library that was asked for, and the file that was changed.
    line : int
        The line where the change begins.
    operator, before, after : str
        The kind of the change, and the lines without and with it.
    outcome : {"killed", "timeout", "survived", "explained"}
        Whether the tests noticed; a survivor may be explained.
    seconds : float
        How long the tests ran.
    killer : str
        The first test that failed.
    """

    module: str
    path: str
    line: int
    operator: str
    before: str
    after: str
    outcome: str
    seconds: float
    killer: str


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The arguments; if None, those of the process.
    root : Path
        The repository.

    Returns
    -------
    int
        0 if every survivor is explained, 1 if one is not, 2 if the tests cannot judge.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.mutate")
    parser.add_argument("modules", nargs="*", help=f"default: {' '.join(CORE)}")
    parser.add_argument("--number", type=int, default=20, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=0, help="chooses the mutants")
    parser.add_argument("--workers", type=int, default=2, help="mutants judged at a time")
    parser.add_argument("--output", type=Path, default=root / "build" / "mutants.csv")
    options = parser.parse_args(arguments)
    results: list[Result] = []
    try:
        for module in options.modules or CORE:
            chosen = sample(root, module, options.number, options.seed)
            results += _judge(root, module, chosen, options.workers)
            _write(options.output, results)
    except MutationError as error:
        print(f"tools.mutate: {error}", file=sys.stderr)
        return 2
    print(_table(results))
    survivors = [result for result in results if result.outcome == "survived"]
    for one in survivors:
        print(f"\n{one.path}:{one.line} ({one.operator})\n- {one.before}\n+ {one.after}")
    return 1 if survivors else 0


def sample(root: Path, module: str, number: int, seed: int) -> list[tuple[str, Mutant]]:
    """Choose mutants of a module or package, at most one at each place.

    Parameters
    ----------
    root : Path
        The repository.
    module : str
        A module or package of the library.
    number : int
        How many mutants; if there are fewer places, one at each.
    seed : int
        The same seed chooses the same mutants.

    Returns
    -------
    list of (str, Mutant)
        The mutants with their files, in the order of the text.

    Raises
    ------
    MutationError
        If the library has no such module.
    """
    places = []
    for file in _files(root, module):
        source, name = file.read_bytes(), file.relative_to(root).as_posix()
        if COMPILED.search(source):
            print(f"{name}: compiled by numba, left out")
        else:
            places += [(name, place) for place in mutants_of(source)]
    rng = random.Random(f"{seed} {module}")
    kept = sorted(rng.sample(range(len(places)), min(number, len(places))))
    return [(places[i][0], rng.choice(places[i][1])) for i in kept]


def _files(root: Path, module: str) -> list[Path]:
    path = root / LIBRARY / module
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    if not all(file.is_file() for file in files):
        raise MutationError(f"the library has no module {module!r}.")
    return files


def _judge(
    root: Path, module: str, chosen: Sequence[tuple[str, Mutant]], workers: int
) -> list[Result]:
    """Run the tests of a module on the unchanged library, then on each mutant."""
    patterns = (f"test_{module}.py", f"test_{module}_*.py", *MORE_TESTS.get(module, ()))
    tests = [path for pattern in patterns for path in sorted((root / "tests").glob(pattern))]
    if not tests:
        raise MutationError(f"there is no file tests/test_{module}*.py.")
    targets = [path.relative_to(root).as_posix() for path in [*_files(root, module), *tests]]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        first = IsolatedCopy.of(root, Path(folder) / "0")
        unchanged = first.test(targets)
        if unchanged.outcome != "passed":
            raise MutationError(f"the tests of {module} fail anyway: {unchanged.first_failure}.")
        print(f"{module}: {len(chosen)} mutants, {unchanged.seconds:.0f} s of tests")
        limit, explained = 10 + 5 * unchanged.seconds, _explained(root)
        copies: queue.Queue[IsolatedCopy] = queue.Queue()
        copies.put(first)
        for i in range(1, workers):
            copies.put(IsolatedCopy.of(first.root, Path(folder) / str(i)))

        def result(one: tuple[str, Mutant]) -> Result:
            (name, mutant), copy = one, copies.get()
            source = (copy.root / name).read_bytes()
            before, after = mutant.lines(source)
            (copy.root / name).write_bytes(mutant.applied_to(source))
            verdict = copy.test(targets, limit)
            (copy.root / name).write_bytes(source)
            copies.put(copy)
            outcome = OUTCOMES[verdict.outcome]
            if outcome == "survived" and (name, before, after) in explained:
                outcome = "explained"
            said = f"{outcome:9} {verdict.seconds:6.1f} s  {name}:{mutant.line}  {after}"
            print(f"  {said}", flush=True)
            change = (module, name, mutant.line, mutant.operator, before, after)
            return Result(*change, outcome, round(verdict.seconds, 1), verdict.first_failure)

        return list(pool.map(result, chosen))


def _explained(root: Path) -> set[tuple[str, str, str]]:
    """File and lines of the mutants that alter nothing that matters."""
    with contextlib.suppress(FileNotFoundError), (root / EXPLAINED).open(newline="") as file:
        return {(row["path"], row["before"], row["after"]) for row in csv.DictReader(file)}
    return set()


def _write(path: Path, results: Sequence[Result]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Result)])
        writer.writerows(astuple(result) for result in results)


def _table(results: Sequence[Result]) -> str:
    """Counts and mean seconds of the mutants of each module."""
    rows = [f"\n{'module':12}{'mutants':>8}{''.join(f'{name:>10}' for name in COLUMNS)}    s each"]
    for module in dict.fromkeys(result.module for result in results):
        own = [result for result in results if result.module == module]
        counts = "".join(f"{sum(one.outcome == name for one in own):10}" for name in COLUMNS)
        seconds = sum(one.seconds for one in own) / len(own)
        rows.append(f"{module:12}{len(own):8}{counts}{seconds:10.1f}")
    return "\n".join(rows)


if __name__ == "__main__":
    raise SystemExit(main())
