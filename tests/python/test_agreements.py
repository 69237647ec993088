"""Block acknowledgment agreements over the air: in captures as tshark reads them, and what they cost."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hopcast import Scenario, run

PAYLOAD = 1472
NEGOTIATED = {"agreements": "negotiated"}
ACTION = "wlan.fc.type_subtype == 0x0d"
BAD = "_ws.malformed || _ws.expert.severity == error || wlan.fcs.status == 0"
WINDOWS = {"802.11n": 64, "802.11ac": 64, "802.11ax": 256}


def two_stations(standard: str, duration: float, **aggregation: Any) -> dict[str, Any]:
    """A scenario of two stations, of which one sends all it can."""
    return {
        "duration": duration,
        "radio": {"standard": standard, "data_rate": "mcs 7", "aggregation": aggregation},
        "nodes": [
            {
                "name": "n",
                "count": 2,
                "socket_buffer": "4 MB",
                "placement": {"shape": "line", "spacing": "1 m"},
            }
        ],
        "flows": [
            {
                "name": "f",
                "from": "n0",
                "to": "n1",
                "transport": {"protocol": "udp"},
                "application": {"kind": "bulk", "packet": PAYLOAD},
            }
        ],
    }


@pytest.mark.parametrize("standard", WINDOWS)
def test_a_negotiated_agreement_costs_its_exchange(standard: str) -> None:
    """One request and one response. The first packets go alone, and end within 2 ms: after that both runs carry the same."""
    implicit, negotiated = (
        run(Scenario(**two_stations(standard, 4, **aggregation)), threads=1).json() for aggregation in ({}, NEGOTIATED)
    )
    assert [node["management_sent"] for node in implicit["nodes"]] == [0, 0]
    assert [node["management_sent"] for node in negotiated["nodes"]] == [1, 1]
    received = [result["flows"][0]["received_packets"] for result in (implicit, negotiated)]
    in_two_milliseconds = received[0] * 2e-3 / 4
    # A frame more or less is on its way at the end.
    assert received[0] - received[1] <= in_two_milliseconds + WINDOWS[standard]
    assert received[1] == pytest.approx(received[0], rel=0.002)
    assert negotiated["flows"][0]["lost_packets"] == 0


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"agreements": "negotiated", "block_ack": "off"}, "needs block acknowledgments"),
        ({"inactivity": "1.024 s"}, "has no effect"),
        ({"agreements": "negotiated", "inactivity": "1 s"}, "whole number of time units"),
    ],
)
def test_what_makes_no_sense_is_refused(setting: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Scenario(**two_stations("802.11n", 1, **setting)).explain()


def test_older_standards_have_no_agreements() -> None:
    document = two_stations("802.11n", 1, agreements="negotiated")
    document["radio"] = {"standard": "802.11a", "aggregation": NEGOTIATED}
    with pytest.raises(ValueError, match="does not aggregate"):
        Scenario(**document).explain()


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
@pytest.mark.parametrize("standard", WINDOWS)
def test_tshark_reads_the_action_frames(standard: str, tmp_path: Path) -> None:
    """Request and response, and a DELBA after 102.4 ms without data: fields of 9.6.4 and 9.4.1.13 to 9.4.1.16."""
    document = two_stations(standard, 0.5, **NEGOTIATED, inactivity="102.4 ms")
    document["flows"][0] |= {"stop": "0.2 s"}
    result = run(Scenario(**document), out=tmp_path, pcap=True, threads=1)
    nodes = result.json()["nodes"]

    def fields(filtered: str, *names: str) -> list[list[str]]:
        command = ["tshark", "-r", str(tmp_path / "n0.pcapng"), "-Y", filtered, "-T", "fields"]
        command += [part for name in names for part in ("-e", name)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return [line.split("\t") for line in lines]

    assert fields(BAD, "frame.number") == []
    names = (
        "wlan.fixed.category_code",
        "wlan.fixed.action_code",
        "wlan.fixed.dialog_token",
        "wlan.fixed.status_code",
        "wlan.fixed.baparams.policy",
        "wlan.fixed.baparams.tid",
        "wlan.fixed.baparams.buffersize",
        "wlan.fixed.batimeout",
        "wlan.fixed.ssc.sequence",
        "wlan.fixed.delba.param.initiator",
        "wlan.fixed.delba.param.tid",
        "wlan.fixed.reason_code",
    )
    found = [
        [int(value, 0) if value.isdigit() or value.startswith("0x") else value for value in row]
        for row in fields(ACTION, *names)
    ]
    window = WINDOWS[standard]
    # tshark names the truth of a bit in some versions.
    request, response, end = (
        [value if value not in ("True", "False") else int(value == "True") for value in row] for row in found
    )
    assert request == [3, 0, 1, "", 1, 0, window, 100, 1, "", "", ""]
    assert response == [3, 1, 1, 0, 1, 0, window, 100, "", "", "", ""]
    assert end[:2] == [3, 2]
    assert end[9:] == [0, 0, 39]
    assert [node["management_sent"] for node in nodes] == [1, 2]
    first = fields("wlan.fc.type_subtype == 0x19", "frame.time_relative")[0][0]
    answered = fields(f"{ACTION} and wlan.fixed.action_code == 1", "frame.time_relative")[0][0]
    assert float(first) > float(answered), "no block acknowledgment before the agreement"
