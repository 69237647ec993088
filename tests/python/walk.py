"""Follow a page as a reader does: save its files, type its commands in an empty folder, and compare what they print.

A page is written for people, and this module reads nothing else of it:

* A fenced block of `toml` or `python` is a file. The sentence before it ends in "as `NAME`:".
* A block of `console` has commands after `$ `, each followed by what it prints. A line that ends in a backslash goes on in the next one. All commands share one shell. A line `…` stands
  for any number of lines, and `…` within a line for any text.
* Numbers must be the printed ones, unless the paragraph before the block says "within N %". Then each number of the block may
  differ by that share. Times that hopcast's last line has for a run are never compared.
* Blocks of other languages, and of none, are to be read.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

WIDTH = 100
"""Columns of the terminal that pages show."""
MARK = "--- step"
"""What the shell prints before and after each command, where no program prints it."""
NUMBER = re.compile(r"(?<![\w.])\d+(?: \d{3})*(?:\.\d+)?(?!\w)")


@dataclass(frozen=True)
class File:
    """A file that the reader saves."""

    name: str
    text: str


@dataclass(frozen=True)
class Step:
    """A command that the reader types."""

    line: int
    command: str
    shown: tuple[str, ...]
    """The lines that the page shows below it."""
    tolerance: float | None
    """Share by which numbers may differ."""


def steps(page: str) -> Iterator[File | Step]:
    """What a page asks its reader to do, from top to bottom."""
    for said, language, body, line in blocks(page):
        if language in ("toml", "python"):
            name = re.search(r"\bas `([^`]+)`[^`]*:$", said)
            assert name, f"line {line}: no sentence before this block ends in 'as `NAME`:'"
            yield File(name[1], body)
        elif language == "console":
            share = re.search(r"\bwithin (\d+) %", said)
            yield from typed(body, line, int(share[1]) / 100 if share else None)


def blocks(page: str) -> Iterator[tuple[str, str, str, int]]:
    """The fenced blocks of a page: the paragraph before, the language, the text, and the line."""
    paragraph: list[str] = []
    body: list[str] | None = None
    language, begin, ended = "", 0, False
    for number, line in enumerate(page.splitlines(), 1):
        if body is not None:
            if line == "```":
                yield " ".join(paragraph), language, "".join(f"{kept}\n" for kept in body), begin
                body = None
            else:
                body.append(line)
        elif line.startswith("```"):
            body, language, begin = [], line[3:], number
        elif not line.strip():
            ended = True
        else:
            paragraph = [line] if ended else [*paragraph, line]
            ended = False


def typed(body: str, line: int, tolerance: float | None) -> Iterator[Step]:
    """The commands of a block."""
    assert body.startswith("$ "), f"line {line}: a console block begins with a command"
    for text in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, *shown = re.sub(r"\\\n\s*", "", text).splitlines()
        yield Step(line, command, tuple(shown), tolerance)


def script(page: str, folder: Path) -> tuple[str, list[Step]]:
    """Saves the files of a page in a folder. Returns a script for bash with its commands, and what they should print.

    A reader saves a file before the commands below it; names differ, so that all can be there from the start.
    """
    names: set[str] = set()
    found: list[Step] = []
    lines = ["exec 2>&1"]
    for step in steps(page):
        if isinstance(step, File):
            assert step.name not in names, f"{step.name} is saved twice"
            names.add(step.name)
            (folder / step.name).write_text(step.text, encoding="utf-8")
        else:
            found.append(step)
            lines += [f"echo {shlex.quote(MARK)}", step.command, f'echo "{MARK} $?"']
    assert found, "the page has no commands"
    return "\n".join(lines) + "\n", found


Runner = Callable[[list[str]], "subprocess.CompletedProcess[str]"]
"""Runs a command in the folder of the walk, and captures what it prints."""


def walk(page: str, folder: Path, run: Runner) -> None:
    """Follow a page. Raises `AssertionError` at the first command that does something else."""
    text, expected = script(page, folder)
    (folder / ".walk.sh").write_text(text, encoding="utf-8")
    done = run(["bash", str(folder / ".walk.sh")])
    parts = re.findall(rf"^{MARK}\n(.*?)^{MARK} (\d+)\n", done.stdout, re.DOTALL | re.MULTILINE)
    for step, (printed, status) in zip(expected, parts, strict=False):
        compare(step, printed, int(status))
    assert len(parts) == len(expected), f"the shell ended in {expected[len(parts)].command!r}: {done.stdout[-2000:]}"


def compare(step: Step, printed: str, status: int) -> None:
    """Raises `AssertionError` unless a command printed what the page shows, and failed only where the page shows an error."""
    where = f"line {step.line}: {step.command}"
    fails = any(re.match(r"(hopcast|ping|Error|error): ", line) for line in step.shown)
    assert (status != 0) == fails, f"{where}: status {status}\n{printed}"
    lines = [plain(line) for line in printed.splitlines()]
    assert matches([plain(line) for line in step.shown], lines, step.tolerance), f"{where}: it printed\n" + "\n".join(
        lines
    )


def matches(shown: list[str], printed: list[str], tolerance: float | None) -> bool:
    """Whether lines were printed as shown, where `…` stands for any lines."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(matches(shown[1:], printed[skipped:], tolerance) for skipped in range(len(printed) + 1))
    return bool(printed) and alike(shown[0], printed[0], tolerance) and matches(shown[1:], printed[1:], tolerance)


def alike(shown: str, printed: str, tolerance: float | None) -> bool:
    """Whether a line was printed as shown."""
    (shown, printed), pattern = without_cost([shown, printed]), ""
    if tolerance is not None:
        # Other numbers make other columns.
        shown, printed = (re.sub(r"([ ━─])\1+", r"\1", line) for line in (shown, printed))
    numbers = NUMBER.findall(shown) if tolerance is not None else []
    for part in re.split(rf"(…|{NUMBER.pattern})" if numbers else "(…)", shown):
        pattern += ".*" if part == "…" else f"({NUMBER.pattern})" if part in numbers else re.escape(part)
    found = re.fullmatch(pattern, printed)
    return found is not None and all(
        abs(value(given) - value(number)) <= (tolerance or 0.0) * abs(value(number))
        for given, number in zip(found.groups(), numbers, strict=True)
    )


def plain(line: str) -> str:
    """A line without blanks at its end, and with usual blanks between digits."""
    return line.rstrip().replace("\u202f", " ")


def value(number: str) -> float:
    """A number as pages show it."""
    return float(re.sub(r"[^\d.]", "", number))


def without_cost(lines: list[str]) -> list[str]:
    """Lines without the time that the machine took."""
    return [re.sub(r"\bin \d+(\.\d+)? m?s$", "in … s", line) for line in lines]
