"""Conversations between real nodes in the report of an emulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars
import pytest

from hopcast.report.page import NothingToReport, write_report
from hopcast.tables import CONVERSATION_COLUMNS, RTP_COLUMNS

STREAM = {"ssrc": 0xABCD, **{field: 7 for _, field, _ in RTP_COLUMNS}}
CALL = {
    "name": "udp phone:40000 > server:5004",
    "protocol": "udp",
    "sent_bytes": 1000,
    **{field: 0.25 for _, field, _ in CONVERSATION_COLUMNS},
    "drops": {"queue_full": 2, "retry_limit_short": 31, "no_route": 0},
    "held_packets": 1,
    "rtp": [STREAM],
}
PING = CALL | {"name": "icmp phone > server", "protocol": "icmp", "rate_bps": None, "sent_bytes": 10, "rtp": []}
SERIES = {
    "seed": [1, 1, 1],
    "time_s": [0.1, 0.2, 0.1],
    "conversation": [CALL["name"], CALL["name"], PING["name"]],
    "sent_packets": [4, 0, 1],
    "lost_packets": [1, 0, 0],
    "rate_bps": [1e6, 0.0, 800.0],
    "delay_s": [0.003, None, 0.001],
    "freeze_time_s": [0.0, 0.04, None],
}


def emulation(folder: Path, conversations: list[dict[str, Any]]) -> Path:
    """The files of an emulation in which real nodes said so much."""
    origin = {"version": "0", "scenario_sha256": "", "seed": 1}
    document = {"flows": [], "nodes": [], "conversations": conversations, "provenance": origin}
    (folder / "run.json").write_text(json.dumps(document))
    polars.DataFrame(SERIES).write_parquet(folder / "conversation_series.parquet")
    return folder


def test_a_call_is_shown_with_its_freezes_over_time(tmp_path: Path) -> None:
    page = Path(write_report(emulation(tmp_path, [CALL, PING]))).read_text()
    assert page.count("udp phone:40000 &gt; server:5004") >= 2
    assert "icmp phone &gt; server" in page
    assert "0x0000abcd" in page
    assert "<td>retry limit short 31, queue full 2, held by a real node 1</td>" in page
    for title in ("Rate over time", "Mean one-way delay over time", "Packets lost, of those", "a picture was frozen"):
        assert title in page


def test_without_conversations_there_is_no_section(tmp_path: Path) -> None:
    assert 'id="conversations"' not in Path(write_report(emulation(tmp_path, []))).read_text()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"delay_mean_s": "long"}, "delay_mean_s = 'long': a number or null is expected"),
        ({"drops": {"queue_full": "some"}}, "drops.queue_full = 'some': a whole number"),
        ({"sent_bytes": 0.5}, "sent_bytes = 0.5: a whole number"),
        ({"rtp": [STREAM | {"ssrc": "x"}]}, "ssrc = 'x': a whole number"),
    ],
)
def test_what_is_no_conversation_is_told(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(NothingToReport, match=problem):
        write_report(emulation(tmp_path, [CALL | change]))


def test_a_series_without_a_column_is_told(tmp_path: Path) -> None:
    folder = emulation(tmp_path, [CALL])
    polars.DataFrame(SERIES).drop("rate_bps").write_parquet(folder / "conversation_series.parquet")
    with pytest.raises(NothingToReport, match="has no column rate_bps"):
        write_report(folder)
