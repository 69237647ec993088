"""Figures of the studies' page, from runs of the quick form."""

from __future__ import annotations

from hopcast.figures import picture
from hopcast.lab import run_experiments
from hopcast.lab.experiment import Amount, Table
from hopcast_papers import EXPERIMENTS

NAMES = {"Q1": "study-queues-airtime", "Q2": "study-queues-delay", "N2": "study-media-radios"}
"""By experiment: the name of its figure."""


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    study = run_experiments([EXPERIMENTS[id_] for id_ in NAMES], Amount("quick"), threads=2)
    drawn = {}
    for id_, name in NAMES.items():
        table = Table([row for row in study.rows if row.experiment == id_])
        ((_, figure),) = EXPERIMENTS[id_].figures(table)
        drawn[f"figures/{name}.svg"] = picture(figure)
    return drawn
