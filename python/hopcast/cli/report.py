"""`hopcast report`: draw results again without running anything."""

from __future__ import annotations

import click


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path())
def command(folder: str) -> None:
    """Write report.html for what `run --out DIR` or `study --out DIR` left there."""
    from hopcast.report import NothingToReport, write_report

    try:
        path = write_report(folder)
    except NothingToReport as error:
        raise click.UsageError(str(error)) from None
    click.echo(f"Written to {path}")
