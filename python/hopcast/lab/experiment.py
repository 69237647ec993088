"""Experiments: what is simulated, measured, and compared."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

from hopcast.errors import HopcastError
from hopcast.fields import unknown
from hopcast.lab.raised import told
from hopcast.lab.rows import Row, Sample
from hopcast.results import Document as Document
from hopcast.results import Result
from hopcast.scenario import Scenario

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

T = TypeVar("T")


@dataclass(frozen=True)
class Amount:
    """Amount of work: `quick` to check that it works, `full` as much as the papers did."""

    name: Literal["quick", "full"]

    def pick(self, *, quick: T, full: T) -> T:
        """One of two."""
        return quick if self.name == "quick" else full


AMOUNTS = {"quick": Amount("quick"), "full": Amount("full")}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an experiment, and the source of its value."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Case:
    """One scenario, simulated once with each of the seeds.

    `observe` reads from a replication what its document lacks, such as a series; its result is merged into the
    document. `beside`: no row that the paper has a number or a sentence for depends on the case, so that trials of
    other parameters (`hopcast.lab.sensitivity`) leave it as it is. Raises `TypeError` and `ValueError`.
    """

    scenario: Scenario
    seeds: tuple[int, ...]
    observe: Callable[[Result], Document] | None = None
    beside: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.scenario, Scenario):
            raise TypeError(f"scenario = {self.scenario!r}: must be a hopcast.Scenario")
        object.__setattr__(self, "seeds", checked_seeds(self.seeds))


def checked_seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    """Check the seeds of a case. A repeated seed would count as two measurements that never differ. Raises
    `ValueError`.
    """
    try:
        found = tuple(map(operator.index, seeds))
    except TypeError:
        found = ()
    if not found or len(set(found)) < len(found) or min(found) < 0 or max(found) >= 2**64:
        raise ValueError(
            f"seeds = {seeds!r}: must be whole numbers from 0 to 2^64 - 1, at least one and none of them twice"
        )
    return found


def column(series: polars.DataFrame, name: str) -> list[float]:
    """A column of a run's series, as lists; values that were not measured are NaN."""
    import polars

    found: list[float] = series[name].cast(polars.Float64).fill_null(math.nan).to_list()
    return found


@dataclass(frozen=True)
class Measured:
    """Results of the cases of an experiment, by the keys of its cases."""

    documents: Mapping[str, Sequence[Document]]

    def sample(self, case: str, number: Callable[[Document], float]) -> Sample:
        """One number of a case, from each replication."""
        return Sample(tuple(number(document) for document in self.documents[case]))

    def flow(self, case: str, flow: str, of: str) -> Sample:
        """One field of a flow (`hopcast.fields.FIELDS["flows"]`); NaN if it could not be measured (`null`)."""

        def number(document: Document) -> float:
            records = {record["name"]: record for record in document["flows"]}
            if flow not in records:
                raise ValueError(f"case {case!r} has no flow {flow!r}; there are {', '.join(records)}")
            if of not in records[flow]:
                raise unknown(f"flow {flow!r}", of, records[flow])
            found = records[flow][of]
            return float("nan") if found is None else float(found)

        return self.sample(case, number)


@dataclass(frozen=True)
class Table:
    """The rows of one experiment by case and metric, for its figures."""

    rows: Sequence[Row]
    _index: dict[tuple[str, str], Row] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {(row.case, row.metric): row for row in self.rows})

    def __getitem__(self, key: tuple[str, str]) -> Row:
        return self._index[key]

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self._index


@dataclass(frozen=True)
class Cells:
    """Numbers to compare in a table of texts, whose first column names the lines."""

    title: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    `cases` defines the simulations, `rows` compares measurements with the paper, `figures` draws the rows, and
    `notes` explains, from the rows, what agrees and what does not. `tables` arranges some of the rows. `missing`
    names the data that `cases` and `rows` need but can't find; the experiment is then skipped. A `live` one measures
    real hosts, in real time: it runs only by its id, and two runs differ.
    """

    id: str
    title: str
    paper: str
    setup: Callable[[Amount], Sequence[Parameter]]
    cases: Callable[[Amount], Mapping[str, Case]]
    rows: Callable[[Measured], list[Row]]
    figures: Callable[[Table], Sequence[tuple[str, Figure]]] = lambda table: ()
    notes: Callable[[Table], Sequence[str]] = lambda table: ()
    missing: Callable[[], str | None] = lambda: None
    tables: Callable[[Table], Sequence[Cells]] = lambda table: ()
    live: bool = False


class MissingFailed(HopcastError):
    """The function that names an experiment's missing data failed; nothing was run."""


def lacking(experiment: Experiment) -> str | None:
    """Return the data that an experiment lacks, if any. Raises `MissingFailed`; lets errors pass that already name
    their position.
    """
    try:
        missing = experiment.missing()
        if missing is not None and not isinstance(missing, str):
            raise TypeError(f"gave {missing!r}; expected a text or None")
    except (HopcastError, OSError):
        raise
    except Exception as error:
        raise MissingFailed(f"{experiment.id}: its missing: {told(error, experiment.missing)}") from error
    return missing
