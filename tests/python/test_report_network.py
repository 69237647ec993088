"""The report of a run has its name, a drawing of its network, its nodes, and what they dropped; that of a custom study speaks of no
paper.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopcast
from conftest import ROOT, Hopcast
from hopcast.figures import Place, Way, floor, svg
from hopcast.plots import series

STUDY = '''
"""How much of a call arrives in a mesh?"""

from hopcast import Scenario
from hopcast.lab import Case, Experiment, Parameter, value


def setup(amount):
    return [Parameter("seeds", "2", "few, for a first look")]


def cases(amount):
    return {"mesh": Case(Scenario.from_toml("mesh.toml", overrides=["duration=3 s"]), (1, 2))}


def rows(measured):
    return [value("MESH", "mesh", "loss", "", measured.flow("mesh", "call", "loss_ratio"))]


def figures(table):
    return []


EXPERIMENTS = [Experiment("MESH", "Calls in a mesh", __doc__, setup, cases, rows, figures)]
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the example `mesh`, with a report."""
    folder = tmp_path_factory.mktemp("mesh")
    scenario = hopcast.Scenario.from_toml(str(ROOT / "examples" / "mesh.toml"), overrides=["duration=15 s"])
    hopcast.run(scenario, out=folder)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    from hopcast.report.page import write_report

    return Path(write_report(folder)).read_text(encoding="utf-8")


def visible(page: str) -> str:
    """The text of a page."""
    body = re.sub(r"<style>.*?</style>|<svg.*?</svg>", " ", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", " ", body))


def document(folder: Path, name: str = "run") -> Any:
    return json.loads((folder / f"{name}.json").read_text())


def test_the_layout_has_the_names_and_places_of_the_scenario(folder: Path) -> None:
    layout = document(folder, "layout")
    assert (layout["name"], layout["duration_s"], layout["wires"]) == ("mesh", 15, [])
    assert [node["name"] for node in layout["nodes"]] == [f"n{number}" for number in range(25)]
    # A grid of five columns, 40 m apart.
    assert [node["position_m"] for node in layout["nodes"]] == [[40 * (n % 5), 40 * (n // 5)] for n in range(25)]


def test_a_report_has_the_name_and_a_drawing_of_the_network(page: str) -> None:
    assert "<h1>hopcast: mesh</h1>" in page
    drawing = re.search(r"<figure>\n(<svg(?:(?!<figure>).)*?</svg>)\s*<figcaption>Places of the nodes", page, re.DOTALL)
    assert drawing
    names = set(re.findall(r">(n\d+)</text>", drawing[1]))
    assert names == {f"n{number}" for number in range(25)}
    assert {"call", "film", "download"} <= set(re.findall(r">(\w+)</text>", drawing[1]))


def test_nodes_and_drops_are_those_of_the_run(folder: Path, page: str) -> None:
    run = document(folder)
    section = visible(page[page.index('<section id="network">') :])
    assert "Nodes (25)" in section
    by_cause: dict[str, int] = {}
    for node in run["nodes"]:
        for cause, count in node["drops"].items():
            by_cause[cause] = by_cause.get(cause, 0) + count
    dropped = {cause: count for cause, count in by_cause.items() if count}
    assert sum(dropped.values()) == run["totals"]["packets_dropped"] > 0
    for cause, count in dropped.items():
        assert re.search(rf"{cause.replace('_', ' ')}\s+{count}\s", section), cause
    assert "no route" in section


def test_a_folder_without_a_layout_has_a_report_all_the_same(folder: Path, tmp_path: Path) -> None:
    from hopcast.report.page import write_report

    (tmp_path / "run.json").write_text((folder / "run.json").read_text())
    page = Path(write_report(tmp_path)).read_text(encoding="utf-8")
    assert "<h1>hopcast: a run</h1>" in page
    assert "Nodes (25)" in visible(page)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ('{"name": 3}', "name = 3"),
        ('{"name": "x", "nodes": [{"name": "a", "role": "king"}]}', "nodes.a.role = 'king'"),
        ('{"name": "x", "nodes": [{"name": "a", "role": "station", "moves": 1}]}', "nodes.a.moves = 1"),
        (
            '{"name": "x", "nodes": [{"name": "a", "role": "station", "moves": true, "position_m": [1]}]}',
            "nodes.a.position_m = [1]: a list of two is expected",
        ),
        ('{"name": "x", "nodes": [], "wires": [["a", "b"]]}', "wires[0][0] = 'a'"),
    ],
)
def test_what_is_no_layout_is_told(folder: Path, tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "run.json").write_text((folder / "run.json").read_text())
    (tmp_path / "layout.json").write_text(text)
    from hopcast.report.page import NothingToReport, write_report

    with pytest.raises(NothingToReport) as refused:
        write_report(tmp_path)
    assert str(refused.value).startswith(f"{tmp_path}/layout.json: {problem}")


def test_nodes_without_a_place_stand_above_the_others_and_names_are_no_formulas() -> None:
    places = [Place("a$b", (0.0, 0.0)), Place("c", (10.0, 0.0), is_hollow=True), Place("w", None, "s")]
    figure = floor(places, [Way("call", "a$b", "c", 0)], [("w", "c")])
    drawn = svg(figure)
    assert ">a$b</text>" in drawn
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x, m", "y, m")
    heights = [float(height) for line in axes.lines for height in np.asarray(line.get_ydata()).tolist()]
    assert max(heights) == pytest.approx(2.5), "the others are at 0"


def test_the_queues_of_many_nodes_are_those_of_the_six_longest(folder: Path) -> None:
    import polars as pl

    table = pl.read_parquet(folder / "series.parquet")
    figure = series(table, "queue")
    legend = figure.legends[0] if figure.legends else figure.axes[0].get_legend()
    assert legend is not None
    drawn = {text.get_text() for text in legend.get_texts()}
    peaks = (
        table.group_by("node").agg(pl.col("queue_packets").max()).drop_nulls().sort("queue_packets", descending=True)
    )
    sixth = peaks["queue_packets"][5]
    assert len(drawn) == 6
    assert drawn >= set(peaks.filter(pl.col("queue_packets") > sixth)["node"])
    assert figure.axes[0].get_ylabel().startswith("queue, packets (6 longest of ")


def test_a_study_of_users_speaks_of_no_paper(hopcast: Hopcast, tmp_path: Path) -> None:
    (tmp_path / "mesh.toml").write_text((ROOT / "examples" / "mesh.toml").read_text())
    (tmp_path / "study.py").write_text(STUDY)
    done = hopcast("study", "study.py", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"MESH +│ mesh +│ loss +│ +\d", done.stdout)
    assert "paper" not in done.stdout.lower()
    told = visible((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert "Calls in a mesh" in told
    assert re.search(r"loss\s+\d", told)
    assert "paper" not in told.lower()
