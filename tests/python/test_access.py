"""Accesses of nodes: whole runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from hopcast import Scenario, ScenarioError, run
from hopcast.types import Access, Flow, Nodes, Radio

TCP = {"transport": {"protocol": "tcp"}, "application": {"kind": "bulk"}}
BULK = {"transport": {"protocol": "udp"}, "application": {"kind": "bulk", "packet": 1472}}


def cbr(rate: str) -> dict[str, Any]:
    """A stream of full packets of 1500 bytes."""
    return {"transport": {"protocol": "udp"}, "application": {"kind": "cbr", "packet": 1472, "rate": rate}}


def wired(accesses: dict[str, dict[str, Any]], flow: dict[str, Any], folder: Path = Path()) -> Scenario:
    """A server and a client on a wire of 1 Gb/s without delay."""
    names = ["server", "client"]
    nodes = [cast(Nodes, {"name": name, "role": "wired"}) for name in names]
    for node in nodes:
        if node["name"] in accesses:
            node["access"] = cast(Access, accesses[node["name"]])
    return Scenario(
        name="access",
        duration=60.0,
        radio={},
        nodes=nodes,
        links=[{"between": names, "rate": "1 Gb/s"}],
        flows=[cast(Flow, {"name": "f", "from": "server", "to": "client", **flow})],
        directory=folder,
    )


def result(scenario: Scenario) -> Any:
    """The result of the first flow."""
    return run(scenario).json()["flows"][0]


def test_the_delay_is_that_of_both_accesses_to_the_nanosecond() -> None:
    accesses: dict[str, dict[str, Any]] = {
        "server": {"up": {"rate": "8 Mb/s", "delay": "10 ms"}, "down": {"rate": "1 kb/s", "delay": "1 s"}},
        "client": {"rate": "4 Mb/s", "delay": "20 ms"},
    }
    # 1500 bytes: 1.5 ms, 12 us on the wire, 3 ms.
    flow = result(wired(accesses, cbr("100 kb/s")))
    assert flow["delay_mean_s"] == pytest.approx(0.0015 + 0.01 + 12e-6 + 0.003 + 0.02, abs=1e-12)
    assert flow["jitter_max_s"] == 0


def test_full_packets_pass_at_the_mean_rate_of_a_mahimahi_trace(tmp_path: Path) -> None:
    # Seven opportunities in 20 ms: 7 x 1500 B, 4.2 Mb/s of IP packets.
    (tmp_path / "t").write_text("1\n1\n1\n8\n9\n15\n20\n")
    accesses = {"client": {"down": {"trace": {"file": "t"}}, "up": {"rate": "1 Mb/s"}, "delay": "10 ms"}}
    for flow in (cbr("20 Mb/s"), BULK):
        goodput = result(wired(accesses, flow, tmp_path))["goodput_bps"]
        assert goodput == pytest.approx(4.2e6 * 1472 / 1500, rel=2e-3)
    goodput = result(wired(accesses, TCP, tmp_path))["goodput_bps"]
    assert goodput == pytest.approx(4.2e6 * 1460 / 1500, rel=2e-2)


def test_a_list_of_rates_is_followed_and_losses_come_at_their_rate() -> None:
    # 4 Mb/s for 20 s, 1 Mb/s for 40 s: 2 Mb/s on average, of which a tenth is lost.
    access = {"up": {"rate": [["0 s", "4 Mb/s"], ["20 s", "1 Mb/s"]], "loss": 0.1}}
    goodput = result(wired({"server": access}, BULK))["goodput_bps"]
    # 3.5 standard deviations of 10000 packets.
    assert goodput == pytest.approx(2e6 * 0.9 * 1472 / 1500, rel=3.5 * (0.1 / 0.9 / 10000) ** 0.5 + 2e-3)


def test_a_blocking_sender_waits_for_its_access_and_loses_nothing() -> None:
    flow = result(wired({"server": {"rate": "2 Mb/s"}}, BULK))
    assert flow["lost_packets"] == 0
    assert flow["goodput_bps"] == pytest.approx(2e6 * 1472 / 1500, rel=2e-3)
    # Without a rate it waits for the wire behind the access.
    slow = wired({"server": {"delay": "10 ms"}}, BULK).set("links.0.rate", "2 Mb/s")
    flow = result(slow)
    assert flow["lost_packets"] == 0
    assert flow["goodput_bps"] == pytest.approx(2e6 * 1472 / 1500, rel=2e-3)


def radios(access: dict[str, Any] | None, **more: Any) -> Scenario:
    """A node with two radios on different channels, and a neighbour on each."""
    here = cast(Nodes, {"name": "here", "placement": {"shape": "points", "at": [[0, 0]]}, **more})
    if access is not None:
        here["access"] = cast(Access, access)
    channels = [36, 52]
    here["radios"] = [{"channel": channel} for channel in channels]
    others = [
        {
            "name": f"n{channel}",
            "placement": {"shape": "points", "at": [[10, 0]]},
            "radios": [{"channel": channel}],
        }
        for channel in channels
    ]
    flows = [
        {"name": f"f{channel}", "from": "here", "to": f"n{channel}", **cbr("5 Mb/s"), "start": start}
        for channel, start in zip(channels, [0.0, 0.0005], strict=True)
    ]
    return Scenario(
        name="radios",
        duration=10.0,
        radio=cast(Radio, {"standard": "802.11a", "data_rate": "54 Mb/s"}),
        nodes=[here, *(cast(Nodes, node) for node in others)],
        flows=[cast(Flow, flow) for flow in flows],
    )


@pytest.mark.parametrize("more", [{}, {"card": {"copy_out": "10 us", "copy_in": "10 us"}}])
def test_all_radios_of_a_node_share_its_access(more: dict[str, Any]) -> None:
    def total(access: dict[str, Any] | None) -> float:
        return float(sum(flow["goodput_bps"] for flow in run(radios(access, **more)).json()["flows"]))

    assert total(None) == pytest.approx(10e6, rel=5e-3)
    assert total({"up": {"rate": "4 Mb/s"}}) == pytest.approx(4e6 * 1472 / 1500, rel=5e-3)
    # What comes back does not matter here.
    assert total({"down": {"rate": "100 kb/s"}}) == pytest.approx(10e6, rel=5e-3)


def test_drops_are_counted_at_the_node_by_cause() -> None:
    nodes = run(wired({"server": {"up": {"rate": "2 Mb/s"}}, "client": {"down": {"loss": 0.5}}}, cbr("4 Mb/s"))).json()[
        "nodes"
    ]
    drops = {node["name"]: node["drops"] for node in nodes}
    assert drops["server"]["queue_full"] > 5000
    assert drops["client"]["link_loss"] > 4000


@pytest.mark.parametrize(
    ("access", "told"),
    [
        ({"rate": "0 b/s"}, "access.rate"),
        ({"rate": [["1 s", "1 Mb/s"]]}, "begins at 1 s"),
        ({"up": {"trace": {"file": "nowhere"}}}, "access.up.trace.file"),
        ({"upp": {}}, "up"),
        ({"down": {"loss": 2}}, "access.down.loss"),
    ],
)
def test_wrong_accesses_are_refused(access: dict[str, Any], told: str) -> None:
    with pytest.raises(ScenarioError, match="access") as refused:
        wired({"client": access}, TCP)
    assert told in str(refused.value)
