"""Figures and tables of TFRC: the runs that `benches/transport/dumbbell.json` keeps, of hopcast and of ns-2.35."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from channel import drawn, legend
from receivers import means

from hopcast.figures import COLOURS, INK, MARKERS
from hopcast.statistics import mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
sys.path.insert(0, str(Path(__file__).parents[2] / "benches" / "transport"))

import tables
from dumbbell import CHANGES, LOSSES, PAIRS, SENDERS, TIMEOUT, TRIPS, Case, read, throughput
from page import written

TABLES = {"models/tfrc.md": tables.tables, "models/adtfrc.md": tables.adaptive_tables}
NAMES = {"tfrc": "TFRC", "tcp": "TCP"}
APART = 1.035
"""Factor between the marks of one number of flows, which would hide each other."""


def pages() -> dict[str, str]:
    """The pages with their tables, and every figure: name and text."""
    runs, docs = read(), Path(__file__).parents[2] / "docs"
    tabled = {name: written((docs / name).read_text(encoding="utf-8"), of(runs)) for name, of in TABLES.items()}
    return {
        **tabled,
        "figures/tfrc-beside-tcp.svg": drawn(1, lambda axes: beside(axes, runs)),
        "figures/tfrc-equation.svg": drawn(1, lambda axes: equation(axes, runs)),
    }


def look(simulator: str, index: int) -> dict[str, Any]:
    """Filled marks are hopcast's, hollow ones ns-2's."""
    hollow = {} if simulator == "hopcast" else {"markerfacecolor": "none", "markersize": 8.0}
    return {"color": COLOURS[index], "marker": MARKERS[index], **hollow}


def beside(axes: Axes, runs: tables.Runs) -> None:
    """What a flow has of an even share, by the number of flows: means with their intervals, and each flow faintly."""
    for shift, simulator in enumerate(CHANGES):
        for index, protocol in enumerate(SENDERS):
            places = [pairs * APART ** (2 * shift + index - 1.5) for pairs in PAIRS]
            kept = [Case(simulator, pairs) for pairs in PAIRS]
            for place, case in zip(places, kept, strict=True):
                single = [share for run in tables.shares(runs, case, protocol) for share in run]
                axes.plot([place] * len(single), single, "_", color=COLOURS[index], alpha=0.12, markersize=3.0)
            values = [tables.mean_shares(runs, case, protocol) for case in kept]
            means(
                axes,
                places,
                values,
                linestyle="-" if simulator == "hopcast" else "none",
                label=f"{NAMES[protocol]}, {simulator}",
                **look(simulator, index),
            )
    axes.axhline(1.0, color=INK, linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xticks(PAIRS, [str(pairs) for pairs in PAIRS])
    axes.minorticks_off()
    axes.set(xlabel="flows of TFRC, and as many of TCP", ylabel="goodput of a flow by an even share", ylim=(0.0, 2.5))
    legend(axes)


def equation(axes: Axes, runs: tables.Runs) -> None:
    """Goodput of a flow alone against the loss, and the equation."""
    fine = np.geomspace(LOSSES[0], LOSSES[-1], 100)
    for index, trip in enumerate(TRIPS):
        axes.plot(100.0 * fine, [1e-6 * throughput(loss, trip, TIMEOUT) for loss in fine], color=COLOURS[index])
        for simulator, suspect in (("hopcast", None), ("ns-2", 0)):
            cases = (tables.suspected(simulator, suspect, loss=loss, trip=trip) for loss in LOSSES)
            goodputs = [1e-6 * mean(tables.goodputs(runs[case])) for case in cases]
            label = f"{1e3 * trip:g} ms" if simulator == "hopcast" else None
            axes.plot(
                [100.0 * loss for loss in LOSSES], goodputs, linestyle="none", label=label, **look(simulator, index)
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([100.0 * loss for loss in LOSSES], [f"{100.0 * loss:g}" for loss in LOSSES])
    axes.set_yticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set(xlabel="packets that the wire loses, %", ylabel="goodput, Mb/s")
    legend(axes)
