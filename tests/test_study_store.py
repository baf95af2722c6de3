"""The store of a study: what is damaged is named, the remedy is tried, nothing half-written stays.

Every remedy that a message names is taken here, and has to lead back to the same table.
"""

import errno
import json
import os
from pathlib import Path

import pandas as pd
import pytest

from kernelbook.study import run_study

CELLS = [{"x": x} for x in range(4)]


def third(x, random_state):
    return {"third": x / 3, "seed": random_state}


def study(store, cells=CELLS, **options):
    return run_study(third, cells, backend="sequential", progress=False, store=store, **options)


def cell_files(store):
    return [path for path in sorted(store.glob("*.json")) if path.name != "study.json"]


def edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def drop_checksum(path):
    content = json.loads(path.read_text())
    del content["sha256"]
    path.write_text(json.dumps(content))


def make_directory(path):
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("kept")


DAMAGES = {
    "cut off": (lambda path: path.write_text(path.read_text()[:20]), "is not JSON"),
    "empty": (lambda path: path.write_text(""), "is not JSON"),
    "bytes": (lambda path: path.write_bytes(b"\xff\xfe\x00"), "is not JSON"),
    "deep": (lambda path: path.write_text("[" * 100_000), "is not JSON"),
    "a list": (lambda path: path.write_text("[1, 2]"), "has no checksum"),
    "a number": (lambda path: path.write_text("3"), "has no checksum"),
    "another form": (lambda path: path.write_text('{"a": 1}'), "has no checksum"),
    "an older version": (drop_checksum, "has no checksum"),
    "an altered seed": (lambda path: edit(path, seed=1), "was altered"),
    "an altered function": (lambda path: edit(path, function="other"), "was altered"),
    "an altered checksum": (lambda path: edit(path, sha256=None), "was altered"),
    "one entry more": (lambda path: edit(path, more=1), "was altered"),
    "a directory": (make_directory, "is not a file"),
}
OF_CELLS = {
    "an altered value": (lambda path: edit(path, result={"third": 5.0, "seed": 0}), "was altered"),
    "another cell": (lambda path: edit(path, cell={"x": 9}), "was altered"),
    "no result": (lambda path: edit(path, result=None), "was altered"),
}


@pytest.mark.parametrize(
    ("what", "name"),
    [("study.json", name) for name in DAMAGES] + [("cell", name) for name in DAMAGES | OF_CELLS],
)
def test_damage_is_named_and_mended_on_request(tmp_path, what, name):
    expected = study(tmp_path)
    path = cell_files(tmp_path)[1] if what == "cell" else tmp_path / "study.json"
    damage, fault = (DAMAGES | OF_CELLS)[name]
    damage(path)
    with pytest.raises(ValueError, match="on_damage='recompute'") as caught:
        study(tmp_path)
    assert str(caught.value).startswith(f"{path} {fault}")
    pd.testing.assert_frame_equal(study(tmp_path, on_damage="recompute"), expected, rtol=0, atol=0)
    assert path.with_suffix(".damaged").exists()
    pd.testing.assert_frame_equal(study(tmp_path), expected, rtol=0, atol=0)  # whole again
    assert not list(tmp_path.glob("*.tmp"))


def test_only_damaged_cells_run_again(tmp_path):
    study(tmp_path)
    ran = []

    def third_again(x, random_state):
        ran.append(x)
        return third(x, random_state)

    third_again.__module__, third_again.__qualname__ = third.__module__, third.__qualname__
    first, second = cell_files(tmp_path)[:2]
    damaged = [json.loads(path.read_text())["cell"]["x"] for path in (first, second)]
    first.write_text("")
    edit(second, result={"third": 0.0, "seed": 0})
    with pytest.raises(ValueError) as caught:
        study(tmp_path)
    assert first.name in str(caught.value) and second.name in str(caught.value)
    options = {"backend": "sequential", "progress": False, "store": tmp_path}
    run_study(third_again, CELLS, on_damage="recompute", **options)
    assert sorted(ran) == sorted(damaged)


def test_a_file_of_another_cell_is_no_result(tmp_path):
    expected = study(tmp_path)
    first, second = cell_files(tmp_path)[:2]
    first.write_text(second.read_text())  # a checksum that is right, of the wrong cell
    with pytest.raises(ValueError, match=r"does not hold the cell \{\"x\": \d\}"):
        study(tmp_path)
    assert study(tmp_path, on_damage="recompute").equals(expected)


def test_a_missing_manifest_is_written_again_on_request(tmp_path):
    expected = study(tmp_path)
    (tmp_path / "study.json").write_text("{")
    for _ in range(2):  # damaged, then missing: one advice
        with pytest.raises(ValueError, match=r"study\.json is (.|\n)*on_damage='recompute'"):
            study(tmp_path)
        (tmp_path / "study.json").unlink(missing_ok=True)
    assert study(tmp_path, on_damage="recompute").equals(expected)
    assert study(tmp_path).equals(expected)


def test_damage_of_another_study_is_not_taken_over(tmp_path):
    study(tmp_path, seed=1)
    with pytest.raises(ValueError, match="holds the study"):
        study(tmp_path, on_damage="recompute")
    (tmp_path / "study.json").unlink()
    table = study(tmp_path, on_damage="recompute")
    assert table.equals(study(None))
    assert len(cell_files(tmp_path)) == 2 * len(CELLS)  # those of the other seed were left alone


def test_a_store_that_is_a_file_is_named(tmp_path):
    path = tmp_path / "store"
    path.write_text("")
    with pytest.raises(ValueError, match="is not a directory: give another path"):
        study(path)


class Disk:
    """A file system on which writing fails from some call of fsync on."""

    def __init__(self, monkeypatch, number, after):
        self.number, self.left, self.sync = number, after, os.fsync
        monkeypatch.setattr(os, "fsync", self)

    def __call__(self, descriptor):
        if self.left == 0:
            raise OSError(self.number, os.strerror(self.number))
        self.left -= 1
        self.sync(descriptor)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_full_disk_leaves_whole_files_and_a_remedy(tmp_path, monkeypatch, number, after):
    with monkeypatch.context() as patch:
        Disk(patch, number, after)
        with pytest.raises(OSError, match=r"stored are kept; free space") as caught:
            study(tmp_path)
    assert caught.value.errno == number
    assert os.strerror(number) in str(caught.value) and str(tmp_path) in str(caught.value)
    assert {path.suffix for path in tmp_path.iterdir()} <= {".json"}
    assert len(list(tmp_path.iterdir())) == after
    assert study(tmp_path).equals(study(None))  # space was freed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_device_that_is_full(tmp_path, monkeypatch):
    study(tmp_path, CELLS[:1])
    whole = Path.open

    def on_full_device(path, mode="r", **options):
        return whole(Path("/dev/full") if "w" in mode else path, mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", on_full_device)
        with pytest.raises(OSError, match="No space left on device: the store"):
            study(tmp_path)
    assert study(tmp_path).equals(study(None))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match="correct the permissions"):
            study(tmp_path / "store")
    finally:
        tmp_path.chmod(0o700)
    assert study(tmp_path / "store").equals(study(None))
