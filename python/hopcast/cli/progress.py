"""A progress bar on standard error, if that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

WIDTH = 30
PATIENCE_S = 0.3
"""Seconds: shorter runs show no bar."""


@contextmanager
def progress_bar(unit: str = "s") -> Iterator[Bar | None]:
    """Return a bar that shows progress, or `None` without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Bar(unit)
    try:
        yield bar
    finally:
        bar.clear()


class Bar:
    """A line that shows how much is done, and how long the rest takes at the same pace."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._start = time.monotonic()
        self._found: float | None = None
        self._shown = False

    def __call__(self, done: float, total: float) -> None:
        """Show that `done` of `total` is done."""
        now = time.monotonic()
        if self._found is None:
            # What was there at the start took no time, and preparation did: neither says anything about the rest.
            self._found = done
            if self._shown:
                self._start = now
        elapsed = now - self._start
        if total <= 0.0 or elapsed < PATIENCE_S:
            return
        fresh = done - self._found
        left = f", {_clock(elapsed * max(total - done, 0.0) / fresh)} left" if fresh > 0.0 else ""
        self._show(done / total, f"{done:.4g} of {total:.4g} {self._unit}{left}")

    def preparation(self, done: int, total: int) -> None:
        """Show the progress of setting up links and routes, before the simulation starts."""
        if time.monotonic() - self._start >= PATIENCE_S:
            self._show(done / max(total, 1), "of links and routes set up")

    def _show(self, share: float, text: str) -> None:
        share = min(share, 1.0)
        filled = round(WIDTH * share)
        bar = "█" * filled + "░" * (WIDTH - filled)
        self._write(f"\r{bar} {share:4.0%}  {text}\x1b[K")
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
