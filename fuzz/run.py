"""Runs fuzz targets one after the other, and counts their inputs on a page.

`python fuzz/run.py --seconds N --page FILE TARGET…`, or `make fuzz`. Inputs of earlier runs stay in the page's sums. It ends with status 1
if a target finds something; the input is in `fuzz/artifacts` then.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEAD = """# Fuzzing

`make fuzz` runs each target with libFuzzer, which mutates inputs towards code that none has reached, and adds what it ran to this page.

```
make fuzz FUZZ_SECONDS=600 FUZZ_TARGETS="guard status"
```

{told}

| target | feeds | runs | inputs | seconds | inputs kept |
|---|---|---:|---:|---:|---:|
"""
FOOT = """
* **Inputs** are those of all runs on this page together, **inputs kept** those that reach something new, after the last run. They stay in
  `fuzz/corpus` on the machine that ran them.
* Targets whose line speaks of operations take the bytes of an input as choices: they drive whole state machines, and check what must hold after
  each operation. The others read the bytes as a file or a packet.
* Targets are built without a sanitizer, as hopcast has no unsafe code, and with the checks of a debug build.
* A target with a dash has not run since this page is kept.
"""
ROW = re.compile(r"\| `(\w+)` \| .* \| ([\d ]+) \| ([\d ]+) \| ([\d ]+) \| ([\d ]+) \|")


def counted(page: Path) -> dict[str, list[int]]:
    """What a page says of each target: runs, inputs, seconds, inputs kept."""
    rows = page.read_text().splitlines() if page.exists() else []
    found = [match for row in rows if (match := ROW.fullmatch(row))]
    return {match[1]: [int(number.replace(" ", "")) for number in match.groups()[1:]] for match in found}


def page(counts: dict[str, list[int]]) -> str:
    """The page with these counts."""
    sources = sorted((HERE / "fuzz_targets").glob("*.rs"))
    version = ".".join(platform.release().split(".")[:2])
    total = sum(counts.get(source.stem, [0, 0])[1] for source in sources)
    ran = sum(source.stem in counts for source in sources)
    told = f"{ran} of {len(sources)} targets have run, with {grouped(total)} inputs in all. The last run: {os.cpu_count()} cores, {platform.system()} {version}."
    return HEAD.format(told=told) + "".join(f"{row(source, counts.get(source.stem))}\n" for source in sources) + FOOT


def row(source: Path, count: list[int] | None) -> str:
    """The row of a target."""
    lines = [line.removeprefix("//! ") for line in source.read_text().splitlines() if line.startswith("//!")]
    numbers = [grouped(number) for number in count] if count else ["–"] * 4
    return f"| `{source.stem}` | {' '.join(lines)} | {' | '.join(numbers)} |"


def grouped(number: int) -> str:
    """A number with its digits in groups of three."""
    return f"{number:,}".replace(",", " ")


def fuzz(target: str, seconds: int, cargo_fuzz: str) -> tuple[int, list[int]]:
    """Runs a target: its status, and what is to be added to its counts."""
    corpus = HERE / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = HERE / "seeds" / target
    command = [cargo_fuzz, "run", "-s", "none", "--features", "engine", target, str(corpus)]
    command += [str(seeds)] if seeds.is_dir() else []
    command += ["--", f"-max_total_time={seconds}", "-print_final_stats=1"]
    # To optimise a whole program takes minutes for each target, and little of a run's time is hopcast's.
    environment = {"CARGO_PROFILE_RELEASE_LTO": "off", **os.environ}
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, errors="replace", cwd=HERE.parent, env=environment
    )
    assert process.stderr is not None
    inputs = spent = 0
    for line in process.stderr:
        sys.stderr.write(line)
        if match := re.match(r"stat::number_of_executed_units:\s*(\d+)", line):
            inputs = int(match[1])
        # Also of a run that has found something and ended early.
        if (match := re.match(r"stat::average_exec_per_sec:\s*(\d+)", line)) and int(match[1]):
            spent = round(inputs / int(match[1]))
    return process.wait(), [1, inputs, spent, len(list(corpus.iterdir()))]


def main() -> None:
    """Runs the targets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=600, help="how long each target runs (default: 600)")
    parser.add_argument("--page", type=Path, required=True, help="the page with the counts")
    parser.add_argument("--cargo-fuzz", default="cargo-fuzz", help="the program (default: cargo-fuzz)")
    options = parser.parse_args()
    failed = []
    for target in options.targets:
        status, (runs, inputs, seconds, kept) = fuzz(target, options.seconds, options.cargo_fuzz)
        failed += [target] if status else []
        if inputs:
            counts = counted(options.page)
            before = counts.get(target, [0, 0, 0, 0])
            counts[target] = [before[0] + runs, before[1] + inputs, before[2] + seconds, kept]
            options.page.write_text(page(counts))
    if failed:
        sys.exit(f"found something, or could not run: {', '.join(failed)}")


if __name__ == "__main__":
    main()
