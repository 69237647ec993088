"""Repeats runs that a sweep has kept, and compares them: `hopcast sweep --verify 1%`.

Equal inputs give equal bytes, so a run that is kept is not simulated again. This checks that on a random share of the runs.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopcast.errors import RunError
from hopcast.lab.executor import Executor, Key, Run, execute
from hopcast.sweep.parts import DamagedPart, Parts, frame_of

if TYPE_CHECKING:
    import polars

    from hopcast.results import Progress


@dataclass(frozen=True)
class Repeated(Run):
    """A run whose document is the text of what a sweep keeps of it."""

    name: str = ""

    def simulate(self, progress: Progress | None) -> str:
        """Simulate it, and keep nothing; return its row, or why it failed."""
        try:
            result = self.result(progress)
        except RunError as error:
            return json.dumps({"failure": str(error)})
        return json.dumps({"row": text_of(frame_of(self.name, self.seed, result))})


def text_of(row: polars.DataFrame) -> str:
    """The types and values of a kept run, each number with all its digits: equal texts are equal bytes."""
    return json.dumps([str(row.schema), row.row(0, named=True)], default=repr)


def drawn(names: set[str], share: float) -> set[str]:
    """A random share of the names, at least one. Each call draws others."""
    count = min(max(math.ceil(share * len(names)), 1), len(names))
    return set(random.SystemRandom().sample(sorted(names), count))


def differences(
    runs: Mapping[str, Repeated], parts: Parts, executor: Callable[[], Executor], progress: Progress | None
) -> list[str]:
    """Repeat these runs of a folder, by name; return a sentence about each that is not the same. Raises `RunError`."""
    try:
        found = parts.load(runs.keys())
    except DamagedPart as error:
        raise RunError(str(error)) from None
    kept = {} if found is None else {row["run"].item(): text_of(row) for row in found.iter_slices(1)}
    left = {Key(name, (), (), (), one.seed, None): one for name, one in runs.items() if name in kept}
    told: dict[str, str] = {}
    with closing(execute(left, executor(), progress=progress)) as finished:
        for key, document in finished:
            if (failure := document.get("failure")) is not None:
                told[key.sha256] = f"{failure} (the kept run had not failed)"
            elif document["row"] != kept[key.sha256]:
                field = _differs(json.loads(kept[key.sha256]), json.loads(document["row"]))
                told[key.sha256] = f"{left[key].place}: {field}"
    return [told[name] for name in runs if name in told]


def _differs(kept: list[Any], repeated: list[Any]) -> str:
    """The first value that is not the same, for people."""
    if kept[0] != repeated[0]:
        return "its fields or their types are others"
    for table in ("seed", "totals", "flows", "nodes"):
        one, other = kept[1][table], repeated[1][table]
        rows, others = (one, other) if isinstance(one, list) else ([one], [other])
        if len(rows) != len(others):
            return f"{table} has {len(rows)} rows in the folder, and {len(others)} now"
        for row, again in zip(rows, others, strict=True):
            if not isinstance(row, dict):
                if row != again:
                    return f"{table} is {row} in the folder, and {again} now"
                continue
            for field, value in row.items():
                if json.dumps(value) != json.dumps(again[field]):
                    name = f"{table}.{row['name']}" if "name" in row else table
                    return f"{name}.{field} is {json.dumps(value)} in the folder, and {json.dumps(again[field])} now"
    return "its name in the file is another"
