"""Study Q4: congestion controls of media behind the queues of an access point."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conftest import ROOT
from hopcast.lab import run_experiments
from hopcast.lab.experiment import Amount, Table
from hopcast_papers import EXPERIMENTS, fair_queues, media_queues
from hopcast_papers.media_queues import QUEUES
from hopcast_papers.media_suite import CONTROLS
from hopcast_papers.register import REGISTER

QUICK = Amount("quick")


def test_nothing_of_it_counts() -> None:
    assert not any(sentence.experiment == "Q4" for sentence in REGISTER.values())
    assert len(EXPERIMENTS["Q4"].cases(QUICK)) == len(QUEUES) * len(CONTROLS)


def test_queues_are_those_of_the_other_experiments() -> None:
    for queue in QUEUES:
        case = EXPERIMENTS["Q4"].cases(QUICK)[f"{queue}, nada"].scenario
        values = {key: text for key, text, _ in case.explain()}
        assert values["radio.queue.discipline"] == fair_queues.QUEUES[queue]["discipline"]
        assert values["flows.call.transport.congestion"] == "nada"


def test_numbers_are_those_of_the_call_and_of_the_download() -> None:
    call: dict[str, Any] = {"goodput_bps": 1.2e6, "delay_p95_s": 0.05}
    call |= {"hiccups": 2, "played_s": 25.0, "hiccup_time_s": 5.0}
    document = {"flows": [{"name": "slow", "goodput_bps": 5e6}, {"name": "call", **call}]}
    found = {metric: number(document) for metric, (_, number) in media_queues.METRICS.items()}
    expected = {"rate": 1.2, "delay, 95 %": 50.0, "freezes a minute": 4.0, "download": 5.0}
    assert found == pytest.approx(expected)


def test_the_page_shows_what_the_study_finds() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    study = run_experiments([EXPERIMENTS["Q4"]], QUICK, threads=2)
    (cells,) = EXPERIMENTS["Q4"].tables(Table(study.rows))
    lines = page[page.index("| Q4 | gcc |") :].splitlines()[2 : 2 + len(QUEUES)]
    assert [re.split(r" \| ", line.strip("| ")) for line in lines] == [list(line) for line in cells.lines]
