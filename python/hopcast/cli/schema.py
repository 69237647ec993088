"""`hopcast schema`: the vocabulary of a scenario."""

from __future__ import annotations

import click

from hopcast import _core


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of a scenario."""
    click.echo(_core.json_schema())
