"""Results of a sweep: one table with the varied keys as columns, read from its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopcast.errors import HopcastError
from hopcast.lab.kept import name_of
from hopcast.sweep.parts import DamagedPart, Parts
from hopcast.sweep.plan import SweepError, replications_of, shown
from hopcast.sweep.precision import Precision, parts_of

if TYPE_CHECKING:
    import polars

NAME = "sweep.json"
"""Name of the file that says what was asked."""


class NoSweep(HopcastError):
    """A folder has no sweep, or files that hopcast did not write."""


@dataclass(frozen=True)
class Asked:
    """What a folder's sweep consists of."""

    keys: tuple[str, ...]
    points: tuple[tuple[object, ...], ...]
    """Values of the keys, for each point."""
    identities: tuple[str, ...]
    """Digest of all that decides a point's results except the seed."""
    seed: int
    replications: int | Precision

    @property
    def most(self) -> int:
        """Largest number of replications of a point."""
        return self.replications.at_most if isinstance(self.replications, Precision) else self.replications

    def names(self, point: int) -> list[str]:
        """Names of the runs that a point may have, by seed."""
        return [name_of(self.identities[point], self.seed + index) for index in range(self.most)]


class SweepResult:
    """The results of a sweep, as far as they are there."""

    def __init__(self, folder: str | os.PathLike[str], document: dict[str, Any], asked: Asked) -> None:
        self.folder = Path(folder)
        self.document = document
        """The object of `sweep.json`."""
        self.asked = asked
        self._runs: polars.DataFrame | None = None
        self._tables: dict[str, polars.DataFrame] = {}

    @property
    def keys(self) -> tuple[str, ...]:
        """The varied keys, which are the first columns of the tables."""
        return self.asked.keys

    @property
    def complete(self) -> bool:
        """Whether every run of the sweep has finished."""
        return bool(self.document["complete"])

    @property
    def flows(self) -> polars.DataFrame:
        """Table with a row for each point, seed and flow: the varied keys, `seed`, and the fields of the flow."""
        return self._table("flows")

    @property
    def nodes(self) -> polars.DataFrame:
        """Table with a row for each point, seed and node: the varied keys, `seed`, and the counters of the node."""
        return self._table("nodes")

    @property
    def totals(self) -> polars.DataFrame:
        """Table with a row for each point and seed: the varied keys, `seed`, and the totals of the network."""
        return self._table("totals")

    def __repr__(self) -> str:
        counts = self.document["counts"]
        return f"SweepResult({os.fspath(self.folder)!r}, {counts['points']} points, {counts['finished']} runs)"

    def _table(self, name: str) -> polars.DataFrame:

        if name not in self._tables:
            found, plan = self._found(), self._plan()
            if found is None:
                self._tables[name] = plan.drop("run").clear()
            else:
                rows = found.select("run", name)
                if name != "totals":
                    rows = rows.explode(name)
                joined = plan.join(rows.unnest(name), on="run", how="inner", maintain_order="left_right")
                self._tables[name] = joined.drop("run").rechunk()
        return self._tables[name].clone()

    def _found(self) -> polars.DataFrame | None:
        if self._runs is None:
            names = {name for point in range(len(self.asked.points)) for name in self.asked.names(point)}
            try:
                self._runs = Parts(self.folder).load(names)
            except DamagedPart as error:
                raise NoSweep(str(error)) from None
        return self._runs

    def _plan(self) -> polars.DataFrame:
        """The runs of the table in their order: the varied keys, the seed, and the run's name."""
        import polars

        asked = self.asked
        measured: dict[str, float | None] = {}
        if isinstance(asked.replications, Precision) and (found := self._found()) is not None:
            measured = metric_of(found, asked.replications.metric)
        places: list[int] = []
        seeds: list[int] = []
        names: list[str] = []
        for point in range(len(asked.points)):
            of_point = asked.names(point)
            if isinstance(asked.replications, Precision):
                prefix = prefix_of(of_point, measured)
                of_point = of_point[: asked.replications.enough(prefix) or len(prefix)]
            places += [point] * len(of_point)
            seeds += range(asked.seed, asked.seed + len(of_point))
            names += of_point
        columns = [column(key, [point[at] for point in asked.points]) for at, key in enumerate(asked.keys)]
        taken = polars.Series("place", places, polars.UInt32)
        return polars.DataFrame(
            [
                *(one.gather(taken) for one in columns),
                polars.Series("seed", seeds, polars.UInt64),
                polars.Series("run", names, polars.String),
            ]
        )


def prefix_of(names: Sequence[str], measured: Mapping[str, float | None]) -> list[float | None]:
    """The metric of the first runs, up to the first that is missing."""
    found: list[float | None] = []
    for name in names:
        if name not in measured:
            break
        found.append(measured[name])
    return found


def metric_of(runs: polars.DataFrame, metric: str) -> dict[str, float | None]:
    """The metric of each run, by name; `None` where a run could not measure it. Raises `NoSweep`."""
    import polars

    table, name, field = parts_of(metric) or ("", "", "")
    rows = runs.select("run", table)
    if table != "totals":
        rows = rows.explode(table)
    rows = rows.unnest(table)
    if field not in rows.columns or not rows.schema[field].is_numeric():
        raise NoSweep(f"{metric}: runs have no such number")
    if table != "totals":
        rows = rows.filter(polars.col("name") == name)
    values: list[float | None] = rows[field].cast(polars.Float64).to_list()
    found = dict(zip(rows["run"].to_list(), values, strict=True))
    return {run: found.get(run) for run in runs["run"].to_list()}


def column(key: str, values: Sequence[object]) -> polars.Series:
    """A column with the values of a key: whole numbers, numbers, truth values, or strings. Where the values have
    several types, or are lists and tables, it has their spelling in TOML.
    """
    import polars

    kinds = {type(value) for value in values}
    if kinds <= {int} and all(-(2**63) <= int(value) < 2**63 for value in values):  # type: ignore[call-overload]
        return polars.Series(key, values, polars.Int64)
    if kinds <= {int, float}:
        return polars.Series(key, [float(value) for value in values], polars.Float64)  # type: ignore[arg-type]
    if kinds == {bool}:
        return polars.Series(key, values, polars.Boolean)
    texts = [value if isinstance(value, str) else shown(value) for value in values]
    return polars.Series(key, texts, polars.String)


def open_sweep(folder: str | os.PathLike[str]) -> SweepResult:
    """The results of `hopcast sweep --out DIR`, complete or not. Raises `NoSweep`."""
    path = Path(folder) / NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoSweep(f"{os.fspath(folder)}: there is no {NAME}; `hopcast sweep --out` writes it") from None
    except (OSError, ValueError) as error:
        raise NoSweep(f"{path}: can't be read: {error}") from None
    try:
        given = document["asked"]
        asked = Asked(
            tuple(document["keys"]),
            tuple(tuple(point["values"]) for point in document["points"]),
            tuple(point["identity"] for point in document["points"]),
            given["seed"],
            replications_of(given["replications"], str(path)),
        )
        for part in (document["counts"]["points"], document["counts"]["finished"], document["complete"]):
            if not isinstance(part, int):
                raise TypeError
        if not isinstance(asked.seed, int) or any(len(point) != len(asked.keys) for point in asked.points):
            raise TypeError
    except (KeyError, TypeError, AttributeError, SweepError):
        raise NoSweep(f"{path}: is not a file that `hopcast sweep` wrote") from None
    return SweepResult(folder, document, asked)
