"""The classical scene of ad hoc routing: the page says what the kept runs say, and the scene still runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "benches" / "routing"

sys.path.insert(0, str(BENCH))
try:
    import claims  # type: ignore[import-not-found]
    import classical  # type: ignore[import-not-found]
finally:
    sys.path.remove(str(BENCH))

PAGE = (ROOT / "docs" / "models" / "routing.md").read_text(encoding="utf-8")


def test_the_kept_runs_are_those_of_the_bench() -> None:
    kept = classical.read()
    assert set(kept) <= set(classical.cases())
    assert all([run["seed"] for run in runs] == list(range(1, len(runs) + 1)) for runs in kept.values())


def test_the_page_has_the_tables_of_the_kept_runs() -> None:
    assert claims.written(PAGE, claims.tables(classical.read())) == PAGE


@pytest.mark.parametrize("protocol", list(classical.PROTOCOLS))
def test_datagrams_are_delivered_or_counted_as_dropped(protocol: str) -> None:
    # The last pause is longer than the run: nobody moves.
    (run,) = classical.measure(classical.Case(protocol, 900.0), first=1, count=1, seconds=20.0)
    assert 0.5 * run["sent"] < run["received"] <= run["sent"]
    assert run["sent"] - run["received"] <= sum(run["drops"].values()) + 64
    assert run["routing_packets"] > 0


def test_cases_survive_the_file(tmp_path: Path) -> None:
    case = next(case for case in classical.cases() if case.changes)
    runs = classical.measure(case, first=3, count=2, seconds=5.0)
    assert [run["seed"] for run in runs] == [3, 4]
    classical.write({case: runs}, tmp_path / "kept.json")
    assert classical.read(tmp_path / "kept.json") == {case: runs}
