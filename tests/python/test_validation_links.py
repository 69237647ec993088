"""Two saturated links next to ns-3's figures: hidden stations, a station of 802.11a next to one of 802.11n, overlapping channels."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hopcast import Scenario, run
from hopcast.statistics import ci95, mean

TESTS = Path(__file__).parents[1]
BENCH = TESTS.parent / "benches" / "peers"
PEERS = json.loads((TESTS / "data" / "peers.json").read_text(encoding="utf-8"))["links-ns-3"]["cases"]

# The settings of either side are those of the program that made the reference.
sys.path.insert(0, str(BENCH))
try:
    import validate  # type: ignore[import-not-found]
finally:
    sys.path.remove(str(BENCH))

CASES = {" ".join(case.label): case for case in validate.links_cases()}

DIFFERS = {"hidden, A-MPDU 8000, RTS off both"} | {
    f"second on {channel}, 4 m {link}"
    for channel in ("40, 20 MHz", "44, 20 MHz", "44, 40 MHz")
    for link in ("first", "second")
}
"""docs/models/aggregation.md and docs/models/channel-width.md name the rules that differ."""


def goodputs(case: Any) -> list[float]:
    """Bit/s of hopcast, seed by seed."""
    overrides = [f"{key}={value}" for key, value in case.hopcast_settings.items()]
    scenario = Scenario.from_toml(BENCH / f"{case.scene}.toml", overrides=overrides)
    results = [run(scenario, seed=seed, threads=1).json() for seed in range(1, 6)]
    flows = [[flow["goodput_bps"] for flow in result["flows"]] for result in results]
    return [sum(each) if case.flow is None else each[case.flow] for each in flows]


def test_all_cases_are_kept() -> None:
    assert PEERS.keys() == CASES.keys()


@pytest.mark.parametrize("name", sorted(CASES.keys() - DIFFERS))
def test_links_as_ns3_has_them(name: str) -> None:
    """Within 10 %, or with intervals that overlap."""
    measured, theirs = goodputs(CASES[name]), PEERS[name]
    overlap = (ci95(measured) or 0) + theirs["ci95"]
    assert abs(mean(measured) - theirs["mean"]) <= max(0.1 * theirs["mean"], overlap)
