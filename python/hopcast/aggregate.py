"""Combine several replications in one object: means with confidence intervals."""

from __future__ import annotations

import json
from typing import Any

from hopcast.statistics import ci95, mean

SUMMED = ("events", "user_s", "simulated_s")
"""Costs that add up over replications. Other costs are those of the slowest replication, since replications run at
the same time.
"""


def aggregate(texts: list[str]) -> dict[str, Any]:
    """Return the object of `hopcast run --json` from the objects of its replications, given as JSON texts in the
    order of seeds.

    A single replication stays as it is. With several, each number of a flow, of a node and of the totals is the mean,
    and `<field>_ci95` next to it is half the width of its interval. The mean leaves out a number that a replication
    could not measure (`null`: the delay of a flow without arrivals). Requests in a streaming cloud differ between
    replications: of `cloud` only the totals remain.
    """
    documents = [json.loads(text) for text in texts]
    first = documents[0]
    if len(documents) == 1:
        return dict(first)
    warnings = dict.fromkeys(text for document in documents for text in document.get("warnings", ()))
    return {
        "flows": _rows([document["flows"] for document in documents]),
        "nodes": _rows([document["nodes"] for document in documents]),
        "totals": _record([document["totals"] for document in documents]),
        **({"cloud": {"totals": _record([one["cloud"]["totals"] for one in documents])}} if "cloud" in first else {}),
        **({"warnings": list(warnings)} if warnings else {}),
        "cost": _cost([document["cost"] for document in documents]),
        "provenance": first["provenance"]
        | {
            "replications": len(documents),
            "seeds": [document["provenance"]["seed"] for document in documents],
        },
    }


def _rows(tables: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Records are matched by position: a scenario has its flows and nodes in a fixed order."""
    return [_record(list(records)) for records in zip(*tables, strict=True)]


def _record(records: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key, value in records[0].items():
        values = [record[key] for record in records]
        if isinstance(value, dict):
            merged[key] = _record(values)
        elif isinstance(value, list):
            merged[key] = _rows(values)
        elif all(_is_number(value) for value in values):
            numbers = [float(value) for value in values if value is not None]
            merged[key] = mean(numbers) if numbers else None
            merged[f"{key}_ci95"] = ci95(numbers)
        else:
            merged[key] = value
    return merged


def _cost(costs: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key in costs[0]:
        values = [cost[key] for cost in costs if cost[key] is not None]
        merged[key] = (sum(values) if key in SUMMED else max(values)) if values else None
    return merged


def _is_number(value: object) -> bool:
    """Whether all values are numbers, or `None` in place of a number."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
