"""P2 to P4: calls over UDP on a string, alone, four at a time, and with a bulk TCP.

M. Petrovic, M. Aboelaze: "Performance of TCP/UDP under Ad Hoc IEEE802.11", section 4.2.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Cells, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import FACTOR, Row, Sample, agrees, typical, value
from hopcast.lab.sensitivity import FEW
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers.h2o.places import loss, number
from hopcast_papers.notes import capitalized, outcome
from hopcast_papers.register import REGISTER, RESOLUTION
from hopcast_papers.strings_and_meshes.string import (
    ERRORS,
    FEC,
    FEW_HOPS,
    IDEAL,
    LEFT_BER,
    NODES,
    START,
    Channel,
    hops_text,
    kbps,
    parameters,
    scenario,
    tcp,
    with_ber,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Application, Flow

PCM, G729 = 64e3, 8e3
"""b/s: ITU-T G.711 and G.729."""
DELAY_LIMIT = 0.150
"""Seconds: the delay of a call that most applications tolerate (ITU-T G.114)."""
LONG = 200.0
"""Seconds: a run of the full form."""
MONARCH_RUN = 900.0
"""Seconds: a run of CMU's Monarch project, whose extension of ns-2 the paper used (J. Broch and others, MobiCom 1998,
section 3.3).
"""


@dataclass(frozen=True)
class Setting:
    """Parameters that the paper leaves unstated."""

    name: str
    channel: Channel = FEC
    rts: bool = True
    rate: float = PCM
    limit: float | None = DELAY_LIMIT
    start: float = START
    notified: bool | None = None
    settles: bool = True
    mtu: str | None = None
    limits_tcp: bool = False
    """Whether the delay limit holds for segments of TCP, too."""
    ber: float | None = None
    """Bit error rate at all times, in place of the channel's two."""
    protects_updates: bool = True
    """Whether FEC protects DSDV's updates, too."""


CHOSEN = Setting("as chosen")
SLOW = Setting("8 kb/s", rate=G729)
FITTED = Setting("fitted to the tables", rate=G729, start=0.0)
"""Rate, start and length that the paper's four tables suggest, so that agreement with them is no evidence."""
EAGER = dataclasses.replace(FITTED, name="fitted, DSDV that tells at once", settles=False)
NO_ERRORS = Setting("ideal channel", channel=IDEAL)
# Updates that settle and are lost as well don't come through in time.
NO_FEC = Setting("errors without FEC", channel=ERRORS, settles=False)
NO_RTS = Setting("no RTS", rts=False)
PATIENT = Setting("no delay limit", limit=None)
NOTIFIED = Setting("DSDV told of lost frames", notified=True)
FRAGMENTS = Setting("MTU of 1500 B", mtu="1500 B")
FOR_ALL = Setting("the delay limit for TCP, too", limits_tcp=True)
BARE_UPDATES = Setting("DSDV's updates without FEC", protects_updates=False)
RESIDUAL = Setting(f"{LEFT_BER:g} of the bits wrong", channel=ERRORS, ber=LEFT_BER)
COMMON = (SLOW, FITTED, NO_ERRORS, NO_FEC, NO_RTS, PATIENT, NOTIFIED)
BESIDE = {
    "P2": (*COMMON, EAGER, BARE_UPDATES),
    "P3": COMMON,
    "P4": (*COMMON, FRAGMENTS, FOR_ALL, RESIDUAL),
}
"""Alternatives to the chosen setting, by experiment."""
SEEDS = {"P2": (6, 30), "P3": (3, 10), "P4": (4, 10)}
"""Number in the quick and in the full form."""
TRIED = (SLOW, FITTED)
"""The settings that a trial of `sensitivity` uses instead of the chosen one."""
SEEDS_TRIED, SEEDS_BESIDE, SEEDS_BARE = (FEW, 10), (1, 10), (10, 10)
"""The same for them, for the other alternatives, and for updates without FEC, of which few matter."""


def call(stream: int, source: int, sink: int, packet: int, setting: Setting) -> Flow:
    """One direction of a call."""
    application: Application = {"kind": "audio", "packet": packet, "rate": setting.rate}
    if setting.limit is not None:
        application["deadline"] = setting.limit
    return {
        "name": f"stream{stream}",
        "from": f"n{source}",
        "to": f"n{sink}",
        # Calls that begin at one instant would contend with all of their packets at once for ever.
        "start": setting.start + stream / len(DIRECTIONS) * 8.0 * packet / setting.rate,
        "transport": {"protocol": "udp"},
        "application": application,
    }


def _scenario(name: str, flows: Sequence[Flow], setting: Setting, amount: Amount) -> Scenario:
    made = scenario(
        name,
        flows,
        rts=setting.rts,
        channel=setting.channel,
        seconds=_seconds(amount, setting) if setting.start else MONARCH_RUN,
        start=setting.start,
        notified=setting.notified,
        settles=setting.settles,
        mtu=setting.mtu,
        protects_updates=setting.protects_updates,
    )
    return made if setting.ber is None else with_ber(made, setting.ber)


def _seconds(amount: Amount, setting: Setting = CHOSEN) -> float:
    """A setting with known routes."""
    return amount.pick(quick=20.0 if setting.protects_updates else LONG, full=LONG)


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *parameters(
            amount,
            f"{NODES} nodes in a row",
            "with; without beside",
            Parameter(
                "start of the traffic",
                f"{START:g} s, when every node knows every route; fitted: 0 s",
                "not stated; as in the other experiments of the paper here",
            ),
            Parameter(
                "run",
                f"{_seconds(amount):g} s; fitted: {MONARCH_RUN:g} s",
                "not stated; CMU's own runs with this extension lasted 900 s (Broch and others, MobiCom 1998)",
            ),
            Parameter(
                "seeds",
                ", ".join(f"{_count(counts, amount)} in {name}" for name, counts in SEEDS.items())
                + f"; beside, {_count(SEEDS_TRIED, amount)} with {' and '.join(setting.name for setting in TRIED)}, "
                f"{_count(SEEDS_BESIDE, amount)} of the others",
                "not stated",
            ),
        ),
        Parameter("channel", f"{CHOSEN.channel}; the others beside", "not stated; the text of section 3 ends with FEC"),
        Parameter(
            "call",
            "64 kb/s (G.711), without silence; beside, 8 kb/s (G.729)",
            "not stated; “real-time audio does require much less bandwidth than the wireless link” (abstract)",
        ),
        Parameter("the fitted setting", f"8 kb/s, from 0 s on, {MONARCH_RUN:g} s; not counted", EARLY),
        Parameter(
            "phases",
            "each direction of a call an eighth of the time between packets after the one before",
            "not stated",
        ),
        Parameter("UDP packet", "100 to 600 B of payload", "Tables 1 to 3; whether headers count is not stated"),
        Parameter(
            "delay limit",
            f"{1e3 * DELAY_LIMIT:g} ms from the write to the end of the last attempt, dropped by who holds it; none beside",
            "not stated; ITU-T G.114",
        ),
        Parameter(
            FOR_ALL.name,
            "beside (P4): segments and acknowledgements that are on their way for longer are dropped",
            "varied: section 3 speaks of the sender's interface",
        ),
        Parameter(
            BARE_UPDATES.name,
            f"beside (P2), {SEEDS_BARE[0]} seeds of {LONG:g} s: FEC protects frames to one station alone",
            "varied: section 5 has DSDV lose nodes “due to wireless errors”",
        ),
        Parameter("MTU", "none; 1500 B beside (P4)", "ns-2's; varied"),
        Parameter("DSDV told of lost frames", "beside", "varied: ns-2's `use_mac_` 1"),
        Parameter(
            "DSDV that tells at once",
            "beside, fitted (P2)",
            "varied: as its authors describe it (section 3.3 of their paper)",
        ),
    ]


EARLY = (
    "what the tables suggest: all four tables of section 4.2 have a loss that grows with the hops and does not depend on what is sent (one hop 0.25 to 0.47 %, seven "
    "4 to 6 %, alone or beside others), as if calls began before DSDV had routes"
)
"""Where the fitted setting comes from."""


def _agreeing(table: Table, setting: Setting, papers: Mapping[str, float], metric: str) -> int:
    """Number of cells of the paper's table that are `within`, without intervals."""
    return sum(agrees(number(table, _named(case, setting), metric), "%", paper) for case, paper in papers.items())


def _named(case: str, setting: Setting) -> str:
    return case if setting is CHOSEN else f"{case}, {setting.name}"


def _loss_rows(
    experiment: str, measured: Measured, papers: Mapping[str, float], streams: Sequence[int], note: str
) -> list[Row]:
    """Loss compared with the paper's for the chosen setting, and without a number of the paper for the
    alternatives.
    """
    rows = [
        value(experiment, case, "loss", "%", loss(measured, case, streams), paper=paper, note=note)
        for case, paper in papers.items()
    ]
    for setting, case in product(BESIDE[experiment], papers):
        name = _named(case, setting)
        rows.append(value(experiment, name, "loss", "%", loss(measured, name, streams)))
    return rows


def _seeds(experiment: str, setting: Setting, amount: Amount) -> tuple[int, ...]:
    beside = SEEDS_TRIED if setting in TRIED else SEEDS_BESIDE if setting.protects_updates else SEEDS_BARE
    return tuple(range(1, 1 + _count(SEEDS[experiment] if setting is CHOSEN else beside, amount)))


def _count(counts: tuple[int, int], amount: Amount) -> int:
    quick, full = counts
    return amount.pick(quick=quick, full=full)


def _all_settings(
    experiment: str, amount: Amount, flows: Mapping[str, Callable[[Setting], list[Flow]]]
) -> dict[str, Case]:
    """Every arrangement in every setting."""
    return {
        _named(case, setting): Case(
            _scenario(_named(case, setting), made(setting), setting, amount),
            _seeds(experiment, setting, amount),
        )
        for setting in (CHOSEN, *BESIDE[experiment])
        for case, made in flows.items()
    }


# P2: one call.

TABLE_1 = {
    600: (0.25, 0.31, 1.5, 2.05, 2.1, 2.6, 6.0),
    400: (0.3, 0.85, 1.3, 1.4, 2.0, 3.5, 6.0),
    300: (0.4, 0.75, 1.2, 1.7, 1.7, 4.0, 4.0),
}
"""Per cent: by packet, from node 0 to 1, 2, … 7."""
SMALLER = "300 B − 600 B"
"""The case of the claim about smaller packets."""


def single(packet: int, hops: int) -> str:
    """The name of a case."""
    return f"{hops_text(hops)}, {packet} B"


_TABLE_1 = {
    single(packet, hops): paper
    for packet, losses in TABLE_1.items()
    for hops, paper in enumerate(losses, start=1)
}  # fmt: skip


def call_case(packet: int, hops: int, setting: Setting, amount: Amount) -> Case:
    """One call over this number of hops."""
    name = _named(single(packet, hops), setting)
    made = _scenario(name, [call(0, 0, hops, packet, setting)], setting, amount)
    return Case(made, _seeds("P2", setting, amount))


def _p2_cases(amount: Amount) -> Mapping[str, Case]:
    def flows(packet: int, hops: int) -> Callable[[Setting], list[Flow]]:
        return lambda setting: [call(0, 0, hops, packet, setting)]

    made = {single(packet, hops): flows(packet, hops) for packet in TABLE_1 for hops in range(1, NODES)}
    return _all_settings("P2", amount, made)


def _p2_rows(measured: Measured) -> list[Row]:
    rows = _loss_rows("P2", measured, _TABLE_1, (0,), "Table 1")
    found = {key: loss(measured, single(*key)) for key in product(TABLE_1, range(1, NODES))}
    more = {f"7 hops − 1 hop, {packet} B": found[packet, 7] - found[packet, 1] for packet in TABLE_1}
    rows += REGISTER.rows("P2.more-hops", "7 hops − 1 hop", "loss", "points", more)
    far = REGISTER.picked("P2.accepted", [found[packet, 7] for packet in TABLE_1])
    rows.append(REGISTER.row("P2.accepted", f"7 hops, the hardest of {len(TABLE_1)}", "loss", "%", far))
    few = {f"{single(packet, hops)}, few": found[packet, hops] for packet in TABLE_1 for hops in FEW_HOPS}
    rows += REGISTER.rows("P2.small-networks", "2 and 3 hops", "loss", "%", few)
    means = {packet: Sample.of(_mean, *(found[packet, hops] for hops in range(1, NODES))) for packet in TABLE_1}
    note = (
        "“Smaller UDP packet size leads to a better loss rate”, which the paper's own Table 1 contradicts: 300 B lose more than 600 B over 1, 2 and 6 "
        "hops, and 400 B on average"
    )
    rows.append(value("P2", SMALLER, "loss", "points", means[300] - means[600], note=note))
    return rows


def _mean(*values: float) -> float:
    return math.fsum(values) / len(values)


def _p2_notes(table: Table) -> list[str]:
    def losses(setting: Setting, packet: int = 600) -> str:
        return ", ".join(
            significant(number(table, _named(single(packet, hops), setting), "loss"), 2) for hops in range(1, NODES)
        )  # fmt: skip

    def most(setting: Setting) -> float:
        return max(number(table, _named(case, setting), "loss") for case in _TABLE_1)

    means = [math.fsum(TABLE_1[packet]) / len(TABLE_1[packet]) for packet in (600, 400, 300)]
    agree = {setting: _agreeing(table, setting, _TABLE_1, "loss") for setting in (CHOSEN, *BESIDE["P2"])}
    quiet = [setting for setting in (CHOSEN, *BESIDE["P2"]) if setting.start and most(setting) < RESOLUTION]
    return [
        "Cells of the table's 21 that agree, within a factor of 1.5 or one point. "
        + " ".join(f"{capitalized(setting.name)}: {n}." for setting, n in agree.items()),
        "Loss of packets of 600 B in per cent, from one hop to seven. "
        + " ".join(f"{capitalized(setting.name)}: {losses(setting)}." for setting in (CHOSEN, NO_FEC, FITTED, EAGER)),
        f"That more hops lose more {outcome('P2.more-hops', table)}. Once routes are known neither of the paper's reasons, retries and delays, gives its 0.25 to 6 %. With "
        f"FEC a call loses at most {significant(most(CHOSEN), 2)} %, without FEC {significant(most(NO_FEC), 2)} %.",
        f"That smaller packets lose less is a value here, as the paper's Table 1 contradicts the sentence. Its means over seven numbers of hops are {', '.join(f'{mean:.2f}' for mean in means)} % "
        "for 600, 400 and 300 B.",
        "Settings in which a call that begins with known routes loses nothing: "
        + (", ".join(setting.name for setting in quiet) or "none")
        + ". With FEC the channel is as good as in its good state, and a frame has several attempts.",
        "If FEC protects frames to one station alone, DSDV's updates get lost, and it takes nodes that can be reached for unreachable, as section 5 has it. From one hop to "
        f"seven calls then lose {losses(BARE_UPDATES)} % of packets of 600 B. Of 400 B it is {losses(BARE_UPDATES, 400)} %, and of 300 B {losses(BARE_UPDATES, 300)} %. So losses grow with the hops and "
        "hardly depend on the packet, as in Table 1, and calls may be of 64 kb/s and begin with known routes. But they are larger: "
        f"{significant(_times(table), 2)} times the table's in the median. The setting was tried after the sentences had failed, first with three seeds of 20 s, which hold too few lost updates.",
        "The fitted calls lose what they send before ns-2's DSDV knows the way, which it learns one hop further in some ten seconds. How much that is of a "
        "call depends on its length. It explains the paper's table as well as anything here, but its rate, start and length were chosen by that table. Fitted calls "
        "over a DSDV that announces routes at once lose less.",
    ]


def _times(table: Table) -> float:
    """Loss without FEC on updates, divided by the paper's; the median of the table's cells."""
    return median(number(table, _named(case, BARE_UPDATES), "loss") / paper for case, paper in _TABLE_1.items())


def _p2_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    def line(label: str, packet: int, setting: Setting) -> Line:
        named = (_named(single(packet, hops), setting) for hops in range(1, NODES))
        return Line(label, [(hops, table[name, "loss"]) for hops, name in enumerate(named, start=1)])

    return [
        (
            "Loss of one call, as chosen",
            lines([line(f"{packet} B", packet, CHOSEN) for packet in TABLE_1], x="hops", y="loss, %"),
        ),
        (
            "Loss of one call with packets of 600 B",
            lines([line(setting.name, 600, setting) for setting in (CHOSEN, *BESIDE["P2"])], x="hops", y="loss, %"),
        ),
    ]


# P3: four calls, both ways.

TABLES = {
    "overlapping": {100: 19.7, 200: 2.27, 300: 3.23, 400: 3.54, 600: 3.13},
    "apart": {100: 0.36, 200: 0.42, 300: 0.36, 400: 0.33, 600: 0.47},
}
"""Per cent: Tables 2 and 3."""
ENDS = {"overlapping": ((0, 7), (1, 6), (2, 5), (3, 4)), "apart": ((0, 1), (2, 3), (4, 5), (6, 7))}
PACKETS = tuple(TABLES["apart"])
DIRECTIONS = range(8)
"""Streams: four calls, both ways."""


def _four(arrangement: str, packet: int) -> str:
    return f"{arrangement}, {packet} B"


_TABLES = {_four(arrangement, packet): paper for arrangement in TABLES for packet, paper in TABLES[arrangement].items()}


def _p3_cases(amount: Amount) -> Mapping[str, Case]:
    def flows(arrangement: str, packet: int) -> Callable[[Setting], list[Flow]]:
        ways = [way for a, b in ENDS[arrangement] for way in ((a, b), (b, a))]
        return lambda setting: [call(stream, *way, packet, setting) for stream, way in enumerate(ways)]

    return _all_settings("P3", amount, {_four(*key): flows(*key) for key in product(TABLES, PACKETS)})


def _p3_rows(measured: Measured) -> list[Row]:
    rows = _loss_rows("P3", measured, _TABLES, DIRECTIONS, "Tables 2, 3")
    found = {key: loss(measured, _four(*key), DIRECTIONS) for key in product(TABLES, PACKETS)}
    more = {
        f"overlapping − apart, {packet} B": found["overlapping", packet] - found["apart", packet] for packet in PACKETS
    }
    rows += REGISTER.rows("P3.overlaps", "overlapping − apart", "loss", "points", more)
    for arrangement, packet in product(TABLES, (packet for packet in PACKETS if packet != 300)):
        gain = found[arrangement, 300] - found[arrangement, packet]
        note = "“300 bytes produces the best results”, which the paper's own tables contradict: 200 B in Table 2, 400 B in Table 3"
        rows.append(value("P3", f"{arrangement}, 300 B − {packet} B", "loss", "points", gain, note=note))
    return rows


def _p3_notes(table: Table) -> list[str]:
    agree = {setting: _agreeing(table, setting, _TABLES, "loss") for setting in (CHOSEN, *BESIDE["P3"])}

    def losses(arrangement: str, setting: Setting) -> str:
        found = (number(table, _named(_four(arrangement, packet), setting), "loss") for packet in PACKETS)
        return ", ".join(significant(each, 2) for each in found)

    hops = sum(b - a for a, b in ENDS["overlapping"])
    rates = ", ".join(f"{2 * hops * PCM / 1e6 * (1.0 + 64.0 / packet):.1f} Mb/s at {packet} B" for packet in PACKETS)
    return [
        f"From 100 to 600 B overlapping calls lose {losses('overlapping', CHOSEN)} %, calls apart {losses('apart', CHOSEN)} %; at 8 kb/s "
        f"{losses('overlapping', SLOW)} and {losses('apart', SLOW)} %.",
        f"Overlapping calls are {2 * hops} transmissions a packet over {hops} hops. At 64 kb/s that makes {rates}. That is with 64 bytes of "
        "headers, before preambles, acknowledgements, RTS and FEC. At 2 Mb/s with few places that can send at once this does not fit on the "
        "air. The paper's overlapping calls lose 2 to 20 %. If the paper's calls were of 64 kb/s, they did not all last; if they were of 8 kb/s, its packets held up to 600 ms of speech.",
        "Cells of the ten of Tables 2 and 3 that agree, within a factor of 1.5 or one point. "
        + " ".join(f"{capitalized(setting.name)}: {n}." for setting, n in agree.items()),
    ]


def _p3_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    def drawn(arrangement: str) -> Figure:
        return lines(
            [
                Line(
                    setting.name,
                    [(packet, table[_named(_four(arrangement, packet), setting), "loss"]) for packet in PACKETS],
                )
                for setting in (CHOSEN, *BESIDE["P3"])
            ],
            x="UDP packet, B",
            y="loss, %",
        )

    return [(f"Loss of four calls, {arrangement}", drawn(arrangement)) for arrangement in TABLES]


# P4: one call beside one bulk TCP.

TABLE_4 = {
    500: {1: (32.0, 5.0), 2: (37.0, 4.6), 4: (34.0, 14.0)},
    1000: {1: (46.0, 5.0), 2: (54.0, 5.0), 4: (66.0, 6.6)},
    2000: {1: (4.8, 5.0), 2: (8.3, 8.5), 4: (7.0, 4.5)},
    4000: {1: (0.0, 4.0), 2: (0.23, 5.5), 4: (0.0, 4.0)},
}
"""By segment (B) and window (segments): kb/s of the TCP, and per cent of the call's packets lost."""
NOTHING = 0.05
"""kb/s: values that a table rounds to 0.0."""
CALL_PACKET = 300
"""Bytes: the size that section 4.2 calls the best."""
PAIRS = tuple(product(TABLE_4, (1, 2, 4)))
SMALL = (500, 1000)
"""Segments (bytes) with which the paper's TCP delivers anything."""


def _beside(segment: int, window: int) -> str:
    return f"{segment} B, window {window}"


def _p4_cases(amount: Amount) -> Mapping[str, Case]:
    def flows(segment: int, window: int) -> Callable[[Setting], list[Flow]]:
        def made(setting: Setting) -> list[Flow]:
            bulk = tcp("stream0", 0, 7, segment, window, start=setting.start)
            if setting.limits_tcp:
                bulk["transport"]["deadline"] = DELAY_LIMIT
            return [bulk, call(1, 0, 7, CALL_PACKET, setting)]

        return made

    return _all_settings("P4", amount, {_beside(*key): flows(*key) for key in PAIRS})


def _p4_rows(measured: Measured) -> list[Row]:
    rows = []
    rate = {key: kbps(measured, _beside(*key)) for key in PAIRS}
    lost = {key: loss(measured, _beside(*key), (1,)) for key in PAIRS}
    for key in PAIRS:
        kb, percent = TABLE_4[key[0]][key[1]]
        case = _beside(*key)
        if kb:
            rows.append(value("P4", case, "goodput", "kb/s", rate[key], paper=kb, note="Table 4"))
        else:
            note = f"Table 4: 0.0, so at most {NOTHING:g}"
            rows.append(value("P4", case, "goodput", "kb/s", rate[key], low=0.0, high=NOTHING, note=note))
        rows.append(value("P4", case, "loss", "%", lost[key], paper=percent, note="Table 4"))
    for setting, key in product(BESIDE["P4"], PAIRS):
        name = _named(_beside(*key), setting)
        rows.append(value("P4", name, "goodput", "kb/s", kbps(measured, name)))
        rows.append(value("P4", name, "loss", "%", loss(measured, name, (1,))))
    large = {
        f"{segment} B / 1000 B, window {window}": rate[segment, window] / rate[1000, window]
        for window in (1, 2, 4)
        for segment in (2000, 4000)
    }
    residual = {key: kbps(measured, _named(_beside(*key), RESIDUAL)) for key in PAIRS}
    left = [residual[segment, window] / residual[1000, window] for window in (1, 2, 4) for segment in (2000, 4000)]
    rows.append(value("P4", f"large, the median of {len(left)}, {RESIDUAL.name}", "goodput ratio", "", typical(left)))
    rows += REGISTER.rows("P4.large", "large", "goodput ratio", "", large)
    gains = {f"{segment} B, window 4 / 1": rate[segment, 4] / rate[segment, 1] for segment in SMALL}
    rows += REGISTER.rows("P4.window", "window 4 / 1", "goodput ratio", "", gains)
    more = {f"{segment} B, window 4 − 1": lost[segment, 4] - lost[segment, 1] for segment in SMALL}
    return rows + REGISTER.rows("P4.window-loss", "window 4 − 1", "loss", "points", more)


def _p4_notes(table: Table) -> list[str]:
    def agree(setting: Setting) -> tuple[int, int]:
        rates = sum(
            kb / FACTOR <= number(table, _named(_beside(*key), setting), "goodput") <= max(kb, NOTHING) * FACTOR
            for key in PAIRS
            for kb, _ in (TABLE_4[key[0]][key[1]],)
        )
        return rates, _agreeing(table, setting, {_beside(*key): TABLE_4[key[0]][key[1]][1] for key in PAIRS}, "loss")

    def most(metric: str, setting: Setting, segment: int) -> str:
        found = (number(table, _named(_beside(segment, window), setting), metric) for window in (1, 2, 4))
        return significant(max(found), 2)

    def falls(setting: Setting) -> int:
        """In how many of the three windows the throughput is lower with 4 KB than with 1 KB."""
        return sum(
            number(table, _named(_beside(4000, window), setting), "goodput")
            < 0.5 * number(table, _named(_beside(1000, window), setting), "goodput")
            for window in (1, 2, 4)
        )

    rates, losses = agree(CHOSEN)
    fitted = agree(FITTED)
    tried = [setting for setting in (CHOSEN, *BESIDE["P4"]) if setting is not RESIDUAL]
    collapsing = [f"{falls(setting)} with {setting.name}" for setting in tried if falls(setting)]
    return [
        f"Of the table's 12 rates agree {rates}, of its 12 losses {losses}; in the fitted setting {fitted[0]} and {fitted[1]}.",
        "Windows of the three that have less than half as much at 4 KB as at 1 KB: "
        f"{', '.join(collapsing) or 'none in any setting'}.",
        "The paper's call loses no more next to segments of 4 KB than next to those of 500 B. So its route was whole and its small frames "
        f"arrived: what was lost were large frames. Bits that are left wrong do that. The study ran {LEFT_BER:g} of them at all times, in place of the 10⁻⁶ "
        f"that section 3 has left by FEC. Then TCP carries at most {most('goodput', RESIDUAL, 2000)} kb/s in segments of 2 KB and "
        f"{most('goodput', RESIDUAL, 4000)} in segments of 4 KB, up to {most('goodput', RESIDUAL, 1000)} in segments of 1 KB. The call loses at most "
        f"{most('loss', RESIDUAL, 4000)} % next to the largest. So the paper's FEC left more errors than it says, which P5 shows, too. (This trial is "
        "without FEC, whose rate would be 60 %.)",
        "Section 3 has the delay limit at the sender's interface, where segments wait, too. If the limit holds for TCP, segments of 1, 2 and 4 KB carry "
        f"at most {most('goodput', FOR_ALL, 1000)}, {most('goodput', FOR_ALL, 2000)} and {most('goodput', FOR_ALL, 4000)} kb/s. Without it they carry "
        f"{most('goodput', CHOSEN, 1000)}, {most('goodput', CHOSEN, 2000)} and {most('goodput', CHOSEN, 4000)} kb/s. The paper has 46 to 66, 5 to 8 and 0 to 0.2 kb/s. "
        f"Then the call loses at most {most('loss', FOR_ALL, 4000)} % next to the largest (4 to 14 % in the paper). No sentence is judged by this setting.",
        "With larger windows the call's losses are those of its delay limit here: without one it loses at most "
        f"{most('loss', PATIENT, 1000)} % next to segments of 1 KB, and {most('loss', CHOSEN, 1000)} % with one. The paper's, 4 to 14 %, hardly depend on "
        "segment and window.",
    ]


def _p4_tables(table: Table) -> list[Cells]:
    def line(name: str, setting: Setting) -> list[str]:
        return [
            name,
            *(
                f"{significant(number(table, _named(_beside(*key), setting), 'goodput'), 2)}, "
                f"{significant(number(table, _named(_beside(*key), setting), 'loss'), 2)} %"
                for key in PAIRS
            ),
        ]

    paper = ["the paper", *(f"{kb:g}, {percent:g} %" for of in TABLE_4.values() for kb, percent in of.values())]
    return [
        Cells(
            "TCP's goodput in kb/s and the call's loss",
            ["", *(_beside(*key) for key in PAIRS)],
            [paper, *(line(setting.name, setting) for setting in (CHOSEN, *BESIDE["P4"]))],
        )
    ]


def _p4_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    def drawn(metric: str, unit: str) -> Figure:
        return lines(
            [
                Line(
                    f"window {window}",
                    [(segment, table[_beside(segment, window), metric]) for segment in TABLE_4],
                )
                for window in (1, 2, 4)
            ],
            x="segment, B",
            y=f"{metric}, {unit}",
            doubling=True,
        )

    return [("Goodput of the TCP", drawn("goodput", "kb/s")), ("Loss of the call", drawn("loss", "%"))]


def _p4_setup(amount: Amount) -> list[Parameter]:
    return [
        *_setup(amount),
        Parameter("the call's packets", f"{CALL_PACKET} B", "not stated; “300 bytes produces the best results”"),
        Parameter("direction", "both from node 0 to node 7", "“between nodes 0 and 7”"),
        Parameter("segments", "500, 1000, 2000 and 4000 B", "Table 4"),
    ]


EXPERIMENTS = (
    Experiment(
        "P2",
        "One call on a string",
        "An audio call over UDP from node 0 to each of the seven others, in packets of 600, 400 and 300 B (Table 1): 0.25 to 6 % are lost, "
        "more over more hops.",
        _setup,
        _p2_cases,
        _p2_rows,
        _p2_figures,
        _p2_notes,
    ),
    Experiment(
        "P3",
        "Four calls on a string, both ways",
        "Calls between 0-7, 1-6, 2-5 and 3-4, which overlap, and between 0-1, 2-3, 4-5 and 6-7, in packets of 100 to 600 B (Tables 2, 3).",
        _setup,
        _p3_cases,
        _p3_rows,
        _p3_figures,
        _p3_notes,
    ),
    Experiment(
        "P4",
        "One call beside one bulk TCP",
        "An audio call and a bulk TCP from node 0 to node 7, segments of 500 B to 4 KB, windows of 1, 2 and 4 (Table 4): beyond 1 KB TCP "
        "collapses, and larger windows cost the call packets.",
        _p4_setup,
        _p4_cases,
        _p4_rows,
        _p4_figures,
        _p4_notes,
        tables=_p4_tables,
    ),
)
