"""Write `docs/results.md`, the dictionary of results, or check that it is not stale.

`python tools/docs/results.py` writes it, `python tools/docs/results.py --check` exits with 1 if it differs. The texts are
those of the fields in hopcast's source.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hopcast.fields import Field, described, schemas

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results.md"

HEAD = """\
<!-- Written by `make docs`; edit the descriptions of the fields in the source: those of runs in crates/sim/src/results and
crates/sim/src/metrics, those of the live commands in crates/live/src. -->
# Results

Each field of hopcast's results: what it means, its unit, what it is divided by, and where it is counted.

* `hopcast schema --results` prints the same as a JSON Schema.
* In Python, `hopcast.fields.FIELDS["flows"]["goodput_bps"]` describes a field. A wrong name raises an error that suggests the nearest one.

## Conventions

* The end of a name is its unit, where it has one: `_s` seconds, `_s2` square seconds, `_bps` bits per second, `_bytes`, `_packets`, `_hz`,
  and `_ratio`, a share from 0 to 1.
* `null` means that the number was not measured: the delay of a flow of which nothing arrived.
* With several replications each number is a mean, and `<field>_ci95` is half the width of its 95 % confidence interval (Student's t). The
  mean leaves out replications that could not measure the number.
* A **packet** of a flow is a datagram or a write of the application. A packet of a node is an IP packet, a fragment of one, or an ARP packet. A
  **frame** is what a radio puts on the air. So one packet of a flow can be several packets of each node, and one packet several frames.
* Some numbers count an event at every node that sees it. If a frame collides at five radios, `collisions` counts five.
"""

TITLES = {
    "run": (
        "`run.json`",
        "The object that `hopcast run --json` prints and `--out` writes to `run.json`. `hopcast probe` and `hopcast emulate` write the "
        "same object, with the additions below. A dot leads to a field of a table, `[]` to the elements of a list.",
    ),
    "flows": ("`flows.parquet`, `result.flows`", "A row for each flow and replication."),
    "nodes": ("`nodes.parquet`, `result.nodes`", "A row for each node and replication."),
    "series": (
        "`series.parquet`, `result.series`",
        "Flows and nodes over time. There is a row for each flow or node and interval. An interval lasts 100 ms, or a thousandth of the run if "
        "that is longer. The last one ends with the run. What doesn't concern a row is null.",
    ),
    "conversations": (
        "`conversations.parquet`",
        "A row for each [conversation](conversations.md) between real nodes, in runs with real hosts.",
    ),
    "rtp": ("`rtp.parquet`", "A row for each stream of RTP in a conversation, in runs with real hosts."),
    "conversation_series": (
        "`conversation_series.parquet`",
        "Conversations over time. There is a row for each conversation and interval, from the interval of its first packet to that of its "
        "last ([intervals](conversations.md#series)).",
    ),
    "streams": (
        "`streams.parquet`, `result.streams`",
        "A row for each request and replication, in runs with a [streaming cloud](models/cloud.md).",
    ),
    "emulate": (
        "What `hopcast emulate` adds",
        "Fields of `run.json` next to those above, for an [emulation](emulation.md).",
    ),
    "probe": (
        "What `hopcast probe` adds",
        "Fields of `run.json` next to those above, for a [measurement between real hosts](probe.md). Of the totals it has those that count "
        "packets.",
    ),
    "node": (
        "`hopcast node status --json`",
        "The state of a [router](node.md). Its metrics have the same names and meanings.",
    ),
    "stream_send": ("`hopcast stream send --json`", "A line each second, and one at the end ([streams](stream.md))."),
    "stream_receive": (
        "`hopcast stream receive --json`",
        "A line each second, and one at the end ([streams](stream.md)).",
    ),
    "stream_event": ("Events of `hopcast stream --json`", "A line when something happens between the two ends."),
    "cloud": (
        "`hopcast cloud status --json`",
        "The state of a [device](cloud.md). Its metrics have the same names and meanings. `hopcast cloud list --json` prints `clips` alone.",
    ),
    "cloud_play": ("`hopcast cloud play --json`", "What became of a clip that was [played](cloud.md)."),
}
"""Title and first paragraph of each document."""


def text() -> str:
    """The page."""
    found = schemas()
    missing = [*found.keys() - TITLES.keys(), *TITLES.keys() - found.keys()]
    if missing:
        sys.exit(f"tools/docs/results.py: without a title, or without a schema: {', '.join(missing)}")
    if problems := [problem for name, schema in found.items() for problem in undeclared(name, schema)]:
        sys.exit("\n".join(problems))
    return "\n".join([HEAD, *(section(*TITLES[name], found[name]) for name in TITLES)])


def undeclared(document: str, schema: dict[str, Any], path: str = "") -> list[str]:
    """What the fields of a document lack: a meaning, the unit of a number, the divisor of a share, rate or mean."""
    problems = []
    for name, entry in schema.get("properties", {}).items():
        kinds = entry["type"] if isinstance(entry["type"], list) else [entry["type"]]
        place = f"{document}: {path}{name}"
        # Scores are counts below the names of identifications, which their table describes.
        if "identification." in path:
            continue
        if not entry.get("description", "").endswith("."):
            problems.append(f"{place} has no meaning: write its documentation comment, a sentence")
        if {"integer", "number"} & {*kinds} and "x-unit" not in entry:
            problems.append(f'{place} has no unit: add #[schemars(extend("x-unit" = "…"))]')
        divided = name.endswith("_ratio") or "mean" in name or "variance" in name or name == "goodput_bps"
        if divided and "x-divisor" not in entry:
            problems.append(f'{place} has no divisor: add #[schemars(extend("x-divisor" = "…"))]')
        problems += undeclared(document, entry, f"{path}{name}.")
        problems += undeclared(document, entry.get("items", {}), f"{path}{name}[].")
    return problems


def section(title: str, about: str, schema: dict[str, Any]) -> str:
    """The fields of a document."""
    fields = [field for field in described(schema).values() if "identification." not in field.name]
    columns = [column for column in ("divisor", "counted") if any(getattr(field, column) for field in fields)]
    heads = {"divisor": "divided by", "counted": "counted"}
    head = ["field", "unit", "meaning", *(heads[column] for column in columns)]
    lines = [head, ["---"] * len(head)]
    lines += [
        [f"`{field.name}`", unit(field), field.meaning, *(said(field, column) for column in columns)]
        for field in fields
    ]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"## {title}\n\n{about}\n\n{rows}\n"


def unit(field: Field) -> str:
    """The unit of a field, empty for text."""
    return field.unit or ""


def said(field: Field, column: str) -> str:
    """A cell."""
    return getattr(field, column) or ""


def main() -> None:
    """Write or check."""
    wanted = text()
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(wanted, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted:
        sys.exit(f"stale: {PAGE.relative_to(ROOT)}; write it with `python tools/docs/results.py`")


if __name__ == "__main__":
    main()
