"""Parts of a sweep that somebody has changed: they are read or refused, and nothing else is raised."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import polars
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import TOML
from hopcast import open_sweep
from hopcast.errors import HopcastError
from hopcast.sweep import Sweep
from hopcast.sweep.parts import DamagedPart, Parts

SWEEP = 'scenario = "two.toml"\nreplications = 1\n[grid]\nduration = ["10 ms", "20 ms", "30 ms"]\n'
CHANGES = st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 255)), min_size=1, max_size=4)
"""Where, as a share of the file, and what is there then."""
CUTS = st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
"""A stretch that is missing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep that has been run."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "two.toml").write_text(TOML)
    (folder / "sweep.toml").write_text(SWEEP)
    Sweep.from_toml(folder / "sweep.toml").run(folder / "out")
    return folder / "out"


def read(folder: Path, octets: bytes, name: str) -> None:
    """Reads a copy of the sweep in which a file has these bytes."""
    copy = folder.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    (copy / name).write_bytes(octets)
    with suppress(HopcastError):
        result = open_sweep(copy)
        for table in (result.flows, result.nodes, result.totals):
            assert table.height >= 0
    # What is damaged is put aside, so that its runs are repeated.
    Parts(copy).finished()


def changed(octets: bytes, changes: list[tuple[float, int]], cut: tuple[float, float] | None) -> bytes:
    made = bytearray(octets)
    for place, value in changes:
        made[min(int(place * len(made)), len(made) - 1)] = value
    if cut is not None:
        first, last = sorted(int(place * len(made)) for place in cut)
        del made[first:last]
    return bytes(made)


ANY = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@ANY
@given(changes=CHANGES, cut=st.none() | CUTS)
def test_a_part_that_was_changed_is_read_or_refused(
    folder: Path, changes: list[tuple[float, int]], cut: tuple[float, float] | None
) -> None:
    (part,) = folder.glob("part-*.parquet")
    read(folder, changed(part.read_bytes(), changes, cut), part.name)


@ANY
@given(changes=st.lists(st.tuples(st.floats(0.9, 1.0), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_part_whose_footer_was_changed_is_read_or_refused(folder: Path, changes: list[tuple[float, int]]) -> None:
    (part,) = folder.glob("part-*.parquet")
    read(folder, changed(part.read_bytes(), changes, None), part.name)


@ANY
@given(changes=CHANGES, cut=st.none() | CUTS)
def test_a_sweep_json_that_was_changed_is_read_or_refused(
    folder: Path, changes: list[tuple[float, int]], cut: tuple[float, float] | None
) -> None:
    read(folder, changed((folder / "sweep.json").read_bytes(), changes, cut), "sweep.json")


def test_a_part_on_which_polars_panics_is_damaged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panics(*_: object, **__: object) -> None:
        raise polars.exceptions.PanicException("capacity overflow")

    monkeypatch.setattr(polars, "read_parquet", panics)
    with pytest.raises(DamagedPart, match="capacity overflow"):
        Parts(folder).load(["0"])
