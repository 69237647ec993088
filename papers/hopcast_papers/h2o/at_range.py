"""H13: what a link of 192 ft carries, by place and from hour to hour."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o.places import (
    FOOT,
    FULL,
    RATED,
    Card,
    card_parameters,
    field,
    field_parameter,
    number,
    radio,
    scattering,
    scattering_parameter,
)
from hopcast_papers.h2o.streams import KB, SOCKET_BUFFER
from hopcast_papers.notes import outcome
from hopcast_papers.register import NOISE, REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Application, Propagation, Radio

FAR_FT, NEAR_FT = 192, 20
"""The paper's distance (sections V and VI), and one at which its links are steady."""
BREAKPOINT_FT = 98
"""30 m, that of model F, the TGn channel models' large spaces indoors and outdoors (IEEE 802.11-03/940r4)."""
DEVIATION_DB = {NEAR_FT: 3.0, FAR_FT: 6.0}
"""Shadow fading of model F before and beyond its breakpoint."""
HOUR_S = 3600.0
"""Time in which shadowing changes: "may vary from one hour to the next" (section V)."""
VISITS = 6
LASTS_S = 1.0
TWO_MBPS = 2.0
LITTLE_MBPS = 1.5 * TWO_MBPS
"""Mb/s that agree with the paper's 2, and less."""
LOWEST = "6 Mb/s"
"""The lowest rate of 802.11a, in which beacons go."""
BEACON_BYTES, BEACONS_HZ = 100, 10
GROUNDS: Mapping[str, Callable[[], Propagation]] = {"lawn": field, "ground that scatters": scattering}
"""A sentence has to hold over both, as in H1, H8 and H9."""


def _scenario(name: str, feet: int, settings: Radio, application: Application) -> Scenario:
    """Two laptops that stay where they are. Once an hour, one sends to the other."""
    settings = {
        **settings,
        "obstacles": {"drift": {"deviation": f"{DEVIATION_DB[feet]} dB", "decorrelation_time": HOUR_S}},
    }
    return Scenario(
        name=name,
        duration=VISITS * HOUR_S,
        seed=1,
        radio=settings,
        nodes=[
            {
                "name": "n",
                "count": 2,
                "placement": {"shape": "points", "at": [[0.0, 0.0], [feet * FOOT, 0.0]]},
                "socket_buffer": SOCKET_BUFFER,
            }
        ],
        flows=[
            {
                "name": _visit(hour),
                "from": "n0",
                "to": "n1",
                "start": hour * HOUR_S,
                "stop": hour * HOUR_S + LASTS_S,
                "transport": {"protocol": "udp"},
                "application": application,
            }
            for hour in range(VISITS)
        ],
    )


def _visit(hour: int) -> str:
    return f"visit{hour}"


def _seeds(amount: Amount) -> tuple[int, ...]:
    """One place each."""
    return tuple(range(1, amount.pick(quick=12, full=40) + 1))


def _cases(amount: Amount) -> Mapping[str, Case]:
    stream: Application = {"kind": "adu", "size": KB}
    beacons: Application = {"kind": "cbr", "rate": 8.0 * BEACON_BYTES * BEACONS_HZ, "packet": BEACON_BYTES}
    cases = {}
    for ground, propagation in GROUNDS.items():
        for card, feet in ((RATED, FAR_FT), (FULL, FAR_FT), (RATED, NEAR_FT)):
            made = _scenario(f"{ground}, {feet} ft", feet, radio(card, propagation()), stream)
            cases[_case(ground, feet, card)] = Case(made, _seeds(amount))
        lowest: Radio = {**radio(RATED, propagation()), "data_rate": LOWEST, "retry_limit": {"short": 1, "long": 1}}
        cases[_beacons(ground)] = Case(_scenario(f"{ground}, beacons", FAR_FT, lowest, beacons), _seeds(amount))
    return cases


def _case(ground: str, feet: int, card: Card = RATED) -> str:
    return f"{ground}, {feet} ft" + ("" if card is RATED else f", {card.name}")


def _beacons(ground: str) -> str:
    return f"{ground}, {FAR_FT} ft, beacons"


def _rates(document: Document) -> list[float]:
    """Mb/s of each visit, in order."""
    return [float(flow["goodput_bps"] or 0.0) / 1e6 for flow in document["flows"]]


def _share(holds: Callable[[float], bool], document: Document) -> float:
    """Visits of a certain bandwidth, per cent."""
    return 100.0 * statistics.fmean(map(holds, _rates(document)))


def _unheard(document: Document) -> float:
    """Visits in which no beacon arrived, per cent."""
    return 100.0 * statistics.fmean(flow["received_packets"] == 0 for flow in document["flows"])


def _differing(document: Document) -> float:
    """Visits whose bandwidth differs by more than noise from that of the visit before, per cent."""
    pairs = list(itertools.pairwise(_rates(document)))
    return 100.0 * statistics.fmean(abs(a - b) > NOISE * max(a, b) for a, b in pairs) if pairs else math.nan


def _deviation(document: Document) -> float:
    rates = _rates(document)
    return statistics.stdev(rates) if len(rates) > 1 else math.nan


def _rows(measured: Measured) -> list[Row]:
    rows = []
    full: dict[str, Sample] = {}
    little: dict[str, Sample] = {}
    unheard: dict[str, Sample] = {}
    differing: dict[str, Sample] = {}
    varies: dict[str, Sample] = {}
    for ground in GROUNDS:
        near, far = _case(ground, NEAR_FT), _case(ground, FAR_FT)
        alone = measured.sample(near, lambda document: statistics.fmean(_rates(document)))
        whole = alone.mean

        def is_full(rate: float, whole: float = whole) -> bool:
            return rate >= (1.0 - NOISE) * whole

        for case in (near, far, _case(ground, FAR_FT, FULL)):
            mean = measured.sample(case, lambda document: statistics.fmean(_rates(document)))
            rows.append(value("H13", case, "bandwidth", "Mb/s", mean))
            for metric, holds in (
                ("visits at full rate", is_full),
                (f"visits of 0 to {LITTLE_MBPS:g} Mb/s", _is_little),
            ):
                rows.append(value("H13", case, metric, "%", measured.sample(case, functools.partial(_share, holds))))
            rows.append(value("H13", case, "visits of nothing", "%", measured.sample(case, _none)))
        full[ground] = measured.sample(far, functools.partial(_share, is_full))
        little[ground] = measured.sample(far, functools.partial(_share, _is_little))
        unheard[ground] = measured.sample(_beacons(ground), _unheard)
        differing[ground] = measured.sample(far, _differing)
        spread = [measured.sample(case, _deviation) for case in (far, near)]
        varies[ground] = Sample.of(lambda a, b, c: (a - b) / c, *spread, alone)
    rows += REGISTER.rows("H13.22-at-one-place", "", "visits at full rate", "%", full)
    rows += REGISTER.rows("H13.2-at-another", "", f"visits of 0 to {LITTLE_MBPS:g} Mb/s", "%", little)
    rows += REGISTER.rows("H13.no-contact", "", "visits without a beacon", "%", unheard)
    rows += REGISTER.rows("H13.different-each-time", "", "visits unlike the one before", "%", differing)
    return rows + REGISTER.rows("H13.large-distance", "", "deviation, far − near", "of the bandwidth", varies)


def _is_little(rate: float) -> bool:
    return 0.0 < rate <= LITTLE_MBPS


def _none(document: Document) -> float:
    return _share(lambda rate: rate == 0.0, document)


def _notes(table: Table) -> list[str]:
    def far(ground: str, metric: str, card: Card = RATED) -> float:
        return number(table, _case(ground, FAR_FT, card), metric)

    little = f"visits of 0 to {LITTLE_MBPS:g} Mb/s"
    return [
        "Card as rated. "
        + " ".join(
            f"{ground.capitalize()}: {far(ground, 'visits at full rate'):.0f} % of the visits have the bandwidth of {NEAR_FT} ft, {far(ground, little):.0f} % "
            f"some but at most {LITTLE_MBPS:g} Mb/s, {far(ground, 'visits of nothing'):.0f} % nothing."
            for ground in GROUNDS
        ),
        "With 40 mW these shares are "
        + "; ".join(
            f"{ground}: {far(ground, 'visits at full rate', FULL):.0f}, {far(ground, little, FULL):.0f} and {far(ground, 'visits of nothing', FULL):.0f} %"
            for ground in GROUNDS
        )
        + ".",
        "The paper's nodes “at times” failed to detect each other. Here the share of visits without a beacon is "
        + " and ".join(f"{number(table, ground, 'visits without a beacon'):.1f} % ({ground})" for ground in GROUNDS)
        + f", and the sentence {outcome('H13.no-contact', table)}. Beacons go at the lowest rate, which needs less power than 54 Mb/s. The paper's links had "
        "less to spare, or varied by more than the 6 dB of the TGn models.",
        "No parameter comes from the paper's 22 and 2 Mb/s: the card's power is that of H1, H8 and H9, and the shadowing that of the TGn models, whose "
        "6 dB are those of places. That it changes within an hour is the paper's sentence.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    cases = [_case(ground, feet) for ground in GROUNDS for feet in (NEAR_FT, FAR_FT)]
    metrics = ("visits at full rate", f"visits of 0 to {LITTLE_MBPS:g} Mb/s", "visits of nothing")
    groups = [Group.of(metric, [table[case, metric] for case in cases]) for metric in metrics]
    return [("Visits by their bandwidth", bars(cases, groups, y="visits, %"))]


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *card_parameters(),
        field_parameter(),
        scattering_parameter(),
        Parameter("distance", f"{FAR_FT} ft, and {NEAR_FT} ft next to it", "sections V and VI"),
        Parameter(
            "shadowing",
            f"log-normal, {DEVIATION_DB[FAR_FT]:g} dB at {FAR_FT} ft and {DEVIATION_DB[NEAR_FT]:g} dB at {NEAR_FT} ft",
            f"TGn channel model F, beyond and before its breakpoint of 30 m, {BREAKPOINT_FT} ft (IEEE 802.11-03/940r4)",
        ),
        Parameter(
            "change of the shadowing",
            "by e^(−t/T) with T = 1 h (radio.obstacles.drift)",
            "section V: “from one hour to the next”",
        ),
        Parameter(
            "visits", f"{VISITS} in each place, an hour apart, {LASTS_S:g} s of UDP in units of 1 KB", "not stated"
        ),
        Parameter(
            "detection",
            f"of {BEACONS_HZ} beacons a second of {BEACON_BYTES} B at {LOWEST}, without repetition, at least one arrives",
            "IEEE 802.11-2020, 11.1: beacons go at a basic rate, as a rule each 102.4 ms",
        ),
        Parameter("places", f"{len(_seeds(amount))} seeds", "not stated"),
    ]


EXPERIMENTS = (
    Experiment(
        "H13",
        "A link of 192 feet, by place and by hour",
        "At 192 ft the paper observed 22 Mb/s, in a slightly different location 2 Mb/s, and at times the nodes failed to detect each other; on a beach "
        "each visit was different (sections V and VI). Here each place is visited six times, an hour apart.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
