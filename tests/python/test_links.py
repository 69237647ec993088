"""Wires that change in time: whole runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from hopcast import Scenario, ScenarioError, run
from hopcast.results import Result
from hopcast.types import Flow, Link

DURATION = 60.0


def scenario(link: dict[str, Any], flow: dict[str, Any], folder: Path) -> Scenario:
    """A server and a client on a wire."""
    return Scenario(
        name="wire",
        duration=DURATION,
        radio={},
        nodes=[{"name": "server", "role": "wired"}, {"name": "client", "role": "wired"}],
        links=[cast(Link, {"between": ["server", "client"], **link})],
        flows=[cast(Flow, {"name": "f", "from": "server", "to": "client", **flow})],
        directory=folder,
    )


TCP = {"transport": {"protocol": "tcp"}, "application": {"kind": "bulk"}}


def udp(rate: str) -> dict[str, Any]:
    """A stream of full packets of 1500 bytes."""
    return {"transport": {"protocol": "udp"}, "application": {"kind": "cbr", "packet": 1472, "rate": rate}}


def goodput(result: Result) -> float:
    """Goodput of the flow in bit/s."""
    return float(result.json()["flows"][0]["goodput_bps"])


def test_full_packets_leave_at_the_mean_rate_of_a_mahimahi_trace(tmp_path: Path) -> None:
    # Seven opportunities in 20 ms: 7 x 1500 B, 4.2 Mb/s of IP packets.
    (tmp_path / "t").write_text("1\n1\n1\n8\n9\n15\n20\n")
    link = {"trace": {"file": "t"}}
    assert goodput(run(scenario(link, udp("20 Mb/s"), tmp_path))) == pytest.approx(4.2e6 * 1472 / 1500, rel=2e-3)
    # TCP fills all opportunities but those of its slow start.
    assert goodput(run(scenario(link, TCP, tmp_path))) == pytest.approx(4.2e6 * 1460 / 1500, rel=2e-2)


def test_a_list_of_rates_is_followed(tmp_path: Path) -> None:
    # 4 Mb/s for 20 s, 1 Mb/s for 20 s, 2.5 Mb/s for 20 s: 2.5 Mb/s on average.
    link = {"rate": [["0 s", "4 Mb/s"], ["20 s", "1 Mb/s"], ["40 s", "2.5 Mb/s"]]}
    assert goodput(run(scenario(link, udp("20 Mb/s"), tmp_path))) == pytest.approx(2.5e6 * 1472 / 1500, rel=2e-3)


@pytest.mark.parametrize(("end", "mean"), [("stay", 1.05e6), ("repeat", 2e6)])
def test_a_table_stays_or_repeats(tmp_path: Path, end: str, mean: float) -> None:
    (tmp_path / "t.csv").write_text("time_s,rate_Mb/s,delay_ms,loss_%\n0,3,10,0\n1.5,1,50,0\n3,1,20,0\n")
    # 3 Mb/s for 1.5 s and 1 Mb/s for 1.5 s; then 1 Mb/s, or the same again.
    link = {"trace": {"file": "t.csv", "end": end}}
    assert goodput(run(scenario(link, udp("20 Mb/s"), tmp_path))) == pytest.approx(mean * 1472 / 1500, rel=4e-3)


def test_loss_and_delay_change_at_their_times(tmp_path: Path) -> None:
    link = {"rate": "10 Mb/s", "loss": [["0 s", 0.0], ["30 s", 0.2]], "delay": [["0 s", "10 ms"], ["30 s", "30 ms"]]}
    flow = run(scenario(link, udp("1 Mb/s"), tmp_path)).json()["flows"][0]
    # A fifth of the packets of the second half; 3.5 standard deviations of 2547 packets.
    assert flow["loss_ratio"] == pytest.approx(0.1, abs=3.5 * (0.16 * 0.5 / 5094) ** 0.5)
    serialisation = 1500 * 8 / 10e6
    arrived = 1 - 2 * flow["loss_ratio"]
    assert flow["delay_mean_s"] == pytest.approx(serialisation + (0.01 + 0.03 * arrived) / (1 + arrived), rel=1e-3)


def test_the_way_back_can_differ(tmp_path: Path) -> None:
    link = {"rate": "8 Mb/s", "back": {"rate": "1 Mb/s"}}
    there = scenario(link, udp("20 Mb/s"), tmp_path)
    back = scenario(link, {**udp("20 Mb/s"), "from": "client", "to": "server"}, tmp_path)
    assert goodput(run(there)) == pytest.approx(8e6 * 1472 / 1500, rel=2e-3)
    assert goodput(run(back)) == pytest.approx(1e6 * 1472 / 1500, rel=2e-3)


@pytest.mark.parametrize(
    ("text", "link", "told"),
    [
        (None, {"trace": {"file": "t"}}, "t"),
        ("", {"trace": {"file": "t"}}, "has no line"),
        ("5\n3\n", {"trace": {"file": "t"}}, "line 2: 3 ms comes after 5 ms"),
        ("5\nx\n", {"trace": {"file": "t"}}, 'line 2: "x" is no time'),
        ("5\n", {"trace": {"file": "t"}, "rate": "1 Mb/s"}, "is also in the trace"),
        ("5\n", {"trace": {"file": "t", "end": "stay"}}, "is not possible with a trace of Mahimahi"),
        ("time_s,loss\n0,0.5\n", {"trace": {"file": "t"}}, "rate: is missing"),
        ("time_s,loss\n0,1.5\n", {"trace": {"file": "t"}, "rate": "1 Mb/s"}, 'line 2: loss is "1.5"'),
        ("5\n", {"rate": [["1 s", "1 Mb/s"]]}, "begins at 1 s"),
        ("5\n", {"rate": [["0 s", "0 b/s"]]}, "is 0 at all times"),
    ],
)
def test_wrong_traces_are_refused(tmp_path: Path, text: str | None, link: dict[str, Any], told: str) -> None:
    if text is not None:
        (tmp_path / "t").write_text(text)
    with pytest.raises(ScenarioError, match="links") as refused:
        scenario(link, TCP, tmp_path)
    assert told in str(refused.value)
