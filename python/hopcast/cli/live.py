"""`hopcast emulate`, `node`, `probe`, `stream`, `cloud` and `key`: commands for real hosts. Rust code reads
their arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

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
    "key": "Make a network key, or an identity of a node.",
}


def command(name: str) -> click.Command:
    """The live command of this name."""
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}

    @click.command(name, context_settings=settings, add_help_option=False, short_help=SUMMARIES[name])
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def run(arguments: tuple[str, ...]) -> int:
        # From here on it listens to signals itself.
        INTERRUPTION.hand_over()
        return _core.live(["hopcast", name, *arguments], _load)

    return run


def _load(sources: list[str]) -> tuple[Entry, ...]:
    """Return the classes of models that `--extension` names."""
    from hopcast.extensions import load_all

    return load_all(sources).entries()
