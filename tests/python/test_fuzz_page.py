"""The page with the counts of `make fuzz`, which needs no fuzzer."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from conftest import ROOT

SPEC = importlib.util.spec_from_file_location("fuzz_run", ROOT / "fuzz" / "run.py")
assert SPEC is not None
assert SPEC.loader is not None
fuzz = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzz)


def test_counts_are_read_as_they_are_written(tmp_path: Path) -> None:
    counts = {"guard": [3, 12_345_678, 540, 71], "tcp": [1, 999, 60, 2]}
    page = tmp_path / "fuzzing.md"
    page.write_text(fuzz.page(counts))
    assert fuzz.counted(page) == counts
    assert fuzz.page(fuzz.counted(page)) == page.read_text()
    assert "12 346 677 inputs in all" in page.read_text()
    assert fuzz.counted(tmp_path / "no page") == {}


def test_the_page_has_each_target() -> None:
    page = ROOT / "docs" / "fuzzing.md"
    targets = {path.stem for path in (ROOT / "fuzz" / "fuzz_targets").glob("*.rs")}
    assert all(f"| `{target}` |" in page.read_text() for target in targets)
    assert set(fuzz.counted(page)) <= targets
