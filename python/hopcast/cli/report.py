"""`hopcast report`: draw results again without running anything."""

from __future__ import annotations

import click

from hopcast.cli import epilog
from hopcast.cli import traces as traces_of


@click.command("report", epilog=epilog.RESULTS)
@click.argument("folder", metavar="DIR", type=click.Path(readable=False))
@click.option("--study", metavar="FILE.py", type=click.Path(readable=False), help="The file of your own study.")
@traces_of.option("Where to look for traces and measurements.")
@click.option("--figures", is_flag=True, help="Write the figures of a study to DIR/figures too, as SVG and PDF.")
def command(folder: str, study: str | None, traces: tuple[str, ...], figures: bool) -> None:
    """Draw the results of `run`, `study` or `sweep` with `--out DIR` in report.html."""
    from hopcast.cli.study import own_experiments
    from hopcast.lab import CollectionError
    from hopcast.report.page import NothingToReport, write_figures, write_report

    traces_of.look_for_traces(traces)
    own = own_experiments(study) if study is not None else ()
    try:
        # The figures first: a folder that has none is refused before anything is written.
        written = [*([write_figures(folder, own)] if figures else []), write_report(folder, own)]
    except (CollectionError, NothingToReport) as error:
        raise click.UsageError(str(error)) from None
    for path in written:
        click.echo(f"Written to {path}")
