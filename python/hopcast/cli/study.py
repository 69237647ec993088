"""`hopcast study`: the experiments of the papers."""

from __future__ import annotations

import json
import os

import click

from hopcast.cli.progress import progress_bar


@click.command("study")
@click.argument("which", metavar="[ID|LETTER|all]", default="all")
@click.option("--quick", "amount", flag_value="quick", default=True, help="Less data, fewer seeds.  [default]")
@click.option("--full", "amount", flag_value="full", help="As much data as the papers used.")
@click.option("--threads", type=click.IntRange(1, 4096), help="Runs side by side.  [default: one a core]")
@click.option("--out", metavar="DIR", type=click.Path(), help="Write rows and a report to this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(which: str, amount: str, threads: int | None, out: str | None, as_json: bool) -> None:
    """Run experiments of the papers, and set what is measured beside what they say.

    An experiment is named by its id (H2), a paper by its letter (H).
    """
    from hopcast.studies import AMOUNTS, StudyInterrupted, find, run_experiments

    experiments = find(which)
    if not experiments:
        raise click.BadParameter(f"no experiment {which!r}; there are {_known()}", param_hint="[ID|LETTER|all]")
    if out is not None:
        from hopcast.output import prepare

        prepare(out)
    interrupted = False
    with progress_bar() as progress:
        try:
            study = run_experiments(experiments, AMOUNTS[amount], threads=threads, progress=progress)
        except StudyInterrupted as interrupt:
            study, interrupted = interrupt.study, True
    if out is not None:
        _write(study, out, demonstrate=not interrupted)
    if as_json:
        click.echo(json.dumps(study.document(), ensure_ascii=False, allow_nan=False))
    else:
        from hopcast.cli.tables import print_rows

        print_rows(study.rows)
        for experiment, verdict in study.verdicts().items():
            click.echo(f"{experiment}: {verdict}")
        if out is not None:
            click.echo(f"Written to {out}")
    if interrupted:
        raise KeyboardInterrupt("interrupted; experiments that had finished are kept")


def _write(study: object, out: str, *, demonstrate: bool) -> None:
    from hopcast.report import film, write_report
    from hopcast.studies import Study

    assert isinstance(study, Study)
    study.write(out)
    if demonstrate:
        film.demonstrate(os.path.join(out, "film"))
    write_report(out)


def _known() -> str:
    from hopcast.studies import EXPERIMENTS

    return ", ".join([*EXPERIMENTS, *sorted({name[0] for name in EXPERIMENTS}), "all"])
