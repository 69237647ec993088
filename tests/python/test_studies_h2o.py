"""Settings of paper H's studies: the time of hosts, calls that are held until sent, and of H12 the oracle, TCP per hop, parts and distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hopcast import Scenario, run
from hopcast.lab.experiment import Amount, Document, Measured
from hopcast_papers.h2o import against_oracle, by_distance, homes, limits, load, on_air, oracle, parts, tcp_per_hop
from hopcast_papers.h2o.hosts import COPY_US, held, with_host_time
from hopcast_papers.h2o.streams import UDP_1KB_MBPS, scenario

if TYPE_CHECKING:
    from hopcast.types import Radio, Requests

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


def over_a_link(spacing: float, loss: float) -> float:
    """Mb/s of media between two homes of scene o, with this loss in their way."""
    radio: Radio = {**parts.RADIO}
    if loss:
        wall = {"from": ["5 m", "-1 m"], "to": ["5 m", "1 m"], "attenuation": f"{loss:g} dB"}
        radio["obstacles"] = {"walls": [wall]}  # type: ignore[list-item]
    scenario = Scenario(
        duration=2,
        radio=radio,
        nodes=[{"name": "home", "count": 2, "placement": {"shape": "line", "spacing": f"{spacing:g} m"}}],
        flows=[
            {
                "name": "media",
                "from": "home0",
                "to": "home1",
                "transport": {"protocol": "udp"},
                "application": {"kind": "cbr", "rate": "8 Mb/s", "packet": 1316},
            }
        ],
    )
    return float(run(scenario, seed=1).json()["flows"][0]["goodput_bps"]) / 1e6


def test_people_slow_short_links_and_cut_off_diagonals() -> None:
    diagonal = 20 * 2**0.5
    clear, across, far = (over_a_link(spacing, 0) for spacing in (20, diagonal, 40))
    assert clear == pytest.approx(parts.CARD / 1e6, rel=0.01)
    assert 0.9 * clear < across <= clear
    assert far == 0
    assert 0.1 * clear < over_a_link(20, parts.PERSON) < 0.8 * clear
    assert over_a_link(diagonal, parts.PERSON) == 0


def test_a_device_without_a_part_differs_in_that_part_alone() -> None:
    cases = parts.cases(QUICK)

    def keys(name: str) -> dict[str, str]:
        return {key: str(told) for key, told, source in cases[name].scenario.explain() if source != "default"}

    every = keys(parts.WHOLE)
    for name in cases:
        changed = {key for key in every.keys() | keys(name).keys() if every.get(key) != keys(name).get(key)} - {"name"}
        what = {"o, without measured rates": 2, parts.WHOLE: 0}.get(name, 1)
        assert len({key.removeprefix("cloud.").split(".")[0] for key in changed}) == what, (name, changed)


def test_a_request_is_as_far_away_as_the_grid_is_wide() -> None:
    assert by_distance.distance("home0", "home8") == 4
    assert by_distance.distance("home4", "home1") == 1
    assert by_distance.distance("home2", "home2") == 0


def test_a_stream_tells_where_a_clip_is_for_all_runs_of_its_seed() -> None:
    one = {"cloud": {"streams": [{"clip": "clip0", "source": None}, {"clip": "clip1", "source": "home3"}]}}
    other = {"cloud": {"streams": [{"clip": "clip0", "source": "home5"}]}}
    assert by_distance.sources([one, other]) == {"clip0": "home5", "clip1": "home3"}


def test_where_clips_are_does_not_depend_on_the_rule() -> None:
    placed = []
    for rule in ("all", "hops"):
        document = run(load.scenario(rule, 0.5, QUICK), seed=9).json()
        placed.append(by_distance.sources([document]))
    both = placed[0].keys() & placed[1].keys()
    assert len(both) > 4
    assert all(placed[0][clip] == placed[1][clip] for clip in both)


def test_clips_are_admitted_and_refused_wrongly_by_a_limit() -> None:
    """Of three clips that stall and two that don't; with 12 stalls per hour 63 % are tolerated in 300 s, and with 6 there are 39 %."""
    clips = [
        limits.Clip({limits.PROFILES: said, limits.CLOSED_FORM: 0.5}, stalled)
        for said, stalled in ((0.9, True), (0.5, True), (0.1, True), (0.5, False), (0.0, False))
    ]
    assert limits.tolerated(12, 300) == pytest.approx(0.632, abs=1e-3)
    found = {(row.case, row.metric): row.measured for row in limits.rows(clips, 300)}
    case = limits.case(limits.PROFILES, 12)
    assert found[case, limits.WRONGLY_ADMITTED] == pytest.approx(200 / 3)
    assert found[case, limits.WRONGLY_REFUSED] == 0
    case = limits.case(limits.PROFILES, 6)
    assert found[case, limits.WRONGLY_ADMITTED] == pytest.approx(100 / 3)
    assert found[case, limits.WRONGLY_REFUSED] == 50
    # Of six pairs four are in the right order, and one is equal; somebody who says the same of all is right by chance.
    assert found["b, by profiles", "area"] == pytest.approx(4.5 / 6)
    assert found["b, by closed form", "area"] == 0.5
    assert limits.rows([clip for clip in clips if clip.stalled], 300) == []


def test_requests_are_compared_with_those_that_the_oracle_shows() -> None:
    """The rule shows the first of the oracle's two, and one of the two that the oracle refuses. A stored clip and one of a later hour don't count."""

    def document(outcomes: dict[float, str]) -> Document:
        streams = [
            {"display": "home1", "clip": "clip0", "source": "home2", "asked_s": at, "outcome": outcome, "hiccups": 0}
            for at, outcome in outcomes.items()
        ]
        stored = {**streams[0], "source": "home1", "asked_s": 62.0, "outcome": "completed"}
        return {"cloud": {"streams": [*streams, stored]}}

    late = load.START + load.SHORT
    ours = document({61.0: "completed", 70.0: "refused", 80.0: "completed", 90.0: "broken", late: "completed"})
    oracles = document({61.0: "completed", 70.0: "completed"})
    offered = {
        load.case(rule, at): [oracles if rule == load.ORACLE else ours]
        for rule in (*against_oracle.RULES, load.ORACLE)
        for at in load.LOADS
    }
    found = against_oracle.rows(Measured(offered))
    assert {row.measured for row in found} == {50.0}
    assert len(found) == 2 * len(against_oracle.RULES) * len(load.LOADS)


def test_media_take_the_time_of_the_card() -> None:
    """Packets of 1316 B of media alone carry what scene d says of its card, less than the rounding of frames to symbols of 4 µs."""
    assert 8 * 1316 / on_air.time(1, on_air.PACKET) == pytest.approx(load.CARD, rel=2e-3)
    counts = {"media_packets": 1000, "control_messages": 0, "control_bytes": 0, "measuring_bytes": 2 * on_air.PACKET}
    document = {"cloud": {"totals": counts}, "cost": {"simulated_s": 100.0}}
    shares = [on_air.share(document, kind) for kind in on_air.KINDS]
    assert shares == pytest.approx([2.05, 0.0, 0.0041], rel=2e-3)
