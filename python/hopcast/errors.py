"""What can go wrong, as exceptions. The extension module raises these same classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopcast import _core
    from hopcast.results import Result


class HopcastError(Exception):
    """Base of every error that hopcast reports."""


class ScenarioError(HopcastError, ValueError):
    """A scenario is wrong. Nothing was run.

    `file` is where it was read from, `field` the dotted name of the value at fault (empty where it is the file as
    a whole), `value` what stood there, and `message` says what would be right.
    """

    def __init__(self, file: str, field: str, value: str, message: str) -> None:
        super().__init__(file, field, value, message)
        self.file = file
        self.field = field
        self.value = value
        self.message = message

    def __str__(self) -> str:
        at = self.field if not self.value else f"{self.field} = {self.value}"
        return ": ".join(part for part in (self.file, at, self.message) if part)


class OutputError(HopcastError, OSError):
    """A folder for results can't be written, found out before anything ran."""


class RunError(HopcastError, RuntimeError):
    """A run failed on the way: results could not be written, say."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came during a run. Replications that had finished are kept.

    `finished` holds them as the extension module made them; `result` the same as a `hopcast.Result`, or `None`
    where not one had finished.
    """

    def __init__(self, finished: list[_core.RunResult]) -> None:
        super().__init__()
        self.finished = finished
        self.result: Result | None = None

    def __str__(self) -> str:
        return f"interrupted; {len(self.finished)} replications had finished"
