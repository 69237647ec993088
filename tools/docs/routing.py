"""Figures of the classical scene of ad hoc routing: the runs that `benches/routing/classical.json` keeps, compared
with what was published.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure

from hopcast.figures import COLOURS, HEIGHT, INK, MARKERS, STYLE, WIDTH, picture
from hopcast.statistics import ci95, mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

sys.path.insert(0, str(Path(__file__).parents[2] / "benches" / "routing"))

import claims
from classical import PAUSES, PROTOCOLS, Case, read

DODGE = 0.07
"""Between the marks of two protocols at one pause, which would hide each other."""


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    measured = read()
    return {f"figures/classical-{packet}.svg": drawn(measured, packet) for packet in (64, 512)}


def drawn(measured: dict[Case, list[dict[str, Any]]], packet: int) -> str:
    """Delivery, delay and routing messages against the pause."""
    load = (claims.load, "routing messages\nper datagram") if packet == 512 else (claims.messages, "routing messages")
    panels = [(claims.delivered, "delivered, %"), (claims.delay, "delay, ms"), load]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 0.8 * HEIGHT * len(panels)), layout="constrained")
        for index, (metric, label) in enumerate(panels):
            axes = figure.add_subplot(len(panels), 1, index + 1)
            curves(axes, measured, packet, metric)
            others(axes, packet, metric)
            if packet == 64:
                papers(axes, metric)
            axes.set(ylabel=label, xlabel="pause, s" if index == len(panels) - 1 else "")
            if metric is claims.delivered:
                axes.set_ylim(None, 101.0)
            else:
                axes.set_ylim(0.0, None)
            axes.set_xticks(range(len(PAUSES)), [f"{pause:g}" for pause in PAUSES])
        # Above the axes, where no curve can run through it.
        figure.axes[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=6, fontsize=8)
        return picture(figure)


def place(protocol: str, pause: float) -> float:
    """Pauses stand at even distances, the protocols at one side by side."""
    names = list(PROTOCOLS)
    return PAUSES.index(pause) + DODGE * (names.index(protocol) - (len(names) - 1) / 2)


def look(protocol: str) -> dict[str, Any]:
    """Colour and mark."""
    at = list(PROTOCOLS).index(protocol)
    return {"color": COLOURS[at], "marker": MARKERS[at]}


def curves(
    axes: Axes, measured: dict[Case, list[dict[str, Any]]], packet: int, metric: Callable[[dict[str, Any]], float]
) -> None:
    """Means over the runs, with 95 % intervals."""
    pauses = claims.Runs(measured).pauses(packet)
    for protocol in PROTOCOLS:
        values = [[metric(run) for run in measured[Case(protocol, pause, packet)]] for pause in pauses]
        axes.errorbar(
            [place(protocol, pause) for pause in pauses],
            [mean(of) for of in values],
            yerr=[ci95(of) or 0.0 for of in values],
            label=protocol,
            **look(protocol),
        )


def others(axes: Axes, packet: int, metric: Callable[[dict[str, Any]], float]) -> None:
    """What ns-2.35 gave, with hollow marks."""
    axes.plot([], [], "o", color=INK, markerfacecolor="none", label="ns-2.35")
    for (protocol, size, sources, pause), runs in claims.ns2_runs().items():
        if (size, sources) == (packet, 20):
            axes.plot(
                place(protocol, pause),
                mean([metric(run) for run in runs]),
                markerfacecolor="none",
                markersize=8.0,
                linestyle="none",
                **look(protocol),
            )


def papers(axes: Axes, metric: Callable[[dict[str, Any]], float]) -> None:
    """What Broch and others say, as far as it is known, with dotted bars of its uncertainty."""
    name = {claims.delivered: "delivered_percent", claims.messages: "routing_packets"}.get(metric)
    told = [point for point in claims.PUBLISHED["broch-1998"]["points"] if point["metric"] == name]
    for point in told:
        colour = look(point["protocol"])["color"]
        if point["pause"] is None:
            low = point.get("low", point.get("value", 0.0) - point.get("within", 0.0))
            high = point.get("high", point.get("value", 0.0) + point.get("within", 0.0))
            axes.axhspan(low, high, color=colour, alpha=0.12, linewidth=0.0)
        else:
            axes.errorbar(
                place(point["protocol"], float(point["pause"])) + 0.12,
                point["value"],
                yerr=point["within"],
                color=colour,
                marker="x",
                markersize=7.0,
                linestyle="none",
                elinewidth=1.0,
            )
    axes.plot([], [], "x", color=INK, label="Broch 1998")
