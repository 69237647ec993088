"""The studies: experiments of the papers, in one or more modules for each paper, and the parts from which custom
studies are made.

Load an experiment to look at it or to change it::

    from hopcast import studies

    study = studies.load("H4")
    print(study.scenario("UDP, 1 KB").explain())
    outcome = study.with_({"radio.rts_threshold": "0 B"}).run()
    print(outcome.rows)
    outcome.plot().savefig("H4-with-RTS.svg")
"""

from __future__ import annotations

from typing import Literal

from hopcast.studies import (
    adtfrc,
    h2o,
    h2o_cards,
    h2o_distance,
    h2o_exposed,
    h2o_turbo,
    h2o_unfairness,
    h2o_waits,
    house,
    orbit_frames,
    strings,
    strings_calls,
    strings_mesh,
    strings_neighbours,
    testbed,
    testbed_routes,
    tfa_chain,
    tfa_links,
)
from hopcast.studies.experiment import Amount, Case, Cells, Experiment, Measured, Parameter, Table
from hopcast.studies.own import StudyFileError, load_file
from hopcast.studies.rows import Row, Sample, claim, value
from hopcast.studies.sensitivity import Sensitivity, Trial, trials
from hopcast.studies.study import Study, StudyFailed, StudyInterrupted, rows_table, run_experiments
from hopcast.studies.variant import Outcome, Variant

__all__ = [
    "AMOUNTS",
    "EXPERIMENTS",
    "Amount",
    "Case",
    "Cells",
    "Experiment",
    "Measured",
    "Outcome",
    "Parameter",
    "Row",
    "Sample",
    "Sensitivity",
    "Study",
    "StudyFailed",
    "StudyFileError",
    "StudyInterrupted",
    "Table",
    "Trial",
    "Variant",
    "claim",
    "find",
    "load",
    "load_file",
    "rows_table",
    "run_experiments",
    "trials",
    "value",
]

AMOUNTS = {"quick": Amount("quick"), "full": Amount("full")}
MODULES = (
    testbed,
    testbed_routes,
    h2o,
    h2o_waits,
    h2o_cards,
    h2o_distance,
    h2o_exposed,
    h2o_unfairness,
    h2o_turbo,
    strings,
    strings_calls,
    strings_neighbours,
    strings_mesh,
    house,
    adtfrc,
    tfa_chain,
    tfa_links,
    orbit_frames,
)
EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in sorted(
        (experiment for module in MODULES for experiment in module.EXPERIMENTS),
        key=lambda experiment: (experiment.id[0], int(experiment.id[1:])),
    )
}
"""Every experiment by its id, in the order of the report."""


def find(name: str) -> list[Experiment]:
    """Find experiments by id (`"H2"`), by the letter of a paper (`"H"`), or all (`"all"`); returns none for an
    unknown name.
    """
    wanted = name.upper()
    if wanted == "ALL":
        return list(EXPERIMENTS.values())
    return [experiment for key, experiment in EXPERIMENTS.items() if wanted in (key, key[0])]


def load(name: str, amount: Literal["quick", "full"] = "quick") -> Variant:
    """Load one experiment to look at it or change it: by its id (`"H4"`), or the only one of a Python file
    (`"mystudy.py"`). Raises `KeyError` and `StudyFileError`.
    """
    if name.endswith(".py"):
        experiments = load_file(name)
        if len(experiments) > 1:
            ids = ", ".join(experiment.id for experiment in experiments)
            raise KeyError(f"{name} has several experiments ({ids}); load_file gives all of them")
        return Variant(experiments[0], AMOUNTS[amount])
    if name.upper() not in EXPERIMENTS:
        raise KeyError(f"no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return Variant(EXPERIMENTS[name.upper()], AMOUNTS[amount])
