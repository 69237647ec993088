"""H7: one or two cards in the relays, routing by application or operating system, one or several channels."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers.h2o.hosts import COPY_US, HOST_TIME, card, host_parameter
from hopcast_papers.h2o.places import FULL, free_space_loss_db, loss, mbps, number
from hopcast_papers.h2o.streams import KB, SOCKET_BUFFER, Protocol, paper_note
from hopcast_papers.register import NOISE, REGISTER, UNAFFECTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Flow, Nodes

Routing = Literal["application", "os"]

SEEDS = tuple(range(1, 11))
CHANNELS = (36, 48, 60)
"""Channels of the hops; no two are adjacent."""
FIGURE_8_HOPS = 3
SINGLE, MULTIPLE, APART = "single channel", "multiple channels", "multiple channels, no leakage"
REJECTION_DB, UNSENSED_DB = 28, 40
"""Rejection on the adjacent channel: the least that the standard requires, and a value at which even the leakage of
two channels together stays below −82 dBm.
"""
BEYOND_DB = 16
"""Additional rejection beyond the adjacent channel."""
UNSENSED = f"multiple channels, {UNSENSED_DB} dB"
SHORT_QUEUE = 16
"""Number of units that a relaying application holds in its receive buffer and its send buffer."""
SHORT = f"single channel, queue of {SHORT_QUEUE}"
TIMED = {SINGLE: f"{SINGLE}, {HOST_TIME}", MULTIPLE: f"{MULTIPLE}, {HOST_TIME}"}
"""The columns with hosts that take their time."""
TIMED_SEEDS = SEEDS[:3]
SENSED_DBM, ENERGY_DBM = -82, -62
"""Sensitivity to a frame on the same channel, and to mere energy (IEEE 802.11-2020, 17.3.10.6)."""


@dataclass(frozen=True)
class Cell:
    """One cell of Table II: mean and standard deviation of ten repetitions."""

    mbps: float
    mbps_sd: float
    loss: float
    loss_sd: float


@dataclass(frozen=True)
class Design:
    """One row of Table II: `hops` streams of one hop each, or one stream over `hops` hops."""

    competing: bool
    hops: int
    cards: int
    routing: Routing
    single: Cell
    multiple: Cell

    @property
    def name(self) -> str:
        """Name as in the paper's first column."""
        if self.competing:
            return f"{self.hops}:1-hop"
        return _name(self.hops, self.cards, self.routing)

    def columns(self) -> tuple[str, ...]:
        """Properties that distinguish simulations of this row: one card in a node can't be on two channels."""
        return (SINGLE, MULTIPLE, APART) if self.cards == 2 else (SINGLE,)

    def protocols(self) -> tuple[Protocol, ...]:
        """The rows that hopcast simulates: for TCP, the paper describes only streams over several hops."""
        return ("udp",) if self.competing else ("udp", "tcp")


def _name(hops: int, cards: int, routing: Routing) -> str:
    by = "OS" if routing == "os" else "application"
    return f"1:{hops}-hop, {cards} card{'s' if cards > 1 else ''}, {by} routing"


TABLE_II = (
    Design(True, 2, 1, "application", Cell(12.59, 0.79, 0.32, 0.17), Cell(12.43, 0.84, 0.49, 0.5)),
    Design(False, 2, 1, "application", Cell(11.74, 0.13, 1.77, 1.55), Cell(11.29, 0.16, 5.51, 3.22)),
    Design(False, 2, 2, "application", Cell(18.07, 0.17, 1.22, 0.58), Cell(11.17, 0.23, 3.32, 1.91)),
    Design(False, 2, 1, "os", Cell(10.57, 0.55, 10.48, 7.56), Cell(10.59, 0.23, 5.49, 4.24)),
    Design(False, 2, 2, "os", Cell(15.90, 0.93, 0.18, 0.22), Cell(11.73, 0.17, 1.0, 1.41)),
    Design(True, 3, 1, "application", Cell(8.44, 0.4, 0.36, 0.3), Cell(8.39, 0.55, 0.36, 0.16)),
    Design(False, 3, 1, "application", Cell(7.73, 0.20, 5.14, 3.88), Cell(7.18, 0.14, 16.00, 2.92)),
    Design(False, 3, 2, "application", Cell(7.31, 0.17, 16.86, 4.29), Cell(6.01, 0.5, 33.26, 8.1)),
    Design(False, 3, 1, "os", Cell(5.93, 0.13, 25.22, 4.86), Cell(5.98, 0.52, 24.82, 8.59)),
    Design(False, 3, 2, "os", Cell(6.64, 0.19, 25.36, 2.79), Cell(7.35, 0.39, 15.22, 6.41)),
)
"""Bandwidth with units of 1 KB over UDP."""
STREAMS = tuple(design for design in TABLE_II if not design.competing)
SUSPECTS = tuple(design for design in STREAMS if design.hops == 2 and design.cards == 2)
"""The rows whose columns are probably swapped."""


def scenario(design: Design, column: str, protocol: Protocol, amount: Amount) -> Scenario:
    """Laptops in a row, a metre apart, all in range of each other.

    With two cards, a relay has one on the network of each of its hops; the ends of the row have one.
    """
    hops = list(range(design.hops))
    size = _size(amount)
    ways = [(hop, hop + 1) for hop in hops] if design.competing else [(0, design.hops)]
    flows: list[Flow] = [
        {
            "name": f"stream{index}",
            "from": f"n{source}",
            "to": f"n{sink}",
            "via": [f"n{relay}" for relay in range(source + 1, sink)],
            "transport": {"protocol": protocol},
            "application": {"kind": "adu", "size": KB, "bytes": size},
        }
        for index, (source, sink) in enumerate(ways)
    ]
    return Scenario(
        name=f"{design.name}, {column}, {protocol.upper()}",
        # Long enough for 0.5 Mb/s; a run is over when its finite streams are.
        duration=size * 8 / 0.5e6,
        seed=1,
        radio={
            "standard": "802.11a",
            "data_rate": "54 Mb/s",
            "rts_threshold": "off",
            "adjacent_channel_rejection": _rejection(column),
            **({"queue": {"packets": SHORT_QUEUE}} if column == SHORT else {}),
        },
        nodes=[_node(design, column, place) for place in range(design.hops + 1)],
        flows=flows,
    )


def _rejection(column: str) -> str:
    return "off" if column == APART else f"{UNSENSED_DB if column == UNSENSED else REJECTION_DB} dB"


def leakage_dbm() -> float:
    """Power that arrives from a card a metre away, two channels on, with the least allowed rejection: 40 mW over free
    space.
    """
    return FULL.power_dbm - free_space_loss_db(1.0, 5e9 + 5e6 * CHANNELS[0]) - REJECTION_DB - BEYOND_DB


def _node(design: Design, column: str, place: int) -> Nodes:
    node: Nodes = {
        "name": f"n{place}",
        "placement": {"shape": "points", "at": [[float(place), 0.0]]},
        "relay": design.routing,
        "socket_buffer": SOCKET_BUFFER,
    }
    if column in TIMED.values():
        node["card"] = card()
    if design.cards == 2:
        channels = (CHANNELS[0],) * design.hops if column in (SINGLE, SHORT, TIMED[SINGLE]) else CHANNELS
        node["radios"] = [
            {"network": f"hop{hop}", "channel": channels[hop]} for hop in (place - 1, place) if 0 <= hop < design.hops
        ]
    return node


def _size(amount: Amount) -> int:
    return amount.pick(quick=10 << 20, full=100 << 20)


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("radio", "802.11a at a fixed 54 Mb/s, no RTS/CTS", "section I; see H2"),
        Parameter("places", "in a row, 1 m apart, no fading", "“in the same radio range”; distance not stated"),
        Parameter(
            "cards", "two in the relays, one on the network of each hop", "section III-B: in “those that forward data”"
        ),
        Parameter(
            "channels", ", ".join(map(str, CHANNELS[:3])) + " for the hops", "not stated; none adjacent to another"
        ),
        Parameter(
            "leakage between channels",
            f"{REJECTION_DB} dB, and {BEYOND_DB} dB more beyond the adjacent channel; beside it {UNSENSED_DB} dB, and none",
            "IEEE 802.11-2020, Table 17-18: what receivers must reject at least",
        ),
        Parameter(
            "one card, multiple channels", "as on a single channel", "a card is on one channel at a time; not explained"
        ),
        Parameter("data", f"{_size(amount) >> 20} MB a stream, in units of 1 KB", "Table II: 100 MB"),
        Parameter("socket buffers", f"{SOCKET_BUFFER} B each way", "default of Windows XP (AFD DefaultSendWindow)"),
        Parameter(
            "interface queue",
            f"50 packets; beside it {SHORT_QUEUE}, what a relaying application holds",
            "hopcast's default; Windows' is not published",
        ),
        Parameter("iterations", f"{len(SEEDS)} seeds; with host time {len(TIMED_SEEDS)}", "Table II: ten repetitions"),
        host_parameter(),
    ]


def _case(design: Design, column: str, protocol: Protocol = "udp") -> str:
    return f"{design.name}, {column}" + (", TCP" if protocol == "tcp" else "")


def _cases(amount: Amount) -> Mapping[str, Case]:
    made = [
        (design, column, protocol)
        for design in TABLE_II
        for protocol in design.protocols()
        for column in design.columns()
    ]
    made += [(design, column, "udp") for design in STREAMS for column in _beside(design)]
    cases = {_case(*one): Case(scenario(*one, amount), SEEDS) for one in made}
    timed: list[tuple[Design, str, Protocol]] = [
        (design, TIMED[column], "udp") for design in TABLE_II for column in _timed(design)
    ]
    return cases | {_case(*one): Case(scenario(*one, amount), TIMED_SEEDS) for one in timed}


def _timed(design: Design) -> tuple[str, ...]:
    """Columns that stand there with hosts that take their time."""
    return (SINGLE, MULTIPLE) if design.cards == 2 else (SINGLE,)


def _beside(design: Design) -> tuple[str, ...]:
    """Trials that look for the reason of this row, over UDP."""
    if design.cards == 2:
        return (UNSENSED,)
    return (SHORT,) if design.routing == "os" else ()


def _rows(measured: Measured) -> list[Row]:
    return [
        *(row for design in TABLE_II for row in _cells(measured, design)),
        *_same_by_os(measured),
        *_same_over_tcp(measured),
        *_losses_vary(measured),
        *_fewer_hops_lose_less(measured),
        *(row for design in SUSPECTS for row in _swapped(measured, design)),
    ]


def _cells(measured: Measured, design: Design) -> list[Row]:
    rows = []
    columns = [(SINGLE, design.single), (MULTIPLE, design.multiple)]
    for column, cell in (*columns, *(((APART, None),) if design.cards == 2 else ())):
        simulated = _case(design, column if design.cards == 2 else SINGLE)
        note = (
            f"Table II: ± {cell.mbps_sd:g} Mb/s, ± {cell.loss_sd:g} points"
            if cell
            else "Channels that don't disturb each other"
        )
        if column == MULTIPLE and design.cards == 1:
            note += "; the same simulation as on a single channel"
        case = _case(design, column)
        each = _bandwidth(measured, design, simulated)
        lost = loss(measured, simulated, _streams(design))
        rows.append(value("H7", case, "bandwidth", "Mb/s", each, paper=cell.mbps if cell else None, note=note))
        rows.append(value("H7", case, "loss", "%", lost, paper=cell.loss if cell else None, note=note))
        if cell:
            vary = "Table II: of ten repetitions; here of the seeds"
            for metric, unit, sample, paper in (
                ("bandwidth", "Mb/s", each, cell.mbps_sd),
                ("loss", "%", lost, cell.loss_sd),
            ):
                rows.append(value("H7", case, f"{metric}, deviation", unit, _deviation(sample), paper=paper, note=vary))
    for column in _timed(design):
        cell = design.single if column == SINGLE else design.multiple
        case = _case(design, TIMED[column])
        each, lost = _bandwidth(measured, design, case), loss(measured, case, _streams(design))
        rows.append(value("H7", case, "bandwidth", "Mb/s", each, note=paper_note(cell.mbps, "Mb/s")))
        rows.append(value("H7", case, "loss", "%", lost, note=paper_note(cell.loss, "%")))
    for column in _beside(design) if not design.competing else ():
        case = _case(design, column)
        rows.append(value("H7", case, "bandwidth", "Mb/s", mbps(measured, case)))
        rows.append(value("H7", case, "loss", "%", loss(measured, case)))
    return rows


def _same_by_os(measured: Measured) -> list[Row]:
    ratios = {}
    by_name = {design.name: design for design in STREAMS}
    for design in (design for design in STREAMS if design.routing == "application"):
        other = by_name[_name(design.hops, design.cards, "os")]
        for column in design.columns():
            case = f"{design.hops} hops, {design.cards} card{'s' if design.cards > 1 else ''}, {column}, UDP"
            ratios[case] = mbps(measured, _case(other, column)) / mbps(measured, _case(design, column))
    return REGISTER.rows("H7.os-like-application", "", "OS / application", "", ratios)


def _same_over_tcp(measured: Measured) -> list[Row]:
    rows = []
    base: dict[int, Sample] = {}
    claimed: dict[str, Sample] = {}
    for design in STREAMS:
        for column in design.columns():
            case = _case(design, column, "tcp")
            sample = mbps(measured, case)
            rows.append(value("H7", case, "bandwidth", "Mb/s", sample))
            if base.setdefault(design.hops, sample) is sample:
                continue
            ratio = sample / base[design.hops]
            if design.hops == FIGURE_8_HOPS and column == SINGLE:
                claimed[case] = ratio
            else:
                rows.append(value("H7", case, "TCP, to one card", "", ratio))
    return rows + REGISTER.rows("H7.tcp-unchanged", "", "TCP, to one card", "", claimed)


def _losses_vary(measured: Measured) -> list[Row]:
    varies = {
        f"{design.name}, {SINGLE}": coefficient_of_variation(loss(measured, _case(design, SINGLE), (0,)))
        for design in STREAMS
    }
    return REGISTER.rows("H7.loss-varies", "", "loss, deviation / mean", "", varies)


def coefficient_of_variation(sample: Sample) -> Sample:
    """Standard deviation over the replications, divided by their mean, as in the paper's Table II; unknown if the
    mean is zero.
    """
    if not sample.mean:
        return Sample((math.nan,))
    return Sample((statistics.stdev(sample.values) / sample.mean,))


def _deviation(sample: Sample) -> Sample:
    """Standard deviation over the replications."""
    return Sample((statistics.stdev(sample.values),))


def _fewer_hops_lose_less(measured: Measured) -> list[Row]:
    by_name = {design.name: design for design in STREAMS}
    more = {}
    for routing in ("application", "os"):
        few, many = (loss(measured, _case(by_name[_name(hops, 1, routing)], SINGLE)) for hops in (2, 3))
        more[f"{_name(3, 1, routing)} − 1:2-hop"] = many - few
    return REGISTER.rows("H7.smaller-k", "", "loss", "points", more)


def _swapped(measured: Measured, design: Design) -> list[Row]:
    """Whether one channel can carry the bandwidth that the table prints for it, and which order of the columns fits
    better. These are not claims of the paper.
    """
    rows = []
    competing = next(other for other in TABLE_II if other.competing and other.hops == design.hops)
    channel = Sample.of(lambda each: each * design.hops, _bandwidth(measured, competing, _case(competing, SINGLE)))
    for order, cell in (("as printed", design.single), ("swapped", design.multiple)):
        air = design.hops * cell.mbps
        note = f"{cell.mbps:g} Mb/s over {design.hops} hops on one channel are {air:.1f} Mb/s of what a channel carries"
        need = Sample.of(lambda carried, air=air: air / carried, channel)
        rows.append(value("H7", f"{design.name}, {order}", "air needed / air", "", need, note=note))
    printed = (design.single.mbps, design.multiple.mbps)
    single = mbps(measured, _case(design, SINGLE))
    for column in (MULTIPLE, APART):
        multiple = mbps(measured, _case(design, column))
        misfits = [
            Sample.of(lambda a, b, x=x, y=y: math.exp(abs(math.log(a / x)) + abs(math.log(b / y))), single, multiple)
            for x, y in (printed, printed[::-1])
        ]
        note = "Above 1 both cells together are further off as printed than the other way round"
        ratio = misfits[0] / misfits[1]
        rows.append(value("H7", f"{design.name}, {column}", "misfit printed / swapped", "", ratio, note=note))
    return rows


def _streams(design: Design) -> tuple[int, ...]:
    return tuple(range(design.hops if design.competing else 1))


def _bandwidth(measured: Measured, design: Design, case: str) -> Sample:
    """Mean of the streams, in Mb/s."""
    return Sample.of(
        lambda *rates: sum(rates) / len(rates), *(mbps(measured, case, stream) for stream in _streams(design))
    )


def _notes(table: Table) -> list[str]:
    def of(design: Design, column: str, metric: str = "bandwidth") -> float:
        return number(table, _case(design, column), metric)

    by_name = {design.name: design for design in TABLE_II}
    relays = [by_name[_name(hops, 1, by)] for hops in (2, 3) for by in ("application", "os")]
    os_less = all(of(relays[i + 1], SINGLE, "loss") < of(relays[i], SINGLE, "loss") for i in (0, 2))
    need = [number(table, f"{design.name}, as printed", "air needed / air") for design in SUSPECTS]
    turned = [number(table, f"{design.name}, swapped", "air needed / air") for design in SUSPECTS]
    misfit = [
        number(table, f"{design.name}, {column}", "misfit printed / swapped")
        for design in SUSPECTS
        for column in (MULTIPLE, APART)
    ]
    three = [design for design in STREAMS if design.hops == 3 and design.cards == 2]
    deviations = [
        row.paper > row.measured
        for row in table.rows
        if row.metric.endswith(", deviation") and row.paper is not None and row.measured is not None
    ]
    changed = [row for row in table.rows if row.metric == "TCP, to one card" and row.kind == "value"]
    same = [row for row in changed if row.measured is not None and abs(row.measured - 1.0) <= NOISE]
    return [
        "Two cards over two hops: the paper's single-channel cells need "
        + " and ".join(f"{ratio:.2f}" for ratio in need)
        + " times what two senders on one channel carry here, those of the other column "
        + " and ".join(f"{ratio:.2f}" for ratio in turned)
        + f" times. As printed both cells are {min(misfit):.2f} to {max(misfit):.2f} times as far off as swapped. "
        + (
            "The columns of these two rows are swapped in the table, or their labels mean something else."
            if min(need) > 1 > max(turned) and min(misfit) > 1
            else "This does not settle whether the columns are swapped."
        ),
        *_leakage_notes(table),
        "Over three hops two cards bring the paper nothing in either column ("
        + "; ".join(f"{design.single.mbps:g} and {design.multiple.mbps:g}" for design in three)
        + " Mb/s); here multiple channels give "
        + "; ".join(f"{of(design, MULTIPLE):.2f} to {of(design, APART):.2f}" for design in three)
        + f" Mb/s. No order of the columns explains that. Hosts whose processor needs {COPY_US:g} µs to copy 1500 B to either card, or from it (H2), get "
        + "; ".join(f"{of(design, TIMED[MULTIPLE]):.2f}" for design in three)
        + " Mb/s.",
        "The time of the hosts, calibrated on H2's 22 Mb/s alone, changes the loss with one card. Here are an application over two hops, the OS over two, and "
        "likewise over three. The paper has "
        + ", ".join(f"{design.single.loss:g}" for design in relays)
        + " %. With the time it is "
        + ", ".join(significant(of(design, TIMED[SINGLE], "loss"), 2) for design in relays)
        + " %, without it "
        + ", ".join(significant(of(design, SINGLE, "loss"), 2) for design in relays)
        + " %.",
        "In the same order the bandwidth is "
        + ", ".join(f"{of(design, TIMED[SINGLE]):.2f}" for design in relays)
        + " Mb/s with the time, and "
        + ", ".join(f"{of(design, SINGLE):.2f}" for design in relays)
        + " Mb/s without it. The paper has "
        + ", ".join(f"{design.single.mbps:g}" for design in relays)
        + " Mb/s.",
        "Loss with one card, application against OS routing: "
        + "; ".join(
            f"{of(relays[i], SINGLE, 'loss'):.1f} against {of(relays[i + 1], SINGLE, 'loss'):.1f} % over {hops} hops"
            for i, hops in ((0, 2), (2, 3))
        )
        + ". "
        + (_queue_note(table) if os_less else "In the paper the operating system loses more (10.48 and 25.22 %)."),
        "One card can't be on several channels, so that both columns have one simulation. The paper's own columns differ there: 5.14 and "
        "16.00 % loss in one row, 7.73 and 7.18 Mb/s.",
        f"Ten repetitions of the paper deviate more than the seeds here in {sum(deviations)} of {len(deviations)} cells, of bandwidth and "
        "of loss. Laptops and surroundings are the same in all seeds, and only draws of backoff slots differ.",
        f"TCP is within 10 % of one card with application routing in {len(same)} of {len(changed)} "
        "cases; "
        + (
            "those outside have two cards on several channels, which must help TCP as they help UDP."
            if all(MULTIPLE in row.case for row in changed if row not in same)
            else "those outside are not only the ones with several channels."
        ),
    ]


def _leakage_notes(table: Table) -> list[str]:
    """Cost of leakage between channels, and its two causes: sensing it, and its effect on frames."""

    def of(design: Design, column: str) -> float:
        return number(table, _case(design, column), "bandwidth")

    two_cards = [design for design in STREAMS if design.cards == 2]
    # Beyond what is noise to the paper.
    unharmed = all(of(design, UNSENSED) >= (1 - NOISE) * of(design, APART) for design in two_cards)
    hinder = all(of(design, MULTIPLE) < (1 - NOISE) * of(design, UNSENSED) for design in two_cards)
    leaks = leakage_dbm()
    return [
        "Two cards, multiple channels, with the leakage that the standard allows: "
        + ", ".join(
            f"{of(design, MULTIPLE):.2f} Mb/s over {design.hops} hops ({design.routing})" for design in two_cards
        )
        + f". In the same order it is {', '.join(f'{of(design, UNSENSED):.2f}' for design in two_cards)} Mb/s with {UNSENSED_DB} dB of rejection, and "
        f"{', '.join(f'{of(design, APART):.2f}' for design in two_cards)} Mb/s without leakage.",
        f"A metre apart, two channels away, that leakage is {leaks:.1f} dBm. It is sensed here, as hopcast compares it with the threshold for frames of the "
        f"station's channel ({SENSED_DBM} dBm). The standard has {ENERGY_DBM} dBm for mere energy (IEEE 802.11-2020, 17.3.10.6): a card that conforms doesn't have "
        f"to defer. With {UNSENSED_DB} dB even that of two channels at once is {leaks + REJECTION_DB - UNSENSED_DB + 10 * math.log10(2):.1f} dBm, and not sensed: "
        + (
            "it is sensing that costs what leakage costs, and not what it does to frames. "
            if unharmed and hinder
            else "sensing alone does not tell what leakage costs. "
        )
        + "The paper's "
        + " and ".join(f"{design.single.mbps:g}" for design in SUSPECTS)
        + " Mb/s over two hops (if swapped) lie in between: cards that sense more than they need, or time of the hosts, with which it is "
        + " and ".join(f"{of(design, TIMED[MULTIPLE]):.2f}" for design in SUSPECTS)
        + " Mb/s.",
    ]


def _queue_note(table: Table) -> str:
    """Why an operating system that relays loses less than an application here, shown with a queue of the
    application's length.
    """
    by_name = {design.name: design for design in STREAMS}

    def lost(hops: int, routing: Routing, column: str) -> float:
        return number(table, _case(by_name[_name(hops, 1, routing)], column), "loss")

    hops = (2, 3)
    short = [lost(each, "os", SHORT) for each in hops]
    alike = all(abs(of - lost(each, "application", SINGLE)) <= UNAFFECTED for each, of in zip(hops, short, strict=True))
    return (
        f"An operating system that relays has the interface queue of 50 packets, an application its socket's two buffers, of eight units each. "
        f"With a queue of {SHORT_QUEUE} the operating system loses {short[0]:.1f} % over two hops and {short[1]:.1f} % over three"
        + (
            ", as the application does. It is the larger one that evens chance out better. "
            if alike
            else ": the length alone does not explain it. "
        )
        + "In the paper the operating system loses more (10.48 and 25.22 %): Windows would have to keep few packets when it forwards; its queue is "
        "not published."
    )


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    def label(design: Design) -> str:
        if design.competing:
            return f"{design.hops}:1"
        return f"1:{design.hops} {'two' if design.cards == 2 else 'one'} {'OS' if design.routing == 'os' else 'app.'}"

    def drawn(metric: str, unit: str) -> Figure:
        groups = [
            Group.of(column, [table[_case(design, column), metric] for design in TABLE_II])
            for column in (SINGLE, MULTIPLE)
        ]
        return bars([label(design) for design in TABLE_II], groups, y=f"{metric}, {unit}")

    cells = "streams and hops, cards, who relays"
    return [
        (f"Bandwidth of Table II: {cells}", drawn("bandwidth", "Mb/s")),
        (f"Loss of Table II: {cells}", drawn("loss", "%")),
    ]


EXPERIMENTS = (
    Experiment(
        "H7",
        "One or two cards, application or OS routing, one or more channels",
        "100 MB over UDP in units of 1 KB, ten times, in ten designs, each on a single channel and on multiple channels (Table II). OS routing "
        "performs like application routing; TCP is unchanged by OS routing and by two cards.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
