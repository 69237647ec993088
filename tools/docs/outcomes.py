"""Figures of the studies' and the cloud's pages, from runs of the quick form."""

from __future__ import annotations

import dataclasses

from hopcast.figures import picture
from hopcast.lab import run_experiments
from hopcast.lab.experiment import Amount, Table
from hopcast_papers import EXPERIMENTS
from hopcast_papers.h2o import by_distance, load, parts, slow_link

NAMES = {
    "Q1": ("study-queues-airtime",),
    "Q2": ("study-queues-delay",),
    "N2": ("study-media-radios",),
    "H12": (
        "study-cloud-slow-link",
        "study-cloud-calibration",
        "study-cloud-limits",
        "study-cloud-load",
        "study-cloud-distance",
        "study-cloud-parts",
        "study-cloud-parameters",
    ),
}
"""By experiment: the names of its figures."""
SCENES = dataclasses.replace(
    EXPERIMENTS["H12"],
    cases=lambda amount: slow_link.cases(amount) | load.cases(amount) | parts.cases(amount),
    rows=lambda measured: [row for scene in (slow_link, load, by_distance, parts) for row in scene.rows(measured)],
    figures=lambda table: [
        figure for scene in (slow_link, load, by_distance, parts) for figure in scene.figures(table)
    ],
)
"""Of H12 the scenes whose figures the cloud's page has."""


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    experiments = {**EXPERIMENTS, SCENES.id: SCENES}
    study = run_experiments([experiments[id_] for id_ in NAMES], Amount("quick"), threads=2)
    drawn = {}
    for id_, names in NAMES.items():
        table = Table([row for row in study.rows if row.experiment == id_])
        for name, (_, figure) in zip(names, experiments[id_].figures(table), strict=True):
            drawn[f"figures/{name}.svg"] = picture(figure)
    return drawn
