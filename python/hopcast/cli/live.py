"""`hopcast emulate`, `node`, `probe`, `stream`, `cloud` and `key`: commands for real hosts. Rust code reads
their arguments.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from hopcast import _core
from hopcast.cli.signals import INTERRUPTION

if TYPE_CHECKING:
    from hopcast.extensions import Entry

SUMMARIES = {
    "emulate": "Put real hosts and programs on simulated radios and wires.",
    "node": "Route on real interfaces.",
    "probe": "Measure links and paths between real hosts.",
    "stream": "Carry media between real hosts.",
    "cloud": "Store clips on hosts that stream them to each other.",
    "key": "Make a network key, or an identity of a host.",
}


class LiveCommand(click.Command):
    """A live command, whose help tells a shell how to complete it."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the options that begin so."""
        return completions(str(self.name), ctx.params.get("arguments", ()), incomplete)


def completions(name: str, words: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    """What may follow `words` of the live command `name`: names of commands below it, options, or files."""
    path = [name]
    below, options = _help(path)
    for word in words:
        if word in below:
            path.append(word)
            below, options = _help(path)
    if incomplete.startswith("-"):
        return [CompletionItem(option) for option in options if option.startswith(incomplete)]
    if below:
        return [CompletionItem(one) for one in below if one.startswith(incomplete)]
    return [CompletionItem(incomplete, type="file")]


def _help(path: list[str]) -> tuple[list[str], list[str]]:
    """Commands below a live command, and its options, as its help has them."""
    asked = [sys.executable, "-m", "hopcast", *path, "--help"]
    # A shell's question is in the environment; the program that is asked for help must not get it too.
    asking = {name: value for name, value in os.environ.items() if name not in ("_HOPCAST_COMPLETE", "COMP_WORDS")}
    text = subprocess.run(asked, env=asking, capture_output=True, text=True, check=False, timeout=10).stdout
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    below = re.findall(r"^  (\w+) ", listed[1], re.MULTILINE) if listed else []
    return [one for one in below if one != "help"], re.findall(r"^ +(?:-\w, )?(--[\w-]+)", text, re.MULTILINE)


def _complete_word(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return completions(str(ctx.command.name), ctx.params.get("arguments", ()), incomplete)


def command(name: str) -> click.Command:
    """The live command of this name."""
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}

    @click.command(name, cls=LiveCommand, context_settings=settings, add_help_option=False, short_help=SUMMARIES[name])
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=_complete_word)
    def run(arguments: tuple[str, ...]) -> int:
        # From here on it listens to signals itself.
        INTERRUPTION.hand_over()
        return _core.live(["hopcast", name, *arguments], _load)

    return run


def _load(sources: list[str]) -> tuple[Entry, ...]:
    """Return the classes of models that `--extension` names."""
    from hopcast.extensions import load_all

    return load_all(sources).entries()
