"""Settings of paper H's studies: the time of hosts, calls that are held until sent, the oracle of H12, and TCP per hop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hopcast import Scenario, run
from hopcast.lab.experiment import Amount
from hopcast_papers.h2o import homes, load, oracle, tcp_per_hop
from hopcast_papers.h2o.hosts import COPY_US, held, with_host_time
from hopcast_papers.h2o.streams import UDP_1KB_MBPS, scenario

if TYPE_CHECKING:
    from hopcast.types import Requests

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


def shared(count: int) -> Scenario:
    """Displays of different clips that begin together, over a card that carries two of them, and one of a clip that is stored."""
    requests: list[Requests] = [
        {"from": f"home{number + 1}", "clip": f"film{number}", "start": 30 + number} for number in range(count)
    ]
    requests.append({"from": "home0", "clip": "film0", "start": 35})
    return Scenario(
        duration=90,
        seed=1,
        radio=homes.radio("6 Mb/s", "70 m"),
        nodes=[{"name": "home", "count": 4, "placement": {"shape": "circle", "radius": "5 m"}}],
        cloud={
            "admission": "all",
            "clips": [{"name": "film", "count": 3, "rate": 0.45 * load.CARD, "length": 15, "at": ["home0"]}],
            "requests": requests,
        },
    )


def test_the_oracle_refuses_what_would_starve_and_nothing_else() -> None:
    for asked, admitted in ((2, 2), (3, 2)):
        result = run(shared(asked), seed=1)
        everybody = result.json()["cloud"]["totals"]
        assert (everybody["hiccups"] > 0) is (asked > admitted)
        cloud = oracle.observe(result)["cloud"]
        totals = cloud["totals"]
        counts = [totals[name] for name in ("offered", "local", "admitted", "refused", "completed_without_hiccup")]
        assert counts == [asked + 1, 1, admitted, asked - admitted, admitted]
        shown = {one["display"] for one in cloud["streams"] if not oracle.is_stored(one)}
        assert shown == {f"home{number + 1}" for number in range(admitted)}


def test_a_run_with_the_same_requests_one_by_one_is_the_same_run() -> None:
    """What the oracle looks ahead to: requests that are drawn and those that are stated make one run."""
    drawn = load.scenario("all", 0.5, QUICK)
    streams = run(drawn, seed=9).json()["cloud"]["streams"]
    again = oracle._document(drawn, streams, drawn.duration_s, 9)["cloud"]["streams"]
    assert again == streams


def test_tcp_per_hop_leads_along_a_shortest_path() -> None:
    assert tcp_per_hop.path("home0", "home8", 3) == ["home1", "home2", "home5"]
    assert tcp_per_hop.path("home7", "home3", 3) == ["home6"]
    assert tcp_per_hop.path("home4", "home1", 3) == []


def test_tcp_per_hop_shows_what_was_asked_of_the_cloud() -> None:
    def shown(streams: list[oracle.Stream]) -> list[tuple[str, str, str]]:
        return sorted((one["display"], one["clip"], one["source"]) for one in streams if not oracle.is_stored(one))

    result = run(load.scenario(load.TCP, 0.25, QUICK), seed=9)
    cloud = load._over_tcp(result)["cloud"]
    asked = result.json()["cloud"]
    assert shown(cloud["streams"]) == shown(asked["streams"])
    assert [cloud["totals"][name] for name in ("offered", "local")] == [
        asked["totals"][name] for name in ("offered", "local")
    ]
    assert all(one["outcome"] == "completed" for one in cloud["streams"])
    assert cloud["totals"]["played_s"] == pytest.approx(load.LENGTH * len(cloud["streams"]))
    # At twice the load that the air carries nobody refuses anything, and few are shown whole.
    full = load._over_tcp(run(load.scenario(load.TCP, 2.0, QUICK), seed=9))["cloud"]
    assert full["totals"]["hiccups"] > len(full["streams"])
    assert sum(map(oracle.is_fine, full["streams"])) < len(full["streams"]) / 4
