"""The register of a paper's sentences: what each of them says, and the line by which it is judged.

A TOML file has a table `[[sentence]]` for each judged sentence. Studies read their lines from it, so that a change of
a line is a change of that file. Its fields are those of `Sentence`; the table `[words]` has numbers for words of the
papers that several sentences use. `[[change]]` has lines that were changed (`Change`), and `[[missing]]` what the
studies leave out (`Missing`).
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_args, get_type_hints

from hopcast.errors import HopcastError
from hopcast.lab.rows import Of, Row, Sample, claim, judged, sentence

T = TypeVar("T", "Sentence", "Change", "Missing")


class RegisterError(HopcastError):
    """A register has the wrong format."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper that a study judges."""

    id: str
    """The experiment and a name, as in `H2.rise`."""
    section: str
    """Where the sentence is in the paper."""
    quotation: str
    """Its words; `[…]` marks what is left out."""
    measured: str
    """What is measured."""
    note: str
    """How the row quotes and reads the sentence; `{quotation}` and `{section}` stand for these fields."""
    changed: str
    """The commit in which the line or what is measured was last changed: its hash, or its subject."""
    of: Of | None = None
    """How its cells are combined; `None` for a single one."""
    low: float | None = None
    """The measured value is at least this."""
    high: float | None = None
    """The measured value is at most this."""

    @property
    def experiment(self) -> str:
        """The id of its experiment."""
        return self.id.split(".")[0]

    def text(self) -> str:
        """The note of its row."""
        return self.note.replace("{quotation}", f"“{self.quotation}”").replace("{section}", self.section)

    def row_among(self, rows: Iterable[Row]) -> Row | None:
        """The row of its experiment that judges it, if there is one."""
        text = self.text()
        return next((row for row in rows if row.kind == "claim" and row.note == text), None)

    def holds(self, number: float) -> bool:
        """Whether a number is on the right side of the line."""
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)

    def line(self) -> str:
        """The line, for people."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} … {self.high:g}"
        return f"≥ {self.low:g}" if self.low is not None else f"≤ {self.high:g}"


@dataclass(frozen=True)
class Change:
    """A line that was changed after the register was frozen."""

    id: str
    """The sentence, which may not be judged any more."""
    old: str
    new: str
    reason: str
    verdict_old: str
    """Verdict under the old line, in the quick form, when it was changed."""
    verdict_new: str

    @property
    def experiment(self) -> str:
        """The id of the sentence's experiment."""
        return self.id.split(".")[0]


@dataclass(frozen=True)
class Missing:
    """A part of a paper that no study repeats."""

    experiment: str
    """The id of the experiment that it belongs to, which may not exist."""
    what: str
    why: str


@dataclass(frozen=True)
class Register(Mapping[str, Sentence]):
    """The sentences by their ids, in the order of the file."""

    sentences: Mapping[str, Sentence]
    words: Mapping[str, float]
    changes: Collection[Change] = ()
    missing: Collection[Missing] = ()

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Register:
        """Read a file. Raises `RegisterError` and `OSError`."""
        with open(path, "rb") as file:
            try:
                document = tomllib.load(file)
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise RegisterError(f"{os.fspath(path)}: {error}") from None
        where = os.fspath(path)
        sentences: dict[str, Sentence] = {}
        for place, fields in enumerate(document.pop("sentence", [])):
            one = _made(Sentence, fields, f"{where}: sentence[{place}]")
            if one.id in sentences:
                raise RegisterError(f"{where}: two sentences have the id {one.id}")
            if one.low is None and one.high is None:
                raise RegisterError(f"{where}: {one.id}: has neither low nor high; a line is expected")
            sentences[one.id] = one
        words = document.pop("words", {})
        changes = [
            _made(Change, fields, f"{where}: change[{at}]") for at, fields in enumerate(document.pop("change", []))
        ]
        missing = [
            _made(Missing, fields, f"{where}: missing[{at}]") for at, fields in enumerate(document.pop("missing", []))
        ]
        for key in document:
            known = "words, sentence, change and missing"
            raise RegisterError(f"{where}: {key}: is no table of a register; there are {known}")
        return Register(sentences, words, changes, missing)

    def __getitem__(self, key: str) -> Sentence:
        return self.sentences[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)

    def limit(self, key: str) -> float:
        """The line of a sentence that has a single one. Raises `ValueError`."""
        said = self[key]
        lines = [line for line in (said.low, said.high) if line is not None]
        if len(lines) != 1:
            raise ValueError(f"{key}: has two lines: {said.line()}")
        return lines[0]

    def row(self, key: str, case: str, metric: str, unit: str, measured: Sample, *, scale: float = 1.0) -> Row:
        """Judge a sentence by one number; the line is in units of `scale`."""
        said = self[key]
        low, high = (None if line is None else line * scale for line in (said.low, said.high))
        return claim(said.experiment, case, metric, unit, measured, low=low, high=high, note=said.text())

    def rows(
        self,
        key: str,
        case: str,
        metric: str,
        unit: str,
        cells: Mapping[str, Sample],
        *,
        shown: Callable[[Sample], Sample] = lambda cell: cell,
    ) -> list[Row]:
        """Judge a sentence about several cells: the cells as values, and the row of the sentence."""
        said = self[key]
        if said.of is None:
            raise ValueError(f"{key}: the register does not say how its cells are combined")
        return sentence(
            said.experiment, case, metric, unit, cells,
            of=said.of, low=said.low, high=said.high, note=said.text(), shown=shown,
        )  # fmt: skip

    def picked(self, key: str, cells: Collection[Sample]) -> Sample:
        """The value that represents the cells of a sentence."""
        said = self[key]
        if said.of is None:
            raise ValueError(f"{key}: the register does not say how its cells are combined")
        return judged(cells, said.of, said.low, said.high)


def _made(kind: type[T], fields: Any, where: str) -> T:
    if not isinstance(fields, dict):
        raise RegisterError(f"{where}: is {fields!r}; a table is expected")
    types = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name not in fields and field.default is dataclasses.MISSING:
            raise RegisterError(f"{where}: {field.name} is missing")
    for name, given in fields.items():
        if name not in types:
            raise RegisterError(
                f"{where}: {name}: is no field of a {kind.__name__.lower()}; there are {', '.join(types)}"
            )
        accepted = {str: str, bool: bool}.get(types[name], (int, float))
        if name == "of":
            if given not in get_args(Of):
                raise RegisterError(f"{where}: of = {given!r}; one of {', '.join(get_args(Of))} is expected")
        elif not isinstance(given, accepted):
            raise RegisterError(f"{where}: {name} = {given!r} has the wrong type")
    return kind(**fields)
