"""R2: path loss and shadowing of the Rice TFA mesh, fitted on half of its links and tested on the others.

J. Camp, J. Robinson, C. Steger, E. Knightly: "Measurement driven deployment of a two-tier urban mesh access network",
ACM MobiSys 2006; the measurements that the authors published with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from hopcast.channel import log_distance_gains
from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast.statistics import mean
from hopcast_papers.h2o.places import number
from hopcast_papers.measured_networks.files import LINKS, Link, links, missing
from hopcast_papers.register import REGISTER
from hopcast_papers.strings_and_meshes.string import kbps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPONENT, SHADOWING = 3.3, 5.9
"""Exponent and deviation of the authors, the latter in dB."""
SATURATED = 50.0
"""Metres: at 12 m the card reads no more than at 150 m."""
REFERENCE_METRES, REFERENCE_DBM, EXCESS_DB = 9.144, -2.0, 30.0
"""Received power at 30 feet in the authors' scripts, and the amount by which they correct readings downwards."""
POWERS = tuple(-101.0 + 1.5 * step for step in range(19))
"""dBm at the receiver: from where nothing arrives to where nothing is lost."""
METRES, FREQUENCY = 100.0, 2.437e9
START = 5.0
"""Seconds that DSDV has to spread its routes."""
PAYLOAD, RATE = 1470, 8e6
"""Bytes: iperf's default UDP datagram; b/s: more than the card carries."""
EDGES = (0.0, 200.0, 240.0, 280.0, 1e4)
"""Metres: limits of distance classes of about equal size."""
NORMAL_95 = 1.96
MOST = 4480.0
"""kb/s: the fastest single link of the data."""


@dataclass(frozen=True)
class Fit:
    """Reading = `at_1m` − 10 `exponent` log10(metres) + N(0, `deviation`), in dB."""

    name: str
    at_1m: float
    exponent: float
    deviation: float

    def reading(self, metres: float) -> float:
        """Mean reading at a distance."""
        return self.at_1m - 10.0 * self.exponent * math.log10(metres)


def free(name: str, found: Sequence[Link]) -> Fit:
    """Least squares fit of level and slope."""
    x, y = [math.log10(link.metres) for link in found], [link.reading for link in found]
    slope = math.fsum((a - mean(x)) * (b - mean(y)) for a, b in zip(x, y, strict=True)) / math.fsum(
        (a - mean(x)) ** 2 for a in x
    )
    level = mean(y) - slope * mean(x)
    return Fit(name, level, -slope / 10.0, _deviation([b - level - slope * a for a, b in zip(x, y, strict=True)], 2))


def referred(name: str, found: Sequence[Link]) -> Fit:
    """The mean exponent from a given power at a given distance, as in the authors' scripts."""
    level = REFERENCE_DBM + EXCESS_DB
    exponent = mean([(level - link.reading) / (10.0 * math.log10(link.metres / REFERENCE_METRES)) for link in found])
    fit = Fit(name, level + 10.0 * exponent * math.log10(REFERENCE_METRES), exponent, 0.0)
    deviation = _deviation([link.reading - fit.reading(link.metres) for link in found], 1)
    return Fit(name, fit.at_1m, exponent, deviation)


def _deviation(residuals: Sequence[float], fitted: int) -> float:
    return math.sqrt(math.fsum(each * each for each in residuals) / (len(residuals) - fitted))


ALL, BEYOND, REFERRED = "all distances", f"beyond {SATURATED:g} m", "from the authors' reference"
READ, FROM_ALL = "UDP by readings", "UDP, fitted to all readings"
CHOSEN = REFERRED
"""For throughput: the values that the authors used."""


def _halves() -> tuple[list[Link], list[Link]]:
    """Every other link, in the order of the file, is for the fit."""
    found = links()
    return found[::2], found[1::2]


def _far(found: Sequence[Link]) -> list[Link]:
    return [link for link in found if link.metres > SATURATED]


def _fits(found: Sequence[Link]) -> dict[str, Fit]:
    return {fit.name: fit for fit in (free(ALL, found), free(BEYOND, _far(found)), referred(REFERRED, _far(found)))}


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("data", "235 readings of a card at known distances, 94 with throughput", "rice-tfa"),
        Parameter("halves", "every other link in the order of the file", "ours"),
        Parameter("readings", "dB against something unknown; the slope is taken for 1 dB a dB", "the note with the data"),
        Parameter(
            REFERRED,
            "−2 dBm at 9.144 m, readings 30 dB too high; the mean of each link's exponent",
            "comments in the authors' scripts",
        ),
        Parameter("card", "802.11b, ARF, control frames at 2 Mb/s", "11 Mb/s cards; which control of rates is not stated"),
        Parameter(
            "curve", f"UDP of {PAYLOAD} B against received power, from hopcast; shadowing is averaged over", "iperf's default"
        ),
        Parameter("offset of readings", "least squares of the fit half's throughput over that curve", "not known"),
        Parameter("run", f"{_seconds(amount):g} s, {len(_seeds(amount))} seeds", "ours"),
    ]  # fmt: skip


def _seconds(amount: Amount) -> float:
    return amount.pick(quick=5.0, full=20.0)


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=4, full=11)))


def _cases(amount: Amount) -> Mapping[str, Case]:
    return {_case(power): Case(_scenario(power, _seconds(amount)), _seeds(amount)) for power in POWERS}


def _scenario(power: float, seconds: float) -> Scenario:
    """Two nodes in free space; this much power of one arrives at the other."""
    (gain,) = log_distance_gains(FREQUENCY, 2.0, 1.0, [METRES])
    return Scenario(
        name=_case(power),
        duration=START + seconds,
        seed=1,
        radio={
            "standard": "802.11b",
            "data_rate": "arf",
            "basic_rate": "2 Mb/s",
            "rts_threshold": "off",
            "tx_power": f"{power - gain:.6f} dBm",
            "propagation": {"model": "free-space", "frequency": FREQUENCY},
        },
        nodes=[
            {
                "name": "n",
                "count": 2,
                "placement": {"shape": "line", "spacing": METRES},
                "routing": {"protocol": "dsdv", "link_layer_notification": False},
            }
        ],
        flows=[
            {
                "name": "stream0",
                "from": "n0",
                "to": "n1",
                "start": START,
                "transport": {"protocol": "udp"},
                "application": {"kind": "cbr", "packet": PAYLOAD, "rate": RATE},
            }
        ],
    )


def _rows(measured: Measured) -> list[Row]:
    fitted, held = _halves()
    rows = []
    for name, fit in _fits(fitted).items():
        theirs = name == CHOSEN
        note = "Fitted on half of the links" + (", as the authors did" if theirs else "; not the authors' way")
        exponent, shadowing = (EXPONENT, SHADOWING) if theirs else (None, None)
        rows.append(value("R2", name, "exponent", "", _one(fit.exponent), paper=exponent, note=note))
        rows.append(value("R2", name, "shadowing", "dB", _one(fit.deviation), paper=shadowing, note=note))
        others = held if name == ALL else _far(held)
        residuals = [link.reading - fit.reading(link.metres) for link in others]
        note = "Of the other half's readings about the prediction; beside it, as the paper's, the fit's"
        spread = math.sqrt(mean([each * each for each in residuals]))
        rows.append(value("R2", f"{name}, other half", "deviation", "dB", _one(spread), paper=fit.deviation, note=note))
        bias, bound = mean(residuals), NORMAL_95 * fit.deviation / math.sqrt(len(residuals))
        case = f"{name}, other half"
        if theirs:
            rows.append(REGISTER.row("R2.bias", case, "mean error", "dB", _one(bias), scale=bound))
        else:
            rows.append(value("R2", case, "mean error", "dB", _one(bias)))
        within = 100.0 * mean([float(abs(each) <= 1.645 * fit.deviation) for each in residuals])
        note = "Of the other half within 1.645 deviations; of a normal distribution 90 %"
        rows.append(value("R2", f"{name}, other half", "within 90 %", "%", _one(within), paper=90.0, note=note))
    curves = [kbps(measured, _case(power)) for power in POWERS]
    for power, sample in zip(POWERS, curves, strict=True):
        rows.append(value("R2", _case(power), "UDP", "kb/s", sample))
    udp, fit = [link for link in fitted if _is_udp(link)], _fits(fitted)[CHOSEN]

    @cache
    def offset(curve: tuple[float, ...]) -> float:
        return _offset(curve, udp)

    offsets = Sample.of(lambda *curve: offset(curve), *curves)
    rows.append(value("R2", "readings", "offset to dBm", "dB", offsets))
    for low, high in pairwise(EDGES):
        others = [link for link in held if _is_udp(link) and low <= link.metres < high]
        paper = mean([link.kbps for link in others]) if others else None
        for metric, of, beside in ((FROM_ALL, fit, True), ("UDP", referred("", _far(udp)), False)):
            predicted = Sample.of(
                lambda *curve, others=others, of=of: _throughput(curve, of, offset(curve), others), *curves
            )  # fmt: skip
            note = f"Mean of {len(others)} links of the other half, predicted from their distance" + (
                "" if beside else ", the level by the links of this half that have throughput, as those predicted do"
            )
            rows.append(
                value("R2", _class(low, high), metric, "kb/s", predicted, paper=None if beside else paper, note=note)
            )
        read = Sample.of(lambda *curve, others=others: _from_readings(curve, offset(curve), others), *curves)
        note = f"Mean of {len(others)} links of the other half, predicted from their readings"
        rows.append(value("R2", _class(low, high), READ, "kb/s", read, paper=paper, note=note))
    return rows


def _one(number: float) -> Sample:
    return Sample((number,))


def _is_udp(link: Link) -> bool:
    return link.transport == "udp" and not math.isnan(link.kbps)


def _at(curve: Sequence[float], power: float) -> float:
    """The curve at a power, linear between its points and constant beyond them."""
    place = (power - POWERS[0]) / (POWERS[1] - POWERS[0])
    index = min(max(math.floor(place), 0), len(curve) - 2)
    share = min(max(place - index, 0.0), 1.0)
    return curve[index] * (1.0 - share) + curve[index + 1] * share


def _offset(curve: Sequence[float], found: Sequence[Link]) -> float:
    """Correction of readings, in steps of 0.25 dB, with which the curve fits the throughput best."""

    def error(offset: float) -> float:
        return math.fsum((link.kbps - _at(curve, link.reading + offset)) ** 2 for link in found)

    return min((-100.0 + 0.25 * step for step in range(321)), key=error)


def _throughput(curve: Sequence[float], fit: Fit, offset: float, found: Sequence[Link]) -> float:
    """Mean over links, and over the shadowing of each."""
    steps = [-4.0 + 0.1 * step for step in range(81)]
    weights = [math.exp(-0.5 * step * step) for step in steps]

    def of(link: Link) -> float:
        centre = fit.reading(link.metres) + offset
        return math.fsum(
            weight * _at(curve, centre + step * fit.deviation) for step, weight in zip(steps, weights, strict=True)
        ) / math.fsum(weights)

    return mean([of(link) for link in found]) if found else math.nan


def _from_readings(curve: Sequence[float], offset: float, found: Sequence[Link]) -> float:
    return mean([_at(curve, link.reading + offset) for link in found]) if found else math.nan


def _notes(table: Table) -> list[str]:
    def of(metric: str, name: str) -> str:
        return significant(number(table, name, metric))

    classes = [_class(low, high) for low, high in pairwise(EDGES)]
    papers = ", ".join(significant(table[name, "UDP"].paper or math.nan) for name in classes)

    def of_classes(metric: str) -> str:
        return ", ".join(of(metric, name) for name in classes)

    return [
        f"With level and slope free, readings give an exponent of {of('exponent', ALL)}, and of {of('exponent', BEYOND)} beyond {SATURATED:g} m. At "
        "12 m the card reads about what it reads at 150 m. Far places were measured where there was something to hear. Both flatten the "
        f"slope. From the reference in the authors' scripts it is {of('exponent', REFERRED)}, and they report {EXPONENT:g}. Their exponent follows from the "
        f"level, which depends on how much too high they suppose readings to be, and not from the slope. Shadowing about these lines: {of('shadowing', ALL)}, {of('shadowing', BEYOND)} and "
        f"{of('shadowing', REFERRED)} dB.",
        f"The other half's readings lie about the prediction with {of('deviation', f'{ALL}, other half')}, {of('deviation', f'{BEYOND}, other half')} and "
        f"{of('deviation', f'{REFERRED}, other half')} dB. Of them {of('within 90 %', f'{BEYOND}, other half')} % are within the band of 90 % ({BEYOND}).",
        f"On hopcast's curve the measured throughput belongs to a power {significant(-number(table, 'readings', 'offset to dBm'))} dB below the reading. "
        f"Predicted from its readings the other half has, by distance, {of_classes(READ)} kb/s, and {papers} measured. Predicted from its distances it has {of_classes('UDP')} kb/s. That is with the level of "
        "those links of the first half whose throughput was measured. They are weaker than others at their distance. With the "
        f"level of all readings it would be {of_classes(FROM_ALL)} kb/s. So path loss misses which places were tried, and not the card.",
        f"The card never had more than {MOST:.0f} kb/s there, hopcast's {significant(max(number(table, _case(power), 'UDP') for power in POWERS))}: an "
        "802.11b radio at 11 Mb/s with long preambles is faster than that host, as in R1.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, Line, bars, lines

    classes = [_class(low, high) for low, high in pairwise(EDGES)]
    found = [table[name, "UDP"] for name in classes]
    return [
        (
            "UDP of the held-out links by distance",
            bars(
                classes,
                [
                    Group("measured there", [row.paper or 0.0 for row in found], [0.0] * len(found)),
                    Group("predicted", [row.measured or 0.0 for row in found], [row.ci95 or 0.0 for row in found]),
                ],
                y="kb/s",
            ),
        ),
        (
            "UDP against received power, ARF",
            lines(
                [Line("hopcast", [(power, table[_case(power), "UDP"]) for power in POWERS[::3]])],
                x="received power, dBm",
                y="kb/s",
            ),
        ),
    ]


def _case(power: float) -> str:
    return f"{power:g} dBm"


def _class(low: float, high: float) -> str:
    if low == 0.0:
        return f"under {high:g} m"
    return f"{low:g} m and more" if high == EDGES[-1] else f"{low:g} to {high:g} m"


EXPERIMENTS = (
    Experiment(
        "R2",
        "Path loss and shadowing of a mesh outdoors",
        "Rice TFA, Houston, 2005: readings and throughput of single links against distance. Path-loss exponent and shadowing are fitted on half "
        "of the links and predict the others; the authors report 3.3 and 5.9 dB.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
        missing(LINKS),
    ),
)
