"""A progress bar on standard error, where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

WIDTH = 30
PATIENCE_S = 0.3
"""A run that is shorter shows no bar."""


@contextmanager
def progress_bar(unit: str = "s") -> Iterator[Callable[[float, float], None] | None]:
    """A function to tell how much of how much is done; `None` where nobody would see the bar."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(unit)
    try:
        yield bar.show
    finally:
        bar.clear()


class _Bar:
    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._start = time.monotonic()
        self._found: float | None = None
        self._shown = False

    def show(self, done: float, total: float) -> None:
        elapsed = time.monotonic() - self._start
        if self._found is None:
            # What was there at the start took no time, and says nothing about the rest.
            self._found = done
        if total <= 0.0 or elapsed < PATIENCE_S:
            return
        share = min(done / total, 1.0)
        filled = round(WIDTH * share)
        fresh = done - self._found
        left = f", {_clock(elapsed * max(total - done, 0.0) / fresh)} left" if fresh > 0.0 else ""
        bar = "█" * filled + "░" * (WIDTH - filled)
        self._write(f"\r{bar} {share:4.0%}  {done:.4g} of {total:.4g} {self._unit}{left}\x1b[K")
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        # A terminal that is gone is no reason to lose the run.
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
