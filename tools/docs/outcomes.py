"""Figures of the studies' page, from runs of the quick form."""

from __future__ import annotations

import dataclasses

from hopcast.figures import picture
from hopcast.lab import run_experiments
from hopcast.lab.experiment import Amount, Table
from hopcast_papers import EXPERIMENTS
from hopcast_papers.h2o import load

NAMES = {
    "Q1": "study-queues-airtime",
    "Q2": "study-queues-delay",
    "N2": "study-media-radios",
    "H12": "study-cloud-load",
}
"""By experiment: the name of its figure."""
LOAD = dataclasses.replace(EXPERIMENTS["H12"], cases=load.cases, rows=load.rows, figures=load.figures)
"""Of H12 the scene of its main figure."""


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    experiments = {**EXPERIMENTS, LOAD.id: LOAD}
    study = run_experiments([experiments[id_] for id_ in NAMES], Amount("quick"), threads=2)
    drawn = {}
    for id_, name in NAMES.items():
        table = Table([row for row in study.rows if row.experiment == id_])
        ((_, figure),) = experiments[id_].figures(table)
        drawn[f"figures/{name}.svg"] = picture(figure)
    return drawn
