"""TCP Prague and accurate ECN in whole scenarios: shares next to CUBIC under DualPI2, and what tshark reads."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from hopcast import Scenario, run
from test_captures import BAD, fields, tshark


def wire(round_trip_ms: float, variants: list[str], seconds: float, *others: dict[str, Any]) -> Scenario:
    """Bulk flows, and `others`, over one wire of 40 Mb/s under DualPI2."""
    flows = [
        {
            "name": f"f{index}",
            "from": "a",
            "to": "b",
            "transport": {"protocol": "tcp", "variant": variant, "ecn": True, "timestamps": True},
            "application": {"kind": "bulk"},
        }
        for index, variant in enumerate(variants)
    ]
    link = {
        "between": ["a", "b"],
        "rate": "40 Mb/s",
        "delay": f"{round_trip_ms / 2} ms",
        "queue": {"packets": 1000, "discipline": "dualpi2"},
    }
    return Scenario(
        duration=seconds,
        nodes=[{"name": "a", "role": "wired"}, {"name": "b", "role": "wired"}],
        links=[cast(Any, link)],
        flows=[cast(Any, flow) for flow in [*flows, *others]],
    )


@pytest.mark.parametrize("round_trip_ms", [5, 10, 20, 50, 100])
def test_prague_and_cubic_share_a_wire(round_trip_ms: float) -> None:
    """RFC 9332, section 2.1: the coupling gives scalable and classic flows about the same rate. At 100 ms the sockets limit both."""
    prague, cubic = run(wire(round_trip_ms, ["prague", "cubic"], 60)).json()["flows"]
    share = prague["goodput_bps"] / (prague["goodput_bps"] + cubic["goodput_bps"])
    assert 0.4 < share < 0.6
    # Nothing is lost, and the scalable flow gets by far the more marks.
    assert prague["retransmitted_segments"] == cubic["retransmitted_segments"] == 0
    assert prague["marked_segments"] > 10 * cubic["marked_segments"] or round_trip_ms == 100


@pytest.mark.parametrize("round_trip_ms", [5, 10, 20, 50, 100])
def test_l4s_packets_wait_for_less_than_two_milliseconds(round_trip_ms: float) -> None:
    """The aim of RFC 9330 and RFC 9332, at the 99th percentile, of a thin flow of ECT(1) next to Prague and CUBIC."""
    probe = {
        "name": "probe",
        "from": "a",
        "to": "b",
        "transport": {"protocol": "rtp", "congestion": "scream", "ecn": True},
        "application": {"kind": "cbr", "packet": 200, "rate": "80 kb/s"},
    }
    *_, thin = run(wire(round_trip_ms, ["prague", "cubic"], 60, probe)).json()["flows"]
    assert thin["delay_p99_s"] - round_trip_ms / 2e3 < 0.002


def test_prague_fills_a_wire_by_itself() -> None:
    (flow,) = run(wire(20, ["prague"], 30)).json()["flows"]
    assert flow["goodput_bps"] > 0.9 * 40e6
    assert flow["ecn_reductions"] > 100
    assert flow["retransmitted_segments"] == 0


def test_tshark_reads_accurate_feedback(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, "tshark is not installed"
        pytest.skip("tshark is not installed")
    radio = {"standard": "802.11a", "data_rate": "6 Mb/s", "queue": {"discipline": "dualpi2"}}
    flow = {
        "name": "f",
        "from": "n0",
        "to": "n1",
        "transport": {"protocol": "tcp", "variant": "prague"},
        "application": {"kind": "bulk"},
    }
    scenario = Scenario(
        duration=3,
        radio=cast(Any, radio),
        nodes=[{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": 5}}],
        flows=[cast(Any, flow)],
    )
    result = run(scenario, out=tmp_path / "out", pcap=True).json()["flows"][0]
    sink = tmp_path / "out" / "n1.pcapng"
    assert tshark(sink, "-Y", BAD) == []
    flags = ("tcp.flags.ack", "tcp.flags.ae", "tcp.flags.cwr", "tcp.flags.ece")
    syns = tshark(sink, "-Y", "tcp.flags.syn == 1", *fields(*flags))
    # RFC 9768, Table 2: both offer it, and the answer says that the SYN came as Not-ECT.
    truth = {"0": "0", "False": "0", "1": "1", "True": "1"}
    assert {tuple(truth[flag] for flag in syn) for syn in syns} == {("0", "1", "1", "1"), ("1", "0", "1", "0")}
    # All data leaves as ECT(1) or is marked, and nothing else.
    assert tshark(sink, "-Y", "tcp.len > 0 && ip.dsfield.ecn != 1 && ip.dsfield.ecn != 3") == []
    assert tshark(sink, "-Y", "tcp.len == 0 && ip.dsfield.ecn != 0") == []
    assert result["marked_segments"] > 0
    # tshark has understood the handshake, and shows the count: that of marked packets, which begins with 5.
    last = tshark(sink, "-Y", "tcp.len == 0 && tcp.flags.syn == 0", *fields("tcp.flags.ace"))[-1]
    marked = len(tshark(sink, "-Y", "ip.dsfield.ecn == 3 && tcp.len > 0"))
    assert (5 + marked - int(last[0])) % 8 in (0, 1)
