"""H12, scene i: admitted streams next to a file transfer and a UDP stream that reserve nothing, with and without 802.11e."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Flow, Radio

STREAMS = 3
"""Of 4 Mb/s: 0.56 of the time, which is admitted."""
Access = Literal["off", "2012"]
ALONE, PLAIN, EDCA = "i, nothing else", "i, unreserved traffic", "i, unreserved traffic, 802.11e"


def _scenario(name: str, access: Access, has_others: bool, amount: Amount) -> Scenario:
    length = amount.pick(quick=20.0, full=120.0)
    radio: Radio = {
        "standard": "802.11a",
        "data_rate": "36 Mb/s",
        "rts_threshold": "off",
        "edca": access,
        "propagation": {"model": "range", "receive": "60 m", "carrier_sense": "120 m"},
    }
    # The others begin once all streams are shown.
    others: list[Flow] = [
        {
            "name": "file",
            "from": "other0",
            "to": "other1",
            "start": "50 s",
            "transport": {"protocol": "tcp", "variant": "cubic"},
            "application": {"kind": "bulk"},
        },
        {
            "name": "udp",
            "from": "other2",
            "to": "other3",
            "start": "50 s",
            "transport": {"protocol": "udp"},
            "application": {"kind": "cbr", "rate": "20 Mb/s", "packet": "1316 B"},
        },
    ]
    return Scenario(
        name=name,
        duration=45 + 2.5 * length,
        seed=1,
        radio=radio,
        nodes=[
            {"name": "home", "count": STREAMS + 1, "placement": {"shape": "circle", "radius": "10 m"}},
            {"name": "other", "count": 4, "placement": {"shape": "circle", "radius": "15 m"}},
        ],
        **({"flows": others} if has_others else {}),  # type: ignore[arg-type]
        cloud={
            "devices": ["home"],
            "admission": "airtime",
            "clips": [{"name": "film", "count": STREAMS, "rate": 4e6, "length": length, "at": ["home0"]}],
            "requests": [
                {"from": f"home{number + 1}", "clip": f"film{number}", "start": f"{40 + number} s"}
                for number in range(STREAMS)
            ],
        },
    )


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "i: traffic",
            f"{STREAMS} admitted streams of 4 Mb/s; TCP without end and UDP of 20 Mb/s between others in range, which reserve nothing",
            "not stated",
        )
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(2601, 2602), full=tuple(range(2601, 2611)))
    kinds: dict[str, tuple[Access, bool]] = {ALONE: ("off", False), PLAIN: ("off", True), EDCA: ("2012", True)}
    return {name: Case(_scenario(name, *kind, amount), seeds) for name, kind in kinds.items()}


def _starved(document: Document) -> float:
    """Admitted streams that stood still, or did not begin, per cent."""
    admitted = [one for one in document["cloud"]["streams"] if one["source"] is not None]
    starved = sum(bool(one["hiccups"] > 0) or one["start_up_s"] is None for one in admitted)
    return float(100 * starved / max(len(admitted), 1))


def _stalled(document: Document) -> float:
    """Share of the time from the first picture on for which displays stood still, per cent."""
    totals = document["cloud"]["totals"]
    return float(100 * totals["stalled_s"] / max(totals["played_s"] + totals["stalled_s"], 1e-9))


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for name in (ALONE, PLAIN, EDCA):
        found.append(value("H12", name, "admitted", "streams", measured.sample(name, homes.total("admitted"))))
        found.append(value("H12", name, "starved of those", "%", measured.sample(name, _starved)))
        found.append(value("H12", name, "stood still", "%", measured.sample(name, _stalled)))
    for name in (PLAIN, EDCA):
        for flow in ("file", "udp"):
            goodput = Sample(tuple(one / 1e6 for one in measured.flow(name, flow, "goodput_bps").values))
            found.append(value("H12", name, f"goodput of {flow}", "Mb/s", goodput))
    plain, edca = (measured.sample(name, _starved) for name in (PLAIN, EDCA))
    found.append(REGISTER.row("H12.unreserved", PLAIN, "starved streams", "%", plain))
    found.append(REGISTER.row("H12.unreserved-80211e", EDCA, "starved streams", "%", edca))
    return found


def figures(table: Table) -> list[tuple[str, Figure]]:
    """What traffic that reserves nothing does to admitted streams."""
    from hopcast.figures import Group, bars

    names = {ALONE: "nothing else", PLAIN: "TCP and UDP", EDCA: "TCP and UDP, 802.11e"}
    groups = [
        Group.of(label, [table[name, metric] for name in names])
        for label, metric in (
            ("admitted streams that starve", "starved of those"),
            ("time that they stand still", "stood still"),
        )
    ]
    title = "i: admitted streams next to traffic that reserves nothing"
    return [(title, bars(list(names.values()), groups, y="streams or time, %"))]
