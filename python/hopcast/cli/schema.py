"""`hopcast schema`: the vocabularies of scenarios and of results."""

from __future__ import annotations

import click

from hopcast import _core


@click.command("schema")
@click.option(
    "--results",
    is_flag=True,
    help="Print the JSON Schema of run.json instead, with those of tables and of what the live commands print under "
    "$defs: meaning, unit (x-unit), divisor (x-divisor) and place of counting (x-counted) of each field.",
)
def command(results: bool) -> None:
    """Print the JSON Schema of a scenario."""
    click.echo(_core.results_schema() if results else _core.json_schema())
