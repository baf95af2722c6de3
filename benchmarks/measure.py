"""One measurement, in a process of its own: seconds, peak memory over the data, accuracy."""

import contextlib
import ctypes
import gc
import io
import multiprocessing
import os
import resource
import sys
import time
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.plan import RATE, Problem, load

__all__ = ["MeasurementError", "in_own_process", "measure", "send_measurement"]

MEGABYTE = 2**20


class MeasurementError(RuntimeError):
    """The process of a measurement failed; the message says how."""


def in_own_process(group: str, method: str, problem: Problem) -> dict[str, float]:
    """Run :func:`measure` in a fresh process and return its numbers.

    The process is forked from a server that has imported the libraries and loaded the compiled
    loops.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.preload"])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=send_measurement, args=(sender, group, method, problem), daemon=True
    )
    process.start()
    sender.close()
    try:
        answer = receiver.recv()
    except EOFError:
        process.join()
        raise MeasurementError(f"its process ended with code {process.exitcode}") from None
    process.join()
    if isinstance(answer, str):
        raise MeasurementError(answer)
    return answer


def send_measurement(sender: Connection, group: str, method: str, problem: Problem) -> None:
    """Send the numbers of :func:`measure`, or what went wrong as text."""
    try:
        sender.send(measure(group, method, problem))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")


def measure(group_name: str, method_name: str, problem: Problem) -> dict[str, float]:
    """Seconds of the processor and of the clock, megabytes over the data, and the check."""
    group = load(group_name)
    method = group.method(method_name)
    with quiet(everything=not method.ours):
        method.run(group.make(**{**problem, **group.warm_up}))
        data = group.make(**problem)
        before = start_of_peak()
        wall, cpu = time.perf_counter(), time.process_time()
        result = method.run(data)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        memory = (peak() - before) / MEGABYTE
        checks = group.check(data, result)
    for name in group.rates:
        checks[name + RATE] = checks.pop(name) / cpu
    return {"cpu_s": cpu, "wall_s": wall, "memory_mb": max(memory, 0.0), **checks}


@contextlib.contextmanager
def quiet(*, everything: bool) -> Any:
    """Peers print and warn; this library must do neither."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        if everything:
            warnings.simplefilter("ignore")
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        else:
            warnings.simplefilter("error")
        yield


def start_of_peak() -> int:
    """Give freed memory back, set the peak of this process to what it holds now: bytes."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # the C library of GNU only
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):  # Linux only; elsewhere the peak of the whole life counts
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """Largest resident size so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def load_average() -> float:
    return round(os.getloadavg()[0], 2)
