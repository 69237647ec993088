"""An experiment whose scenarios you can look at and change, run, and draw again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopcast.lab.change import Change, changed, matching, with_values
from hopcast.lab.experiment import Amount, Case, Experiment, Table, checked_seeds
from hopcast.lab.rows import Verdict
from hopcast.lab.runner import Study, rows_table, run_experiments
from hopcast.scenario import Scenario

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from hopcast.lab.kept import KeptRuns
    from hopcast.results import Progress


@dataclass(frozen=True)
class Variant:
    """An experiment in one amount, unchanged or with changes. Immutable: `with_` and similar methods return a
    copy.
    """

    experiment: Experiment
    amount: Amount

    @property
    def cases(self) -> Mapping[str, Case]:
        """The scenarios by name."""
        return self.experiment.cases(self.amount)

    def scenario(self, case: str) -> Scenario:
        """The scenario of one case. Raises `KeyError` with the existing names."""
        cases = self.cases
        if case not in cases:
            raise KeyError(f"{self.experiment.id} has no case {case!r}; there are {', '.join(map(repr, cases))}")
        return cases[case].scenario

    def with_(self, changes: Mapping[str, object] | None = None, /, **more: object) -> Variant:
        """Return a copy with one or several other values in every scenario: `with_({"radio.rts_threshold": "0 B"})`.

        Keys are those of `Scenario.set`. `*` stands for any one part: `flows.*.transport.window` changes TCP
        connections and skips flows without a window. Raises `ValueError` if no scenario has this key, `ScenarioError`
        if a value is wrong.
        """
        wanted = self._known({**(changes or {}), **more})
        return self.changed(lambda scenario: with_values(scenario, wanted))

    def changed(self, change: Change) -> Variant:
        """Return a copy with `change` applied to every scenario."""
        return dataclasses.replace(self, experiment=changed(self.experiment, change))

    def with_seeds(self, *seeds: int) -> Variant:
        """Return a copy in which every case runs with these seeds. Raises `ValueError`."""
        cases = self.experiment.cases
        seeds = checked_seeds(seeds)

        def seeded(amount: Amount) -> dict[str, Case]:
            return {name: dataclasses.replace(case, seeds=seeds) for name, case in cases(amount).items()}

        return dataclasses.replace(self, experiment=dataclasses.replace(self.experiment, cases=seeded))

    def run(
        self, *, threads: int | None = None, progress: Progress | None = None, kept: KeptRuns | None = None
    ) -> Outcome:
        """Simulate all cases on `threads`, by default one per core. Raises what `run_experiments` does, and
        `ValueError` if the data that the experiment needs are missing.
        """
        study = run_experiments([self.experiment], self.amount, threads=threads, progress=progress, kept=kept)
        if study.skipped:
            raise ValueError(f"{self.experiment.id} can't be run: {study.skipped[self.experiment.id]}")
        return Outcome(self.experiment, study)

    def _known(self, changes: Mapping[str, object]) -> Mapping[str, object]:
        """The changes, each of which applies to some scenario."""
        scenarios = {case.scenario.sha256: case.scenario for case in self.cases.values()}
        for key in changes:
            if "*" in key and not any(matching(scenario, key) for scenario in scenarios.values()):
                raise ValueError(f"no scenario of {self.experiment.id} has a key {key!r}")
        return changes


@dataclass(frozen=True)
class Outcome:
    """The results of an experiment."""

    experiment: Experiment
    study: Study

    @property
    def table(self) -> Table:
        """Its rows, by case and metric: `outcome.table["UDP, 4 KB", "bandwidth"].measured`."""
        return Table(self.study.rows)

    @property
    def rows(self) -> polars.DataFrame:
        """The rows as a polars table."""
        return rows_table(self.study.rows)

    @property
    def verdict(self) -> Verdict:
        """Figures of the experiment."""
        return self.study.verdicts()[self.experiment.id]

    @property
    def notes(self) -> list[str]:
        """The experiment's notes on its rows."""
        return list(self.experiment.notes(self.table))

    def plot(self, figure: int = 0) -> Figure:
        """One of the experiment's figures, by its number. Raises `IndexError` with the existing titles."""
        drawn = self.experiment.figures(self.table)
        if not 0 <= figure < len(drawn):
            titles = "; ".join(f"{number}: {title}" for number, (title, _) in enumerate(drawn)) or "none"
            raise IndexError(f"{self.experiment.id} has no figure {figure}; there are {titles}")
        return drawn[figure][1]
