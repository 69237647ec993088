"""`examples/best_setting.py` and `examples/sensitivity.py`: sweeps under Optuna and SALib."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hopcast as package
from conftest import ROOT
from hopcast import open_sweep
from hopcast.lab.executor import Run
from hopcast.statistics import mean


def example(name: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_optuna_finds_a_setting_that_spares_the_film(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("best_setting")
    found = module.best(8, tmp_path)
    assert set(found.best_params) == {"window", "queue", "rate"}
    # What it reports is what the simulator says of that setting.
    scenario = module.SCENARIO.set_all(
        {
            "flows.download.transport.window": found.best_params["window"],
            "radio.queue.packets": found.best_params["queue"],
            "radio.data_rate": found.best_params["rate"],
        }
    )
    flows = package.run(scenario, replications=module.SEEDS).flows
    assert mean(flows.filter(name="film")["loss_ratio"].to_list()) <= module.ALLOWED
    assert found.best_value == mean(flows.filter(name="download")["goodput_bps"].to_list()) / 1e6

    # A second search of the same kind simulates nothing.
    def never(self: Run, progress: Any) -> Any:
        raise AssertionError(self.place)

    monkeypatch.setattr(Run, "result", never)
    again = module.best(8, tmp_path)
    assert (again.best_value, again.best_params) == (found.best_value, found.best_params)


@pytest.mark.slow
def test_salib_finds_that_the_queue_decides_and_retries_do_not(tmp_path: Path) -> None:
    module = example("sensitivity")
    found = module.indices(16, tmp_path)
    totals = {key.split(".")[-1]: total for key, (_, total) in found.items()}
    assert totals["packets"] > 0.5 > totals["window"] > totals["short"]
    assert totals["short"] < 0.05
    assert open_sweep(tmp_path).document["counts"]["points"] == 16 * (len(module.RANGES) + 2)
