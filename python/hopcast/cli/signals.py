"""Signals that ask a command to end: each is an interruption, in which nothing that has finished is lost."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE_S = 5.0
"""How long after a first signal further ones count as the same: Ctrl-C pressed twice must not break off the writing of
what has finished."""


class Interruption:
    """The signal that interrupts this process, if one does."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._first = 0.0
        self._waits = False
        self._before: int | None = None

    def listen(self) -> None:
        """From now on these signals raise `KeyboardInterrupt`; one that whoever started us ignores is left so."""
        for number in STOPPING:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)

    def ignore(self) -> None:
        """The command is over, and its status known: from now on these signals change nothing."""
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN)

    def hand_over(self) -> None:
        """Somebody else is about to listen, until when these signals change nothing; but SIGHUP is ignored only if it was before."""
        before = signal.getsignal(signal.SIGHUP)
        self.ignore()
        if before != signal.SIG_IGN:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)

    @contextmanager
    def waits(self) -> Iterator[None]:
        """While results are on their way out, a first signal waits until they are."""
        self._waits, self._before = True, self._number
        try:
            yield
        finally:
            self._waits = False
        self._take()

    @contextmanager
    def breaks_off(self) -> Iterator[None]:
        """A part of what `waits` that a first signal breaks off, also one that came before this part."""
        try:
            self._waits = False
            self._take()
            yield
        finally:
            self._waits = True

    @property
    def status(self) -> int:
        """The exit status of what this signal ended."""
        return 128 + (signal.SIGINT if self._number is None else self._number)

    def _take(self) -> None:
        """A signal that has waited interrupts now."""
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
