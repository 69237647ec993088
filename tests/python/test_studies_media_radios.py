"""Study N2: congestion controls of media in the scenes of papers M and W."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conftest import ROOT
from hopcast.lab import run_experiments
from hopcast.lab.experiment import Amount, Table
from hopcast_papers import EXPERIMENTS, media_radios
from hopcast_papers.media_radios import MODERN, PAPERS, PROTOCOLS, RADIOS, SCENES
from hopcast_papers.register import REGISTER

QUICK = Amount("quick")


def told(scene: str, radio: str, protocol: str) -> dict[str, str]:
    scenario = EXPERIMENTS["N2"].cases(QUICK)[f"{scene}, {radio}, {protocol}"].scenario
    return {key: text for key, text, _ in scenario.explain()}


def test_nothing_of_it_counts() -> None:
    assert not any(sentence.experiment == "N2" for sentence in REGISTER.values())
    assert len(EXPERIMENTS["N2"].cases(QUICK)) == len(SCENES) * len(RADIOS) * len(PROTOCOLS)


def test_radios_are_the_papers_and_those_of_n1() -> None:
    keys = ("radio.standard", "radio.profile")
    found = [[told(scene.name, radio, "gcc")[key] for key in keys] for scene in SCENES for radio in (PAPERS, MODERN)]
    modern = ["802.11ax", "standard"]
    assert found == [["802.11", "ns-2"], modern, ["802.11", "ns-2"], modern, ["802.11g", "ns-2"], modern]


def test_each_control_has_the_flows_to_itself() -> None:
    for protocol in PROTOCOLS[:-1]:
        values = told(SCENES[-1].name, PAPERS, protocol)
        used = [text for key, text in values.items() if key.endswith("transport.congestion")]
        # The download has that of its variant of TCP.
        assert used.count(protocol) == 2
        assert not set(used) & (set(PROTOCOLS) - {protocol})


def test_numbers_are_of_both_streams() -> None:
    stream: dict[str, Any] = {"goodput_bps": 1e6, "played_s": 9.0, "hiccup_time_s": 1.0, "delay_p99_s": 0.1}
    nothing = {"goodput_bps": None, "played_s": None, "hiccup_time_s": None, "delay_p99_s": None}
    document = {"flows": [{"name": "stream 1", **stream}, {"name": "stream 2", **nothing}, {"name": "game", **stream}]}
    found = {metric: number(document) for metric, (_, number) in media_radios.METRICS.items()}
    # A display that never showed a picture stood still all the time.
    expected = {"rate of a stream": 0.5, "time stalled": 55.0, "delay, 99 %": 100.0, "Jain's index": 0.5}
    assert found == pytest.approx(expected)


@pytest.mark.slow
def test_the_page_shows_what_the_study_finds() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    table = Table(run_experiments([EXPERIMENTS["N2"]], QUICK, threads=2).rows)
    (cells,) = EXPERIMENTS["N2"].tables(table)
    shown = re.findall(r"^\| ((?:M, moving|W, a house).*) \|$", page, re.MULTILINE)
    assert [line.split(" | ") for line in shown] == [list(line) for line in cells.lines]
    ((_, figure),) = EXPERIMENTS["N2"].figures(table)
    assert len(figure.axes) == len(SCENES) * len(RADIOS)
