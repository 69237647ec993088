"""Several replications in one object."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hopcast.aggregate import aggregate


def document(seed: int, goodput: float, delay: float | None, dropped: int) -> str:
    flow = {"name": "f", "from": "a", "to": "b", "protocol": "udp", "goodput_bps": goodput, "delay_mean_s": delay}
    return json.dumps(
        {
            "flows": [flow],
            "nodes": [{"name": "a", "drops": {"queue_full": dropped}}],
            "totals": {"frames_sent": 10 * seed},
            "cost": {"events": 100, "wall_s": 0.5 * seed, "user_s": 0.25, "simulated_s": 2.0, "peak_rss_bytes": seed},
            "provenance": {"version": "1", "scenario_sha256": "ab", "seed": seed},
        }
    )


def test_one_replication_passes_as_it_is() -> None:
    text = document(4, 1e6, None, 3)
    assert aggregate([text]) == json.loads(text)


def test_numbers_become_means_with_their_intervals_beside_them() -> None:
    merged = aggregate([document(1, 10.0, 0.1, 0), document(2, 12.0, 0.3, 1), document(3, 14.0, 0.2, 2)])
    flow = merged["flows"][0]
    assert list(flow)[:4] == ["name", "from", "to", "protocol"]
    assert flow["goodput_bps"] == 12.0
    assert flow["goodput_bps_ci95"] == pytest.approx(4.968, abs=1e-3)
    assert flow["delay_mean_s"] == pytest.approx(0.2)
    drops = merged["nodes"][0]["drops"]
    assert drops["queue_full"] == 1.0
    assert drops["queue_full_ci95"] == pytest.approx(2.484, abs=1e-3)
    assert merged["totals"]["frames_sent"] == 20.0


def test_what_was_not_measured_is_left_out_of_the_mean() -> None:
    def flow(*delays: float | None) -> dict[str, Any]:
        texts = [document(seed, 1.0, delay, 0) for seed, delay in enumerate(delays)]
        merged: dict[str, Any] = aggregate(texts)["flows"][0]
        return merged

    assert flow(0.1, None, 0.3)["delay_mean_s"] == pytest.approx(0.2)
    assert (flow(0.1, None)["delay_mean_s"], flow(0.1, None)["delay_mean_s_ci95"]) == (0.1, None)
    assert (flow(None, None)["delay_mean_s"], flow(None, None)["delay_mean_s_ci95"]) == (None, None)


def test_costs_add_up_or_are_those_of_the_dearest() -> None:
    merged = aggregate([document(1, 1.0, None, 0), document(2, 1.0, None, 0)])
    assert merged["cost"] == {"events": 200, "wall_s": 1.0, "user_s": 0.5, "simulated_s": 4.0, "peak_rss_bytes": 2}
    assert merged["provenance"] == {
        "version": "1",
        "scenario_sha256": "ab",
        "seed": 1,
        "replications": 2,
        "seeds": [1, 2],
    }
