"""Studies of installed packages, found by entry point.

A package offers its studies as a `Collection`, and names it in its `pyproject.toml`::

    [project.entry-points."hopcast.studies"]
    mine = "my_package:STUDIES"

The package of the papers' studies is hopcast-papers, in the folder `papers` of hopcast's repository.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

from hopcast.errors import HopcastError
from hopcast.lab.experiment import AMOUNTS, Experiment
from hopcast.lab.own import load_file
from hopcast.lab.register import Register
from hopcast.lab.sensitivity import Unsaid
from hopcast.lab.variant import Variant

GROUP = "hopcast.studies"
"""Group of the entry points."""
NONE_INSTALLED = (
    "no studies are installed. Those of the papers are the package hopcast-papers, in the folder papers of hopcast's "
    "repository: `pip install ./papers` there, or `make build`"
)


@dataclass(frozen=True)
class Collection:
    """The studies of a package."""

    experiments: Sequence[Experiment]
    """In the order of the report."""
    unsaid: Sequence[Unsaid] = ()
    """Parameters that the papers do not state, which `hopcast study sensitivity` varies."""
    register: Register | None = None
    """The sentences that the studies judge."""
    papers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By the letter of its experiments: a paper with authors, title and year, and what it tested."""


class CollectionError(HopcastError):
    """The studies of an installed package can't be loaded; nothing was run."""


@functools.cache
def collections() -> tuple[Collection, ...]:
    """The studies of all installed packages, in the order of the entry points' names. Raises `CollectionError`."""
    found: dict[str, Collection] = {}
    owners: dict[str, str] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if entry.name in found:
            raise CollectionError(f"two installed packages have studies of the name {entry.name!r}")
        found[entry.name] = _loaded(entry)
        for experiment in found[entry.name].experiments:
            if experiment.id in owners:
                raise CollectionError(f"{entry.name} and {owners[experiment.id]} both have a study {experiment.id}")
            owners[experiment.id] = entry.name
    return tuple(found.values())


def _loaded(entry: EntryPoint) -> Collection:
    try:
        collection = entry.load()
    except Exception as error:
        raise CollectionError(
            f"the studies {entry.name} ({entry.value}) can't be loaded: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(collection, Collection):
        raise CollectionError(f"the studies {entry.name} ({entry.value}) are {collection!r}, not a Collection")
    return collection


def experiments() -> dict[str, Experiment]:
    """The experiments of all installed packages by id, in the order of the report. Raises `CollectionError`."""
    return {experiment.id: experiment for collection in collections() for experiment in collection.experiments}


def unsaid() -> list[Unsaid]:
    """The parameters that papers leave unstated, of all installed packages. Raises `CollectionError`."""
    return [one for collection in collections() for one in collection.unsaid]


def registers() -> list[Register]:
    """The registers of all installed packages. Raises `CollectionError`."""
    return [collection.register for collection in collections() if collection.register is not None]


def papers() -> dict[str, tuple[str, str]]:
    """The papers of all installed packages, by letter, each with what it tested. Raises `CollectionError`."""
    return {letter: paper for collection in collections() for letter, paper in collection.papers.items()}


def find(name: str) -> list[Experiment]:
    """Find experiments by id (`"H2"`), by the letter of a paper (`"H"`), or all (`"all"`); returns none for an
    unknown name. A live one is skipped unless it is named by its id. Raises `CollectionError`.
    """
    wanted, known = name.upper(), experiments()
    if wanted in known:
        return [known[wanted]]
    return [_skipped(experiment) for key, experiment in known.items() if wanted in ("ALL", key[0])]


def _skipped(experiment: Experiment) -> Experiment:
    """The experiment, or a live one that says why it is not part of several."""
    if not experiment.live:
        return experiment
    reason = f"it measures real hosts, in real time: `hopcast study {experiment.id}`"
    return dataclasses.replace(experiment, missing=lambda: reason)


def load(name: str, amount: Literal["quick", "full"] = "quick") -> Variant:
    """Load one experiment to look at it or change it: by its id (`"H4"`), or the only one of a Python file
    (`"mystudy.py"`). Raises `KeyError`, `StudyFileError` and `CollectionError`.
    """
    if name.endswith(".py"):
        own = load_file(name)
        if len(own) > 1:
            ids = ", ".join(experiment.id for experiment in own)
            raise KeyError(f"{name} has several experiments ({ids}); load_file gives all of them")
        return Variant(own[0], AMOUNTS[amount])
    installed = experiments()
    if name.upper() not in installed:
        known = f"there are {', '.join(installed)}" if installed else NONE_INSTALLED
        raise KeyError(f"no experiment {name!r}; {known}")
    return Variant(installed[name.upper()], AMOUNTS[amount])
