"""H12, scene e: people come and go, and a stream over two hops could take one.

Three homes. Between the two ends is a partition, so that they reach each other only while the way is clear. Each reaches the relay also with
four people in the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.notes import finding, outcome
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Cloud, Shortening

RATE = 250e3
"""b/s of a clip: a sixteenth of the paper's yardstick, over the lowest rate of 802.11a, so that a run is short."""
PACKET = 1316 * 8
"""Bits of media in a packet."""
QUICK, FULL = (2.0, 10.0, 60.0, 300.0), (1.0, 2.0, 10.0, 60.0, 300.0, 1200.0, 3600.0)
"""Seconds from one moment at which somebody comes into the way to the next, in the mean."""
WAYS: Mapping[str, Shortening] = {
    "held": {},
    "not held": {"hold": "0 s"},
    "at once": {"after": "0 s", "hold": "0 s"},
}
"""The longer path is reserved for a minute, or not; and the shorter one is taken as soon as its last second was fast enough."""
NEVER = "e, no shortening, 60 s"


def periods(amount: Amount) -> tuple[float, ...]:
    """Seconds of flicker."""
    return amount.pick(quick=QUICK, full=FULL)


def case(way: str, period: float) -> str:
    """The name of a case."""
    return f"e, {way}, {period:g} s"


def _scenario(name: str, keys: Cloud, period: float, amount: Amount) -> Scenario:
    length = amount.pick(quick=1200.0, full=7200.0)
    # Through the thicker one the ends never reach each other.
    partition = "60 dB" if name == NEVER else "30 dB"
    return Scenario(
        name=name,
        duration=60 + 1.1 * length,
        seed=1,
        radio={
            "standard": "802.11a",
            "data_rate": "6 Mb/s",
            "rts_threshold": "off",
            # 12.5 dB above noise through the partition, 48.5 to the relay at 7.1 m; a preamble needs 4 dB.
            "tx_power": "34.4 dBm",
            "propagation": {"model": "log-distance", "exponent": 4},
            "obstacles": {
                "walls": [{"from": ["5 m", "-1 m"], "to": ["5 m", "1 m"], "attenuation": partition}],
                "blockage": {"interval": period, "duration": period, "attenuation": ["9 dB", "9 dB"]},
            },
        },
        nodes=[
            {
                "name": "home",
                "count": 3,
                "placement": {"shape": "points", "at": [["0 m", "0 m"], ["5 m", "5 m"], ["10 m", "0 m"]]},
            }
        ],
        cloud={
            "admission": "airtime",
            **keys,
            "clips": [{"name": "film", "rate": RATE, "length": length, "at": ["home0"]}],
            "requests": [{"from": "home2", "clip": "film", "start": "50 s"}],
        },
    )


def setup(amount: Amount) -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "e: places",
            "two homes 10 m apart, a partition of 30 dB between them, and a relay with a view of both; exponent 4",
            "a cubicle (section III)",
        ),
        Parameter(
            "e: people",
            f"each 9 dB; one comes each {', '.join(f'{one:g}' for one in periods(amount))} s in the mean, and stays as long",
            "“appear and disappear quickly” (section VI)",
        ),
        Parameter("e: clip", f"{RATE / 1e3:g} kb/s, buffer of 1 s; 802.11a at 6 Mb/s", "not stated"),
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(2301, 2302, 2303), full=tuple(range(2301, 2307)))
    found = {
        case(way, period): Case(_scenario(case(way, period), {"shortening": keys}, period, amount), seeds)
        for way, keys in WAYS.items()
        for period in periods(amount)
    }
    found[NEVER] = Case(_scenario(NEVER, {}, 60.0, amount), seeds)
    return found


def _links(document: Document) -> float:
    """Transmissions of media for each packet of media that was shown."""
    totals = document["cloud"]["totals"]
    packets = totals["played_s"] * RATE / PACKET
    return float(totals["media_packets"] / packets) if packets else 0.0


def _hiccups(document: Document) -> float:
    """Hiccups per hour of display; a display that did not begin or was cut off counts one more."""
    totals = document["cloud"]["totals"]
    lost = sum(stream["outcome"] not in ("completed", "playing") for stream in document["cloud"]["streams"])
    return float((totals["hiccups"] + lost) * 3600 / max(totals["played_s"], 1.0))


def _held(document: Document) -> float:
    """Share of the display's time for which a second path was reserved, per cent."""
    held = sum(stream["held_s"] for stream in document["cloud"]["streams"])
    return float(100 * held / max(document["cloud"]["totals"]["played_s"], 1.0))


def _returned(document: Document) -> float:
    """Times that a shorter path failed."""
    return float(sum(stream["returned"] for stream in document["cloud"]["streams"]))


def crossover(measured: Measured, every: tuple[float, ...]) -> float:
    """The longest period at which a display that holds the longer path has fewer hiccups than one that does not; 0: none."""
    fewer = [
        period
        for period in every
        if measured.sample(case("held", period), _hiccups).mean
        < measured.sample(case("not held", period), _hiccups).mean
    ]
    return max(fewer, default=0.0)


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    every = tuple(period for period in FULL if case("held", period) in measured.documents)
    found: list[Row] = []
    for name in (NEVER, *(case(way, period) for way in WAYS for period in every)):
        found.append(value("H12", name, "hiccups", "1/h", measured.sample(name, _hiccups)))
        found.append(value("H12", name, "links per packet", "", measured.sample(name, _links)))
        if name != NEVER:
            found.append(value("H12", name, "returns", "", measured.sample(name, _returned)))
            found.append(value("H12", name, "second path reserved", "%", measured.sample(name, _held)))
    found.append(value("H12", "e", "longest period at which holding wins", "s", Sample((crossover(measured, every),))))
    longest = case("held", max(every))
    never = measured.sample(NEVER, _links).mean
    fewer = measured.sample(longest, lambda one: _links(one) / never)
    found.append(REGISTER.row("H12.shorter", longest, "links per packet / without shortening", "", fewer))

    def all_hiccups(way: str) -> float:
        return sum(measured.sample(case(way, period), _hiccups).mean for period in every)

    left, held = all_hiccups("at once"), all_hiccups("held")
    ratio = held / left if left else 1.0
    found.append(REGISTER.row("H12.flicker", "e", "hiccups, held / at once", "", Sample((ratio,))))
    base = measured.sample(NEVER, _hiccups).mean
    more = {
        case("held", period): measured.sample(case("held", period), lambda one: _hiccups(one) - base)
        for period in every
    }
    found += REGISTER.rows("H12.shorter-hiccup-free", "e", "hiccups per hour, held − without shortening", "1/h", more)
    return found


NAMES: Mapping[str, str] = {
    "held": "longer path held for 60 s",
    "not held": "not held",
    "at once": "taken and left at once",
}
"""Of the ways, in figures."""


def notes(table: Table) -> list[str]:
    """What shorter paths save, and whether they cost hiccups."""
    return [
        "e: people come and go quickly, and a display takes a shorter path only once it has been fast for some time. Then it has "
        f"{finding('H12.flicker', table)} times the hiccups of one that takes it at once. But it hardly takes it, as the way is blocked for most of the time. "
        f"Where people come seldom it sends {finding('H12.shorter', table)} times the packets, and that sentence {outcome('H12.shorter', table)}. That shortening "
        f"adds no hiccup {outcome('H12.shorter-hiccup-free', table)}.",
    ]


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Hiccups and transmissions of displays whose paths become shorter while people come and go."""
    from hopcast.figures import Line, lines

    def drawn(metric: str) -> list[Line]:
        return [
            Line(
                name,
                [(period, table[case(way, period), metric]) for period in FULL if (case(way, period), metric) in table],
            )
            for way, name in NAMES.items()
        ]

    between = "mean time between two people, s"
    return [
        (
            "e: hiccups while people come and go",
            lines(drawn("hiccups"), x=between, y="hiccups per hour of display", doubling=True),
        ),
        (
            "e: transmissions for each packet shown",
            lines(drawn("links per packet"), x=between, y="links per packet", doubling=True),
        ),
    ]
