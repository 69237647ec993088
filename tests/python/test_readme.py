"""What README.md shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from walk import WIDTH, without_cost

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(mark: str) -> str:
    """The text of the fenced block behind a comment."""
    found = re.search(rf"<!-- {mark} -->\n```\w*\n(.*?)```", README, re.DOTALL)
    assert found, f"README.md has no block marked {mark!r}"
    return found[1]


def output(*command: str | Path, directory: Path = ROOT) -> list[str]:
    """What a command prints on a terminal of that width, line by line, without blanks at their ends."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_the_run_prints_what_the_readme_shows() -> None:
    command, *shown = block("run").splitlines()
    program, *arguments = command.removeprefix("$ ").split()
    assert program == ".venv/bin/hopcast"
    assert without_cost(output(sys.executable, "-m", "hopcast", *arguments)) == without_cost(shown)


def test_the_python_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    example = block("python")
    assert len([line for line in example.splitlines() if line]) <= 10
    assert output(sys.executable, "-c", example, directory=tmp_path) == block("printed").splitlines()
    assert (tmp_path / "delay.svg").read_text(encoding="utf-8").startswith("<?xml")


COMMANDS = dict(
    re.findall(
        r"^## (hopcast[ \w]*)\n\n```\n(.*?)```$",
        (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_of_the_command_line_has_the_help_that_is_printed(command: str) -> None:
    _, *words = command.split()
    printed = "\n".join(output(sys.executable, "-m", "hopcast", *words, "--help"))
    # Where lines break depends on the terminal, and how much is told of commands below.
    shown, expected = ("".join(text.partition("\nCommands:")[0].split()) for text in (COMMANDS[command], printed))
    assert shown == expected


def test_the_guide_to_python_has_the_arguments_and_options_of_the_help() -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    found = re.search(r"^## Command line$.*?^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found, "docs/python.md has no synopsis"
    synopses = {" ".join(synopsis.split()[:2]): synopsis for synopsis in re.split(r"\n(?=hopcast)", found[1].strip())}
    assert {"hopcast run", "hopcast study", "hopcast report", "hopcast compare"} <= synopses.keys()
    for command, synopsis in synopses.items():
        usage, described = COMMANDS[command].split("\n", 1)
        arguments = usage.removeprefix(f"Usage: {command} [OPTIONS]").strip()
        assert synopsis.startswith(f"{command} {arguments}".rstrip())
        options = set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", described, re.MULTILINE)) - {"--help"}
        assert set(re.findall(r"--[a-z-]+", synopsis)) == options, command


def test_examples_that_the_package_names_exist() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "python").rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"\bexamples/[\w./-]*\w", text)}
    assert "examples/film.toml" in named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    # Hidden folders are tools'.
    *ROOT.glob("[!.]*/README.md"),
    *ROOT.glob("benches/*/README.md"),
]


@pytest.mark.parametrize(
    "page", [path for path in PAGES if path.is_file()], ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (page.parent / link).exists()] == []


DOCUMENTED = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "docs" / "internals.md",
    *sorted((ROOT / "docs" / "models").glob("*.md")),
]


@pytest.mark.parametrize("page", DOCUMENTED, ids=lambda path: path.name)
def test_files_and_tests_that_a_page_names_exist(page: Path) -> None:
    """`path/to/file.rs` is a file (from the root, or from a `crates/*/src`), `name_of_a_test` a function somewhere."""
    names = set(re.findall(r"`([\w./-]+)`", page.read_text(encoding="utf-8")))
    roots = [ROOT, ROOT / "crates", *(ROOT / "crates").glob("*/src"), ROOT / "crates/sim/tests/integration"]
    files = {name for name in names if re.search(r"\.(rs|py|toml|md|json)$", name) and "/" in name}
    assert [name for name in sorted(files) if not any((root / name).is_file() for root in roots)] == []
    # Names of tests are sentences: three words or more, unlike those of most fields.
    sentences = {name for name in names if re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+){3,}", name)}
    assert sentences <= functions(), sorted(sentences - functions())


def functions() -> set[str]:
    """Names of all functions in Rust and Python."""
    sources = [*(ROOT / "crates").rglob("*.rs"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "python").rglob("*.py")]
    return {
        name
        for path in sources
        for name in re.findall(
            r"^\s*(?:pub(?:\([^)]*\))? )?(?:fn|def) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
