"""`hopcast study`: the experiments of the papers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from hopcast.cli import traces as traces_of
from hopcast.cli.numbers import WholeNumber
from hopcast.cli.progress import progress_bar
from hopcast.cli.signals import INTERRUPTION
from hopcast.nearest import nearest

if TYPE_CHECKING:
    from hopcast.lab import Experiment, Study
    from hopcast.lab.experiment import Amount
    from hopcast.lab.kept import KeptRuns
    from hopcast.lab.rows import Row
    from hopcast.report.page import Ahead


SENSITIVITY = "sensitivity"
"""Print the parameters that the papers do not state."""


@click.command("study")
@click.argument("names", metavar="[ID|LETTER|all|sensitivity|FILE.py]...", nargs=-1)
@click.option("--quick", "amount", flag_value="quick", default=True, help="Less data, fewer seeds.  [default]")
@click.option("--full", "amount", flag_value="full", help="As much data as the papers used.")
@click.option("--threads", type=WholeNumber(1, 4096), help="Runs at a time.  [default: one per core]")
@traces_of.option("Where to look for traces and measurements.")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(readable=False),
    help="Write rows and a report to this folder, and keep each finished run there, so that it is not repeated.",
)
@click.option("--fresh", is_flag=True, help="Repeat the runs that the folder keeps, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    names: tuple[str, ...],
    amount: str,
    threads: int | None,
    traces: tuple[str, ...],
    out: str | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Run experiments of papers, and compare the results with those published.

    Name experiments by their ids (H2), or papers by their letters (H). Letter R has measurements of others; an experiment
    without its data is skipped. `sensitivity` tries other values of parameters that the papers do not state; it is a part of
    `all`, and so is a film next to a download, which the report shows. FILE.py is your own study. Without an argument, hopcast runs `all`.
    """
    from hopcast.lab import AMOUNTS, StudyFailed, StudyInterrupted, experiments, run_experiments, trials
    from hopcast.lab.experiment import lacking
    from hopcast.lab.installed import unsaid

    traces_of.look_for_traces(traces)
    names = names or ("all",)
    wanted = list({experiment.id: experiment for name in names for experiment in _wanted(name)}.values())
    is_all = any(name.lower() == "all" for name in names)
    tries = is_all or any(name.lower() == SENSITIVITY for name in names)
    tried = trials(experiments(), unsaid(), AMOUNTS[amount]) if tries else []
    reasons = [reason for experiment in wanted if (reason := lacking(experiment)) is not None]
    if reasons and len(reasons) == len(wanted):
        raise click.UsageError(f"nothing can be run: {'; '.join(dict.fromkeys(reasons))}")
    with _prepared(out, film=is_all), _kept(out, fresh) as kept:
        failure: BaseException | None = None
        drawing = None if out is None else _Drawing(AMOUNTS[amount])
        try:
            with progress_bar() as progress:
                study = run_experiments(
                    wanted,
                    AMOUNTS[amount],
                    threads=threads,
                    progress=progress,
                    kept=kept,
                    trials=tried,
                    on_rows=drawing,
                )
        except (StudyFailed, StudyInterrupted) as stopped:
            study, failure = stopped.study, stopped
        try:
            with INTERRUPTION.waits():
                try:
                    if out is not None and (study.rows or study.sensitivity):
                        _write(study, wanted, out, drawing, demonstrate=failure is None and is_all)
                except (Exception, SystemExit, KeyboardInterrupt) as error:
                    # What was measured is told first.
                    failure = failure or error
                _print(study, as_json, out if failure is None else None)
        finally:
            if failure is not None:
                raise failure


@contextmanager
def _prepared(out: str | None, *, film: bool) -> Iterator[None]:
    """Return the output folder, if there is one, and the folder of the demonstration, if it is to run."""
    from hopcast.film import FOLDERS
    from hopcast.output import alone, prepared

    with ExitStack() as folders:
        if out is not None:
            folders.enter_context(prepared(out, ("rows.json", "rows.parquet", "report.html", "runs.sqlite")))
            folders.enter_context(alone(out))
            if film:
                for folder in FOLDERS.values():
                    folders.enter_context(prepared(os.path.join(out, folder), ("run.json",)))
        yield


@contextmanager
def _kept(out: str | None, fresh: bool) -> Iterator[KeptRuns | None]:
    """Return the runs kept in the folder, if there is one."""
    if out is None:
        yield None
        return
    from hopcast.lab.kept import KeptRuns

    kept = KeptRuns(out, fresh=fresh)
    try:
        yield kept
    finally:
        kept.close()
        if kept.failure is not None:
            click.echo(f"hopcast: warning: {kept.failure}", err=True)


class _Drawing:
    """Makes the report's section of each experiment while others run: when the last run ends, only the page is left to
    write.
    """

    def __init__(self, amount: Amount) -> None:
        self._amount = amount
        self.ahead: Ahead | None = None

    def __call__(self, experiment: Experiment, rows: Sequence[Row]) -> None:
        # An interruption while modules in C are imported can abort the process.
        with INTERRUPTION.waits():
            if self.ahead is None:
                from hopcast.report.page import Ahead

                self.ahead = Ahead(self._amount)
            self.ahead.make(experiment, rows)


def _write(
    study: Study, experiments: Sequence[Experiment], out: str, drawing: _Drawing | None, *, demonstrate: bool
) -> None:
    study.write(out)
    # An interruption while modules in C are imported can abort the process.
    from hopcast import film
    from hopcast.report.page import write_report

    with INTERRUPTION.breaks_off():
        if demonstrate:
            film.demonstrate(out)
        write_report(out, experiments, None if drawing is None else drawing.ahead)


def _print(study: Study, as_json: bool, out: str | None) -> None:
    if as_json:
        click.echo(json.dumps(study.document(), ensure_ascii=False, allow_nan=False).encode())
    else:
        from hopcast.cli.tables import print_register, print_rows, print_sensitivity
        from hopcast.lab.installed import registers

        if study.rows:
            print_rows(study.rows)
            print_register(registers(), study.rows)
        if study.sensitivity:
            print_sensitivity(study.sensitivity)
        for experiment, verdict in study.verdicts().items():
            click.echo(f"{experiment}: {verdict}")
        if len(study.verdicts()) > 1:
            for sentence in study.tally().sentences():
                click.echo(sentence)
        for experiment, reason in study.skipped.items():
            click.echo(f"{experiment}: skipped, {reason}")
        if out is not None:
            click.echo(f"Written to {out}")
    sys.stdout.flush()


def _wanted(name: str) -> list[Experiment]:
    from hopcast.lab import CollectionError, experiments, find
    from hopcast.lab.installed import NONE_INSTALLED

    if name.endswith(".py"):
        return own_experiments(name)
    if os.path.isdir(name) and not find(name):
        raise click.UsageError(f"{name}: is a folder; expected an experiment, or a file of your own, FILE.py")
    if name.endswith(".toml"):
        raise click.UsageError(f"{name}: is a scenario; `hopcast run {name}` simulates it")
    try:
        if not experiments():
            raise click.UsageError(NONE_INSTALLED)
    except CollectionError as error:
        raise click.UsageError(str(error)) from error
    if name.lower() == SENSITIVITY:
        return []
    found = find(name)
    if not found:
        known = _known()
        near = nearest(name.upper(), known)
        meant = (
            f"there are {', '.join(known)}, or a file of your own, FILE.py" if near is None else f"did you mean {near}?"
        )
        raise click.UsageError(f"there is no experiment {name!r}; {meant}")
    return found


def own_experiments(path: str) -> list[Experiment]:
    """Return the experiments of a file, under ids that hopcast's experiments do not use."""
    from hopcast.lab import CollectionError, StudyFileError, experiments, load_file

    try:
        return load_file(path, frozenset(experiments()))
    except (CollectionError, StudyFileError) as error:
        raise click.UsageError(str(error)) from error


def _known() -> list[str]:
    from hopcast.lab import experiments

    installed = experiments()
    return [*installed, *sorted({name[0] for name in installed}), "all", SENSITIVITY]
