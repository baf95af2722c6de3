"""The data files: what the parser must know of each, where they lie, whether they are whole."""

import hashlib
import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path

DIRECTORY_VARIABLE = "KERNELBOOK_DATA"

PRICES = ("low", "med", "high", "vhigh")
GLASS = ("building windows, float", "building windows, not float", "vehicle windows, float")
REGIONS = ("brickface", "sky", "foliage", "cement", "window", "path", "grass")


def _same(*labels: str) -> dict[Hashable, str]:
    return {label: label for label in labels}


@dataclass(frozen=True)
class DataFile:
    """What the parser has to know about one file; the description is in data/README.md."""

    sha256: str
    target: str
    positive: Hashable = None
    class_names: dict[Hashable, str] = field(default_factory=dict)
    ordered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nominal: dict[str, tuple[str, ...]] = field(default_factory=dict)


FILES = {
    "nhefs_mortality": DataFile(
        "0ab9a6e8677949414fdb928c3f8b401439d5de7fba6e4d12a808efff7235b15d",
        target="died_1983_92", positive=1, class_names={0: "survived", 1: "died"},
    ),
    "hypothyroid": DataFile(
        "1c05fad26f2435de6121b3ae4d6c4cc0835badfaf4af8de8dd34e1eec1be5338",
        target="hypothyroid", positive=1, class_names={0: "negative", 1: "hypothyroid"},
    ),
    "thyroid0387_euthyroid": DataFile(
        "53057e658a8da3f11a91fcb497d3a250b6199bc9819964f88c725712f7960f4f",
        target="sick_euthyroid", positive=1, class_names={0: "negative", 1: "sick euthyroid"},
    ),
    "glass": DataFile(
        "c610d6045e9a29a39a270026ef5f86a7d1c05b0aa06447690a376e7e2df82892",
        target="Type", positive=7,
        class_names={
            **dict(enumerate(GLASS, start=1)), 5: "containers", 6: "tableware", 7: "headlamps"
        },
    ),
    "yeast": DataFile(
        "1606fb1af50a1193b660e2c1e1d540322539ba9b53428b4c7b86c9e564215d10",
        target="class", positive="ME2",
        class_names=_same(
            "CYT", "ERL", "EXC", "ME1", "ME2", "ME3", "MIT", "NUC", "POX", "VAC"
        ),
    ),
    "abalone": DataFile(
        "a2daaed9c48ef860360f6438a224a2fde2576f1ebcf4f821ffe23645c229b23e",
        target="rings", positive=19, nominal={"sex": ("F", "I", "M")},
    ),
    "car": DataFile(
        "0023b86e0dd3502aaa0e4a610ef4d8aebbba7ff40f53fa7c2f0543c68bee5114",
        target="class", positive="good", class_names=_same("acc", "good", "unacc", "vgood"),
        ordered={
            "buying": PRICES, "maint": PRICES,
            "doors": ("2", "3", "4", "5more"), "persons": ("2", "4", "more"),
            "lug_boot": ("small", "med", "big"), "safety": ("low", "med", "high"),
        },
    ),
    "segment": DataFile(
        "361f2496dc9199d3c8587af52843ff9aeeb0e45a4cf02c22bfe63523b20d321d",
        target="class", positive=1, class_names=dict(enumerate(REGIONS, start=1)),
    ),
    "haberman": DataFile(
        "e0dab13ec679883e2cf02c3bd7511230dc0946795874dca868a308f313ccc8ad",
        target="died5y", positive=1,
        class_names={0: "survived five years", 1: "died within five years"},
    ),
    "airfoil": DataFile(
        "50a1679927f75a0f63ed1044eb02349e9b923de6d4e6291a39d0ae61ee097b18",
        target="sound_pressure",
    ),
    "sonar": DataFile(
        "87e18926f42bb35b32308c80d1c7bde2030c6247d3f0acaac3d56a147f6da844",
        target="Class", positive="M", class_names={"M": "mine", "R": "rock"},
    ),
    "creditcard_sample": DataFile(
        "97043cfe0da71f86dc31d910e5fbefc15855c60557a6814521c8a3d146b78ead",
        target="Class", positive=1, class_names={0: "genuine", 1: "fraud"},
    ),
}  # fmt: skip


def data_directory() -> Path:
    """Find the directory of the data files, and of the stored results of long studies.

    Returns
    -------
    pathlib.Path
        The value of the environment variable ``KERNELBOOK_DATA`` if it is set, else
        ``kernelbook_data/`` beside this package, which the wheel of the course installs, else
        ``data/`` of the repository that holds this module.

    Raises
    ------
    FileNotFoundError
        If there is no such directory: an installed wheel has no data.
    """
    named = os.environ.get(DIRECTORY_VARIABLE)
    here = Path(__file__).resolve()
    beside = here.parents[2] / "kernelbook_data"
    directory = Path(named) if named else beside if beside.is_dir() else here.parents[3] / "data"
    if not directory.is_dir():
        reason = f"{DIRECTORY_VARIABLE} names it" if named else "the installed package has no data"
        raise FileNotFoundError(
            f"No data directory {directory} ({reason}). Clone the repository and set the "
            f"environment variable {DIRECTORY_VARIABLE} to its data directory."
        )
    return directory


def read_verified(name: str) -> str:
    """The text of one data file, which must be the recorded one to the last byte."""
    content = _read(f"{name}.csv")
    found = hashlib.sha256(content).hexdigest()
    if found != FILES[name].sha256:
        raise ValueError(
            f"{data_directory() / name}.csv is damaged: its SHA-256 is {found}, not "
            f"{FILES[name].sha256} (an editor or Git may have changed its line ends). Restore it "
            f"with 'git checkout -- data/{name}.csv'; data/README.md names its source."
        )
    return content.decode("utf-8")


def description(name: str) -> str:
    """The section of data/README.md about one file: the one place where it is described."""
    section = _read("README.md").decode("utf-8").partition(f"\n## {name}.csv\n")[2]
    section = section.partition("\n## ")[0].strip()
    return f"{name}.csv\n\n{section}\n"


def _read(filename: str) -> bytes:
    path = data_directory() / filename
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing. Restore it with 'git checkout -- data/{filename}'; "
            "data/README.md names its source."
        )
    return path.read_bytes()
