"""Scenarios: each describes one simulation, from a TOML file or from Python objects."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from hopcast import _core
from hopcast.errors import ScenarioError
from hopcast.extensions import Entry, Extensions

if TYPE_CHECKING:
    from hopcast.congestion import CongestionControl
    from hopcast.types import Cloud, Emulation, Flow, Link, Nodes, Quantity, Radio

FROM_PYTHON = "<python>"
"""Name that errors show in place of a file name for Python objects."""
TRACE_ENDING = ".dat"
"""File name extension of trace libraries, which a scenario may leave out for files in a folder of traces
(`Traces::file` in `crates/sim/src/scenario/traces.rs`).
"""


class Scenario:
    """A validated scenario. Immutable: `set` returns a copy.

    Make one from Python objects, in the vocabulary of a scenario file (see `hopcast.types`)::

        Scenario(
            duration="10 s",
            radio={"standard": "802.11a", "data_rate": "54 Mb/s"},
            nodes=[{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": "5 m"}}],
            flows=[{"name": "bulk", "from": "n0", "to": "n1",
                    "transport": {"protocol": "tcp"}, "application": {"kind": "bulk"}}],
        )

    or with `Scenario.from_toml`. Both spellings of one scenario have the same `sha256` and the same results. hopcast
    looks for traces that the scenario names in `directory`, in the folders `traces`, in those of the environment
    variable HOPCAST_TRACES, and among the bundled ones. `extensions` are custom models written in Python, by the
    names that the scenario uses (see `hopcast.extensions`); `congestion` adds congestion controls to them. Raises
    `ScenarioError`.
    """

    __slots__ = ("_core", "_digests", "_source")

    def __init__(
        self,
        *,
        duration: Quantity,
        nodes: Sequence[Nodes],
        radio: Radio | None = None,
        flows: Sequence[Flow] | None = None,
        links: Sequence[Link] | None = None,
        cloud: Cloud | None = None,
        emulation: Emulation | None = None,
        name: str | None = None,
        seed: int | None = None,
        directory: str | os.PathLike[str] = ".",
        traces: Iterable[str | os.PathLike[str]] = (),
        extensions: Extensions | None = None,
        congestion: Mapping[str, Callable[..., CongestionControl]] | None = None,
    ) -> None:
        document = {
            "name": name,
            "duration": duration,
            "seed": seed,
            "radio": radio,
            "nodes": nodes,
            "links": links,
            "flows": flows,
            "cloud": cloud,
            "emulation": emulation,
        }
        document = {key: value for key, value in document.items() if value is not None}
        text = json.dumps(_plain(document, ""), ensure_ascii=False)
        models = _entries(extensions, congestion)
        self._take(_Source("json", text, FROM_PYTHON, os.fspath(directory), trace_folders(traces), (), models))

    @classmethod
    def from_toml(
        cls,
        source: str | os.PathLike[str],
        *,
        overrides: Iterable[str] = (),
        traces: Iterable[str | os.PathLike[str]] = (),
        extensions: Extensions | None = None,
        congestion: Mapping[str, Callable[..., CongestionControl]] | None = None,
    ) -> Scenario:
        """Read a scenario from a TOML file, or from TOML text: a string with a line break is text.

        `overrides` are single values in the form `KEY=VALUE`, as on the command line.
        """
        folders, changes, models = trace_folders(traces), tuple(overrides), _entries(extensions, congestion)
        if isinstance(source, str) and "\n" in source:
            return cls._of(_Source("toml", source, "<text>", ".", folders, changes, models))
        path = os.fspath(source)
        directory = os.path.dirname(path) or "."
        return cls._of(_Source("toml", read_text(path), _shown(path), directory, folders, changes, models))

    def set(self, key: str, value: object) -> Scenario:
        """Return a copy with another value, as in `set("flows.bulk.transport.window", 8)`.

        The key has the names of flows and groups of nodes; the value is as in the scenario file. Raises
        `ScenarioError`.
        """
        change = f"{key}={_toml(_plain(value, key), key)}"
        return self._of(self._source._replace(overrides=(*self._source.overrides, change)))

    def set_all(self, values: Mapping[str, object]) -> Scenario:
        """Return a copy with several other values, which are checked together. Raises `ScenarioError`."""
        changes = [f"{key}={_toml(_plain(value, key), key)}" for key, value in values.items()]
        return self._of(self._source._replace(overrides=(*self._source.overrides, *changes)))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle what it was made from, with full paths, so that another process can make it again."""
        folders = [os.path.abspath(folder) for folder in self.folders()]
        return _made_again, (self._source._replace(directory=folders[0], traces=tuple(folders[1:])), self._digests)

    def explain(self) -> list[tuple[str, str, str]]:
        """Every value in force: its key, the value with its unit, and its source."""
        return self._core.explain()

    def files(self) -> list[str]:
        """Paths of the existing files with the names that the scenario gives, in search order, without bundled
        traces.
        """
        named = dict.fromkeys(value for key, value, _ in self.explain() if key.endswith(".file"))
        beside, *traces = self.folders()
        places = [(beside, ""), *((folder, ending) for folder in traces for ending in ("", TRACE_ENDING))]
        paths = [os.path.join(folder, name + ending) for name in named for folder, ending in places]
        return [path for path in paths if os.path.isfile(path)]

    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each of these files at the time when the scenario was made, which is when hopcast read them."""
        return self._digests

    def folders(self) -> tuple[str, ...]:
        """Folders in which hopcast looks for traces: that of the scenario first, then the folders of traces."""
        return (self._source.directory, *self._source.traces)

    def extensions(self) -> tuple[Entry, ...]:
        """The custom models written in Python, by kind and by the names that the scenario may use."""
        return self._source.extensions

    @property
    def name(self) -> str:
        """Title, for people."""
        return self._core.name

    @property
    def duration_s(self) -> float:
        """Simulated time of a run, in seconds."""
        return self._core.duration_s

    @property
    def seed(self) -> int:
        """Seed of a run without another seed."""
        return self._core.seed

    @property
    def sha256(self) -> str:
        """SHA-256 of the values in force except the seed, in a canonical spelling."""
        return self._core.sha256

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}, {self.duration_s:g} s, sha256 {self.sha256[:12]}…)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return (self.sha256, self.seed) == (other.sha256, other.seed)

    def __hash__(self) -> int:
        return hash((self.sha256, self.seed))

    @classmethod
    def _of(cls, source: _Source) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._take(source)
        return scenario

    def _core_of_a_run(self) -> _core.Scenario:
        """The object of the extension module that hopcast runs. It holds exceptions of models written in Python,
        which every run collects. So a run with such models gets a separate object, since runs of the same scenario
        may go on in parallel. Raises `ScenarioError` if the traces have changed since this scenario was made.
        """
        if not self.extensions():
            return self._core
        again = self._of(self._source)
        if again._digests != self._digests:
            files = ", ".join(map(_shown, again.files()))
            raise ScenarioError(
                self._source.file, "", None, f"a trace ({files}) was changed since the scenario was made; make it anew"
            )
        return again._core

    def _take(self, source: _Source) -> None:
        parse = _core.Scenario.from_toml if source.form == "toml" else _core.Scenario.from_json
        self._source = source
        try:
            self._core = parse(
                source.text,
                source.file,
                source.directory,
                list(source.traces),
                list(source.overrides),
                list(source.extensions),
            )
        except UnicodeEncodeError as error:
            raise _no_character(source, error) from None
        self._digests = tuple(map(_digest_if_any, self.files()))


class _Source(NamedTuple):
    """The inputs of a scenario, with which it can be made again with another value."""

    form: Literal["toml", "json"]
    text: str
    file: str
    directory: str
    traces: tuple[str, ...]
    overrides: tuple[str, ...]
    extensions: tuple[Entry, ...]


def _made_again(source: _Source, digests: tuple[str, ...]) -> Scenario:
    """A scenario from a pickle. Raises `ScenarioError` if it finds other traces than the original."""
    scenario = Scenario._of(source)
    if scenario.digests() != digests:
        raise ScenarioError(
            source.file, "", None, "this process finds other traces than the one that made the scenario"
        )
    return scenario


def _entries(
    extensions: Extensions | None, congestion: Mapping[str, Callable[..., CongestionControl]] | None
) -> tuple[Entry, ...]:
    return ((extensions or Extensions()) | Extensions(congestion=congestion or {})).entries()


def _no_character(source: _Source, error: UnicodeEncodeError) -> ScenarioError:
    """A string of Python that is not valid Unicode: it may hold surrogates, from bytes of the command line that are
    not UTF-8.
    """
    text, message = error.object, f"{error.object[error.start : error.end]!a} is no character"
    if text in source.overrides:
        return ScenarioError("--set", _shown(text.partition("=")[0]), None, message)
    line = text.count("\n", 0, error.start) + 1 if text == source.text and source.form == "toml" else None
    return ScenarioError(source.file, "", None, message, line)


MAX_BYTES = 8 << 20
"""Size limit of scenario files in bytes: ten thousand nodes and flows, each with a separate table, take about 3
MB.
"""


def read_text(path: str) -> str:
    """The text of a file, or of a pipe such as /dev/stdin, of at most `MAX_BYTES`. Raises `ScenarioError`."""
    try:
        mode = os.stat(path).st_mode
        # A pipe or a device may have no end, or keep us waiting for its beginning. A pipe that we already have has begun.
        is_ours = stat.S_ISFIFO(mode) and path.startswith("/dev/")
        if not stat.S_ISREG(mode) and not is_ours:
            what = "a folder" if stat.S_ISDIR(mode) else "a pipe, a device or a socket"
            raise ScenarioError(_shown(path), "", None, f"is {what}; expected a file")
        with open(path, "rb") as file:
            octets = file.read(MAX_BYTES + 1)
        if len(octets) > MAX_BYTES:
            raise ScenarioError(_shown(path), "", None, f"is too large; expected at most {MAX_BYTES >> 20} MiB")
        return octets.decode()
    except OSError as error:
        raise ScenarioError(_shown(path), "", None, f"can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            _shown(path), "", None, f"is not UTF-8 text: byte {error.start}, in line {line}, is wrong"
        ) from None
    except ScenarioError:
        raise
    except ValueError:
        raise ScenarioError(_shown(path), "", None, "can't be read: no file can have that name") from None


def digest(path: str) -> str:
    """The SHA-256 of a file. Raises `OSError`."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_if_any(path: str) -> str:
    """The SHA-256 of a file, or `None` if it can't be read: then it is not the file that the scenario read."""
    try:
        return digest(path)
    except OSError:
        return ""


def _shown(path: str) -> str:
    """A path or key as valid Unicode: invalid characters are replaced. An empty one is `''`."""
    return re.sub("[\ud800-\udfff]", "\ufffd", path) or "''"


def trace_folders(given: Iterable[str | os.PathLike[str]] = ()) -> tuple[str, ...]:
    """The given folders, then those of HOPCAST_TRACES, which has the format of PATH."""
    named = os.environ.get("HOPCAST_TRACES", "").split(os.pathsep)
    return (*(os.fspath(folder) for folder in given), *(folder for folder in named if folder))


def _toml(value: object, key: str) -> str:
    """Spell a plain value of a key in TOML: strings, numbers and booleans as in JSON, except the character DEL. TOML
    has no null: in a table it is the same as a missing key, as in `Scenario`, and elsewhere it is an error.
    """
    if isinstance(value, dict):
        items = {name: _toml(item, f"{key}.{name}") for name, item in value.items() if item is not None}
        return "{" + ", ".join(f"{_toml(name, key)} = {item}" for name, item in items.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item, f"{key}[{index}]") for index, item in enumerate(value)) + "]"
    if value is None:
        raise ScenarioError(
            FROM_PYTHON,
            key,
            "None",
            "is no value; to have the default, set it to what `explain` tells of it, or make the scenario without the key",
        )
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(value: object, key: str) -> object:
    """Convert `value` to JSON types; a value that JSON does not have is an error with its key."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return _whole(value, key)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise ScenarioError(FROM_PYTHON, key, str(value), "must be a finite number")
    if isinstance(value, Mapping):
        return {_whole(str(name), key): _plain(item, f"{key}.{name}".lstrip(".")) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item, f"{key}[{index}]") for index, item in enumerate(value)]
    raise ScenarioError(
        FROM_PYTHON, key, repr(value), "must be a string, a number, a truth value, a dictionary or a list"
    )


def _whole(text: str, key: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ScenarioError(FROM_PYTHON, key, ascii(text), "must be a text of whole characters") from None
    return text
