"""Faults on every command: kill -9, SIGSTOP, full disks, too little memory, steps of the clock, interfaces that go, garbage.

`python tests/chaos/chaos.py [--seed N] [--trials FACTOR] [--page FILE] [CASE]…`, or `make chaos`. Faults are drawn from the seed. It ends
with status 1 if something does not hold that must.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import files
import hopcast
import live
from case import CASES, Broken, Case

MODULES = (files, live)
"""They enter their cases."""
HEAD = """# Chaos: what faults cost

`make chaos` does to each command what machines and neighbours do to it, at instants drawn from a seed. Afterwards it checks that what the
table promises holds, and measures how long the command takes to recover. A run of it writes this page.

```
{command}
```

{sum}

| command | fault | must hold | trials | lost | recovery: median, longest |
|---|---|---|---:|---|---:|
"""
FOOT = """
* **Recovery** of `run`, `study`, `sweep`, `report` and `view` is the time of the next start until all results are there. After SIGSTOP it
  is the time from SIGCONT to the end of the command. Of live commands it is the time from the end of the fault until packets, media or
  answers come again. It includes the start of Python.
* **Lost** is what had been there and is gone. What a fault keeps from being sent is not counted: media while the receiver is away.
* A full disk is a tmpfs in a mount namespace, of a random size below what the command needs. Too little memory is a limit on the address
  space (`RLIMIT_AS`), drawn between 30 and 100 % of what the command takes.
* Steps of the clock are those of the time of day, by 1 h or 30 years in both directions, through libfaketime. The machine's own clock
  stays as it is. The monotonic clock goes on, as Linux promises for it.
* A neighbour sends random datagrams, and copies of real messages in which one byte is changed.
* `make chaos` does not try a loss of power, a machine that is suspended, and steps of the monotonic clock.
{skipped}"""


@dataclass
class Row:
    """What the trials of a case have shown."""

    case: Case
    trials: int = 0
    recovered_s: list[float] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lost = "; ".join(sorted(self.lost)) or "–"
        if self.broken:
            lost = f"**{len(self.broken)} of {self.trials} do not hold**"
        times = self.recovered_s
        recovery = f"{statistics.median(times):.2f} s, {max(times):.2f} s" if times else "–"
        case = self.case
        return f"| `{case.command}` | {case.fault} | {case.holds} | {self.trials} | {lost} | {recovery} |"


def row(case: Case, seed: int, trials: int) -> Row:
    """Makes the trials of a case."""
    made = Row(case)
    for number in range(trials):
        made.trials += 1
        try:
            trial = case.trial(seed, number)
        except Broken as error:
            made.broken.append(f"{case.name}, seed {seed}, trial {number}: {error}")
            print(f"  {made.broken[-1]}", file=sys.stderr, flush=True)
            continue
        made.recovered_s += trial.recovered_s
        made.lost.add(trial.lost)
    return made


def page(rows: list[Row], skipped: list[tuple[Case, str]], command: str, seconds: float) -> str:
    """The page with the table."""
    broken = sum(len(row.broken) for row in rows)
    trials = sum(row.trials for row in rows)
    version = ".".join(platform.release().split(".")[:2])
    machine = f"{os.cpu_count()} cores, {platform.system()} {version}"
    told = (
        f"In {trials} trials of {len(rows)} cases, {'everything held' if not broken else f'{broken} did not hold'}. "
        f"hopcast {hopcast.__version__}, {machine}, {seconds / 60:.0f} minutes."
    )
    reasons = [f"* Not tried: `{case.command}`, {case.fault}: {reason}.\n" for case, reason in skipped]
    body = "".join(f"{row}\n" for row in rows)
    return HEAD.format(command=command, sum=told) + body + FOOT.format(skipped="".join(reasons))


def renewed(old: str, rows: list[Row], command: str) -> str:
    """An earlier page in which these rows take the place of those of the same cases, with the command that made them. A case that
    the page lacks follows those before it in `CASES`.
    """

    def start(case: Case) -> str:
        return f"| `{case.command}` | {case.fault} |"

    def before(case: Case) -> list[Case]:
        place = next((place for place, other in enumerate(CASES) if other is case), len(CASES))
        return CASES[:place][::-1]

    for row in rows:
        for case in (row.case, *before(row.case)):
            found = [line for line in old.splitlines() if line.startswith(start(case))]
            if found:
                old = old.replace(found[0], str(row) if case is row.case else f"{found[0]}\n{row}")
                break
    lines = [line.split(" | ") for line in old.splitlines() if line.startswith("| `")]
    trials = sum(int(line[3]) for line in lines)
    broken = sum(int(line[4].split()[0].strip("*")) for line in lines if "do not hold" in line[4])
    said = f"In {trials} trials of {len(lines)} cases, {'everything held' if not broken else f'{broken} did not hold'}."
    (sum_before,) = (line for line in old.splitlines() if line.startswith("In ") and " trials of " in line)
    old = old.replace(sum_before, f"{said} {sum_before.partition('. ')[2]}")
    return old.replace("\n```\n\nIn ", f"\n{command}\n```\n\nIn ")


def main() -> None:
    """Makes all trials, and prints or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names of cases, or of commands (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="what all draws follow from (default: 1)")
    parser.add_argument("--trials", type=float, default=1.0, help="how many times as many trials (default: 1)")
    parser.add_argument("--page", type=Path, help="write the page to this file, instead of printing it")
    parser.add_argument("--list", action="store_true", help="list the cases; try nothing")
    options = parser.parse_args()
    wanted = [case for case in CASES if not options.cases or {case.name, case.command.split()[0]} & {*options.cases}]
    if not wanted:
        parser.error(f"expected names of cases: {', '.join(case.name for case in CASES)}")
    if options.list:
        for case in wanted:
            print(f"{case.name:24} {case.command}: {case.fault}")
        return
    skipped = [(case, reason) for case in wanted if (reason := case.hindrance())]
    rows, begin = [], time.monotonic()
    for case in wanted:
        if reason := case.hindrance():
            print(f"{case.name}: not tried: {reason}", file=sys.stderr, flush=True)
            continue
        try:
            rows.append(row(case, options.seed, max(1, round(case.trials * options.trials))))
        except KeyboardInterrupt:
            rest = wanted[wanted.index(case) :]
            skipped += [(case, "the run was interrupted") for case in rest if not case.hindrance()]
            break
        print(rows[-1], file=sys.stderr, flush=True)
    text = page(rows, skipped, "make chaos " + given(options), time.monotonic() - begin)
    if options.page and options.cases and options.page.exists():
        options.page.write_text(renewed(options.page.read_text(), rows, "make chaos " + given(options)))
    elif options.page:
        options.page.write_text(text)
    else:
        print(text)
    sys.exit(1 if any(row.broken for row in rows) else 0)


def given(options: argparse.Namespace) -> str:
    """The options as `make` takes them."""
    words = [f"CHAOS_SEED={options.seed}", f"CHAOS_TRIALS={options.trials:g}"]
    return " ".join(words + ([f'CHAOS="{" ".join(options.cases)}"'] if options.cases else []))


if __name__ == "__main__":
    main()
