#!/usr/bin/env python3
"""Draw the figures of docs/validation.md from the file that `validate.py --reference` writes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot

from hopcast import theory

COLOURS = {"hopcast": "#0b6e4f", "ns-3": "#c1440e", "ns-2": "#5b5f97"}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    # The same bytes each time.
    matplotlib.rcParams.update({"svg.hashsalt": "hopcast", "svg.fonttype": "none", "font.size": 9})
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    save(cell(results), arguments.folder / "validation-cell.svg")
    for name, title in (
        ("ns-3", "ns-3 as it is, and hopcast (profile standard)"),
        ("ns-3-like", "ns-3 with hopcast's rules, and hopcast (profile standard)"),
        ("ns-2", "ns-2 with AODV, and hopcast (profile ns-2)"),
        ("ns-2-persistent", "the same, 255 attempts at each frame"),
    ):
        save(string(results[name], title), arguments.folder / f"validation-string-{name}.svg")


def cell(results: dict[str, Any]) -> pyplot.Figure:
    """Throughput of a cell over its stations, between the models."""
    figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
    stations = [int(n) for n in results["cell-ns-3"]["cases"] if int(n) > 1]
    models = {
        after: [theory.bianchi(n, "802.11a", 54e6, 24e6, after_collision=after).goodput / 1e6 for n in stations]
        for after in ("eifs", "difs")
    }
    low = [0.97 * rate for rate in models["eifs"]]
    high = [1.03 * rate for rate in models["difs"]]
    axes.fill_between(stations, low, high, color="#dddddd", label="the models, 3 % more and less")
    for after, style in (("difs", "--"), ("eifs", ":")):
        axes.plot(stations, models[after], style, color="#555555", label=f"Bianchi, {after.upper()} after a collision")
    for tool, pairing in (("ns-2", "cell-ns-2"), ("ns-3", "cell-ns-3"), ("hopcast", "cell-ns-3")):
        cases = [results[pairing]["cases"][str(n)] for n in stations]
        points = [case["hopcast"] if tool == "hopcast" else case for case in cases]
        draw(axes, stations, points, tool, tool, "-o")
    axes.set_xscale("log")
    axes.set_xticks(stations, [str(n) for n in stations])
    axes.minorticks_off()
    axes.set_xlabel("saturated stations")
    axes.set_ylabel("throughput of all stations, Mb/s")
    axes.legend(frameon=False, fontsize=8)
    return figure


def string(pairing: dict[str, Any], title: str) -> pyplot.Figure:
    """TCP over hops, one panel each for window and RTS."""
    figure, grid = pyplot.subplots(1, 4, figsize=(9, 2.8), sharey=True, layout="constrained")
    panels = [(window, rts) for window in ("4", "32") for rts in ("off", "on")]
    for axes, (window, rts) in zip(grid, panels, strict=True):
        cases = {key.split()[2]: case for key, case in pairing["cases"].items() if key.startswith(f"{window} {rts} ")}
        hops = [int(hop) for hop in cases]
        draw(axes, hops, list(cases.values()), pairing["tool"], pairing["tool"], "-s")
        draw(axes, hops, [case["hopcast"] for case in cases.values()], "hopcast", "hopcast", "--o")
        axes.set_title(f"window {window}, RTS {rts}", fontsize=9)
        axes.set_xlabel("hops")
        axes.set_yscale("log")
        axes.set_yticks([0.1, 0.2, 0.5, 1.0], ["0.1", "0.2", "0.5", "1"])
        axes.minorticks_off()
    grid[0].set_ylabel("goodput, Mb/s")
    grid[0].legend(frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=10)
    return figure


def draw(axes: Any, x: list[int], points: list[dict[str, Any]], tool: str, label: str, style: str) -> None:
    """Means with their intervals."""
    axes.errorbar(
        x,
        [point["mean"] / 1e6 for point in points],
        yerr=[(point["ci95"] or 0) / 1e6 for point in points],
        fmt=style,
        color=COLOURS[tool],
        label=label,
        markersize=3.5,
        linewidth=1,
        capsize=2,
    )


def save(figure: pyplot.Figure, path: Path) -> None:
    """As SVG without a date."""
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    main()
