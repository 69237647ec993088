"""Read the files of runs and studies, and check their structure once, so that code that shows them can rely on it."""

from __future__ import annotations

import dataclasses
import json
import reprlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from hopcast.errors import HopcastError
from hopcast.lab.experiment import AMOUNTS
from hopcast.lab.rows import Row, Verdict
from hopcast.lab.sensitivity import Sensitivity
from hopcast.tables import CONVERSATION_COLUMNS, FLOW_COLUMNS, RTP_COLUMNS, series_columns

if TYPE_CHECKING:
    import polars

LARGEST = 1e300
"""Larger numbers could become infinite in another unit, or could not be drawn."""
FINITE = f"a finite number, of at most {LARGEST:g},"
"""Description of an expected field."""
FILM = {"film": ("loss_ratio", "delay_mean_s", "delay_p99_s"), "download": ("goodput_bps",)}
"""Flows of the demonstration, and the text about each."""


ROLES = ("ad hoc", "access point", "station", "wired")
"""What a node may be."""


class WrongDocument(HopcastError):
    """A file is not one that hopcast writes."""


class NoDocument(WrongDocument):
    """A file is missing."""


def load_run(file: Path, *, whole: bool = True) -> dict[str, Any]:
    """Read the object of a run. If not `whole`, flows need only names, and may lack numbers. Raises `WrongDocument`,
    and `NoDocument` if there is no file.
    """
    run = _read(file)
    document: dict[str, Any] = run.value
    if "cases" in document:
        raise WrongDocument(f"{file}: holds all cases of a plan; name the folder of one, below that of --out")
    names = set()
    for flow in run.of("flows").elements():
        name = flow.of("name")
        name.text()
        if name.value in names:
            raise name.wrong("a name that no other flow has")
        names.add(name.value)
        _check_numbers(flow, whole)
        for field in ("from", "to", "protocol") if whole else ():
            flow.of(field).text()
    if whole:
        if (conversations := run.of("conversations")).is_there:
            _check_conversations(conversations)
        origin = run.of("provenance")
        origin.of("version").text()
        origin.of("seed").whole()
        _check_origin(origin, seeds="seeds" in origin.value)
    return document


def _check_conversations(conversations: Part) -> None:
    for conversation in conversations.elements():
        for field in ("name", "protocol"):
            conversation.of(field).text()
        conversation.of("sent_bytes").whole()
        for _, field, _ in CONVERSATION_COLUMNS:
            conversation.of(field).number()
        if (drops := conversation.of("drops")).is_there:
            for count in (*drops.fields(), conversation.of("held_packets")):
                count.whole()
        for stream in conversation.of("rtp").elements():
            stream.of("ssrc").whole()
            for _, field, _ in RTP_COLUMNS:
                stream.of(field).number()


def _check_numbers(flow: Part, whole: bool) -> None:
    for _, field, _ in FLOW_COLUMNS:
        number, interval = flow.of(field), flow.of(f"{field}_ci95")
        if whole or number.is_there:
            number.number()
        if interval.is_there:
            interval.number(least=0.0)


def load_film(file: Path, scenario_sha256: str) -> dict[str, Any] | None:
    """Read the object of the demonstration's run, which has this scenario; `None` if another run is there. Raises as `load_run` does."""
    document = load_run(file)
    if document["provenance"]["scenario_sha256"] != scenario_sha256:
        return None
    flows = {flow.value["name"]: flow for flow in Part(file, "", document).of("flows").elements()}
    for name, fields in FILM.items():
        for field in fields:
            flows.get(name, Part(file, f"flows.{name}", ABSENT)).of(field).number(null=False)
    return document


def load_study(file: Path) -> dict[str, Any]:
    """Read the object that a study wrote. Raises as `load_run` does."""
    study = _read(file)
    document: dict[str, Any] = study.value
    study.of("amount").one_of(AMOUNTS)
    verdicts = study.of("verdicts")
    for verdict in verdicts.fields():
        verdict.one_of(get_args(Verdict))
    for row in study.of("rows").elements():
        row.record(Row)
        row.of("ci95").number(least=0.0)
        verdicts.of(row.value["experiment"]).one_of(get_args(Verdict))
    if (skipped := study.of("skipped")).is_there:
        for reason in skipped.fields():
            reason.text()
    if (sensitivity := study.of("sensitivity")).is_there:
        for found in sensitivity.elements():
            found.record(Sensitivity)
    study.of("provenance").of("version").text()
    for experiment in study.of("provenance").of("experiments").fields():
        for case in experiment.fields():
            _check_origin(case, seeds=True)
    return document


def _check_origin(origin: Part, *, seeds: bool) -> None:
    origin.of("scenario_sha256").text()
    for seed in origin.of("seeds").elements() if seeds else ():
        seed.whole()


def load_layout(file: Path) -> dict[str, Any]:
    """Read the layout of a run's network. Raises as `load_run` does."""
    layout = _read(file)
    document: dict[str, Any] = layout.value
    layout.of("name").text()
    names = set()
    for node in layout.of("nodes").elements():
        node.of("name").text()
        node.of("role").one_of(ROLES)
        if not isinstance(node.of("moves").value, bool):
            raise node.of("moves").wrong("true or false")
        if (place := node.of("position_m")).value is not None:
            for coordinate in _ends(place):
                coordinate.number(null=False)
        names.add(node.value["name"])
    for wire in layout.of("wires").elements():
        for end in _ends(wire):
            end.one_of(names)
    return document


def _ends(pair: Part) -> list[Part]:
    """The elements of a list of two."""
    found = list(pair.elements())
    if len(found) != 2:
        raise pair.wrong("a list of two")
    return found


def load_series(file: Path) -> polars.DataFrame:
    """Read the series of a run. Raises as `load_run` does."""
    table = load_table(file)
    _check_series(file, table, texts=("flow", "node"), numbers=("seed", "time_s", *series_columns(table).values()))
    return table


CONVERSATION_SERIES = ("sent_packets", "lost_packets", "rate_bps", "delay_s", "freeze_time_s")
"""Columns of the conversations' series that figures show."""


def load_conversation_series(file: Path) -> polars.DataFrame:
    """Read the series of an emulation's conversations. Raises as `load_run` does."""
    table = load_table(file)
    _check_series(file, table, texts=("conversation",), numbers=("seed", "time_s", *CONVERSATION_SERIES))
    return table


def load_table(file: Path) -> polars.DataFrame:
    """Read a table as it is. Raises as `load_run` does."""
    import polars

    if not file.exists():
        raise NoDocument(f"{file}: is not there")
    try:
        return polars.read_parquet(file)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise WrongDocument(f"{file}: can't be read: {' '.join(str(error).split())}") from None


def _check_series(file: Path, table: polars.DataFrame, *, texts: Collection[str], numbers: Collection[str]) -> None:
    import polars

    for name in texts:
        if _column(file, table, name).dtype != polars.String:
            raise WrongDocument(f"{file}: column {name} holds {table.schema[name]}; texts are expected")
    for name in numbers:
        if not (column := _column(file, table, name)).dtype.is_numeric():
            raise WrongDocument(f"{file}: column {name} holds {column.dtype}; numbers are expected")
        values = column.cast(polars.Float64).fill_nan(None)
        if (values.abs() > LARGEST).any():
            raise WrongDocument(f"{file}: column {name} holds a larger number; {FINITE} is expected")
    if table["time_s"].cast(polars.Float64).fill_nan(None).null_count():
        raise WrongDocument(f"{file}: column time_s has rows without a time; a number in each is expected")


def _column(file: Path, table: polars.DataFrame, name: str) -> polars.Series:
    if name not in table.columns:
        raise WrongDocument(f"{file}: has no column {name}; the series that `hopcast run --out` writes is expected")
    return table[name]


# --- values in a document ------------------------------------------------------------------------------------------

ABSENT = object()
"""Marks the value of a missing field."""


@dataclass(frozen=True)
class Part:
    """A value in a document, with its position. Its methods raise `WrongDocument` if the value has another type."""

    file: Path
    name: str
    """Dotted position in the document; empty for the document as a whole."""
    value: Any

    @property
    def is_there(self) -> bool:
        """Whether the field exists."""
        return self.value is not ABSENT

    def wrong(self, expected: str) -> WrongDocument:
        """The error to raise if something else is `expected`."""
        if not self.name:
            what = "is not what hopcast writes"
        else:
            what = f"{self.name} = {reprlib.repr(self.value)}" if self.is_there else f"{self.name} is missing"
        return WrongDocument(f"{self.file}: {what}: {expected} is expected")

    def of(self, key: str) -> Part:
        """The field of an object."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return Part(self.file, f"{self.name}.{_shown(key)}".lstrip("."), self.value.get(key, ABSENT))

    def fields(self) -> Iterator[Part]:
        """All fields of an object."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return (self.of(key) for key in self.value)

    def elements(self) -> Iterator[Part]:
        """The elements of a list, identified in messages by their names if they have any."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        for index, value in enumerate(self.value):
            name = value.get("name") if isinstance(value, dict) else None
            place = f".{_shown(name)}" if isinstance(name, str) else f"[{index}]"
            yield Part(self.file, f"{self.name}{place}", value)

    def text(self) -> None:
        """The value as a string."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")

    def texts(self) -> None:
        """The value as a list of strings."""
        for element in self.elements():
            element.text()

    def whole(self) -> None:
        """The value as a whole number, such as a seed."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not 0 <= self.value < 2**64:
            raise self.wrong("a whole number from 0 to 2^64 - 1")

    def number(self, *, least: float | None = None, null: bool = True) -> None:
        """The value as a number, or `None` for null, which means not measured."""
        if self.value is None and null:
            return
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not is_number or (least is not None and self.value < least):
            what = "a number" if least is None else f"a number from {least:g}"
            raise self.wrong(f"{what} or null" if null else what)

    def one_of(self, known: Collection[str]) -> None:
        """The value as one of several strings."""
        if not isinstance(self.value, str) or self.value not in known:
            raise self.wrong(f"one of {', '.join(known)}")

    def record(self, kind: type[Row] | type[Sensitivity]) -> None:
        """The value as an object from which a `kind` can be made."""
        types = get_type_hints(kind)
        for field in dataclasses.fields(kind):
            found, wanted = self.of(field.name), types[field.name]
            if not found.is_there and field.default is not dataclasses.MISSING:
                continue
            if get_origin(wanted) is Literal:
                found.one_of(get_args(wanted))
            else:
                CHECKS[wanted](found)
        for found, key in zip(self.fields(), self.value, strict=True):
            if key not in types:
                raise found.wrong(f"no field but {', '.join(types)}")


CHECKS: dict[object, Callable[[Part], None]] = {
    str: Part.text,
    int: Part.whole,
    float | None: Part.number,
    list[str]: Part.texts,
}
"""Type check for a field of a dataclass, by its annotation."""


def _read(file: Path) -> Part:
    """Parse a JSON object; all numbers must be finite and all strings valid Unicode."""
    try:
        text = file.read_text(encoding="utf-8")
        if not text.strip():
            raise WrongDocument(f"{file}: is empty; a JSON object is expected")
        document = Part(file, "", json.loads(text, parse_int=_integer))
        if isinstance(document.value, dict):
            _check_values(document)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoDocument(f"{file}: can't be read: {error.strerror}") from None
    except IsADirectoryError:
        raise WrongDocument(f"{file}: is a folder; expected a file") from None
    except OSError as error:
        raise WrongDocument(f"{file}: can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise WrongDocument(f"{file}: is not UTF-8 text: byte {error.start}, in line {line}, is wrong") from None
    except (ValueError, RecursionError) as error:
        raise WrongDocument(f"{file}: is not JSON: {error}") from None
    if not isinstance(document.value, dict):
        raise document.wrong("an object")
    return document


def _integer(text: str) -> int | float:
    """Parse an integer. Python refuses integers of thousands of digits; here they are infinite, as other numbers
    beyond a double.
    """
    try:
        return int(text)
    except ValueError:
        return float(text)


def _check_values(part: Part) -> None:
    value = part.value
    if isinstance(value, dict):
        for key, field in zip(value, part.fields(), strict=True):
            _check_values(Part(part.file, f"a key of {part.name or 'the object'}", key))
            _check_values(field)
    elif isinstance(value, list):
        for element in part.elements():
            _check_values(element)
    elif isinstance(value, str):
        # JSON can name halves of a character, which no file can hold.
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise part.wrong("a text of whole characters")
    # The comparison is false for what is not a number, and exact for integers beyond a double.
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise part.wrong(FINITE)


def _shown(key: str) -> str:
    """A key as part of a position, on one line and of limited length."""
    return key if key.isprintable() and len(key) <= 60 else reprlib.repr(key)
