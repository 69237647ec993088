"""The laboratory: experiments, how they are run and judged, and the parts from which studies are made.

Load an experiment to look at it or to change it::

    from hopcast import lab

    study = lab.load("H4")
    print(study.scenario("UDP, 1 KB").explain())
    outcome = study.with_({"radio.rts_threshold": "0 B"}).run()
    print(outcome.rows)
    outcome.plot().savefig("H4-with-RTS.svg")

The experiments of the papers are a separate package, hopcast-papers. A study of yours is one Python file.
"""

from __future__ import annotations

from hopcast.lab.experiment import AMOUNTS, Amount, Case, Cells, Experiment, Measured, Parameter, Table
from hopcast.lab.installed import Collection, CollectionError, experiments, find, load
from hopcast.lab.own import StudyFileError, load_file
from hopcast.lab.rows import Row, Sample, claim, value
from hopcast.lab.runner import Study, StudyFailed, StudyInterrupted, rows_table, run_experiments
from hopcast.lab.sensitivity import Sensitivity, Trial, trials
from hopcast.lab.variant import Outcome, Variant

__all__ = [
    "AMOUNTS",
    "Amount",
    "Case",
    "Cells",
    "Collection",
    "CollectionError",
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
    "experiments",
    "find",
    "load",
    "load_file",
    "rows_table",
    "run_experiments",
    "trials",
    "value",
]
