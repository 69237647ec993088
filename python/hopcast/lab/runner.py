"""Running experiments, and collecting their results."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import hopcast
from hopcast.errors import HopcastError, RunError
from hopcast.lab.executor import Key, Run, Threads, execute, runs_of
from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, lacking
from hopcast.lab.kept import KeptRuns
from hopcast.lab.raised import listed, told
from hopcast.lab.rows import Row, Verdict, experiment_verdict
from hopcast.lab.sensitivity import Sensitivity, Trial, compare
from hopcast.lab.tally import Tally

if TYPE_CHECKING:
    import polars

    from hopcast.results import Progress


@dataclass(frozen=True)
class Study:
    """Results of experiments."""

    amount: Amount
    rows: list[Row]
    provenance: dict[str, dict[str, Any]]
    """For each experiment: the scenarios with their SHA-256, and the seeds."""
    skipped: dict[str, str] = field(default_factory=dict)
    """For each experiment that was skipped: the missing data."""
    sensitivity: list[Sensitivity] = field(default_factory=list)
    """Changes of findings under other values of unstated parameters."""

    def document(self) -> dict[str, Any]:
        """The object of `hopcast study --json`."""
        return {
            "rows": [row.as_dict() for row in self.rows],
            "skipped": self.skipped,
            "sensitivity": [found.as_dict() for found in self.sensitivity],
        }

    def verdicts(self) -> dict[str, Verdict]:
        """Verdict on each experiment: that of its median cell."""
        ids = dict.fromkeys(row.experiment for row in self.rows)
        return {name: experiment_verdict([row for row in self.rows if row.experiment == name]) for name in ids}

    def tally(self) -> Tally:
        """How many of the papers' statements hold."""
        return Tally.of([row for row in self.rows if row.experiment == name] for name in self.verdicts())

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write `rows.json`, with the data that the report needs, and `rows.parquet`."""
        from hopcast.output import write_bytes, write_json

        document = self.document() | {
            "amount": self.amount.name,
            "verdicts": self.verdicts(),
            "provenance": {"version": hopcast.__version__, "experiments": self.provenance},
        }
        write_json(os.path.join(folder, "rows.json"), document)
        # By way of memory: of a full disk, polars makes an error that is not an OSError.
        parquet = io.BytesIO()
        rows_table(self.rows).write_parquet(parquet)
        write_bytes(os.path.join(folder, "rows.parquet"), parquet.getvalue())


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C interrupted a study; `study` holds the finished experiments."""

    def __init__(self, study: Study, message: str) -> None:
        super().__init__(message)
        self.study = study


class StudyFailed(HopcastError):
    """A run failed, or an experiment's function; `study` holds the finished experiments."""

    def __init__(self, study: Study, message: str) -> None:
        super().__init__(message)
        self.study = study


def run_experiments(
    experiments: Sequence[Experiment],
    amount: Amount,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    kept: KeptRuns | None = None,
    trials: Sequence[Trial] = (),
    on_rows: Callable[[Experiment, Sequence[Row]], None] | None = None,
) -> Study:
    """Run experiments on `threads` (by default, one per core), except those whose data are missing, then `trials` of
    these or other experiments. `kept` runs are not repeated. Calls `on_rows` with each experiment and its rows as soon
    as it is complete, while others run. Raises:

    * `MissingFailed` and `CasesFailed`, before anything runs, if the function that names missing data, or the one
      that makes cases, fails;
    * `StudyInterrupted` on Ctrl-C;
    * `StudyFailed` if a run, a case's `observe`, or an experiment's rows fail;
    * before anything runs, also what hopcast and the operating system raise there.
    """
    reasons = {experiment.id: lacking(experiment) for experiment in experiments}
    study = Study(amount, [], {}, {name: reason for name, reason in reasons.items() if reason is not None})
    experiments = [experiment for experiment in experiments if experiment.id not in study.skipped]
    wanted = {experiment.id: experiment for experiment in experiments}
    compared = {trial.experiment.id: trial.experiment for trial in trials if lacking(trial.experiment) is None}
    originals = list((wanted | compared).values())
    trials = [trial for trial in trials if trial.experiment.id in compared]
    variants = {place: variant for place, trial in enumerate(trials) if (variant := trial.variant) is not None}
    results: dict[str, Measured] = {}
    tried: dict[int, list[Row]] = {}
    places = iter([*(None for _ in originals), *variants])

    def on_finished(experiment: Experiment, cases: Mapping[str, Case], measured: Measured) -> None:
        place = next(places)
        if place is not None:
            tried[place] = _rows(experiment, measured)
            return
        results[experiment.id] = measured
        if experiment.id in wanted:
            rows = _rows(experiment, measured)
            study.rows.extend(rows)
            study.provenance[experiment.id] = _provenance(cases)
            if on_rows is not None:
                on_rows(experiment, rows)

    try:
        simulate(
            [*originals, *variants.values()],
            amount,
            threads=threads,
            progress=progress,
            kept=kept,
            on_finished=on_finished,
        )
        for place, trial in enumerate(trials):
            measured = results[trial.experiment.id]
            other = tried[place] if place in tried else _rows(trial.experiment, trial.substituted(measured))
            study.sensitivity.append(compare(trial, _rows(trial.experiment, trial.common(measured)), other))
    except KeyboardInterrupt:
        raise StudyInterrupted(study, f"interrupted: {_finished(study, experiments)}") from None
    except (RunError, RowsFailed) as error:
        raise StudyFailed(study, f"{error}; {_finished(study, experiments)}") from error.__cause__
    return study


class CasesFailed(HopcastError):
    """The function that makes an experiment's cases failed; nothing was run."""


def simulate(
    experiments: Sequence[Experiment],
    amount: Amount,
    *,
    threads: int | None,
    progress: Progress | None,
    kept: KeptRuns | None,
    on_finished: Callable[[Experiment, Mapping[str, Case], Measured], None],
) -> None:
    """Run the cases of all experiments, one replication at a time on each core. Equal cases run once, and `kept` runs
    are not repeated; each finished run is kept at once.

    Calls `on_finished` with an experiment's cases and results, in the order of `experiments`, as soon as it and those
    before it are complete. On Ctrl-C it stops the active runs and lets the interruption pass.
    """
    cases = [_cases(experiment, amount) for experiment in experiments]
    runs: dict[Key, Run] = {}
    keys: list[dict[str, list[Key]]] = []
    for experiment, of_experiment in zip(experiments, cases, strict=True):
        keys.append({})
        for name, case in of_experiment.items():
            found = runs_of(case.scenario, case.seeds, case.observe, f"{experiment.id}: case {name!r}")
            keys[-1][name] = list(found)
            for key, one in found.items():
                runs.setdefault(key, one)
    documents: dict[Key, Document] = {}
    unreported = list(zip(experiments, cases, keys, strict=True))
    waiting = [[key for of_case in of_cases.values() for key in of_case] for of_cases in keys]

    def report() -> None:
        while unreported:
            while waiting[0] and waiting[0][-1] in documents:
                waiting[0].pop()
            if waiting[0]:
                return
            experiment, of_experiment, of_cases = unreported[0]
            del unreported[0], waiting[0]
            found = {name: [documents[key] for key in of_case] for name, of_case in of_cases.items()}
            on_finished(experiment, of_experiment, Measured(found))

    report()
    with closing(execute(runs, Threads(threads), progress=progress, kept=kept)) as finished:
        for key, document in finished:
            documents[key] = document
            report()


def _cases(experiment: Experiment, amount: Amount) -> Mapping[str, Case]:
    """The cases of an experiment. Errors that already name their position pass; others, and an exit of the program,
    become such an error.
    """
    try:
        cases = experiment.cases(amount)
        if not isinstance(cases, Mapping):
            raise TypeError(f"gave {cases!r}; expected a dictionary")
        for name, case in cases.items():
            if not isinstance(case, Case):
                raise TypeError(f"gave {case!r} as {name!r}; expected a Case")
    except (HopcastError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise CasesFailed(f"{experiment.id}: its cases: {told(error, experiment.cases)}") from error
    return cases


class RowsFailed(HopcastError):
    """An experiment could not make rows from its measurements."""


def _rows(experiment: Experiment, measured: Measured) -> list[Row]:
    """Rows of an experiment from its own runs."""
    try:
        rows = listed(experiment.rows(measured), Row)
    except (Exception, SystemExit) as error:
        raise RowsFailed(f"{experiment.id}: its rows: {told(error, experiment.rows)}") from error
    strangers = sorted({row.experiment for row in rows} - {experiment.id})
    if strangers:
        raise RowsFailed(f"{experiment.id}: its rows name {', '.join(map(repr, strangers))} as their experiment")
    return rows


def _finished(study: Study, experiments: Sequence[Experiment]) -> str:
    wanted = len(experiments)
    return f"{len(study.provenance)} of {wanted} experiment{'' if wanted == 1 else 's'} finished"


def rows_table(rows: Sequence[Row]) -> polars.DataFrame:
    """Rows as a polars table, with the same columns whatever the rows."""
    import polars

    text, number = polars.String, polars.Float64
    schema = {
        "experiment": text,
        "case": text,
        "metric": text,
        "unit": text,
        "kind": text,
        "paper": number,
        "paper_low": number,
        "paper_high": number,
        "measured": number,
        "ci95": number,
        "replications": polars.UInt32,
        "verdict": text,
        "note": text,
    }
    return polars.DataFrame([row.as_dict() for row in rows], schema=schema)


def _provenance(cases: Mapping[str, Case]) -> dict[str, Any]:
    return {name: {"scenario_sha256": case.scenario.sha256, "seeds": list(case.seeds)} for name, case in cases.items()}
