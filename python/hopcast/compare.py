"""Compare two runs: a measured and a simulated one, or any two whose flows have the same names."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopcast.errors import HopcastError
from hopcast.report.documents import WrongDocument, load_run
from hopcast.tables import FLOW_COLUMNS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = ("goodput_bps", "loss_ratio", "delay_mean_s")
"""Quantities in the figure; the table has all of `FLOW_COLUMNS`."""


class NotComparable(HopcastError):
    """A file is not the result of a run, or two runs have no flow in common."""


@dataclass(frozen=True)
class Run:
    """The result of a run, simulated or measured."""

    path: str
    kind: str
    """`"simulated"` or `"measured"`."""
    flows: dict[str, dict[str, Any]]
    """Flows by name, in their order."""


@dataclass(frozen=True)
class Line:
    """One quantity of one flow in both runs. Values are in `unit`; `None` if a run could not measure it."""

    flow: str
    quantity: str
    unit: str
    field: str
    """Name of the field in the object of a run."""
    first: float | None
    first_ci95: float | None
    """Half the width of the 95 % interval; `None` for a single run."""
    second: float | None
    second_ci95: float | None

    @property
    def ratio(self) -> float | None:
        """Ratio of the first value to the second; `None` if there is none."""
        if self.first is None or not self.second:
            return None
        ratio = self.first / self.second
        return ratio if math.isfinite(ratio) else None


@dataclass(frozen=True)
class Comparison:
    """Two runs, and the quantities of the flows that they have in common."""

    runs: tuple[Run, Run]
    labels: tuple[str, str]
    lines: list[Line]
    lonely: tuple[list[str], list[str]]
    """Flows that only the first run has, and flows that only the second has."""

    def document(self) -> dict[str, Any]:
        """The comparison as one JSON object; values are in `unit`."""
        return {
            "runs": [
                {"label": label, "path": run.path, "kind": run.kind, "other_flows": lonely}
                for label, run, lonely in zip(self.labels, self.runs, self.lonely, strict=True)
            ],
            "rows": [
                {
                    "flow": line.flow,
                    "quantity": line.quantity,
                    "unit": line.unit,
                    "first": line.first,
                    "first_ci95": line.first_ci95,
                    "second": line.second,
                    "second_ci95": line.second_ci95,
                    "ratio": line.ratio,
                }
                for line in self.lines
            ],
        }

    def plot(self) -> Figure:
        """Draw goodput, loss and mean delay of each flow, with 95 % intervals if there are any."""
        from hopcast.figures import Group, panels

        flows = list(dict.fromkeys(line.flow for line in self.lines))
        drawn = []
        for field in DRAWN:
            lines = [line for line in self.lines if line.field == field]
            groups = [
                (self.labels[0], _heights([(line.first, line.first_ci95) for line in lines])),
                (self.labels[1], _heights([(line.second, line.second_ci95) for line in lines])),
            ]
            label = f"{lines[0].quantity}, {lines[0].unit}"
            drawn.append((label, [Group(name, *values) for name, values in groups]))
        return panels(flows, drawn)


def compare(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> Comparison:
    """Compare two results: folders of `hopcast run --out` or `probe send --out`, or files with the output of
    `--json`. Flows are matched by name. Raises `NotComparable`.
    """
    runs = (load(first), load(second))
    flows = [name for name in runs[0].flows if name in runs[1].flows]
    if not flows:
        names = " and ".join(f"{run.path} has {', '.join(run.flows) or 'none'}" for run in runs)
        raise NotComparable(f"no flow is in both runs: {names}; name them alike")
    lines = [
        Line(name, quantity, unit, field, *_value(runs[0], name, field, factor), *_value(runs[1], name, field, factor))
        for name in flows
        for heading, field, factor in FLOW_COLUMNS
        for quantity, unit in (heading.split(", "),)
    ]
    lonely = tuple([name for name in run.flows if name not in flows] for run in runs)
    return Comparison(runs, _labels(runs), lines, (lonely[0], lonely[1]))


def load(path: str | os.PathLike[str]) -> Run:
    """Read the run in a folder or a JSON file. Raises `NotComparable`."""
    place = Path(path)
    file = place / "run.json" if place.is_dir() else place
    if not file.exists():
        told = (
            "has no run.json; `hopcast run --out` and `hopcast probe send --out` write it"
            if place.is_dir()
            else "there is no such file or folder"
        )
        raise NotComparable(f"{place}: {told}")
    try:
        document = load_run(file, whole=False)
    except WrongDocument as error:
        raise NotComparable(str(error)) from None
    origin = document.get("provenance")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return Run(
        str(path), "measured" if kind == "measured" else "simulated", {flow["name"]: flow for flow in document["flows"]}
    )


def _value(run: Run, flow: str, field: str, factor: float) -> tuple[float | None, float | None]:
    """A number of a flow in the unit of its column, and half the width of its interval."""
    value, interval = (run.flows[flow].get(key) for key in (field, f"{field}_ci95"))
    return None if value is None else value * factor, None if interval is None else interval * factor


def _labels(runs: tuple[Run, Run]) -> tuple[str, str]:
    """Labels of the two runs: their kinds, or their paths if the kinds are the same."""
    first, second = runs
    if first.kind != second.kind:
        return first.kind, second.kind
    if first.path != second.path:
        return first.path, second.path
    return f"{first.path} (first)", f"{second.path} (second)"


def _heights(values: Sequence[tuple[float | None, float | None]]) -> tuple[list[float], list[float]]:
    return [math.nan if value is None else value for value, _ in values], [interval or 0.0 for _, interval in values]
