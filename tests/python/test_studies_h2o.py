"""Settings of paper H's studies: the time of hosts, and calls that are held until sent."""

from __future__ import annotations

import pytest

from hopcast import run
from hopcast.lab.experiment import Amount
from hopcast_papers.h2o.hosts import COPY_US, held, with_host_time
from hopcast_papers.h2o.streams import UDP_1KB_MBPS, scenario

QUICK = Amount("quick")


def test_the_host_time_solves_its_equation() -> None:
    # 802.11a: 20 us of preamble, symbols of 4 us with 216 bits at 54 Mb/s and 96 at 24 Mb/s (IEEE 802.11-2020, 17).
    frame = 20 + 4 * -(-(16 + 8 * (1024 + 28 + 8 + 28) + 6) // 216)
    acknowledgement = 20 + 4 * -(-(16 + 8 * 14 + 6) // 96)
    copy = COPY_US * (1024 + 28) / 1500
    before = sum(max(copy, 34 + 9 * slots) for slots in range(16)) / 16
    assert 8192 / (before + frame + 16 + acknowledgement) == pytest.approx(UDP_1KB_MBPS, abs=0.01)


def test_one_hop_with_host_time_has_the_bandwidth_that_it_is_calibrated_on() -> None:
    (flow,) = run(with_host_time(scenario(2, [(0, 1)], "udp", 1, QUICK)), seed=1).json()["flows"]
    assert flow["goodput_bps"] / 1e6 == pytest.approx(UDP_1KB_MBPS, rel=0.01)
    assert flow["lost_packets"] == 0


def test_held_calls_change_units_of_more_than_a_kilobyte_alone() -> None:
    for adu, same in ((1, True), (4, False)):
        plain = scenario(2, [(0, 1)], "udp", adu, QUICK, wait_ms=1)
        rates = [run(made, seed=1).json()["flows"][0]["goodput_bps"] for made in (plain, held(plain))]
        assert (rates[0] == rates[1]) is same
        assert rates[1] <= rates[0]
