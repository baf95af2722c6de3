"""The set-up: one at a time, each failure with its remedy, and what is damaged is mended."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import set_up
from tools.one_at_a_time import one_at_a_time
from tools.processes import is_alive

ROOT = Path(__file__).parents[1]


def make_environment(directory, version="3.11.7"):
    packages = directory / "lib/python3.11/site-packages/numpy"
    packages.mkdir(parents=True)
    for name in ("__init__.py", "core.py"):
        (packages / name).touch()
    (directory / "bin").mkdir()
    (directory / "bin/python").touch()
    (directory / "pyvenv.cfg").write_text(f"home = x\nversion = {version}\n")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with a complete environment; the steps of a set-up are noted, not done."""
    root = tmp_path / "a checkout"
    root.mkdir()
    (root / "requirements.lock").write_text("numpy==2.4.6\n")
    (root / "pyproject.toml").touch()
    monkeypatch.setattr(set_up, "ROOT", root)
    make_environment(root / ".venv", ".".join(map(str, sys.version_info[:3])))
    set_up.write_stamp(root / ".venv", root / "requirements.lock")
    return root


@pytest.fixture
def steps(monkeypatch):
    commands = {}
    monkeypatch.setattr(set_up, "step", lambda title, command: commands.update({title: command}))
    monkeypatch.setattr(set_up, "works", lambda command: True)
    return commands


# Which directory, and whether it is up to date


def test_another_python_gets_a_directory_of_its_own(tmp_path):
    assert set_up.choose_directory(tmp_path, ".venv", (3, 11)) == tmp_path / ".venv"
    make_environment(tmp_path / ".venv", "3.11.7")
    assert set_up.choose_directory(tmp_path, ".venv", (3, 11)) == tmp_path / ".venv"
    assert set_up.choose_directory(tmp_path, ".venv", (3, 13)) == tmp_path / ".venv-3.13"


def emptied(directory):
    shutil.rmtree(directory)
    directory.mkdir()


def without_base(directory):
    (directory / "bin/python").unlink()
    (directory / "bin/python").symlink_to("/no/such/python")


@pytest.mark.parametrize(
    "damage", [emptied, without_base, lambda directory: (directory / "pyvenv.cfg").unlink()]
)
def test_a_broken_environment_is_replaced(tmp_path, damage):
    make_environment(tmp_path / ".venv", "3.11.7")
    damage(tmp_path / ".venv")
    assert set_up.choose_directory(tmp_path, ".venv", (3, 13)) == tmp_path / ".venv"


def test_a_complete_environment_needs_no_writing(checkout, steps, monkeypatch, capsys):
    before = sorted(checkout.rglob("*"))
    monkeypatch.setattr(set_up, "one_at_a_time", None)
    assert set_up.main([]) == 0
    assert capsys.readouterr().out == f"{checkout}/.venv/bin/python\n"
    assert steps == {}
    assert sorted(checkout.rglob("*")) == before


def test_set_up_is_needed_again_when_the_lock_changes(checkout, steps):
    (checkout / "requirements.lock").write_text("numpy==2.4.7\n")
    assert set_up.main([]) == 0
    command = steps["installing requirements.lock"]
    assert command[-2:] == ["-r", "requirements.lock"]
    assert "--reinstall" not in command
    steps.clear()
    assert set_up.main([]) == 0
    assert steps == {}


@pytest.mark.parametrize("lost", ["numpy", "numpy/core.py"])
def test_a_package_that_lost_files_is_installed_again(checkout, steps, lost):
    packages = checkout / ".venv/lib/python3.11/site-packages"
    (packages / "numpy/__pycache__").mkdir()
    (packages / "of_a_user.py").touch()
    assert set_up.main([]) == 0
    assert steps == {}
    path = packages / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert set_up.main([]) == 0
    assert "--reinstall" in steps["installing requirements.lock"]


def test_a_stopped_set_up_goes_on_at_the_next_call(checkout, steps, monkeypatch, capsys):
    (checkout / "requirements.lock").write_text("numpy==2.4.7\n")
    note = set_up.step

    def stop(title, command):
        raise set_up.SetUpError("no way")

    monkeypatch.setattr(set_up, "step", stop)
    assert set_up.main([]) == 1
    assert "Set-up stopped. no way" in capsys.readouterr().err
    assert not (checkout / ".venv.lock").exists()
    assert set_up.read_stamp(checkout / ".venv") == {}
    monkeypatch.setattr(set_up, "step", note)
    assert set_up.main([]) == 0
    assert "compiling the loops of the exact solver" in steps
    assert "--reinstall" in steps["installing requirements.lock"]  # the first may be half there


def test_a_damaged_stamp_is_no_stamp(checkout):
    for text in ("", "[1", "7", json.dumps({"fingerprint": "x"})):
        (checkout / ".venv" / set_up.STAMP).write_text(text)
        assert not set_up.is_complete(checkout / ".venv", checkout / "requirements.lock")


# Failures and their remedies


def test_missing_venv_module_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setattr(set_up, "works", lambda command: False)
    with pytest.raises(set_up.SetUpError, match=r"no venv module.*apt install python3-venv"):
        set_up.check_venv_module()


@pytest.mark.parametrize(
    "said, remedy",
    [
        ("error: failed to write: No space left on device (os error 28)", "disk is full"),
        ("OSError: [Errno 30] Read-only file system: '/x'", "read-only file system. Copy it"),
        ("PermissionError: [Errno 13] Permission denied: '/x'", "Take it back"),
        ("error: Hash mismatch for `numpy==2.4.6`", "not the file that was locked"),
        ("invalid peer certificate: UnknownIssuer", "SSL_CERT_FILE"),
        ("error: Failed to fetch: `https://x/simple/numpy/`", "check the network"),
        ("ERROR: No matching distribution found for uv==0.13.9", "HTTPS_PROXY"),
        ("dns error: failed to lookup address information", "UV_DEFAULT_INDEX"),
    ],
)
def test_each_failed_step_has_a_remedy_of_its_own(said, remedy, capfd):
    code = f"import sys; print('Traceback', file=sys.stderr); sys.exit({said!r})"
    with pytest.raises(set_up.SetUpError) as caught:
        set_up.step("installing all", [sys.executable, "-c", code])
    message = str(caught.value).lower()
    assert message.startswith("installing all failed. ")
    assert remedy.lower() in message
    assert said.lower() in message  # the line that names the error, and no other
    assert "traceback" not in message + capfd.readouterr().err


def test_an_unknown_failure_shows_the_command_and_all_it_said():
    code = "print('first'); print('last'); raise SystemExit(3)"
    with pytest.raises(set_up.SetUpError, match=r"exit code 3(.|\n)*same make command") as caught:
        set_up.step("installing all", [sys.executable, "-c", code])
    assert "first\nlast" in str(caught.value)


def test_a_refused_write_is_a_message(checkout, steps, monkeypatch, capsys):
    (checkout / "requirements.lock").write_text("numpy==2.4.7\n")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(set_up, "write_stamp", full)
    assert set_up.main([]) == 1
    assert "The disk is full" in capsys.readouterr().err
    assert not (checkout / ".venv.lock").exists()


def test_a_path_that_no_environment_can_have_is_named(tmp_path):
    with pytest.raises(set_up.SetUpError, match=r"':', which separates .* Move the project"):
        set_up.refuse_path(tmp_path / "a:b" / ".venv")
    (tmp_path / ".venv").touch()
    with pytest.raises(set_up.SetUpError, match=r"is no folder\. Move it away"):
        set_up.refuse_path(tmp_path / ".venv")


# One at a time, and signals

HOLD = """
import sys
from pathlib import Path
from tools.one_at_a_time import one_at_a_time
with one_at_a_time(Path(sys.argv[1]), print):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "held\n"
    return holder


def test_the_second_waits_and_is_told_for_whom(tmp_path):
    path = tmp_path / ".venv.lock"
    with hold(path) as holder:
        said = []

        def say(text):
            said.append(text)
            holder.stdin.close()  # the first may end now

        with one_at_a_time(path, say):
            assert holder.wait(10) == 0
            assert path.read_text().startswith(f"process {os.getpid()}, since ")
    assert len(said) == 1
    assert f"Waiting for process {holder.pid}, since " in said[0]
    assert not path.exists()


def test_a_lock_of_a_dead_process_is_no_lock(tmp_path):
    path = tmp_path / ".venv.lock"
    with hold(path) as holder:
        holder.kill()
        holder.wait()
        assert path.exists()
        with one_at_a_time(path, pytest.fail):
            pass
    assert not path.exists()


STEP = """
import sys
from pathlib import Path
from tools import processes, set_up
set_up.ROOT = Path(sys.argv[1])
def ready(*_):
    with set_up.one_at_a_time(set_up.ROOT / ".venv.lock", set_up.say):
        code = "import os, time; open('pid', 'w').write(f'{os.getpid()} '); time.sleep(60)"
        set_up.step("sleeping", [sys.executable, "-c", code])
set_up.ready = ready
processes.stop_on_signals()
sys.exit(set_up.main([]))
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_step_too(tmp_path, name):
    command = [sys.executable, "-c", STEP, tmp_path]
    run = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    pid = tmp_path / "pid"
    deadline = time.monotonic() + 30
    while not (pid.exists() and pid.read_text().endswith(" ")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    run.send_signal(getattr(signal, name))
    _, said = run.communicate(timeout=20)
    assert run.returncode == 128 + getattr(signal, name)
    assert f"Set-up stopped by {name}; the same command goes on from here." in said
    assert "Traceback" not in said
    assert not is_alive(int(pid.read_text()))
    assert not (tmp_path / ".venv.lock").exists()


# The Makefile


def make(directory, *arguments):
    return subprocess.run(["make", *arguments], cwd=directory, capture_output=True, text=True)


def test_old_and_missing_interpreters_are_named_with_a_remedy(tmp_path):
    old = tmp_path / "old-python"
    old.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'Python 3.9.18'\nexit 1\n")
    old.chmod(0o755)
    for python, said in ((str(old), "Python 3.9.18"), ("no-such-python", "not found")):
        run = make(ROOT, "setup", f"PYTHON={python}")
        assert run.returncode != 0
        assert f"PYTHON={python} is:" in run.stderr
        assert said in run.stderr
        assert "make setup PYTHON=python3.12" in run.stderr


def test_an_environment_without_its_base_is_not_asked(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    python = tmp_path / ".venv/bin/python"
    python.symlink_to(sys.executable)
    assert ".venv/bin/python -m tools.set_up" in make(tmp_path, "-n", "setup").stdout
    python.unlink()
    python.symlink_to("/no/such/python")
    assert "exec python3 -m tools.set_up" in make(tmp_path, "-n", "setup").stdout
