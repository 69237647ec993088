"""Study N1: findings of papers on radios of today."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT
from hopcast.lab import run_experiments
from hopcast.lab.experiment import Amount, Table
from hopcast.lab.rows import Sample, value
from hopcast_papers import EXPERIMENTS, modern_radios
from hopcast_papers.modern_radios import AGGREGATES, FINDINGS, FRAMES, PAPERS, holds
from hopcast_papers.register import REGISTER

QUICK = Amount("quick")


def test_findings_are_sentences_of_the_register_and_count_for_nothing() -> None:
    assert all(finding.key in REGISTER for finding in FINDINGS)
    of_five = {key for key in REGISTER if key.split(".")[0] in {"H2", "H4", "H5", "H8", "P1"}}
    assert of_five - {finding.key for finding in FINDINGS} == {"H8.far-from-44", "P1.errors-large"}
    assert not any(sentence.experiment == "N1" for sentence in REGISTER.values())


@pytest.mark.parametrize(
    ("values", "verdict"), [((0.5, 0.5), "holds"), ((1.5, 1.5), "fails"), ((0.5, 1.4), "open")]
)  # fmt: skip
def test_an_interval_on_both_sides_of_a_line_leaves_a_finding_open(values: tuple[float, ...], verdict: str) -> None:
    said = REGISTER["H2.tcp-below-udp"]
    assert said.line() == "≤ 1"
    assert holds(value("N1", "", said.id, "", Sample(values)), said) == verdict


def test_on_the_papers_radio_a_cell_is_that_of_the_papers_study() -> None:
    cases, theirs = EXPERIMENTS["N1"].cases(QUICK), EXPERIMENTS["H2"].cases(QUICK)
    assert cases["the paper's radio, 1:1, UDP, 4 KB"].scenario.sha256 == theirs["UDP, 4 KB"].scenario.sha256
    string = EXPERIMENTS["P1"].cases(QUICK)["1 hop, 1000 B, window 20, no RTS, ideal"].scenario
    own = cases["the paper's radio, 1 hop, 1000 B, window 20, no RTS, ideal"].scenario
    told = [{key: text for key, text, _ in made.explain() if key != "name"} for made in (own, string)]
    assert told[0] == told[1]


def test_only_aggregates_hold_several_packets() -> None:
    from hopcast import run

    cases = EXPERIMENTS["N1"].cases(QUICK)
    for kind, aggregates in ((PAPERS, False), (FRAMES, False), (AGGREGATES, True)):
        nodes = run(cases[f"{kind.name}, 1:1, UDP, 1 KB"].scenario, seed=1, threads=1).json()["nodes"]
        assert (sum(node["ampdus_sent"] for node in nodes) > 0) == aggregates


@pytest.mark.slow
def test_the_page_shows_what_the_study_finds() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| ((?:H2|H4|H5|H8|P1): .*) \|$", page, re.MULTILINE)
    table = Table(run_experiments([EXPERIMENTS["N1"]], QUICK, threads=2).rows)
    (cells,) = modern_radios.EXPERIMENTS[0].tables(table)
    assert [line.split(" | ") for line in lines] == [list(line) for line in cells.lines]
    (found,) = EXPERIMENTS["N1"].figures(table)
    assert [axes.get_ylabel() != "" for axes in found[1].axes] == [True] * 4
