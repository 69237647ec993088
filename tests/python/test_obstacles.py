"""Obstacles and streets in whole scenarios."""

from __future__ import annotations

from typing import Any, cast

import polars
import pytest

from hopcast import Scenario, ScenarioError, run

RADIO: dict[str, Any] = {
    "standard": "802.11a",
    "data_rate": "6 Mb/s",
    "propagation": {"model": "log-distance", "exponent": 3},
}


FADING: dict[str, Any] = {"propagation": {**RADIO["propagation"], "fading": "rayleigh"}}


def pair(distance: float = 20, **changes: Any) -> Scenario:
    """Datagrams from one node to another, 50 a second."""
    radio = {**RADIO, **changes.pop("radio", {})}
    return Scenario(
        **{
            "duration": 100,
            "radio": cast(Any, radio),
            "nodes": [{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": distance}}],
            "flows": [
                cast(
                    Any,
                    {
                        "name": "f",
                        "from": "n0",
                        "to": "n1",
                        "transport": {"protocol": "udp"},
                        "application": {"kind": "cbr", "rate": "400 kb/s", "packet": "1000 B"},
                    },
                )
            ],
            **changes,
        }
    )


def wall(attenuation: str, x: float = 10) -> dict[str, Any]:
    return {"walls": [{"from": [x, -5], "to": [x, 5], "attenuation": attenuation}]}


def frames(scenario: Scenario, replications: int = 1) -> polars.DataFrame:
    return run(scenario, replications=replications).flows.select("received_packets", "delay_mean_s")


def test_a_wall_is_as_much_less_power() -> None:
    """Through fading, so that some of 5000 packets arrive and others don't."""
    behind = frames(pair(60, radio={"obstacles": wall("12 dB"), **FADING}), 5)
    weaker = frames(pair(60, radio={"tx_power": "4.0206 dBm", **FADING}), 5)
    assert 10 < behind["received_packets"].min() < behind["received_packets"].max() < 4990  # type: ignore[operator]
    # Powers are whole attowatts, so that rounding tells the two apart by less than one packet in a thousand.
    assert behind["received_packets"].sum() == pytest.approx(weaker["received_packets"].sum(), rel=0.01)


def test_a_wall_that_no_link_crosses_changes_nothing() -> None:
    beside = {"walls": [{"from": [10, 1], "to": [10, 5], "attenuation": "100 dB"}]}
    assert frames(pair(radio={"obstacles": beside})).equals(frames(pair()))
    assert frames(pair(radio={"obstacles": {}})).equals(frames(pair()))


def test_a_building_is_four_walls_and_what_is_inside() -> None:
    building = {"x": 5, "y": -5, "width": 10, "height": 10, "attenuation": "3 dB", "per_metre": "0.6 dB"}
    # Two walls and ten metres: 12 dB.
    scenario = pair(60, radio={"obstacles": {"buildings": [building]}, **FADING})
    assert frames(scenario, 3).equals(frames(pair(60, radio={"obstacles": wall("12 dB"), **FADING}), 3))


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_blocked_links_lose_what_the_closed_form_says(spread: float) -> None:
    """Blocked for 1 - e^(-1/4) = 22.1 % of the time, in some 160 periods a run; twenty runs leave a standard error of about 0.5 %. A
    packet that is sent just before a period ends may be repeated into free time, which is less than 0.1 %.
    """
    blockage = {"interval": "20 s", "duration": "5 s", "spread": spread, "attenuation": "150 dB"}
    scenario = pair(duration=4000, radio={"obstacles": {"blockage": blockage}})
    scenario = scenario.set("flows.f.application", {"kind": "cbr", "rate": "16 kb/s", "packet": "1000 B"})
    lost = run(scenario, replications=20).flows["loss_ratio"].mean()
    assert lost == pytest.approx(1 - 2.718281828459045 ** (-1 / 4), abs=0.02)


def test_drift_has_no_effect_on_the_mean_of_decibels_but_on_who_is_heard() -> None:
    """At the edge of the range a drift of 6 dB loses some links for long and mends others."""
    still = frames(pair(140), 12)["received_packets"]
    drift = {"deviation": "6 dB", "decorrelation_time": "1000 s"}
    moved = frames(pair(140, radio={"obstacles": {"drift": drift}}), 12)["received_packets"]
    assert moved.std() > 3 * still.std()  # type: ignore[operator]
    assert moved.max() > 4500  # type: ignore[operator]
    assert moved.min() < 500  # type: ignore[operator]


def streets(**changes: Any) -> Scenario:
    """Cars in four blocks, one of which sends to another."""
    mobility = {"model": "streets", "block": ["100 m", "100 m"], "speed": ["8 m/s", "14 m/s"]}
    return pair(
        duration=200,
        nodes=[
            cast(
                Any,
                {
                    "name": "n",
                    "count": 2,
                    "placement": {"shape": "uniform", "width": 200, "height": 200},
                    "mobility": mobility,
                },
            )
        ],
        **changes,
    )


def test_cars_lose_each_other_behind_buildings() -> None:
    house = {"width": 80, "height": 80, "attenuation": "9 dB", "per_metre": "0.4 dB"}
    buildings = [{"x": x, "y": y, **house} for x in (10, 110) for y in (10, 110)]
    field = frames(streets(), 10)["received_packets"].mean()
    town = frames(streets(radio={"obstacles": {"buildings": buildings}}), 10)["received_packets"].mean()
    assert town < 0.8 * field  # type: ignore[operator]
    assert town > 0.1 * 10_000  # type: ignore[operator]


def test_outcomes_depend_on_nothing_but_the_seed() -> None:
    obstacles = {
        **wall("5 dB", 100.5),
        "blockage": {"interval": "5 s", "duration": "1 s", "attenuation": ["5 dB", "25 dB"]},
        "drift": {"deviation": "3 dB", "decorrelation_time": "10 s"},
    }
    scenario = streets(radio={"obstacles": obstacles})
    flows = [run(scenario, threads=threads, replications=3).flows for threads in (1, 2)]
    assert flows[0].equals(flows[1])
    assert flows[0]["received_bytes"].n_unique() == 3


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("radio.obstacles", {"walls": [{"from": [0, 0], "to": [1, 1]}]}, "attenuation: is missing"),
        ("radio.obstacles", wall("-3 dB"), "is negative"),
        ("radio.obstacles", {"wals": []}, 'did you mean "walls"'),
        (
            "radio.obstacles",
            {"blockage": {"interval": "1 s", "duration": "1 s", "attenuation": ["20 dB", "5 dB"]}},
            "has the greater loss first",
        ),
        (
            "radio.obstacles",
            {"blockage": {"interval": "1 ms", "duration": "1 s", "attenuation": "5 dB"}},
            "more than 100 times the interval",
        ),
        ("radio.obstacles", {"drift": {"deviation": "3 dB"}}, "decorrelation_time: is missing"),
        ("nodes.n.mobility.block", ["70 m", "100 m"], r"does not divide the width of the area, 200 m"),
        ("nodes.n.mobility.block", ["1 mm", "100 m"], r"makes 200000 blocks along the width"),
        ("nodes.n.mobility.speed", ["14 m/s", "8 m/s"], "has the higher speed first"),
        ("nodes.n.mobility.speed", 0, "is zero"),
        ("nodes.n.mobility.stop", 0.5, "a pause takes no time"),
        ("nodes.n.mobility.pause", "5 s", "never stop at crossings"),
        ("nodes.n.mobility.turn", 1.5, "is too large"),
    ],
)
def test_wrong_values_are_told(key: str, value: Any, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        streets().set(key, value)


def test_a_range_has_no_power_that_obstacles_could_weaken() -> None:
    radio = {"propagation": {"model": "range", "receive": "50 m", "carrier_sense": "100 m"}, "obstacles": wall("3 dB")}
    with pytest.raises(ScenarioError, match="no effect with propagation"):
        pair(radio=radio)


def test_a_node_must_begin_on_a_street() -> None:
    placed = {"shape": "points", "at": [[0, 0], [50, 100]]}
    mobility = {
        "model": "streets",
        "block": [100, 100],
        "speed": 10,
        "area": {"width": 200, "height": 200},
    }
    node = {"name": "n", "count": 2, "placement": placed, "mobility": mobility}
    good = pair(nodes=[cast(Any, node)])
    assert run(good).flows["received_packets"][0] > 0
    placed["at"] = [[0, 0], [50, 90]]
    with pytest.raises(ScenarioError, match=r"n1 at \(50, 90\) m is on no street"):
        pair(nodes=[cast(Any, node)])
