"""Study Q: queues of an access point, compared with what was published for Linux."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT
from hopcast import run
from hopcast.lab import run_experiments
from hopcast.lab.experiment import Amount, Table
from hopcast.lab.rows import Sample, value
from hopcast_papers import EXPERIMENTS, fair_queues
from hopcast_papers.fair_queues import LINES, LINKS, QUEUES, Line, mean_opinion, percentile, verdict
from hopcast_papers.register import REGISTER
from test_aggregation import Link

QUICK = Amount("quick")


def test_nothing_of_it_counts_for_the_papers() -> None:
    assert not any(sentence.experiment.startswith("Q") for sentence in REGISTER.values())
    assert set(LINES) == {"Q1", "Q2", "Q3"}


@pytest.mark.parametrize(
    ("values", "word"), [((0.95, 0.95), "holds"), ((1.2, 1.2), "fails"), ((0.8, 1.15), "open")]
)  # fmt: skip
def test_an_interval_across_a_line_leaves_it_open(values: tuple[float, ...], word: str) -> None:
    assert verdict(value("Q1", "", "", "", Sample(values)), Line("", "", 0.9, 1.1, "")) == word


def test_the_models_durations_are_those_of_the_standard() -> None:
    # The tests of aggregation compute them from other tables.
    for name, streams, mcs in (("fast0", 2, 7), ("slow", 1, 0)):
        link = Link("802.11n", mcs, streams, 20, 0.4)
        known = LINKS[name]
        assert link.data_bits() == known.data_bits
        air = known.time(2) - fair_queues.SIFS - known.answer() - fair_queues.WAIT
        assert air == pytest.approx(link.duration(2 * 1544), abs=4e-6)


def test_of_a_hundred_delays_the_95_percentile_is_the_95th() -> None:
    assert [percentile(range(1, 101), share) for share in (0.05, 0.5, 0.95, 1.0)] == [5, 50, 95, 100]


def test_opinions_are_those_of_the_e_model() -> None:
    # R = 93.2 without impairments, which is a MOS of 4.41 (ITU-T G.107, annex B).
    assert mean_opinion(0.0, 0.0) == pytest.approx(4.41, abs=0.005)
    assert mean_opinion(1.0, 0.5) == 1.0


def test_stations_get_the_published_rates() -> None:
    """144.4 Mb/s and 7.2 Mb/s: one after the other, each with the air to itself."""
    case = EXPERIMENTS["Q1"].cases(QUICK)["AQL"].scenario
    for name, rate in (("fast0", 120e6), ("slow", 6.2e6)):
        alone = [flow for flow in ("fast0", "fast1", "slow") if flow != name]
        quiet = case
        for flow in alone:
            quiet = quiet.set(f"flows.{flow}.application.rate", "1 kb/s")
        series = run(quiet.set("duration", 1.0), threads=1).series
        assert max(series["data_rate_bps"].drop_nulls()) > 0
        found = series.filter(series["flow"] == name)["rate_bps"].to_list()[2:]
        assert sum(found) / len(found) == pytest.approx(rate, rel=0.1)


@pytest.mark.slow
def test_the_page_shows_what_the_study_finds() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    study = run_experiments([EXPERIMENTS[id_] for id_ in LINES], QUICK, threads=2)
    for id_ in LINES:
        table = Table([row for row in study.rows if row.experiment == id_])
        (cells,) = EXPERIMENTS[id_].tables(table)
        for line in cells.lines:
            assert f"| {id_} | {' | '.join(line)} |" in page
        for _, figure in EXPERIMENTS[id_].figures(table):
            assert all(axes.get_xlabel() or axes.get_ylabel() for axes in figure.axes)
    shown = re.findall(r"^\| Q[123] \| .* \| (?:holds|fails|open) \|$", page, re.MULTILINE)
    assert len(shown) == sum(map(len, LINES.values()))
    assert set(QUEUES) == {"FIFO", "FQ-CoDel", "FQ-MAC", "airtime", "AQL"}
