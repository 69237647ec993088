"""Half-duplex Ethernet in whole runs: a hub and half-duplex ports share their rate, and no packet vanishes."""

from __future__ import annotations

from typing import Any, cast

import pytest

from hopcast import Scenario, ScenarioError, run

FRAMING = 38
"""Bytes of Ethernet around a packet, the gap included."""
RATE = 10e6


def around(middle: str, hosts: int, duplex: str | None = None, **link: Any) -> dict[str, Any]:
    """Hosts `n0`, `n1`, … with links of 10 Mb/s to a hub or a switch."""
    ends = {"rate": RATE, **({"duplex": duplex} if duplex else {}), **link}
    return {
        "duration": "5 s",
        "radio": {},
        "nodes": [
            {"name": "n", "count": hosts, "role": "wired"},
            {"name": "middle", "role": middle},
        ],
        "links": [{"between": [f"n{host}", "middle"], **ends} for host in range(hosts)],
    }


def flow(name: str, source: int, sink: int, **application: Any) -> dict[str, Any]:
    return {
        "name": name,
        "from": f"n{source}",
        "to": f"n{sink}",
        "transport": {"protocol": "udp"},
        "application": {"kind": "adu", "size": 1472, **application},
    }


def ran(made: dict[str, Any], *flows: dict[str, Any]) -> Any:
    return run(Scenario(**made, flows=cast(Any, list(flows))), seed=1)


def mbps(result: Any) -> list[float]:
    return [flow["goodput_bps"] / 1e6 for flow in result.json()["flows"]]


WHOLE = 10.0 * 1472 / (1500 + FRAMING)
"""Mb/s of UDP payload in full packets that follow each other."""


def test_a_host_alone_at_a_hub_has_all_of_its_rate() -> None:
    result = ran(around("hub", 2), flow("one", 0, 1))
    assert mbps(result) == [pytest.approx(WHOLE, rel=1e-3)]
    nodes = {node["name"]: node for node in result.json()["nodes"]}
    assert (nodes["n0"]["wire_collisions"], nodes["n1"]["wire_collisions"]) == (0, 0)
    assert "wire_collisions" not in nodes["middle"]


def test_a_unit_takes_the_medium_of_a_hub_once_and_two_half_duplex_cables() -> None:
    unit = {"bytes": 1472}
    airtime = 8 * (1500 + FRAMING - 12) / RATE
    for made, times in ((around("hub", 3), 1), (around("wired", 3, "half"), 2)):
        (found,) = ran(made, flow("one", 0, 1, **unit)).json()["flows"]
        assert found["delay_mean_s"] == pytest.approx(times * airtime, abs=1e-9)


def test_flows_in_all_directions_share_a_hub() -> None:
    # Six hosts that all want everything.
    result = ran(around("hub", 6), *(flow(f"f{host}", host, (host + 1) % 6) for host in range(6)))
    total = sum(mbps(result))
    assert 0.85 * WHOLE < total < WHOLE
    assert sum(node.get("wire_collisions", 0) for node in result.json()["nodes"]) > 1000


@pytest.mark.parametrize(("duplex", "octets", "directions"), [("full", 1500, 2), ("half", 1500 + FRAMING, 1)])
def test_a_cable_carries_both_directions_at_once_or_by_turns(duplex: str, octets: int, directions: int) -> None:
    result = ran(around("wired", 2, duplex), flow("there", 0, 1), flow("back", 1, 0))
    sent = sum(node["sent"] for node in result.json()["nodes"])
    # Of two cables, for 5 s. Collisions take a part of a shared one.
    assert sent * octets * 8 / 5 / 2 == pytest.approx(directions * RATE, rel=0.1)


def test_a_half_duplex_relay_takes_twice_the_time() -> None:
    made = around("wired", 3, "half")
    relayed = {**flow("one", 0, 2), "via": ["n1"]}
    made["nodes"][0]["relay"] = "application"
    assert sum(mbps(ran(made, relayed))) < 0.6 * WHOLE


def test_equal_seeds_collide_alike_and_others_do_not() -> None:
    made = around("hub", 4)
    flows = [flow(f"f{host}", host, (host + 1) % 4) for host in range(4)]
    scenario = Scenario(**made, flows=cast(Any, flows))
    first, again, other = (run(scenario, seed=seed).json()["nodes"] for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rate": "1 Gb/s"}, "too fast for half duplex"),
        ({"delay": "30 us"}, "too far for half duplex"),
        ({"duplex": "full"}, "not possible for the link of a hub"),
        ({"rate": [["0 s", "10 Mb/s"], ["1 s", "5 Mb/s"]]}, "is a list"),
        ({"back": {"delay": "1 us"}}, "both directions share the cable"),
    ],
)
def test_what_a_shared_cable_cannot_be_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ScenarioError, match=told):
        ran(around("hub", 2, **change), flow("one", 0, 1))


def test_a_hub_has_links_of_one_rate_and_no_other_hub_and_no_flows() -> None:
    made = around("hub", 2)
    made["links"][1]["rate"] = "100 Mb/s"
    with pytest.raises(ScenarioError, match="differs from that of another link of the hub"):
        ran(made, flow("one", 0, 1))
    made = around("hub", 2)
    made["nodes"].append({"name": "other", "role": "hub"})
    made["links"].append({"between": ["middle", "other"], "rate": RATE})
    with pytest.raises(ScenarioError, match="joins two hubs"):
        ran(made, flow("one", 0, 1))
    with pytest.raises(ScenarioError, match="is a hub"):
        ran(around("hub", 2), {**flow("one", 0, 1), "to": "middle"})
