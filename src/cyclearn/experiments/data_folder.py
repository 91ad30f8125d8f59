"""Data that the project does not ship: where they are, and where to get them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from cyclearn.data import Moments, as_moments, read_table
from cyclearn.foundation.errors import InputError

VARIABLE = "CYCLEARN_DATA"

SOURCES = {
    "feedback": (
        "Simulated fMRI networks with feedback (Sanchez-Romero et al. 2019, "
        "doi 10.1162/netn_a_00061; CC0): https://github.com/cmu-phil/example-causal-datasets, "
        "folder simulated/feedbacks. Make DIR/feedback/NETWORK/ with the files sim-*.txt of a "
        "network and its true graph as truth.graph.txt."
    ),
    "hippocampus": (
        "Resting-state 7T fMRI of the medial temporal lobe (Shah et al. 2018; GPL-3): "
        "https://github.com/shahpreya/MTLnet, folder data/functional, res_tcourse_L.txt of a "
        "subject. Make DIR/hippocampus/subjectN_left.csv with the columns PRC (mean of BA35 and "
        "BA36), PHC, ERC, Sub, CA1, CA3 (mean of CA3 and DG)."
    ),
}


def located(data: Path | str | None) -> Path | None:
    """The data folder given, or named by CYCLEARN_DATA, as a path that holds in any process."""
    given = data or os.environ.get(VARIABLE)
    return Path(given).absolute() if given else None


def data_folder(name: str, given: Path | None) -> Path:
    """The folder ``name`` inside the data folder."""
    if given is None:
        raise InputError(
            f"this study needs data that are not shipped; name the folder that holds {name}/ by "
            f"--data DIR or {VARIABLE}. {SOURCES[name]}"
        )
    folder = given / name
    if not folder.is_dir():
        raise InputError(f"there is no folder {name} in {given}. {SOURCES[name]}")
    return folder


def read_columns(path: Path, names: Sequence[str]) -> Moments:
    """Moments of some columns of a table in a file."""
    table = read_table(path)
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(map(repr, missing))}; its columns are to be "
            + ", ".join(names)
        )
    return as_moments(table[list(names)])


def fingerprint(paths: Iterable[Path]) -> str:
    """A short digest of some files, so that a run is not continued on other data."""
    digest = sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
