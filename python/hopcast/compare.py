"""Two runs side by side: a measured one and a simulated one, or any two whose flows have the same names."""

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
"""What the figure shows; the table has all of `FLOW_COLUMNS`."""


class NotComparable(HopcastError):
    """Something is not the result of a run, or shares no flow with the other one."""


@dataclass(frozen=True)
class Run:
    """The result of a run, simulated or measured."""

    path: str
    kind: str
    """`"simulated"` or `"measured"`."""
    flows: dict[str, dict[str, Any]]
    """By name, in their order."""


@dataclass(frozen=True)
class Line:
    """One quantity of one flow in both runs. Values are in `unit`; `None` where a run could not measure it."""

    flow: str
    quantity: str
    unit: str
    field: str
    """In the object of a run."""
    first: float | None
    first_ci95: float | None
    """Half the width of the 95 % interval; `None` for a single run."""
    second: float | None
    second_ci95: float | None

    @property
    def ratio(self) -> float | None:
        """The first by the second; `None` where there is none."""
        if self.first is None or not self.second:
            return None
        ratio = self.first / self.second
        return ratio if math.isfinite(ratio) else None


@dataclass(frozen=True)
class Comparison:
    """Two runs, and what their flows have in common."""

    runs: tuple[Run, Run]
    labels: tuple[str, str]
    lines: list[Line]
    lonely: tuple[list[str], list[str]]
    """Flows that only the first run has, and those that only the second has."""

    def document(self) -> dict[str, Any]:
        """As one JSON object; values are in `unit`."""
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
        """Goodput, loss and mean delay of each flow, with 95 % intervals where there are any."""
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
    """Set two results side by side: folders of `hopcast run --out` or `probe send --out`, or what `--json` printed, in
    a file. Flows belong together by their names. Raises `NotComparable`."""
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
    """The run in a folder or a JSON file. Raises `NotComparable`."""
    place = Path(path)
    file = place / "run.json" if place.is_dir() else place
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
    """What they are, or where they are if that is the same."""
    first, second = runs
    if first.kind != second.kind:
        return first.kind, second.kind
    if first.path != second.path:
        return first.path, second.path
    return f"{first.path} (first)", f"{second.path} (second)"


def _heights(values: Sequence[tuple[float | None, float | None]]) -> tuple[list[float], list[float]]:
    return [math.nan if value is None else value for value, _ in values], [interval or 0.0 for _, interval in values]
