"""How findings depend on parameters that the papers leave unstated.

Where a paper does not state a parameter, an experiment runs with one value, which its parameters name with a source.
This module tries other plausible values, one at a time, with everything else unchanged. An experiment may already
have cases with such values: they then replace the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hopcast.lab.change import Change, changed, with_values
from hopcast.lab.experiment import Amount, Case, Experiment, Measured
from hopcast.lab.rows import RANK, Row, Verdict, experiment_verdict
from hopcast.lab.tally import VALUES, findings

Answer = Literal["depends", "does not", "open"]

FEW = 3
"""Replications of a trial in the quick form, compared with the same number with the chosen value."""


@dataclass(frozen=True)
class Alternative:
    """Another value of a parameter, and why it is plausible.

    It consists of the `values` of keys (as in `Variant.with_`), of a `change` to a scenario, or of the cases of the
    experiment that have the names of others with `beside` at the end. Slow ones are not tried in the quick form.
    """

    value: str
    why: str
    values: Mapping[str, object] = field(default_factory=dict)
    change: Change | None = None
    beside: str = ""
    long: bool = False


@dataclass(frozen=True)
class Unsaid:
    """A parameter that a paper does not state, for some of its experiments."""

    parameter: str
    chosen: str
    experiments: tuple[str, ...]
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Trial:
    """One experiment with one value of one parameter."""

    experiment: Experiment
    parameter: str
    chosen: str
    alternative: Alternative
    most: int | None = None
    """Number of replications of each case, if not all."""

    @property
    def variant(self) -> Experiment | None:
        """The simulations; `None` if the experiment itself has the cases."""
        alternative = self.alternative
        if alternative.beside:
            return None
        if alternative.change is not None:
            made = changed(self.experiment, alternative.change)
        else:
            made = changed(self.experiment, lambda scenario: with_values(scenario, alternative.values))
        cases, unchanged = made.cases, self.experiment.cases

        def few(amount: Amount) -> dict[str, Case]:
            # What no compared row depends on is not simulated again.
            kept = {name: case for name, case in unchanged(amount).items() if case.beside}
            found = ({**cases(amount), **kept}).items()
            return {name: dataclasses.replace(case, seeds=case.seeds[: self.most]) for name, case in found}

        return dataclasses.replace(made, cases=few)

    def common(self, measured: Measured) -> Measured:
        """The experiment's measurements in the replications of the trial. Cases that replace others have the same
        number of replications.
        """
        every, suffix = measured.documents, self.alternative.beside
        places = [name for name in every if suffix and name + suffix in every]
        counts = [len(every[name]) for case in places for name in (case, case + suffix)]
        fewest = min([*counts, *([] if self.most is None else [self.most])], default=None)
        return Measured({name: found[:fewest] for name, found in every.items()})

    def substituted(self, measured: Measured) -> Measured:
        """The cases of the experiment, with the alternatives in place of the cases that they belong to."""
        documents = self.common(measured).documents
        suffix = self.alternative.beside
        return Measured({name: documents.get(name + suffix, found) for name, found in documents.items()})


@dataclass(frozen=True)
class Sensitivity:
    """The change of an experiment's findings under another value."""

    experiment: str
    parameter: str
    chosen: str
    alternative: str
    why: str
    verdict_chosen: Verdict
    verdict: Verdict
    agree_chosen: int
    """Number of rows with a statement of the paper that hold or are within, out of `rows`."""
    agree: int
    rows: int
    turned: list[str]
    """Findings that hold (or are within) under one of the two, and fail (or differ) under the other, with both
    verdicts.
    """
    answer: Answer

    def as_dict(self) -> dict[str, Any]:
        """The change, for JSON."""
        return dataclasses.asdict(self)


def compare(trial: Trial, chosen: Sequence[Row], other: Sequence[Row]) -> Sensitivity:
    """An experiment's rows under the chosen value and under another."""
    one, two = findings(chosen), findings(other)
    turned = [
        f"{'the values' if name == VALUES else name}: {verdict} → {two[name]}"
        for name, verdict in one.items()
        if name in two and abs(RANK[verdict] - RANK[two[name]]) == RANK["holds"]
    ]
    opened = any(name in two and RANK[verdict] != RANK[two[name]] for name, verdict in one.items())
    return Sensitivity(
        experiment=trial.experiment.id,
        parameter=trial.parameter,
        chosen=trial.chosen,
        alternative=trial.alternative.value,
        why=trial.alternative.why,
        verdict_chosen=experiment_verdict(chosen),
        verdict=experiment_verdict(other),
        agree_chosen=_agreeing(chosen),
        agree=_agreeing(other),
        rows=sum(row.verdict in RANK for row in chosen),
        turned=turned,
        answer="depends" if turned else "open" if opened else "does not",
    )


def _agreeing(rows: Sequence[Row]) -> int:
    return sum(RANK.get(row.verdict) == RANK["holds"] for row in rows)


def trials(experiments: Mapping[str, Experiment], unsaid: Sequence[Unsaid], amount: Amount) -> list[Trial]:
    """All trials of these parameters with these experiments."""
    return [
        Trial(experiments[name], one.parameter, one.chosen, alternative, amount.pick(quick=FEW, full=None))
        for name in experiments
        for one in unsaid
        if name in one.experiments
        for alternative in one.alternatives
        if not (alternative.long and amount.name == "quick")
    ]
