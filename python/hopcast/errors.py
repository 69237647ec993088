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

    `file` is where it was read from (`--set` for a value changed on the way) and `line` its line, where known; `field`
    the dotted name of the value at fault, empty where it is the file as a whole; `value` what stood there, if anything;
    `message` says what is wrong and what would be right. `others` are further errors of the same scenario, found in the
    same pass.
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
