"""`hopcast study`: the experiments of the papers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from hopcast.cli.numbers import WholeNumber
from hopcast.cli.progress import progress_bar
from hopcast.cli.signals import INTERRUPTION
from hopcast.errors import RunError

if TYPE_CHECKING:
    from hopcast.studies import Study


@click.command("study")
@click.argument("which", metavar="[ID|LETTER|all]", default="all")
@click.option("--quick", "amount", flag_value="quick", default=True, help="Less data, fewer seeds.  [default]")
@click.option("--full", "amount", flag_value="full", help="As much data as the papers used.")
@click.option("--threads", type=WholeNumber(1, 4096), help="Runs side by side.  [default: one a core]")
@click.option(
    "--traces", metavar="DIR", multiple=True, type=click.Path(), help="Where to look for traces and measurements."
)
@click.option("--out", metavar="DIR", type=click.Path(), help="Write rows and a report to this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    which: str, amount: str, threads: int | None, traces: tuple[str, ...], out: str | None, as_json: bool
) -> None:
    """Run experiments of the papers, and set what is measured beside what they say.

    An experiment is named by its id (H2), a paper by its letter (H). Letter R are measurements of others: an experiment
    whose data are not at hand is skipped.
    """
    from hopcast.scenario import trace_folders
    from hopcast.studies import AMOUNTS, StudyFailed, StudyInterrupted, find, run_experiments

    experiments = find(which)
    if not experiments:
        raise click.BadParameter(f"no experiment {which!r}; there are {_known()}", param_hint="[ID|LETTER|all]")
    if traces:
        os.environ["HOPCAST_TRACES"] = os.pathsep.join(trace_folders(traces))
    lacking = [reason for experiment in experiments if (reason := experiment.missing())]
    if len(lacking) == len(experiments):
        raise click.UsageError(f"nothing can be run: {'; '.join(dict.fromkeys(lacking))}")
    with _prepared(out):
        failure: BaseException | None = None
        try:
            with progress_bar() as progress:
                study = run_experiments(experiments, AMOUNTS[amount], threads=threads, progress=progress)
        except (StudyFailed, StudyInterrupted) as stopped:
            study, failure = stopped.study, stopped
        try:
            if out is not None and study.rows:
                _write(study, out, demonstrate=failure is None)
        except (RunError, KeyboardInterrupt) as error:
            # What was measured is told first.
            failure = failure or error
        try:
            _show(study, as_json, out if failure is None else None)
        finally:
            if failure is not None:
                raise failure


@contextmanager
def _prepared(out: str | None) -> Iterator[None]:
    """The folder with what is written to it, if there is one."""
    if out is None:
        yield
        return
    from hopcast.output import prepared

    with (
        prepared(out, ("rows.json", "rows.parquet", "report.html")),
        prepared(os.path.join(out, "film"), ("run.json",)),
    ):
        yield


def _write(study: Study, out: str, *, demonstrate: bool) -> None:
    from hopcast.report import film, write_report

    study.write(out)
    if demonstrate:
        film.demonstrate(os.path.join(out, "film"))
    write_report(out)


def _show(study: Study, as_json: bool, out: str | None) -> None:
    with INTERRUPTION.waits():
        _print(study, as_json, out)


def _print(study: Study, as_json: bool, out: str | None) -> None:
    if as_json:
        click.echo(json.dumps(study.document(), ensure_ascii=False, allow_nan=False).encode())
    else:
        from hopcast.cli.tables import print_rows

        print_rows(study.rows)
        for experiment, verdict in study.verdicts().items():
            click.echo(f"{experiment}: {verdict}")
        for experiment, reason in study.skipped.items():
            click.echo(f"{experiment}: skipped, {reason}")
        if out is not None:
            click.echo(f"Written to {out}")
    sys.stdout.flush()


def _known() -> str:
    from hopcast.studies import EXPERIMENTS

    return ", ".join([*EXPERIMENTS, *sorted({name[0] for name in EXPERIMENTS}), "all"])
