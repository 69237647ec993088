"""Write the manual pages of hopcast's commands, or check that they are not stale.

`python tools/docs/man.py` writes `packaging/wheel/data/share/man/man1`, which the wheel installs; `--check` exits with 1 and the names
of the pages that differ. click-man makes the pages of the commands in Python, and clap_mangen those of the live commands.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from click_man.core import generate_man_page

from hopcast import __version__
from hopcast.cli import hopcast, live

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging" / "wheel" / "data" / "share" / "man" / "man1"


def pages() -> dict[str, str]:
    """Every page: name of its file, and text."""
    root = click.Context(hopcast, info_name="hopcast")
    commands = {name: _command(root, name) for name in hopcast.list_commands(root)}
    # click-man lists what a group has, and hopcast's loads each command when it is called.
    group = click.Group("hopcast", commands=commands, help=hopcast.help, params=hopcast.params)
    # Whole sentences, which click-man would cut.
    for command in (group, *commands.values()):
        command.short_help = command.get_short_help_str(sys.maxsize)
    written = {"hopcast.1": _page(click.Context(group, info_name="hopcast"))}
    for name, command in commands.items():
        if name not in live.SUMMARIES:
            written[f"hopcast-{name}.1"] = _page(click.Context(command, info_name=name, parent=root))
    return {name: _ascii(text) for name, text in (written | _live_pages()).items()}


def _command(root: click.Context, name: str) -> click.Command:
    if name in live.SUMMARIES:
        return click.Command(name, help=live.SUMMARIES[name])
    command = hopcast.get_command(root, name)
    assert command is not None, f"{name} is listed and does not exist"
    return command


def _page(context: click.Context) -> str:
    # No date, so that a page changes only with its command.
    text: str = generate_man_page(context, version=__version__, date=f"hopcast {__version__}")
    # click's mark for a paragraph that keeps its lines.
    text = re.sub(r"^\x08\n", "", text, flags=re.MULTILINE)
    return "".join(_safe(line) + "\n" for line in text.splitlines())


def _safe(line: str) -> str:
    """A line of text that roff would read as a request, as text."""
    request = re.match(r"\.(TH|SH|PP|B|TP)\b", line)
    return line if request or not line.startswith((".", "'")) else rf"\&{line}"


def _ascii(text: str) -> str:
    """The text with roff's escapes for other characters, which every roff reads alike."""
    return "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in text)


def _live_pages() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        program = ["cargo", "run", "--quiet", "--locked", "-p", "hopcast-live", "--example", "man", "--", folder]
        subprocess.run(program, cwd=ROOT, check=True)
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder).iterdir())}


def main() -> None:
    """Write or check."""
    check = sys.argv[1:] == ["--check"]
    written = pages()
    FOLDER.mkdir(parents=True, exist_ok=True)
    stale = [path.name for path in FOLDER.iterdir() if path.name not in written]
    for name, text in written.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if check and stale:
        sys.exit(f"make docs writes these pages again: {', '.join(stale)}")


if __name__ == "__main__":
    main()
