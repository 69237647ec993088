"""Kept runs that are repeated: the same bytes, or an error that names the run and the value."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars
import pytest

from conftest import Hopcast
from hopcast import RunError, Sweep, open_sweep
from hopcast.lab.executor import Run
from hopcast.sweep import SweepFailed
from hopcast.sweep.verify import drawn
from test_sweep import RULE, SWEEP, asked, octets

__all__ = ["asked"]


def change_last_digit(part: Path, seed: int) -> float:
    """Change the mean delay of the first flow in one run with this seed, as little as possible; return the new value."""
    kept = polars.read_parquet(part)
    row = next(at for at, of in enumerate(kept["seed"]) if of == seed)
    flows: list[Any] = kept["flows"].to_list()
    changed: float = math.nextafter(flows[row][0]["delay_mean_s"], 1.0)
    flows[row][0]["delay_mean_s"] = changed
    kept.with_columns(polars.Series("flows", flows, kept.schema["flows"])).write_parquet(part)
    return changed


@pytest.mark.parametrize("text", [SWEEP, RULE], ids=["fixed", "rule"])
def test_repeated_runs_are_the_same(asked: Path, text: str, hopcast: Hopcast) -> None:
    asked.write_text(text)
    out = asked.parent / "out"
    first = hopcast("sweep", asked, "--out", out, "--verify", "100%", "--json")
    assert (first.returncode, first.stderr) == (0, "")
    document = json.loads(first.stdout)
    assert document["verified"]["runs"] >= document["counts"]["finished"]
    assert document["verified"]["differ"] == 0
    before = octets(out)
    again = hopcast("sweep", asked, "--out", out, "--verify", "1%")
    assert (again.returncode, "Repeated runs: 1, all the same" in again.stdout) == (0, True)
    assert octets(out) == before


def test_a_changed_digit_is_found(asked: Path, hopcast: Hopcast) -> None:
    out = asked.parent / "out"
    Sweep.from_toml(asked).run(out)
    (part,) = out.glob("part-*.parquet")
    changed = change_last_digit(part, 12)
    octets_before = part.read_bytes()
    done = hopcast("sweep", asked, "--out", out, "--verify", "100%")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"1 of 16 repeated runs differ from those in {out}" in done.stderr
    assert f"seed 12: flows.units.delay_mean_s is {changed} in the folder" in done.stderr
    assert part.read_bytes() == octets_before
    assert json.loads((out / "sweep.json").read_text())["verified"] == {"runs": 16, "differ": 1}
    # A shard repeats its own runs alone: the second of two has seed 11.
    assert Sweep.from_toml(asked).run(out, shard=(2, 2), verify=1.0).document["verified"] == {"runs": 8, "differ": 0}
    with pytest.raises(SweepFailed, match="1 of 8 repeated runs differ"):
        Sweep.from_toml(asked).run(out, shard=(1, 2), verify=1.0)


def test_a_repeated_run_that_fails_is_told(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = asked.parent / "out"
    Sweep.from_toml(asked).run(out)

    def failing(self: Run, progress: Any) -> Any:
        raise RunError(f"{self.place}: the model raised")

    monkeypatch.setattr(Run, "result", failing)
    with pytest.raises(SweepFailed, match=r"16 of 16 .*seed 11: the model raised \(the kept run had not failed\)"):
        Sweep.from_toml(asked).run(out, verify=1.0)
    assert open_sweep(out).complete


def test_a_share_is_drawn_anew_each_time() -> None:
    names = {f"{index:03}" for index in range(1000)}
    shares = [drawn(names, 0.01) for _ in range(20)]
    assert {len(share) for share in shares} == {10}
    assert all(share <= names for share in shares)
    assert len({frozenset(share) for share in shares}) == 20
    assert (len(drawn(names, 1e-9)), drawn(set(), 0.5), drawn(names, 1.0)) == (1, set(), names)


@pytest.mark.parametrize("share", ["0%", "101%", "1", "0.01", "%", "a%", "nan%", "-1%"])
def test_a_wrong_share_is_refused(asked: Path, share: str, hopcast: Hopcast) -> None:
    done = hopcast("sweep", asked, "--out", asked.parent / "out", f"--verify={share}")
    assert (done.returncode, "expected, for example, 1%" in done.stderr) == (2, True)
    with pytest.raises(ValueError, match="verify"):
        Sweep.from_toml(asked).run(verify=0.0)
