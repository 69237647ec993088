"""How much of what the papers say was found: counts over all experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hopcast.studies.rows import RANK, Row, Verdict, experiment_verdict

VALUES = "values"
"""Stands for all values of an experiment together, in `findings`."""


def findings(rows: Sequence[Row]) -> dict[str, Verdict]:
    """What one experiment finds: each sentence of the paper by the verdict on the median of the claims that test it, and all its
    values by that on the median one."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.verdict in RANK:
            groups.setdefault((row.note or row.metric) if row.kind == "claim" else VALUES, []).append(row)
    return {name: experiment_verdict(group) for name, group in groups.items()}


@dataclass(frozen=True)
class Tally:
    """Verdicts on claims, on findings (claims that test one sentence have one vote), and on the values of experiments (one vote each)."""

    claims: Counter[str]
    findings: Counter[str]
    experiments: Counter[str]

    @staticmethod
    def of(experiments: Iterable[Sequence[Row]]) -> Tally:
        """That of the rows of any number of experiments."""
        tally = Tally(Counter(), Counter(), Counter())
        for rows in experiments:
            tally.claims.update(row.verdict for row in rows if row.kind == "claim")
            for name, verdict in findings(rows).items():
                (tally.experiments if name == VALUES else tally.findings)[verdict] += 1
        return tally

    def sentences(self) -> list[str]:
        """The same for people."""
        return [
            f"Claims: {_counts(self.claims, 'hold', 'holds', 'fail', 'fails')}.",
            "Findings, which are the claims that test one sentence of a paper, by the median claim: "
            f"{_counts(self.findings, 'hold', 'holds', 'fail', 'fails')}.",
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
