"""The fastest download next to a film that must not suffer: Optuna looks for window, queue and rate of the radio.

Run:      pip install hopcast optuna && python best_setting.py
Look at:  the setting that it finds. Large windows are fast until the film loses packets; every trial after the first few is near the line.
Change:   ALLOWED, or SEEDS: with more of them the line is sharper.

Each trial is a sweep of one point in the folder `trials`, so a run that is there is not simulated again: call it twice.
"""

import sys
from pathlib import Path

import optuna

import hopcast
from hopcast.statistics import mean

SCENARIO = hopcast.Scenario.from_toml(Path(__file__).with_name("film.toml"))
SEEDS = 3
ALLOWED = 0.001
"""Share of the film's packets that may get lost."""


def measured(trial: optuna.Trial, folder: str | Path) -> float:
    """Goodput of the download in Mb/s; below zero if the film loses too much, the more the worse."""
    setting = {
        "flows.download.transport.window": trial.suggest_int("window", 1, 64, log=True),
        "radio.queue.packets": trial.suggest_int("queue", 10, 100, step=10),
        "radio.data_rate": trial.suggest_categorical("rate", ["24 Mb/s", "54 Mb/s"]),
    }
    sweep = hopcast.Sweep(SCENARIO, grid={key: [value] for key, value in setting.items()}, replications=SEEDS)
    flows = sweep.run(folder).flows
    lost = mean(flows.filter(name="film")["loss_ratio"].to_list())
    return mean(flows.filter(name="download")["goodput_bps"].to_list()) / 1e6 if lost <= ALLOWED else -lost


def best(trials: int, folder: str | Path) -> optuna.Study:
    """Try so many settings; the same ones each time."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(lambda trial: measured(trial, folder), n_trials=trials)
    return study


if __name__ == "__main__":
    found = best(int(sys.argv[1]) if len(sys.argv) > 1 else 30, "trials")
    print(f"{found.best_value:.2f} Mb/s with {found.best_params}")
