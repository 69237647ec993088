"""`hopcast report`: draw results again without running anything."""

from __future__ import annotations

import click


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--study", metavar="FILE.py", type=click.Path(), help="The file of a study of your own.")
def command(folder: str, study: str | None) -> None:
    """Write report.html for what `run --out DIR` or `study --out DIR` left there."""
    from hopcast.cli.study import own_experiments
    from hopcast.report import NothingToReport, write_report

    try:
        path = write_report(folder, own_experiments(study) if study is not None else ())
    except NothingToReport as error:
        raise click.UsageError(str(error)) from None
    click.echo(f"Written to {path}")
