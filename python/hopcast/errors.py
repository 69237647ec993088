"""Exceptions of hopcast. The extension module raises these same classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopcast import _core
    from hopcast.results import Result


class HopcastError(Exception):
    """Base of all errors that hopcast raises."""


class ScenarioError(HopcastError, ValueError):
    """A scenario is wrong. Nothing was run.

    * `file`: where hopcast read the scenario (`--set` for an override), and `line` its line, if known.
    * `field`: dotted key of the wrong value; empty if the error concerns the file as a whole.
    * `value`: the value as written, if there is one.
    * `message`: what is wrong and what would be right.
    * `others`: further errors of the same scenario from the same pass.
    """

    def __init__(
        self,
        file: str,
        field: str,
        value: str | None,
        message: str,
        line: int | None = None,
        others: tuple[ScenarioError, ...] = (),
    ) -> None:
        super().__init__(file, field, value, message, line, others)
        self.file = file
        self.field = field
        self.value = value
        self.message = message
        self.line = line
        self.others = others

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        what = self.field if self.value is None or not self.field else f"{self.field} = {self.value}"
        own = ": ".join(part for part in (place, what, self.message) if part)
        return "\n".join([own, *map(str, self.others)])


class OutputError(HopcastError, OSError):
    """A folder for results can't be written. hopcast checks this before it runs anything."""


class UnknownField(HopcastError, KeyError):
    """A result has no field of this name. The message suggests the nearest one.

    `name` is the unknown name.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(name, message)
        self.name = name
        self.message = message

    def __str__(self) -> str:
        return self.message


class RunError(HopcastError, RuntimeError):
    """A run failed, for example because results could not be written. Finished replications are kept.

    `finished` holds the finished replications as the extension module made them, `result` the same as a
    `hopcast.Result`, or `None` if none had finished; `wanted` is the number that was asked for.
    """

    def __init__(self, message: str, finished: Sequence[_core.RunResult] = (), wanted: int = 0) -> None:
        super().__init__(message, finished, wanted)
        self.message = message
        self.finished = list(finished)
        self.wanted = wanted
        self.result: Result | None = None

    def __str__(self) -> str:
        return self.message


class Interrupted(KeyboardInterrupt):
    """Ctrl-C interrupted a run. Finished replications are kept.

    `finished` holds the finished replications as the extension module made them, `result` the same as a
    `hopcast.Result`, or `None` if none had finished; `wanted` is the number that was asked for.
    """

    def __init__(self, finished: Sequence[_core.RunResult], wanted: int) -> None:
        super().__init__(finished, wanted)
        self.finished = list(finished)
        self.wanted = wanted
        self.result: Result | None = None

    def __str__(self) -> str:
        return f"interrupted: {finished_of(len(self.finished), self.wanted)}"


class Stopped(BaseException):
    """Raised in a model that is still running although its run was stopped. Let it pass."""


def stop_threads(idents: Iterable[int]) -> None:
    """Raise `Stopped` in these threads as soon as they execute Python code."""
    import ctypes

    for ident in idents:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(Stopped))


def finished_of(finished: int, wanted: int) -> str:
    """How many replications of how many have finished, as text."""
    return f"{finished} of {wanted} replication{'' if wanted == 1 else 's'} finished"
