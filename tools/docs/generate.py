"""Write the pages and figures that come from the code, or check that they are not stale.

`python tools/docs/generate.py` writes them, `python tools/docs/generate.py --check` exits with 1 and the names of those that differ.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import channel
import click
import outcomes
import receivers
import routing
import stations
import traffic
import transport
import validation

from hopcast import Scenario, lab, run
from hopcast.cli import hopcast, live
from hopcast.figures import picture

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WIDTH = 100


def pages() -> dict[str, str]:
    """Every generated file: name and text."""
    drawn = {
        "figures/film-delay.svg": film_delay(),
        "figures/your-own-study.svg": own_study(),
        **channel.figures(),
        **outcomes.figures(),
        **receivers.figures(),
        **routing.figures(),
        **stations.figures(),
        **traffic.figures(),
        **transport.pages(),
        **validation.figures(),
    }
    return {"command-line.md": command_line(), **drawn}


def command_line() -> str:
    """The help of hopcast and of each of its commands, as a Markdown page."""
    parts = ["# Command line\n\nThis page is what `hopcast --help` prints, written by `make docs`.\n"]
    root = context("hopcast", hopcast)
    parts.append(section(root))
    for name in hopcast.list_commands(root):
        if name in live.SUMMARIES:
            parts.extend(live_sections(name))
            continue
        command = hopcast.get_command(root, name)
        assert command is not None, f"{name} is listed and does not exist"
        parts.append(section(context(name, command, root)))
    return "\n".join(parts)


def film_delay() -> str:
    """The figure of the README: delay over time in `examples/film.toml`."""
    result = run(Scenario.from_toml(ROOT / "examples" / "film.toml"))
    return picture(result.plot("delay"))


def own_study() -> str:
    """The figure of `your-own-study.md`."""
    outcome = lab.load(str(ROOT / "examples" / "hidden_terminal.py")).run()
    return picture(outcome.plot())


def context(name: str, command: click.Command, parent: click.Context | None = None) -> click.Context:
    """A context that formats help alike on every terminal."""
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        **command.context_settings,
    )


def section(of: click.Context) -> str:
    """The help of one command."""
    return fenced(of.command_path, of.get_help())


def live_sections(*words: str) -> list[str]:
    """The help of a live command and of those below it, which read their arguments themselves."""
    command = [sys.executable, "-m", "hopcast", *words, "--help"]
    environment = os.environ | {"COLUMNS": str(WIDTH)}
    text = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    below = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    names = re.findall(r"^  (\w+) ", below[1], re.MULTILINE) if below else []
    parts = [fenced(" ".join(["hopcast", *words]), text)]
    return parts + [part for name in names if name != "help" for part in live_sections(*words, name)]


def fenced(path: str, text: str) -> str:
    """Help under the name of its command."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {path}\n\n```\n{lines}\n```\n"


def main() -> None:
    """Write or check."""
    check = sys.argv[1:] == ["--check"]
    stale = []
    for name, text in pages().items():
        path = DOCS / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if check and stale:
        sys.exit(f"stale in docs/: {', '.join(stale)}; run make docs")


if __name__ == "__main__":
    main()
