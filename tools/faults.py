"""Provoke what goes wrong on real machines, and tell whether it ends as it should.

    python -m tools.faults                 all: some minutes
    python -m tools.faults runner disk     those whose names hold one of the words

Everything happens in a clone of the committed tree below ``build/``, in a folder with an odd name.
The exit code is 1 if a fault has a wrong outcome; what a machine does not permit, such as a full
disk without the right to mount one, is named as skipped.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.fault_bench import QUICK, ROOT, SLOW, Bench, SkippedError, finish, notebook
from tools.processes import exit_code

ODD_NAME = "it's 50% of übung #1 [a] & $HOME; (b)"
NO_INDEX = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
    "PIP_FIND_LINKS": "",
    "PIP_RETRIES": "0",
    "PIP_NO_CACHE_DIR": "1",
    "UV_NO_CACHE": "1",
}


@dataclass(frozen=True)
class Fault:
    """A fault: its name, how it is provoked, and what is right."""

    name: str
    right: str
    provoke: Callable[[Bench], None]


def signalled(action: str, name: str, to_group: bool) -> Callable[[Bench], None]:
    """A signal to make (or, as the keyboard sends it, to make and all below) in mid-run."""

    def provoke(bench: Bench) -> None:
        before = bench.snapshot()
        process = bench.start_slow(action)
        number = getattr(signal, name)
        os.killpg(process.pid, number) if to_group else process.send_signal(number)
        said = finish(process)
        assert said.code != 0, "exit code 0"
        assert f"Stopped by {name}" in said.text, said.text
        assert bench.snapshot() == before, "notebooks were changed"

    return provoke


def runner_killed(bench: Bench) -> None:
    before = bench.snapshot()
    process = bench.start_slow("run")
    os.kill(bench.child_of(process), signal.SIGKILL)
    assert finish(process).code != 0, "exit code 0"
    deadline = time.monotonic() + 20
    while bench.processes() and time.monotonic() < deadline:  # kernels look for their parent
        time.sleep(0.1)
    assert bench.snapshot() == before, "notebooks were changed"
    succeeds(bench, "run", "1 executed")


def runs_at_once(bench: Bench) -> None:
    (bench.notebooks / f"{SLOW}.ipynb").write_text(notebook("6 * 8"), encoding="utf-8")
    processes = [bench.start("make", "run", number) for number in ("NB=90", "NB=91")]
    for process in processes:
        assert (said := finish(process)).code == 0, said.text
    said = bench.run("make", "run")
    assert "0 executed, 2 up to date" in said.text, said.text


def cell_fails(bench: Bench) -> None:
    bad, dead = notebook("1 / 0"), notebook("import os\n\nos._exit(1)")
    (bench.notebooks / f"{SLOW}.ipynb").write_text(bad, encoding="utf-8")
    (bench.notebooks / "92_dead.ipynb").write_text(dead, encoding="utf-8")
    refused(bench, "run", "91_slow.ipynb: cell 2", "92_dead.ipynb: cell 2", "2 of 3 failed")
    assert (bench.build / f"html/{QUICK}.html").exists(), "the others were not finished"


def notebook_damaged(bench: Bench) -> None:
    (bench.notebooks / f"{SLOW}.ipynb").write_text('{"cells": [', encoding="utf-8")
    refused(bench, "run", "cannot be read as a notebook", "git restore")
    assert (bench.build / f"html/{QUICK}.html").exists(), "the others were not finished"


def built_damaged(bench: Bench) -> None:
    succeeds(bench, "run", "1 executed")
    page = bench.build / f"html/{QUICK}.html"
    whole = page.read_text(encoding="utf-8")
    page.write_text(whole[:-500], encoding="utf-8")
    succeeds(bench, "run", "0 executed")
    assert page.read_text(encoding="utf-8") == whole, "the page stayed damaged"
    built = bench.build / f"notebooks/{QUICK}.ipynb"
    built.write_text(built.read_text(encoding="utf-8").replace("42", "43"), encoding="utf-8")
    succeeds(bench, "run", "1 executed")


def editor_at_work(bench: Bench) -> None:
    succeeds(bench, "run", "1 executed")
    names = ("lib/kernelbook/.#svm.py", "data/car.csv~", "studies/.x.py.swp")
    for path in [bench.root / name for name in names]:
        path.write_text("half a word", encoding="utf-8")
    try:
        succeeds(bench, "run", "0 executed")
    finally:
        for name in names:
            (bench.root / name).unlink()


def build_full(bench: Bench) -> None:
    with bench.mounted(bench.build, "-t", "tmpfs", "-o", "size=16k", "tmpfs"):
        refused(bench, "run NB=90", "The disk is full")
        assert bench.leftovers() == [], "files were left half-written"
    succeeds(bench, "run", "1 executed")


def tree_read_only(bench: Bench) -> None:
    with bench.mounted(bench.root, "-o", "bind,ro", str(bench.root)):
        said = bench.run("make", "setup")
        assert said.code == 0, said.text
        refused(bench, "run NB=90", "on a read-only file system")


def folder_forbidden(bench: Bench) -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        raise SkippedError("nothing is forbidden to root")
    bench.build.mkdir()
    bench.build.chmod(0o500)
    try:
        refused(bench, "run NB=90", "belongs to another user")
    finally:
        bench.build.chmod(0o700)


def data_damaged(bench: Bench) -> None:
    path = bench.root / "data/car.csv"
    whole = path.read_bytes()
    load = "from kernelbook.datasets import load_car; load_car()"
    for content in (whole[:-1], whole.replace(b"good", b"fine", 1), b""):
        path.write_bytes(content)
        said = bench.run(str(bench.python), "-c", load)
        assert said.code != 0, "damaged data were read"
        assert "SHA-256" in said.text, said.text
    remedy = "git checkout -- data/car.csv"
    assert remedy in said.text, f"the remedy is not named: {said.text}"
    bench.run(*remedy.split())
    assert bench.run(str(bench.python), "-c", load).code == 0, "the remedy does not help"


STUDY = """
import sys
from kernelbook.study import run_study

def third(x, random_state):
    return {"third": x / 3}

options = {"on_damage": sys.argv[1]} if len(sys.argv) > 1 else {}
options |= {"backend": "sequential", "progress": False, "store": "build/s"}
table = run_study(third, [{"x": x} for x in range(3)], **options)
print(table["third"].tolist())
"""


def results_damaged(bench: Bench) -> None:
    program = bench.root / "build/study.py"
    program.parent.mkdir()
    program.write_text(STUDY, encoding="utf-8")
    first = bench.run(str(bench.python), str(program))
    assert first.code == 0, first.text
    path = next(path for path in (bench.build / "s").glob("*.json") if path.name != "study.json")
    path.write_text(path.read_text(encoding="utf-8")[:40], encoding="utf-8")
    said = bench.run(str(bench.python), str(program))
    assert said.code != 0, "a damaged result was read"
    assert path.name in said.text, "the file is not named"
    again = bench.run(str(bench.python), str(program), "recompute")
    assert again == first, again.text


def python_unfit(bench: Bench) -> None:
    old = bench.build / "old-python"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'Python 3.9.18'\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    refused(
        bench, "setup", "needs Python 3.11 or newer", "Python 3.9.18", python="build/old-python"
    )


def path_with_colon(bench: Bench) -> None:
    other = bench.root.parent / "a:b"
    try:
        bench.run("git", "clone", "-q", ".", str(other))
        refused(Bench(other), "setup", "which separates the folders of PATH", "Move the project")
    finally:
        Bench(other).remove()


def lock_left_behind(bench: Bench) -> None:
    (bench.environment / "set-up.stamp").unlink()  # or no lock is asked for
    (bench.root / ".venv.lock").write_text("process 1, since 00:00:00", encoding="utf-8")
    process = bench.start("make", "setup", **NO_INDEX)
    assert "Waiting" not in finish(process).text, "it waited for nobody"


def no_network(bench: Bench) -> None:
    with environment_away(bench):
        refused(bench, "setup", "The package index was not reached", **NO_INDEX)


def environment_full(bench: Bench) -> None:
    small = ("-t", "tmpfs", "-o", "size=6m", "tmpfs")
    with environment_away(bench), bench.mounted(bench.environment, *small):
        refused(bench, "setup", "The disk is full")


@contextlib.contextmanager
def environment_away(bench: Bench) -> Iterator[None]:
    """Without an environment inside the block, and with the one before after it."""
    away = bench.root / ".venv-away"
    bench.environment.rename(away)
    try:
        yield
    finally:
        if bench.environment.exists():
            for path in bench.environment.iterdir():
                bench.run("rm", "-rf", str(path))
            bench.environment.rmdir()
        away.rename(bench.environment)


def base_gone(bench: Bench) -> None:
    with environment_away(bench):
        (bench.environment / "bin").mkdir(parents=True)
        for name in ("python", "python3"):
            (bench.environment / "bin" / name).symlink_to("/no/such/python")
        refused(bench, "setup", "creating .venv", "The package index was not reached", **NO_INDEX)


def package_lost(bench: Bench) -> None:
    bench.run("rm", "-rf", str(bench.packages / "tqdm"))
    installs(bench, bench.start("make", "setup"))
    assert (bench.packages / "tqdm/__init__.py").exists(), "tqdm is still missing"


def set_ups_at_once(bench: Bench) -> None:
    """Emptied, killed in each of its steps, then asked for twice at once: one environment."""
    for path in bench.environment.iterdir():
        bench.run("rm", "-rf", str(path))
    for step, number in (("creating .venv", signal.SIGKILL), ("installing req", signal.SIGTERM)):
        process = bench.start("make", "setup")
        assert process.stdout is not None
        line = next((line for line in process.stdout if step in line), None)
        assert line, f"it never came to {step!r}"
        os.kill(bench.child_of(process), number)
        assert finish(process).code != 0, "exit code 0"
    processes = [bench.start("make", "setup") for _ in range(2)]
    texts = [installs(bench, process) for process in processes]
    assert sum("Waiting for process" in text for text in texts) == 1, "\n".join(texts)
    assert sum("installing requirements.lock" in text for text in texts) == 1, "\n".join(texts)
    succeeds(bench, "run", "1 executed")
    said = bench.run("make", "test", "ONLY=codespell imports")  # scripts that name this odd path
    assert said.code == 0, said.text


def succeeds(bench: Bench, target: str, *parts: str) -> None:
    """``make`` ends well and says these parts."""
    said = bench.run("make", target, "NB=90")
    assert said.code == 0, said.text
    for part in parts:
        assert part in said.text, said.text


def refused(
    bench: Bench, target: str, *parts: str, python: str | None = None, **variables: str
) -> None:
    """``make`` ends with an error that says these parts, in a few lines without a traceback."""
    command = ["make", *target.split()] + ([f"PYTHON={python}"] if python else [])
    said = bench.run(*command, **variables)
    assert said.code != 0, "exit code 0"
    for part in parts:
        assert part in said.text, said.text
    if "ZeroDivisionError" not in said.text:  # of a cell the traceback is shown
        assert "Traceback" not in said.text, said.text


def installs(bench: Bench, process: subprocess.Popen) -> str:
    """What a set-up said that has ended well."""
    said = finish(process)
    if "The package index was not reached" in said.text:
        raise SkippedError("no package index answers")
    assert said.code == 0, said.text
    return said.text


ENDED = "make and kernels end, notebooks are as before"
FAULTS = (
    Fault("runner: SIGTERM to make run", ENDED, signalled("run", "SIGTERM", False)),
    Fault("runner: SIGTERM to make record", ENDED, signalled("record", "SIGTERM", False)),
    Fault("runner: Ctrl-C in make run", ENDED, signalled("run", "SIGINT", True)),
    Fault("runner: terminal closed in make record", ENDED, signalled("record", "SIGHUP", True)),
    Fault("runner: SIGKILL to the runner", "kernels end, the next run goes on", runner_killed),
    Fault("runner: two runs at once", "both are kept", runs_at_once),
    Fault("runner: cell raises, kernel dies", "named, others finished", cell_fails),
    Fault("runner: files of editors", "nothing is executed again", editor_at_work),
    Fault("damage: a notebook is no JSON", "named with the remedy, others run", notebook_damaged),
    Fault("damage: page cut, output altered", "made again", built_damaged),
    Fault("damage: a data file", "refused, and the remedy named helps", data_damaged),
    Fault("damage: a stored result", "refused, recomputed on request", results_damaged),
    Fault("disk: full in make run", "a message with the remedy", build_full),
    Fault("disk: read-only checkout", "found complete; run: a message", tree_read_only),
    Fault("disk: no permission", "a message with the remedy", folder_forbidden),
    Fault("set-up: disk full", "a message with the remedy", environment_full),
    Fault("set-up: Python too old", "a message with the remedy", python_unfit),
    Fault("set-up: path with a colon", "a message with the remedy", path_with_colon),
    Fault("set-up: no network", "a message with the remedy", no_network),
    Fault("set-up: base interpreter gone", "the environment is made anew", base_gone),
    Fault("set-up: lock of a dead process", "nobody waits", lock_left_behind),
    Fault("set-up: a package lost its files", "installed again", package_lost),
    Fault("set-up: killed, then two at once", "one waits, one installs", set_ups_at_once),
)


def outcome(fault: Fault, bench: Bench) -> tuple[bool, str]:
    """Provoke a fault; whether all was right, and what came."""
    bench.restore()
    try:
        fault.provoke(bench)
        if alive := bench.processes():
            return False, "still alive: " + "; ".join(alive)
        if left := bench.leftovers():
            return False, "left behind: " + ", ".join(left)
    except SkippedError as skipped:
        return True, f"skipped: {skipped}"
    except AssertionError as error:
        return False, str(error).strip()
    return True, fault.right


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.faults")
    parser.add_argument("words", nargs="*", help="parts of the names of faults; all if left out")
    words = parser.parse_args(arguments).words
    faults = [fault for fault in FAULTS if not words or any(word in fault.name for word in words)]
    if not faults:
        names = "\n  ".join(fault.name for fault in FAULTS)
        parser.error(f"no fault has such a name; there are:\n  {names}")
    wrong = []
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="faults-") as folder:
        print("Cloning the committed tree ...", flush=True)
        bench = Bench.below(Path(folder), ODD_NAME)
        try:
            for fault in faults:
                started = time.monotonic()
                ok, came = outcome(fault, bench)
                seconds = f"{time.monotonic() - started:.0f} s"
                head, _, rest = came.partition("\n")
                print(f"{'ok' if ok else 'WRONG':6}{fault.name:42}{seconds:>6}  {head}", flush=True)
                if rest and not ok:
                    print("\n".join(f"      | {line}" for line in rest.splitlines()), flush=True)
                wrong += [fault.name] if not ok else []
        finally:
            bench.remove()
    print(f"\n{len(faults) - len(wrong)} of {len(faults)} faults end as they should.")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(exit_code(main))
