"""Counts over all experiments: how many of the papers' statements hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hopcast.lab.rows import RANK, Row, Verdict, experiment_verdict

VALUES = "values"
"""Key in `findings` for all values of an experiment together."""


def findings(rows: Sequence[Row]) -> dict[str, Verdict]:
    """Findings of one experiment: each claim by its note, and all values by the verdict on the median one."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.verdict in RANK:
            groups.setdefault((row.note or row.metric) if row.kind == "claim" else VALUES, []).append(row)
    return {name: experiment_verdict(group) for name, group in groups.items()}


@dataclass(frozen=True)
class Tally:
    """Number of verdicts on claims (one for each sentence of a paper that an experiment tests), and on the values of
    experiments (one vote each).
    """

    claims: Counter[str]
    experiments: Counter[str]

    @staticmethod
    def of(experiments: Iterable[Sequence[Row]]) -> Tally:
        """Tally of the rows of any number of experiments."""
        tally = Tally(Counter(), Counter())
        for rows in experiments:
            tally.claims.update(row.verdict for row in rows if row.kind == "claim")
            if (verdict := findings(rows).get(VALUES)) is not None:
                tally.experiments[verdict] += 1
        return tally

    def sentences(self) -> list[str]:
        """The same as text, for people."""
        return [
            f"Sentences of the papers: {_counts(self.claims, 'hold', 'holds', 'fail', 'fails')}.",
            "Experiments with values of a paper, by the median value: "
            f"{_counts(self.experiments, 'are within', 'within', 'differ', 'differs')}.",
        ]


def _counts(counts: Counter[str], agree: str, yes: str, disagree: str, no: str) -> str:
    total = counts.total()
    if not total:
        return "none"
    return (
        f"{counts[yes]} of {total} {agree} ({100.0 * counts[yes] / total:.0f} %), {counts[no]} {disagree}, "
        f"{counts['inconclusive']} are open"
    )
