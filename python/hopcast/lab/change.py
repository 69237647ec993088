"""Changes to all scenarios of an experiment."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping

from hopcast.lab.experiment import Amount, Case, Experiment
from hopcast.scenario import Scenario

Change = Callable[[Scenario], Scenario]


def changed(experiment: Experiment, change: Change) -> Experiment:
    """The same experiment, with `change` applied to every scenario."""
    cases = experiment.cases

    def made(amount: Amount) -> dict[str, Case]:
        return {name: dataclasses.replace(case, scenario=change(case.scenario)) for name, case in cases(amount).items()}

    return dataclasses.replace(experiment, cases=made)


def with_values(scenario: Scenario, values: Mapping[str, object]) -> Scenario:
    """A scenario with other values: one by one, or for every key in force that matches a pattern with `*`."""
    for key, value in values.items():
        for found in matching(scenario, key) if "*" in key else [key]:
            scenario = scenario.set(found, value)
    return scenario


def matching(scenario: Scenario, pattern: str) -> list[str]:
    """The keys in force that match a pattern, part by part."""
    parts = [re.compile(re.escape(part).replace(r"\*", ".*")) for part in pattern.split(".")]
    found = {key: key.split(".") for key, _, _ in scenario.explain()}
    return [
        key
        for key, names in found.items()
        if len(names) == len(parts) and all(part.fullmatch(name) for part, name in zip(parts, names, strict=True))
    ]
