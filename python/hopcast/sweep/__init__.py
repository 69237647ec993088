"""Sweeps: a scenario with many values and seeds, whose results are one table.

`hopcast sweep` on the command line; in Python::

    import hopcast

    sweep = hopcast.Sweep("film.toml", grid={"radio.data_rate": ["6 Mb/s", "54 Mb/s"]}, replications=5)
    print(sweep.run("out").flows)
    print(hopcast.open_sweep("out").flows)
"""

from __future__ import annotations

from hopcast.sweep.dask import NoCluster
from hopcast.sweep.plan import SweepError
from hopcast.sweep.precision import Precision
from hopcast.sweep.result import NoSweep, SweepResult, open_sweep
from hopcast.sweep.sweep import Sweep, SweepFailed, SweepInterrupted

__all__ = [
    "NoCluster",
    "NoSweep",
    "Precision",
    "Sweep",
    "SweepError",
    "SweepFailed",
    "SweepInterrupted",
    "SweepResult",
    "open_sweep",
]
