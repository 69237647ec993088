"""Run one scenario in ns-2, ns-3 or hopcast and read the figures that it prints."""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

Options = Mapping[str, str | int | float]
"""Names and values of a program's options, without dashes."""


class Absent(Exception):
    """A tool is not on this machine; the text says what is missing."""


class RunFailed(Exception):
    """A run ended without a result; the text says which and why."""


@dataclass(frozen=True)
class Report:
    """What one run gave and cost."""

    goodput_bps: list[float]
    """Application bits per second that arrived, flow by flow."""
    frames_sent: int | None
    """PHY transmissions of all kinds; `None` where the run did not count them."""
    user_s: float
    """User CPU time of the process, from its start to its end."""
    wall_s: float
    """Wall-clock time of the simulation."""
    simulated_s: float
    """Simulated time."""

    @property
    def total_goodput_bps(self) -> float:
        """Sum over the flows."""
        return math.fsum(self.goodput_bps)

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Report:
        """From the JSON object that the ns-2 and ns-3 programs print and `user_s`, or from `to_json`."""
        names = ("goodput_bps", "frames_sent", "user_s", "wall_s", "simulated_s")
        return cls(**{name: data[name] for name in names})  # type: ignore[arg-type]


class Ns2:
    """ns-2, as Debian's package `ns2` installs it."""

    name = "ns-2"

    def __init__(self, nice: int = 0) -> None:
        self._ns = shutil.which("ns")
        if self._ns is None:
            raise Absent("no `ns` on the path: install the Debian package ns2")
        self._nice = nice

    def run(self, program: str, options: Options) -> Report:
        """Run `ns2/<program>.tcl`. The frames are counted, which is slow, if `options` has `count = 1`."""
        assert self._ns is not None
        command = [self._ns, str(HERE / "ns2" / f"{program}.tcl")]
        for name, value in options.items():
            command += [f"-{name}", str(value)]
        # ns-2 prints remarks of its own on standard output.
        output, user_s = _run(command, self._nice)
        lines = [line for line in output.splitlines() if line.startswith("{")]
        if len(lines) != 1:
            raise RunFailed(f"{' '.join(command)}: printed {len(lines)} reports")
        return Report.from_json(json.loads(lines[0]) | {"user_s": user_s})


class Ns3:
    """ns-3.37, as Debian's package `libns3-dev` installs it; builds the programs where they are out of date."""

    name = "ns-3"

    def __init__(self, build: Path, nice: int = 0) -> None:
        if not Path("/usr/include/ns3/core-module.h").exists():
            raise Absent("no ns-3 headers in /usr/include/ns3: install the Debian package libns3-dev")
        if shutil.which("make") is None or shutil.which("g++") is None:
            raise Absent("no make or g++ on the path to build the ns-3 programs with")
        self._build = build.resolve()
        self._nice = nice
        _run(["make", "-s", "-C", str(HERE / "ns3"), f"BUILD={self._build}"], nice)

    def run(self, program: str, options: Options) -> Report:
        """Run the program built from `ns3/<program>.cc`."""
        command = [str(self._build / program), *(f"--{name}={value}" for name, value in options.items())]
        output, user_s = _run(command, self._nice)
        return Report.from_json(json.loads(output) | {"user_s": user_s})


class Hopcast:
    """hopcast's command line: the one given, that of the repository's `.venv`, or the one on the path."""

    name = "hopcast"

    def __init__(self, executable: str | None = None, nice: int = 0) -> None:
        local = ROOT / ".venv" / "bin" / "hopcast"
        found = executable or (str(local) if local.exists() else shutil.which("hopcast"))
        if found is None or shutil.which(found) is None:
            raise Absent("no hopcast in .venv/bin or on the path: `make demo` installs it")
        self._executable = found
        self._nice = nice

    def run(self, scenario: Path, settings: Options, seed: int) -> Report:
        """`hopcast run` on a scenario file, each of `settings` as a `--set`."""
        command = [self._executable, "run", str(scenario), "--seed", str(seed), "--json"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        output, user_s = _run(command, self._nice)
        result = json.loads(output)
        cost = result["cost"]
        return Report(
            goodput_bps=[flow["goodput_bps"] for flow in result["flows"]],
            frames_sent=result["totals"]["frames_sent"],
            user_s=user_s,
            wall_s=cost["wall_s"],
            simulated_s=cost["simulated_s"],
        )


def cell_scenario(program: str, stations: int, directory: Path) -> Path:
    """Write `cell.toml` or `ht_cell.toml` for this many stations: the file itself has one, and a flow has one source."""
    text = (HERE / f"{program}.toml").read_text(encoding="utf-8")
    station = text.index("count = 1")
    text = f"{text[:station]}count = {stations}{text[station + len('count = 1') :]}"
    flow = text[text.index("[[flows]]") :]
    for i in range(1, stations):
        text += "\n" + flow.replace('"f0"', f'"f{i}"').replace('"s0"', f'"s{i}"')
    path = directory / f"{program}-{stations}.toml"
    # Whole at any moment: several runs may want it at once.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=directory, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)
    return path


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds."""

    mean: float
    half_width: float
    """Half the width of the 95 % interval (Student); NaN for less than two values."""
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """From one value a seed; at least one."""
        n = len(values)
        if n < 2:
            return cls(statistics.fmean(values), math.nan, n)
        quantile = STUDENT_975[min(n - 1, len(STUDENT_975)) - 1]
        return cls(statistics.fmean(values), quantile * statistics.stdev(values) / math.sqrt(n), n)

    def overlaps(self, other: Estimate) -> bool:
        """Whether the two intervals have a point in common."""
        return abs(self.mean - other.mean) <= self.half_width + other.half_width


STUDENT_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
)  # fmt: skip
"""97.5 % quantile of Student's t for 1, 2, … degrees of freedom; the last one is used, on the safe side, beyond it."""


def _run(command: Sequence[str], nice: int) -> tuple[str, float]:
    """Standard output of a command that must succeed, and its user CPU time in seconds."""
    niced = ["nice", "-n", str(nice), *command] if nice else command
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(niced, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            code = process.returncode
            reason = f"signal {-code}" if code < 0 else f"status {code}"
            errors.seek(0)
            raise RunFailed(f"{' '.join(command)}: {reason}\n{errors.read().strip()[-2000:]}")
        output.seek(0)
        return output.read(), usage.ru_utime
