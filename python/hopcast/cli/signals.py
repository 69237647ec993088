"""Signals that ask a command to end. Each one interrupts the command, which keeps all finished work."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE_S = 5.0
"""Seconds after a first signal in which further signals count as the same: pressing Ctrl-C twice must not interrupt
the writing of finished results.
"""


class Interruption:
    """The signal that has interrupted this process, if any."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._first = 0.0
        self._waits = False
        self._before: int | None = None

    def listen(self) -> None:
        """Let these signals raise `KeyboardInterrupt` from now on, except those that the parent process ignores."""
        for number in STOPPING:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)

    def ignore(self) -> None:
        """Ignore these signals from now on: the command is over, and its status is known."""
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN)

    def hand_over(self) -> None:
        """Let these signals end the process until another handler takes over, except those that are ignored."""
        for number in STOPPING:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)

    @contextmanager
    def waits(self) -> Iterator[None]:
        """Delay a first signal until results are written."""
        self._waits, self._before = True, self._number
        try:
            yield
        finally:
            self._waits = False
        self._take()

    @contextmanager
    def breaks_off(self) -> Iterator[None]:
        """A part of `waits` that a first signal interrupts, even if it came before this part."""
        try:
            self._waits = False
            self._take()
            yield
        finally:
            self._waits = True

    @property
    def status(self) -> int:
        """The exit status of a process that this signal ended."""
        return 128 + (signal.SIGINT if self._number is None else self._number)

    def _take(self) -> None:
        """Let a delayed signal interrupt now."""
        if self._number != self._before:
            raise KeyboardInterrupt

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        is_first = self._number is None
        if not is_first and now - self._first < PATIENCE_S:
            return
        self._number, self._first = number, now
        if not (is_first and self._waits):
            raise KeyboardInterrupt


INTERRUPTION = Interruption()
"""Of this process."""
