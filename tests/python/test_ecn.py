"""Explicit congestion notification in a whole scenario: marks instead of losses, and what tshark reads of them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import Hopcast
from test_captures import BAD, fields, tshark

TOML = """
duration = "8 s"
[radio]
standard = "802.11a"
data_rate = "54 Mb/s"
propagation = {{ model = "range", receive = "100 m", carrier_sense = "100 m" }}
queue = {{ packets = 400, {queue} }}
[[nodes]]
name = "n"
count = 2
placement = {{ shape = "line", spacing = "10 m" }}
socket_buffer = "200 kB"
[[flows]]
name = "bulk"
from = "n0"
to = "n1"
transport = {{ protocol = "tcp", ecn = {ecn} }}
application = {{ kind = "bulk" }}
"""

# The window must outgrow the queue's target: the round trip without a queue is below a millisecond.
QUEUES = {
    "codel": 'discipline = "codel", ecn = true',
    "fq-codel": 'discipline = "fq-codel", ecn = true',
    "step": "ecn = true",
}


def run(hopcast: Hopcast, folder: Path, queue: str, ecn: bool, *options: object) -> dict[str, Any]:
    file = folder / "ecn.toml"
    file.write_text(TOML.format(queue=queue, ecn=str(ecn).lower()))
    done = hopcast("run", file, "--json", *options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or "--pcap" in options, "only the size of captures is told"
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_marks_what_it_would_drop(hopcast: Hopcast, tmp_path: Path, queue: str) -> None:
    marking = run(hopcast, tmp_path, QUEUES[queue], True)
    flow, sender = marking["flows"][0], marking["nodes"][0]
    assert sender["drops"]["queue_management"] == sender["drops"]["queue_full"] == 0
    assert flow["retransmitted_segments"] == flow["fast_retransmits"] == 0
    # A marked segment may still be in the queue or on the air at the end.
    assert 0 <= sender["marked"] - flow["marked_segments"] <= 20
    assert 0 < flow["ecn_reductions"] <= flow["marked_segments"]
    # The same flow without the wish: the queue has nothing to mark.
    plain = run(hopcast, tmp_path, QUEUES[queue], False)
    assert plain["nodes"][0]["marked"] == plain["flows"][0]["marked_segments"] == 0
    if queue != "step":
        assert plain["nodes"][0]["drops"]["queue_management"] > 0
        assert plain["flows"][0]["retransmitted_segments"] > 0
    assert flow["goodput_bps"] > 0.9 * plain["flows"][0]["goodput_bps"]


WIRE = """
duration = "20 s"
[[nodes]]
name = "a"
role = "wired"
[[nodes]]
name = "b"
role = "wired"
[[links]]
between = ["a", "b"]
rate = "20 Mb/s"
delay = "10 ms"
queue = {{ packets = 1000, {queue} }}
[[flows]]
name = "bulk"
from = "a"
to = "b"
transport = {{ protocol = "tcp", variant = "cubic", ecn = true }}
application = {{ kind = "bulk" }}
[[flows]]
name = "probe"
from = "a"
to = "b"
start = "5 s"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", packet = "50 B", rate = "20 kb/s" }}
"""


@pytest.mark.parametrize(("queue", "target_ms"), [("dualpi2", 15.0), ("pie", 15.0), ("codel", 5.0)])
def test_a_wire_marks_and_keeps_the_wait_near_its_target(
    hopcast: Hopcast, tmp_path: Path, queue: str, target_ms: float
) -> None:
    file = tmp_path / "wire.toml"
    file.write_text(WIRE.format(queue=f'discipline = "{queue}", ecn = true'))
    done = hopcast("run", file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    bulk, probe = result["flows"]
    # The probe waits in the same queue as the bulk flow; its delay without a queue is that of the wire.
    wait_ms = probe["delay_mean_s"] * 1e3 - 10.0
    assert 0.3 * target_ms < wait_ms < 1.5 * target_ms
    assert bulk["goodput_bps"] > 0.85 * 20e6
    assert 0 < bulk["marked_segments"] <= result["nodes"][0]["marked"]
    assert bulk["retransmitted_segments"] == 0


def test_tshark_reads_the_marks(hopcast: Hopcast, tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, "tshark is not installed"
        pytest.skip("tshark is not installed")
    result = run(hopcast, tmp_path, QUEUES["codel"], True, "--out", tmp_path / "out", "--pcap")
    sink = tmp_path / "out" / "n1.pcapng"
    assert tshark(sink, "-Y", BAD) == []
    syns = tshark(sink, "-Y", "tcp.flags.syn == 1", *fields("tcp.flags.ack", "tcp.flags.ece", "tcp.flags.cwr"))
    truth = {"0": "0", "False": "0", "1": "1", "True": "1"}
    # RFC 3168, section 6.1.1.
    assert {tuple(truth[flag] for flag in syn) for syn in syns} == {("0", "1", "1"), ("1", "1", "0")}
    marked = tshark(sink, "-Y", "ip.dsfield.ecn == 3 && tcp.len > 0", *fields("tcp.seq"))
    assert len({line[0] for line in marked}) == result["flows"][0]["marked_segments"] > 0
    # Section 6.1.4: what carries no data is not marked, and all data that is sent for the first time can be.
    assert tshark(sink, "-Y", "ip.dsfield.ecn != 0 && tcp.len == 0") == []
    assert tshark(sink, "-Y", "ip.dsfield.ecn == 0 && tcp.len > 0") == []
    reduced = tshark(sink, "-Y", "tcp.flags.cwr == 1 && tcp.len > 0", *fields("tcp.seq"))
    assert 0 <= result["flows"][0]["ecn_reductions"] - len({line[0] for line in reduced}) <= 1
