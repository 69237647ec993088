"""Cases: one fault on one command, what must hold, and what its trials showed."""

from __future__ import annotations

import glob
import os
import random
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

FAKETIME = next(iter(sorted(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1"))), None)
"""The library that gives a process a clock of the day that can be stepped."""


class Broken(Exception):
    """What must hold after a fault does not hold."""


def check(holds: object, *told: object) -> None:
    """Raises `Broken` with `told` unless this holds."""
    if not holds:
        raise Broken(": ".join(str(part).strip()[-2000:] for part in told))


@dataclass
class Trial:
    """One fault: where to work, what to draw with, and what came of it."""

    folder: Path
    draws: random.Random
    recovered_s: list[float] = field(default_factory=list)
    """Seconds from the end of the fault until everything was there again."""
    lost: str = "nothing"

    def recovered(self, seconds: float) -> None:
        """A command has recovered in this time."""
        self.recovered_s.append(seconds)


@dataclass(frozen=True)
class Case:
    """A fault on a command."""

    command: str
    fault: str
    holds: str
    """What must hold, as the table says it."""
    needs: tuple[str, ...]
    trials: int
    run: Callable[[Trial], None]

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.run.__name__

    def hindrance(self) -> str | None:
        """Why it can't be tried here."""
        return next((reason for need in self.needs if (reason := missing(need))), None)

    def trial(self, seed: int, number: int) -> Trial:
        """Makes one trial; all its draws follow from the seed, its number and the case's name."""
        draws = random.Random(zlib.crc32(f"{seed} {number} {self.name}".encode()))
        with tempfile.TemporaryDirectory(prefix="hopcast-chaos-", ignore_cleanup_errors=True) as folder:
            made = Trial(Path(folder), draws)
            self.run(made)
            return made


CASES: list[Case] = []
"""All cases, in the order of the table."""


def case(
    command: str, fault: str, holds: str, *, needs: tuple[str, ...] = (), trials: int = 3
) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
    """Enters a function that makes one trial."""

    def enter(run: Callable[[Trial], None]) -> Callable[[Trial], None]:
        CASES.append(Case(command, fault, holds, needs, trials, run))
        return run

    return enter


NETWORK = ("linux", "root", "ip", "tun")
"""What the cases between network namespaces need."""
MOUNTS = ("linux", "root", "unshare", "nsenter")
"""What a full disk needs: a small one, which only this process sees."""
CLOCK = ("linux", "faketime")
"""What steps of the clock need."""


def missing(need: str) -> str | None:
    """Why the machine does not have it."""
    if need == "linux":
        return None if sys.platform == "linux" else "no Linux"
    if need == "root":
        return None if os.geteuid() == 0 else "not root"
    if need == "tun":
        return None if Path("/dev/net/tun").exists() else "no /dev/net/tun"
    if need == "faketime":
        return None if FAKETIME else "libfaketime is not installed"
    return None if shutil.which(need) else f"{need} is not installed"
