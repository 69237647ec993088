"""The suite of test cases for congestion control of media."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

import hopcast
from conftest import ROOT
from hopcast.lab import run_experiments
from hopcast.lab.experiment import Amount, Table
from hopcast_papers import EXPERIMENTS, media_suite
from hopcast_papers.media_suite import BIN, CONTROLS, MAX_RATE, TESTS, Load, available, jain, media, observe, places

QUICK = Amount("quick")


def test_fairness_is_one_for_equals_and_one_in_n_for_one_alone() -> None:
    assert jain([2.0, 2.0, 2.0]) == 1.0
    assert jain([3.0, 0.0, 0.0]) == pytest.approx(1.0 / 3.0)
    assert math.isnan(jain([0.0, 0.0]))


def test_what_is_available_is_the_capacity_or_what_encoders_want() -> None:
    flows = [media("a", ("a1", "b1"), "gcc"), media("b", ("a2", "b2"), "gcc", start=10.0, stop=20.0)]
    # 10 s of one encoder, 10 s of two under 2 Mb/s, 10 s of one under 1 Mb/s.
    load = Load(30.0, flows, [(0, 2e6), (20, 1e6)])
    assert 8.0 * available(load, flows) == pytest.approx(10 * MAX_RATE + 10 * 2e6 + 10 * 1e6)
    assert 8.0 * available(Load(30.0, flows, []), flows) == pytest.approx(40 * MAX_RATE)


def test_a_full_queue_lasts_for_its_time() -> None:
    # 37.5 kB in 300 ms at 1 Mb/s, in packets of 1040 B.
    assert places(1e6) == 36


def test_every_case_runs_for_every_congestion_control() -> None:
    assert [test.id for test in TESTS] == [f"V{number}" for number in range(1, 14)]
    for test in TESTS:
        variants = {control: set(test.make(control, QUICK)) for control in CONTROLS}
        assert len({frozenset(found) for found in variants.values()}) == 1, test.id
        for control in CONTROLS:
            for load, scenario in test.make(control, QUICK).values():
                used = {flow["transport"]["congestion"] for flow in load.flows if "congestion" in flow["transport"]}
                assert used == {control}
                assert {key: told for key, told, _ in scenario.explain()}["duration"] == f"{load.duration:g} s"


WEIGHTS = (1.8, 2.2)
"""The line for NADA's rates with weights of 2 and 1, which stood before the first run: 10 % around the RFC's equilibrium."""


@pytest.mark.xfail(strict=True, reason="the ratio is 1.75 with the first seed, 1.74 in the mean")
def test_nadas_shares_are_as_the_weights() -> None:
    load, scenario = media_suite.priorities("nada", QUICK)[""]
    document: Any = observe(hopcast.run(scenario, threads=1))
    first, second = media_suite._last_rates(load, load.flows, document)
    assert WEIGHTS[0] <= first / second <= WEIGHTS[1]


def test_bins_hold_what_flows_received() -> None:
    load, scenario = media_suite.variable_single("gcc", QUICK)[""]
    result = hopcast.run(scenario.set("duration", 20.0), threads=1)
    document: Any = result.json()
    (bins,) = observe(result)["bins"].values()
    assert len(bins["rate"]) == 20.0 / BIN
    assert sum(bins["rate"]) * BIN / 8.0 == pytest.approx(document["flows"][0]["received_bytes"])
    # Beyond the way of 50 ms and the least packet's transmission.
    assert all(0.050 < delay < 1.0 for delay in bins["delay"])
    assert media_suite.utilisation(load, load.flows, document) < 20.0


@pytest.mark.slow
def test_the_page_shows_what_cases_measure() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\| V1 \| variable capacity \| (.*) \|$", page, re.MULTILINE)
    table = Table(run_experiments([EXPERIMENTS["V1"]], QUICK, threads=2).rows)

    def told(control: str) -> str:
        names = ("utilisation", "queueing delay, 95 %", "frames late or lost")
        share, delay, frames = (table[control, name].measured for name in names)
        return f"{share:.0f} %, {delay:.0f}, {frames:.1f}"

    assert line.split(" | ") == [told(control) for control in CONTROLS]
    # A figure with a row for each control: its rate and its delay.
    (found,) = EXPERIMENTS["V1"].figures(table)
    assert len(found[1].axes) == 2 * len(CONTROLS)
