"""H8: two pairs next to each other, and the distance from which they no longer share the air."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, average, value
from hopcast_papers.h2o.places import (
    CARDS,
    K_OPEN,
    LAWN,
    RATED,
    Card,
    card_parameters,
    field,
    field_parameter,
    loss,
    mbps,
    number,
    radio,
    scattering,
    scattering_parameter,
    scenario,
)
from hopcast_papers.h2o.streams import off_fair
from hopcast_papers.register import NOISE, REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Propagation

FEET = tuple(range(50, 501, 50))
SHARED = 250
"""Feet: up to here the pairs behave as if in one range (section IV)."""
FAR = 500
WIDTH = 10
"""Feet between the laptops of a pair (section IV)."""
EACH = (12.2, 14.4)
TOTAL_SHARED = (25.0, 28.1)
TOTAL_APART = (28.1, 36.0)
RELATIVE, STARTS = 100, 300
"""Feet: reference of Fig. 11a, beyond which "the impact of exposed node starts to diminish" (section IV)."""
SCATTERED = "ground that scatters"
RTS_FEET = (100, 250, 500)


def size(amount: Amount) -> int:
    """Bytes of each pair."""
    return amount.pick(quick=10 << 20, full=100 << 20)


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=5, full=11)))


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *card_parameters(),
        field_parameter(),
        scattering_parameter(),
        Parameter(
            "carrier sense", "-82 dBm, or a preamble 4 dB above the noise", "IEEE 802.11-2020, 17.3.10.6; defaults"
        ),
        Parameter(
            "places",
            f"pairs {WIDTH} ft wide, {FEET[0]} to {FEET[-1]} ft apart; the inner laptops send",
            "Fig. 10 and section IV: node 3 is exposed to node 2, which sends to node 1",
        ),
        Parameter(
            "fading over the smooth plane",
            f"none; beside it Rician with K = {K_OPEN:g}, 6 Hz (card as rated)",
            "TGn channel model F, large spaces indoors and outdoors (IEEE 802.11-03/940r4)",
        ),
        Parameter(
            "RTS/CTS",
            f"off; beside it on, at {', '.join(map(str, RTS_FEET))} ft (card as rated)",
            "22 Mb/s at 1 KB (section II) is more than RTS/CTS allows",
        ),
        Parameter("data", f"{size(amount) >> 20} MB a pair over UDP in ADUs of 1 KB", "section IV has 100 MB"),
        Parameter("iterations", f"{len(_seeds(amount))} seeds", "not stated"),
    ]


def _cases(amount: Amount) -> Mapping[str, Case]:
    def case(card: Card, feet: int, propagation: Propagation, *, rts: bool = False) -> Case:
        places = [0.0, WIDTH, WIDTH + feet, 2 * WIDTH + feet]
        name = f"two pairs, {feet} ft apart, {card.name}"
        settings = radio(card, propagation, rts=rts)
        return Case(scenario(name, places, [(1, 0, "udp"), (2, 3, "udp")], settings, size(amount)), _seeds(amount))

    cases = {_case(card, feet): case(card, feet, field()) for card in CARDS for feet in FEET}
    cases |= {_case(RATED, feet, SCATTERED): case(RATED, feet, scattering()) for feet in FEET}
    cases |= {_case(RATED, feet, "fading"): case(RATED, feet, field(LAWN, K_OPEN)) for feet in FEET}
    return cases | {_case(RATED, feet, "RTS"): case(RATED, feet, field(), rts=True) for feet in RTS_FEET}


def _case(card: Card, feet: int, variant: str = "") -> str:
    return f"{_series(card, variant)}, {feet} ft"


def _series(card: Card, variant: str = "") -> str:
    return card.name + (f", {variant}" if variant else "")


SERIES = ((CARDS[0], ""), (CARDS[1], ""), (RATED, SCATTERED), (RATED, "fading"), (RATED, "RTS"))
DRAWN = SERIES[:4]


GROUNDS = ((RATED, ""), (RATED, SCATTERED))
"""The paper's card over the two grounds, which are judged alike: a sentence has to hold over both."""


def _rows(measured: Measured) -> list[Row]:
    rows = []
    totals: dict[str, dict[int, Sample]] = {}
    losses: dict[str, dict[int, Sample]] = {}
    uneven: dict[str, Sample] = {}
    lesser: dict[str, Sample] = {}
    for card, variant in SERIES:
        series = _series(card, variant)
        total, lost, shares = {}, {}, {}
        for feet in (feet for feet in FEET if _case(card, feet, variant) in measured.documents):
            case = _case(card, feet, variant)
            one, other = mbps(measured, case, 0), mbps(measured, case, 1)
            total[feet] = Sample.of(lambda a, b: a + b, one, other)
            lost[feet] = loss(measured, case, (0, 1))
            shares[case] = Sample.of(off_fair, one, other)
            if feet <= SHARED:
                for name, sample in (("N2 → N1", one), ("N3 → N4", other)):
                    rows.append(value("H8", case, name, "Mb/s", sample))
            rows.append(value("H8", case, "total", "Mb/s", total[feet]))
            rows.append(value("H8", case, "loss", "%", lost[feet]))
            if (card, variant) in GROUNDS:
                lesser[case] = Sample.of(min, one, other)
        if (card, variant) in GROUNDS:
            totals[series], losses[series] = total, lost
            uneven |= shares
        else:
            rows.append(value("H8", _apart(series), "ratio of totals", "", total[FAR] / total[SHARED]))
            rows.append(value("H8", series, "largest total", "Mb/s", Sample.of(max, *total.values())))
            rows.append(value("H8", series, "loss, largest − smallest", "points", _spread(lost)))
            rows += [value("H8", case, "off a fair share", "", sample) for case, sample in shares.items()]
    rows += _ranges(_series(RATED), totals[_series(RATED)])
    return rows + _findings(totals, losses, uneven) + _while_exposed(totals, lesser)


def _apart(series: str) -> str:
    return f"{series}, {FAR} ft / {SHARED} ft"


def _spread(lost: Mapping[int, Sample]) -> Sample:
    return Sample.of(lambda *parts: max(parts) - min(parts), *lost.values())


def _ranges(series: str, total: Mapping[int, Sample]) -> list[Row]:
    """The paper's three ranges, each once: means over the distances that it gives them for, over the lawn."""
    near, far = (average(total[feet] for feet in total if (feet <= SHARED) == shared) for shared in (True, False))
    each = Sample.of(lambda both: both / 2.0, near)
    shared, apart = f"{series}, up to {SHARED} ft", f"{series}, beyond {SHARED} ft"
    return [
        value("H8", shared, "mean of a stream", "Mb/s", each, low=EACH[0], high=EACH[1], note="Section IV"),
        value("H8", shared, "mean total", "Mb/s", near, low=TOTAL_SHARED[0], high=TOTAL_SHARED[1], note="Section IV"),
        value("H8", apart, "mean total", "Mb/s", far, low=TOTAL_APART[0], high=TOTAL_APART[1], note="Section IV"),
    ]


def _findings(
    totals: Mapping[str, Mapping[int, Sample]],
    losses: Mapping[str, Mapping[int, Sample]],
    uneven: Mapping[str, Sample],
) -> list[Row]:
    """Sentences about all distances, by ground."""
    rise = {_apart(series): total[FAR] / total[SHARED] for series, total in totals.items()}
    most = {series: Sample.of(max, *total.values()) for series, total in totals.items()}
    spread = {series: _spread(lost) for series, lost in losses.items()}
    return [
        *REGISTER.rows("H8.beyond-250", f"{FAR} ft / {SHARED} ft", "ratio of totals", "", rise),
        *REGISTER.rows("H8.far-from-44", "", "largest total", "Mb/s", most),
        *REGISTER.rows("H8.loss-unaffected", "", "loss, largest − smallest", "points", spread),
        *REGISTER.rows("H8.almost-even", "", "off a fair share", "", uneven),
    ]


def _while_exposed(totals: Mapping[str, Mapping[int, Sample]], lesser: Mapping[str, Sample]) -> list[Row]:
    """Sentences about the distances over which the pairs share the air, by ground."""
    near = FEET[0]
    one_range = {f"{series}, {SHARED} ft / {near} ft": total[SHARED] / total[near] for series, total in totals.items()}
    not_yet = {
        f"{series}, {feet} ft / {RELATIVE} ft": total[feet] / total[RELATIVE]
        for series, total in totals.items()
        for feet in total
        if RELATIVE < feet <= STARTS
    }
    return [
        *REGISTER.rows("H8.clip", "", "lesser stream", "Mb/s", lesser),
        *REGISTER.rows("H8.one-range-at-250", f"{SHARED} ft / {near} ft", "ratio of totals", "", one_range),
        *REGISTER.rows("H8.starts-at-300", f"up to {STARTS} ft / {RELATIVE} ft", "ratio of totals", "", not_yet),
    ]


def _notes(table: Table) -> list[str]:
    expected = REGISTER.limit("H8.far-from-44")
    notes = []
    for card, variant in DRAWN:
        totals = {feet: number(table, _case(card, feet, variant), "total") for feet in FEET}
        apart = [feet for feet in FEET if totals[feet] > TOTAL_SHARED[1] * (1 + NOISE)]
        notes.append(
            f"{_series(card, variant)}: {min(totals.values()):.1f} to {max(totals.values()):.1f} Mb/s in all; "
            + (
                f"the pairs begin to send at the same time at {min(apart)} ft."
                if apart
                else "the pairs share the air at every distance."
            )
        )
    plain, rts = (number(table, _case(RATED, FAR, variant), "total") for variant in ("", "RTS"))
    most = number(table, _series(RATED, "RTS"), "largest total")
    return [
        *notes,
        "How far carrier sense reaches is a matter of the link budget: power falls as h⁴/d⁴ over the ground, so that a card that sends "
        "12.6 dB less reaches about half as far. The card as Intel rates it is nearer to the paper.",
        "Without fading carrier sense has an edge: on one side of it the pairs share, on the other they don't know of each other. The "
        "paper's total rises slowly to 36 Mb/s, as if stations heard each other now and then (it says so: “probabilistic interference”).",
        f"At {', '.join(map(str, FEET))} ft the total where the ground scatters is "
        + ", ".join(f"{number(table, _case(RATED, feet, SCATTERED), 'total'):.1f}" for feet in FEET)
        + " Mb/s. Over a smooth plane with the same fading it comes to "
        f"{number(table, _case(RATED, FAR, 'fading'), 'total'):.1f} Mb/s at {FAR} ft, since there power falls as 1/d⁴ and not as 1/d².",
        f"At {FAR} ft the card as rated has {plain:.1f} Mb/s in all without RTS/CTS and {rts:.1f} Mb/s with it. RTS and CTS at 24 Mb/s reach no "
        "farther than carrier sense, so that they cost air and cause no further exposed node: carrier sense does. "
        + (
            f"What they cost does explain why the paper never came near {expected:g} Mb/s, though: with them the most is {most:.1f} Mb/s. The 22 Mb/s "
            "of its single pair (section II) are more than RTS/CTS allows, so that its cards would have to have used it here and not there."
            if most < expected
            else f"With them, too, more than {expected:g} Mb/s are reached."
        ),
        "Where the ground scatters the total rises from the beginning: at 250 ft it is "
        f"{number(table, _case(RATED, SHARED, SCATTERED), 'total') / number(table, _case(RATED, FEET[0], SCATTERED), 'total'):.2f} times that at {FEET[0]} ft. Over a plane, where "
        f"nothing fades, it is {number(table, _case(RATED, SHARED), 'total') / number(table, _case(RATED, FEET[0]), 'total'):.2f} times: it is "
        "fading that makes the difference, and the paper has open places steady up to 55 ft (section II).",
        "While the pairs share, totals differ by two things. Two frames sent in one slot both survive where the other pair's signal is weak enough, "
        "and not where the two rays add up (near 115 ft). And a preamble may be found where not even an ACK at 24 Mb/s can be read. "
        "Then every exchange of the other pair is followed by EIFS, 60 µs longer than DIFS: a dip before the edge.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    drawn = [
        Line(_series(card, variant), [(feet, table[_case(card, feet, variant), "total"]) for feet in FEET])
        for card, variant in DRAWN
    ]
    return [("Both pairs together", lines(drawn, x="distance of the pairs, ft", y="total, Mb/s"))]


EXPERIMENTS = (
    Experiment(
        "H8",
        "The exposed node: two pairs beside each other",
        "Two pairs, each 10 ft wide, exchange 100 MB each over UDP, 50 to 500 ft apart (Figs. 10, 11). Up to 250 ft each has "
        "12.2 to 14.4 Mb/s; beyond, the total rises to 36 Mb/s and never reaches 44 to 56 Mb/s. Loss does not depend on distance.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
