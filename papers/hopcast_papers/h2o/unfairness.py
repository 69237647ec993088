"""H9 and H11: a session of two hops next to one of a single hop, on a lawn and as in simulations of 802.11."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o.hosts import HOST_TIME, host_parameter, with_host_time
from hopcast_papers.h2o.places import (
    CARDS,
    FOOT,
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
    scenario,
)
from hopcast_papers.h2o.streams import SOCKET_BUFFER, XP_WINDOW, Protocol, off_fair
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Propagation, Radio

SPACING_FT = 50
PAPER: dict[Protocol, tuple[float, float]] = {"tcp": (6.028, 6.178), "udp": (6.361, 6.869)}
"""Mb/s of N1 → N2 → N3 and of N5 → N4, by the protocol of the latter (Tables III, IV)."""
LASTED_S, LASTED_BYTES = 140.0, 100 << 20
"""Duration of the experiment with TCP alone, and what each session sent (section V)."""
UDP_LOSS = 0.09961
"""Per cent (Table IV)."""


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=5, full=11)))


# --- H9: on a lawn -------------------------------------------------------------------------------------------------


def _size(amount: Amount) -> int:
    return amount.pick(quick=10 << 20, full=100 << 20)


def _h9_setup(amount: Amount) -> list[Parameter]:
    return [
        *card_parameters(),
        field_parameter(),
        Parameter("places", f"five laptops in a row, {SPACING_FT} ft apart", "Fig. 12 and section V"),
        Parameter("relaying", "by the application of N2, one TCP connection a hop", "section V"),
        Parameter("RTS/CTS", "off; beside it on (card as rated)", "as in H2"),
        Parameter(
            "fading",
            "none over the lawn; over the ground that scatters as in H1 and H8 (card as rated)",
            "the paper does not say which of the two its lawn was like: both are judged",
        ),
        Parameter(
            "TCP",
            f"socket buffers of {SOCKET_BUFFER} B; beside it a window of {XP_WINDOW} segments (card as rated)",
            "Windows XP's AFD DefaultSendWindow; its receive window on Ethernet",
        ),
        Parameter(
            "carrier sense",
            "all five sense each other; beside it up to 150 and 100 ft (card as rated)",
            "the standard's sensitivity, with which nobody is hidden; varied",
        ),
        Parameter("data", f"{_size(amount) >> 20} MB a session in ADUs of 1 KB", "section V has 100 MB"),
        Parameter("iterations", f"{len(_seeds(amount))} seeds", "not stated"),
        host_parameter(),
    ]


def _h9_cases(amount: Amount) -> Mapping[str, Case]:
    def case(
        card: Card,
        other: Protocol,
        *,
        rts: bool = False,
        window: int | None = None,
        relayed: Protocol = "tcp",
        propagation: Propagation | None = None,
    ) -> Case:
        places = [SPACING_FT * index for index in range(5)]
        made = scenario(
            f"{relayed.upper()} beside {other.upper()}, {card.name}",
            places,
            [(0, 2, relayed), (4, 3, other)],
            radio(card, propagation or field(), rts=rts),
            _size(amount),
            window=window,
        )
        return Case(made, _seeds(amount))

    cases = {_h9_case(other, card): case(card, other) for other in PAPER for card in CARDS}
    for other in PAPER:
        cases[_h9_case(other, RATED, "RTS")] = case(RATED, other, rts=True)
        cases[_h9_case(other, RATED, f"window {XP_WINDOW}")] = case(RATED, other, window=XP_WINDOW)
        cases[_h9_case(other, RATED, UNSTEADY)] = case(RATED, other, propagation=scattering())
        plain = cases[_h9_case(other, RATED)]
        cases[_h9_case(other, RATED, HOST_TIME)] = Case(with_host_time(plain.scenario), plain.seeds[:2])
        for feet, dbm in SENSED.items():
            hidden = plain.scenario.set("radio.carrier_sense_threshold", f"{dbm:g} dBm")
            cases[_h9_case(other, RATED, _sensed(feet))] = Case(hidden, plain.seeds)
    cases[WITHOUT_ACKS] = case(RATED, "udp", relayed="udp")
    return cases


SENSED: Mapping[int, float] = {150: -74.0, 100: -70.4}
"""By the most feet over which laptops sense each other: a threshold in dBm between the power there (−72.1 and −68.7) and 50 ft farther (−75.8 and −72.1),
over the lawn with the card as rated.
"""


def _sensed(feet: int) -> str:
    return f"sensed up to {feet} ft"


WITHOUT_ACKS = f"UDP/UDP, {RATED.name}"
"""Not in the paper: a relay that sends no acknowledgements."""


UNSTEADY = "ground that scatters"
GROUNDS = ("", UNSTEADY)
"""The lawn, and the other ground of H1 and H8: a sentence has to hold over both."""


def _h9_case(other: Protocol, card: Card, variant: str = "") -> str:
    return f"TCP/{other.upper()}, {card.name}" + (f", {variant}" if variant else "")


def _h9_rows(measured: Measured) -> list[Row]:
    rows = []
    shares: dict[str, Sample] = {}
    uneven: dict[Protocol, dict[str, Sample]] = {other: {} for other in PAPER}
    judged = {_h9_case(other, RATED, ground): other for other in PAPER for ground in GROUNDS}
    for case in (case for case in measured.documents if case != WITHOUT_ACKS):
        other: Literal["tcp", "udp"] = "udp" if case.startswith("TCP/UDP") else "tcp"
        two, one = mbps(measured, case, 0), mbps(measured, case, 1)
        theirs = PAPER[other] if case == _h9_case(other, RATED) else (None, None)
        note = f"Table {'III' if other == 'tcp' else 'IV'}; N1 → N2 and N2 → N3 carry the same"
        rows.append(value("H9", case, "N1 → N2 → N3", "Mb/s", two, paper=theirs[0], note=note))
        rows.append(value("H9", case, "N5 → N4", "Mb/s", one, paper=theirs[1]))
        rows.append(value("H9", case, "loss of N1 → N3", "%", loss(measured, case, (0,))))
        if other == "tcp":
            slower = Sample.of(lambda *rates: 8e-6 * LASTED_BYTES / min(rates) if min(rates) else math.nan, two, one)
            paper = LASTED_S if case == _h9_case(other, RATED) else None
            note = "“Approximately 140 seconds” (section V); of the slower session, in proportion where less is sent"
            rows.append(value("H9", case, "time for 100 MB", "s", slower, paper=paper, note=note))
        # TCP has none by construction.
        paper = UDP_LOSS if case == _h9_case("udp", RATED) else None
        rows.append(value("H9", case, "loss of N5 → N4", "%", loss(measured, case, (1,)), paper=paper))
        off = Sample.of(off_fair, two, one)
        if case in judged:
            shares[case], uneven[other][case] = two / one, off
        else:
            rows.append(value("H9", case, "two hops / one hop", "", two / one))
            rows.append(value("H9", case, "off a fair share", "", off))
    two, one = (mbps(measured, WITHOUT_ACKS, stream) for stream in (0, 1))
    rows.append(value("H9", WITHOUT_ACKS, "N1 → N2 → N3", "Mb/s", two))
    rows.append(value("H9", WITHOUT_ACKS, "N5 → N4", "Mb/s", one))
    rows.append(value("H9", WITHOUT_ACKS, "loss of N1 → N3", "%", loss(measured, WITHOUT_ACKS, (0,))))
    rows.append(value("H9", WITHOUT_ACKS, "two hops / one hop", "", two / one))
    before = Sample.of(lambda rate, lost: rate / (1.0 - lost / 100.0), two, loss(measured, WITHOUT_ACKS, (0,)))
    rows.append(value("H9", WITHOUT_ACKS, "one of two hops / one hop", "", before / one, note="What reaches the relay"))
    rows += REGISTER.rows("H9.not-dropped", "", "two hops / one hop", "", shares)
    for key, other in (("H9.fair-tcp", "tcp"), ("H9.even-udp", "udp")):
        rows += REGISTER.rows(key, f"beside {other.upper()}", "off a fair share", "", uneven[other])
    kept = {
        f"N1 → N2 → N3, beside UDP / beside TCP, {ground or 'lawn'}": mbps(measured, _h9_case("udp", RATED, ground), 0)
        / mbps(measured, _h9_case("tcp", RATED, ground), 0)
        for ground in GROUNDS
    }
    return rows + REGISTER.rows("H9.no-degradation", "", "bandwidth ratio", "", kept)


def _h9_notes(table: Table) -> list[str]:
    both = {
        other: tuple(number(table, _h9_case(other, RATED), flow) for flow in ("N1 → N2 → N3", "N5 → N4"))
        for other in PAPER
    }
    ratios = {other: number(table, _h9_case(other, RATED), "two hops / one hop") for other in PAPER}
    rts = number(table, _h9_case("tcp", RATED, "RTS"), "N5 → N4")
    timed_fair = number(table, _h9_case("tcp", RATED, HOST_TIME), "off a fair share") <= REGISTER.limit("H9.fair-tcp")
    return [
        "; ".join(
            f"next to {other.upper()}: {two:.2f} Mb/s over two hops, {one:.2f} Mb/s over one"
            for other, (two, one) in both.items()
        )
        + " (card as rated). All five laptops sense each other, 200 ft apart at most, and take turns: none can be shut out.",
        "Two hops have "
        + " and ".join(f"{ratio:.2f} (next to {other.upper()})" for other, ratio in ratios.items())
        + " of what one hop has, the paper 0.98 and 0.93. Stations that have something to send get equal chances. The relay N2 uses its chances for two "
        "things, segments to N3 and acknowledgements to N1; N5 has nothing but segments. "
        f"Where both sessions are UDP, without acknowledgements, two hops have {number(table, WITHOUT_ACKS, 'two hops / one hop'):.2f} of what "
        f"one hop has, and lose {number(table, WITHOUT_ACKS, 'loss of N1 → N3'):.1f} % in the relay's buffer: what reaches it is "
        f"{number(table, WITHOUT_ACKS, 'one of two hops / one hop'):.2f} of the other.",
        "Where the ground scatters, two hops have "
        + " and ".join(
            f"{number(table, _h9_case(other, RATED, UNSTEADY), 'two hops / one hop'):.2f} (next to {other.upper()})"
            for other in PAPER
        )
        + ". The paper's even shares over 50 ft need links as steady as it says they are up to 55 ft.",
        "The paper's sums are 18.2 and 19.6 Mb/s over the air. Hosts can take their time, as H2's 22 Mb/s ask for. Then two hops and one have "
        + " and ".join(
            f"{number(table, _h9_case(other, RATED, HOST_TIME), 'N1 → N2 → N3'):.2f} and "
            f"{number(table, _h9_case(other, RATED, HOST_TIME), 'N5 → N4'):.2f} Mb/s (next to {other.upper()})"
            for other in PAPER
        )
        + ": two hops have "
        + " and ".join(
            f"{number(table, _h9_case(other, RATED, HOST_TIME), 'two hops / one hop'):.2f}" for other in PAPER
        )
        + " of one. "
        + (
            "So the time of its hosts does not make the paper's shares next to TCP even; next to UDP it can."
            if not timed_fair
            else "So the time of its hosts can make the paper's shares even."
        )
        + f" With RTS/CTS one hop has {rts:.2f} Mb/s (6.18 in the paper), but H2's 22 Mb/s speak against RTS/CTS.",
        "Cards that sense less make the shares no more even. "
        + " ".join(
            f"If laptops sense each other up to {feet} ft, two hops have "
            + " and ".join(
                f"{number(table, _h9_case(other, RATED, _sensed(feet)), 'two hops / one hop'):.2f} (next to {other.upper()})"
                for other in PAPER
            )
            + " of what one hop has."
            for feet in SENSED
        ),
        "Both sessions have the same amount to send: the slower one has the air to itself at the end, in the paper as here.",
    ]


# --- H11: why simulations saw sessions shut out --------------------------------------------------------------------

SPACING_M = 200
"""As in ns-2 studies of strings: neighbours within 250 m, sensed up to 550 m."""
WINDOW, SEGMENT = 20, 1000
"""ns-2's defaults."""
FAR_DSSS = "2 Mb/s DSSS, 200 m apart"
FAR_A = "802.11a, 200 m apart"
NEAR_DSSS = "2 Mb/s DSSS, 50 ft apart"
NEAR_A = "802.11a, 50 ft apart"


def _h11_scenario(
    name: str,
    settings: Radio,
    spacing: float,
    amount: Amount,
    *,
    window: int = WINDOW,
    relay: Literal["os", "application"] = "os",
) -> Scenario:
    def session(number: int, source: int, sink: int) -> dict[str, object]:
        return {
            "name": f"stream{number}",
            "from": f"n{source}",
            "to": f"n{sink}",
            "via": [f"n{index}" for index in range(source + 1, sink)],
            "transport": {"protocol": "tcp", "segment": SEGMENT, "window": window},
            "application": {"kind": "bulk"},
        }

    return Scenario(
        name=name,
        duration=_h11_duration(amount),
        seed=1,
        radio=settings,
        nodes=[{"name": "n", "count": 5, "relay": relay, "placement": {"shape": "line", "spacing": spacing}}],
        flows=[session(0, 0, 2), session(1, 4, 3)],  # type: ignore[list-item]
    )


def _h11_duration(amount: Amount) -> float:
    return amount.pick(quick=20.0, full=200.0)


def _ns2(standard: Literal["802.11", "802.11a"], *, rts: bool = True) -> Radio:
    """ns-2's rules and ranges, with the timing and rate of a standard."""
    rate = "2 Mb/s" if standard == "802.11" else "54 Mb/s"
    return {
        "profile": "ns-2",
        "standard": standard,
        "data_rate": rate,
        "rts_threshold": "0 B" if rts else "off",
    }


def _h11_setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter(
            "topology",
            "N1 → N2 → N3 beside N5 → N4, in a row",
            "Fig. 12, that of neighbouring node one-hop unfairness in [22]",
        ),
        Parameter(
            "DSSS",
            "802.11 at 2 Mb/s, profile ns-2: 250 m and 550 m, RTS/CTS always",
            "[22] simulated with ns-2; its defaults",
        ),
        Parameter("802.11a", "54 Mb/s: with the same rules and ranges, and on the lawn of H9", "section V"),
        Parameter(
            "spacing", f"{SPACING_M} m, neighbours only; {SPACING_FT} ft, all in range", "ns-2's range; section V"
        ),
        Parameter("TCP", f"NewReno, segments of {SEGMENT} B, window {WINDOW}; beside it 4", "ns-2's defaults"),
        Parameter("relaying", "by the operating system; beside it by the application", "[22]; section V"),
        Parameter("run", f"{_h11_duration(amount):g} s, {len(_seeds(amount))} seeds", "not stated"),
    ]


def _h11_cases(amount: Amount) -> Mapping[str, Case]:
    near = SPACING_FT * FOOT
    made = {
        FAR_DSSS: _h11_scenario(FAR_DSSS, _ns2("802.11"), SPACING_M, amount),
        FAR_A: _h11_scenario(FAR_A, _ns2("802.11a"), SPACING_M, amount),
        NEAR_DSSS: _h11_scenario(NEAR_DSSS, _ns2("802.11"), near, amount),
        NEAR_A: _h11_scenario(NEAR_A, _ns2("802.11a"), near, amount),
    }
    for card in CARDS:
        name = _h11_lawn(card)
        made[name] = _h11_scenario(name, radio(card, field()), near, amount)
    for name, rts, window, relay in _H11_VARIANTS:
        made[name] = _h11_scenario(name, _ns2("802.11", rts=rts), SPACING_M, amount, window=window, relay=relay)
    return {name: Case(found, _seeds(amount)) for name, found in made.items()}


_H11_VARIANTS: tuple[tuple[str, bool, int, Literal["os", "application"]], ...] = (
    (f"{FAR_DSSS}, window 4", True, 4, "os"),
    (f"{FAR_DSSS}, no RTS", False, WINDOW, "os"),
    (f"{FAR_DSSS}, application relays", True, WINDOW, "application"),
)


def _h11_lawn(card: Card) -> str:
    return f"802.11a, lawn, {card.name}"


def _h11_rows(measured: Measured) -> list[Row]:
    rows = []
    for case in measured.documents:
        two, one = mbps(measured, case, 0), mbps(measured, case, 1)
        rows.append(value("H11", case, "N1 → N2 → N3", "Mb/s", two))
        rows.append(value("H11", case, "N5 → N4", "Mb/s", one))
        ratio = two / one
        if case == FAR_DSSS:
            rows.append(REGISTER.row("H11.dropped-in-22", case, "two hops / one hop", "", ratio))
        elif case == _h11_lawn(RATED):
            rows.append(REGISTER.row("H11.not-with-80211a", case, "two hops / one hop", "", ratio))
        else:
            rows.append(value("H11", case, "two hops / one hop", "", ratio))
    return rows


def _h11_notes(table: Table) -> list[str]:
    share = {
        case: 100 * number(table, case, "two hops / one hop")
        for case in (FAR_DSSS, FAR_A, NEAR_DSSS, NEAR_A, _h11_lawn(RATED))
    }
    shut = [case for case, percent in share.items() if percent < 100 * REGISTER.limit("H11.dropped-in-22")]
    return [
        " ".join(f"{case}: two hops have {percent:.1f} % of what one hop has." for case, percent in share.items())
        + " Shut out: "
        + ("; ".join(shut) if shut else "none")
        + ".",
        (
            "The ranges make the difference, and neither the standard nor simulation itself. With 250 m and 550 m and nodes 200 m apart 802.11a, "
            "too, leaves the session of two hops less than a tenth on average. DSSS with all nodes in range does not."
            if {FAR_DSSS, FAR_A} == set(shut)
            else "The cases that shut out do not follow from the ranges alone."
        ),
        "Nodes 200 m apart: N2 and N5 are 600 m apart and don't sense each other, but N3 senses N5 and hears N4. While N5 sends to N4, N3 "
        "answers no RTS of N2, whose window doubles until it drops the packet; N5 knows of nothing and always finds the air free. With 50 "
        "ft between neighbours all sense each other, and take turns.",
        "The paper's laptops, 50 ft apart, had this second topology: its Fig. 12 is that of its reference 22 by its connections, and not by which nodes sense each other. "
        "H8 says that at this height they sense each other up to 250 ft and more, and N1 and N5 are 200 ft apart.",
    ]


def _h9_figures(table: Table) -> list[tuple[str, Figure]]:
    cases = [_h9_case(other, card) for other in PAPER for card in CARDS]
    return [("Bandwidth of the two sessions", _sessions(table, cases))]


def _h11_figures(table: Table) -> list[tuple[str, Figure]]:
    return [("Bandwidth of the two sessions", _sessions(table, [FAR_DSSS, FAR_A, NEAR_DSSS, NEAR_A, _h11_lawn(RATED)]))]


def _sessions(table: Table, cases: Sequence[str]) -> Figure:
    from hopcast.figures import Group, bars

    groups = [Group.of(session, [table[case, session] for case in cases]) for session in ("N1 → N2 → N3", "N5 → N4")]
    return bars(cases, groups, y="bandwidth, Mb/s")


EXPERIMENTS = (
    Experiment(
        "H9",
        "One-hop unfairness: two hops beside one",
        "N1 sends 100 MB to N3 through N2 over TCP while N5 sends as much to N4 over TCP or UDP, all 50 ft apart (Fig. 12, Tables III, IV). "
        "All get about the same; nobody is shut out.",
        _h9_setup,
        _h9_cases,
        _h9_rows,
        _h9_figures,
        _h9_notes,
    ),
    Experiment(
        "H11",
        "Why a simulation of 802.11 saw sessions shut out",
        "S. Xu and T. Saadawi ([22] of the paper) simulated the topology of H9 with 802.11 at 2 Mb/s, where the session of two hops is shut out; "
        "the paper's laptops did not see that. Both, side by side, and what tells them apart.",
        _h11_setup,
        _h11_cases,
        _h11_rows,
        _h11_figures,
        _h11_notes,
    ),
)
