"""H6: one UDP stream over three hops with a wait after each unit, over 802.11a and over wires."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, percent, typical, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers.h2o import wired
from hopcast_papers.h2o.hosts import HELD, HOST_TIME, held, held_parameter, host_parameter, with_host_time
from hopcast_papers.h2o.places import loss, mbps, number
from hopcast_papers.h2o.streams import ADU_KB, GB, scenario, seeds, setup
from hopcast_papers.register import NOISE, REGISTER, UNAFFECTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAITS_MS = (0, 1, 2)
TIMES_S = {(1, 0): 961.0, (1, 1): 1106.0, (1, 2): 2187.0, (2, 0): 976.0}  # section III-B: (KB, wait in ms), for 1 GB
HELD_KB = ADU_KB[1:]
"""Units whose calls Windows holds until they are sent."""
HELD_AND_TIME = f"{HELD}, {HOST_TIME}"
BESIDE = {HELD: "calls that are held", HELD_AND_TIME: "calls that are held, and hosts that take their time"}
"""Settings next to the paper's sentences, and their words."""
SQUARE = "1 KB, wait 0 ms, in a square"
"""Three hops whose laptops are nearly at equal distances, for comparison."""
SQUARE_M = [[0, 0], [1, 0], [1, 1], [0, 1]]
MORE_RUNS = ", more runs"
"""Suffix of the cases that show where units are lost."""


def _cases(amount: Amount) -> Mapping[str, Case]:
    cases = {
        _waiting(adu, wait): Case(scenario(4, [(0, 3)], "udp", adu, amount, wait_ms=wait), seeds(amount))
        for adu in ADU_KB
        for wait in WAITS_MS
    }
    for adu, wait in itertools.product(ADU_KB, WAITS_MS):
        as_windows = held(scenario(4, [(0, 3)], "udp", adu, amount, wait_ms=wait))
        if adu in HELD_KB:
            cases[_waiting(adu, wait, HELD)] = Case(as_windows, seeds(amount))
        cases[_waiting(adu, wait, HELD_AND_TIME)] = Case(with_host_time(as_windows), _few(amount))
    for hops, wait in itertools.product((2, 4), (0, 2)):
        waiting = scenario(hops + 1, [(0, hops)], "udp", 1, amount, wait_ms=wait)
        cases[_over_hops(hops, wait)] = Case(waiting, seeds(amount))
    for hops in (2, 3, 4):
        cases[_more_runs(hops)] = Case(scenario(hops + 1, [(0, hops)], "udp", 1, amount), _many(amount))
    cases[SQUARE] = Case(_in_a_square(scenario(4, [(0, 3)], "udp", 1, amount)), _many(amount))
    for network, adu, wait in itertools.product(wired.NETWORKS, ADU_KB, WAITS_MS):
        cases[_wired(network, adu, wait)] = Case(
            wired.scenario(adu, wait, amount, network), wired.seeds(network, amount)
        )
    return cases


def _few(amount: Amount) -> tuple[int, ...]:
    """Seeds of a setting that stands next to others."""
    return seeds(amount)[:2]


def _many(amount: Amount) -> tuple[int, ...]:
    """Seeds of the cases that show where units are lost: in a short run this depends on chance."""
    return amount.pick(quick=tuple(range(1, 21)), full=seeds(amount))


def _rows(measured: Measured) -> list[Row]:
    rows = []
    keys = list(itertools.product(ADU_KB, WAITS_MS))
    bandwidth = {key: mbps(measured, _waiting(*key)) for key in keys}
    lost = {key: loss(measured, _waiting(*key)) for key in keys}
    for key, case in ((key, _waiting(*key)) for key in keys):
        rows.append(value("H6", case, "bandwidth", "Mb/s", bandwidth[key]))
        rows.append(value("H6", case, "loss", "%", lost[key]))
        if key in TIMES_S:
            note = "From the start to the last arrival, for 1 GB (in proportion where less is sent)"
            seconds = measured.sample(case, _seconds_for_1_gb)
            rows.append(value("H6", case, "time for 1 GB", "s", seconds, paper=TIMES_S[key], note=note))
    for case, sample in _falls(lost).items():
        rows.append(value("H6", case, "loss ratio", "", sample))
    fall = _with_either("{wait} ms / none", _falls(lost))
    rows += REGISTER.rows("H6.wait-reduces-loss", "wait / none", "loss ratio", "", fall)
    for variant in BESIDE:
        rows += _with_other_calls(measured, variant)
    more = bandwidth[1, 1] / bandwidth[1, 0]
    rows.append(REGISTER.row("H6.one-ms-above-none", "1 KB, 1 ms / none", "bandwidth ratio", "", more))
    alike = {f"{adu} KB, 1 ms − 2 ms": lost[adu, 1] - lost[adu, 2] for adu in ADU_KB[1:]}
    rows += [value("H6", case, "loss", "points", points) for case, points in alike.items()]
    arrives = Sample.of(lambda one, two: (100.0 - one) / (100.0 - two), lost[1, 1], lost[1, 2])
    rows.append(REGISTER.row("H6.same-amount", "1 KB, 1 ms / 2 ms", "data ratio", "", arrives))
    kept = {hops: mbps(measured, _over_hops(hops, 2)) / mbps(measured, _over_hops(hops, 0)) for hops in (2, 3, 4)}
    tolerant = {f"1 KB, 1:{hops + 1}-hop − 1:{hops}-hop": kept[hops + 1] - kept[hops] for hops in (2, 3)}
    rows += REGISTER.rows("H6.larger-k", "more − fewer hops", "bandwidth, 2 ms / none", "", tolerant)
    for case, sample in _rises(bandwidth).items():
        rows.append(value("H6", case, "bandwidth ratio", "", sample))
    for seen in _of_bandwidth(bandwidth, lost):
        rows += REGISTER.rows(seen.key, seen.name, seen.metric, "", seen.cells)
    rows += [value("H6", case, "bandwidth ratio", "", ratio) for case, ratio in _alike(bandwidth).items()]
    at_relays: dict[str, Sample] = {}
    for hops in (3, 2, 4):
        shares, at_relays[f"{_over_hops(hops, 0)}, at relays"] = _where_lost(
            measured, _more_runs(hops), _over_hops(hops, 0), hops
        )
        rows += shares
    rows += _where_lost(measured, SQUARE, SQUARE, 3)[0]
    note = "“Almost all the losses occur at the intermediate nodes”; nothing else can lose here"
    rows += [value("H6", case, "lost at relays", "%", share, note=note) for case, share in at_relays.items()]
    rows.extend(_over_wires(measured))
    return rows


def _falls(lost: Mapping[tuple[int, int], Sample]) -> dict[str, Sample]:
    """Loss with a wait divided by loss without, by the wait."""
    return {f"{wait} ms / none, {adu} KB": lost[adu, wait] / lost[adu, 0] for wait in (1, 2) for adu in ADU_KB}


def _rises(bandwidth: Mapping[tuple[int, int], Sample]) -> dict[str, Sample]:
    """Bandwidth with a unit of twice the size divided by that without, by the wait."""
    return {
        f"{wait} ms, {large} KB / {small} KB": bandwidth[large, wait] / bandwidth[small, wait]
        for wait in (1, 2)
        for small, large in itertools.pairwise(ADU_KB)
    }


def _with_either(name: str, cells: Mapping[str, Sample]) -> dict[str, Sample]:
    """Claims about each wait, as a tendency over the sizes: the median of the cells with each."""
    return {
        name.format(wait=wait): typical(cell for case, cell in cells.items() if case.startswith(f"{wait} ms"))
        for wait in (1, 2)
    }


@dataclass(frozen=True)
class Observation:
    """A sentence about bandwidth with a wait, over 802.11a and over wires alike: the same for each of the cells."""

    key: str
    name: str
    cells: Mapping[str, Sample]
    metric: str = "bandwidth ratio"


def _alike(bandwidth: Mapping[tuple[int, int], Sample]) -> dict[str, Sample]:
    """Bandwidth with a wait of 1 ms divided by that with 2 ms, at 2 KB and more."""
    return {f"{adu} KB, 1 ms / 2 ms": bandwidth[adu, 1] / bandwidth[adu, 2] for adu in ADU_KB[1:]}


def _observations(
    bandwidth: Mapping[tuple[int, int], Sample], lost: Mapping[tuple[int, int], Sample]
) -> list[Observation]:
    """The paper's four. Where nothing is lost, its first can't be seen, and so it does not hold."""
    falls = _with_either("{wait} ms / none", _falls(lost))
    return [
        Observation("H6.wait-reduces-loss", "wait / none", falls, "loss ratio"),
        *_of_bandwidth(bandwidth, lost),
    ]


def _reproduced(observations: Sequence[Observation]) -> Sample:
    """How many of some observations hold."""

    def count(*found: float) -> float:
        return float(sum(REGISTER[one.key].holds(number) for one, number in zip(observations, found, strict=True)))

    return Sample.of(count, *(REGISTER.picked(one.key, one.cells.values()) for one in observations))


def _of_bandwidth(
    bandwidth: Mapping[tuple[int, int], Sample], lost: Mapping[tuple[int, int], Sample]
) -> list[Observation]:
    def apart(ratio: float, one: float, two: float) -> float:
        """How far bandwidth and loss are apart, the farther of the two, in units of what counts as noise."""
        return max(abs(ratio - 1.0) / NOISE, abs(one - two) / UNAFFECTED)

    alike = {
        case: Sample.of(apart, ratio, lost[adu, 1], lost[adu, 2])
        for adu, (case, ratio) in zip(ADU_KB[1:], _alike(bandwidth).items(), strict=True)
    }
    return [
        Observation("H6.one-ms-above-two", "1 KB", {"1 KB, 1 ms / 2 ms": bandwidth[1, 1] / bandwidth[1, 2]}),
        Observation(
            "H6.alike",
            "1 ms / 2 ms",
            alike,
            "difference / noise",
        ),
        Observation(
            "H6.rises-with-size",
            "larger / smaller",
            _with_either("{wait} ms, larger / smaller", _rises(bandwidth)),
        ),
    ]


def _with_other_calls(measured: Measured, variant: str) -> list[Row]:
    """The same stream through other hosts, next to the paper's sentences: nothing here counts."""

    def case(adu: int, wait: int) -> str:
        is_plain = variant == HELD and adu not in HELD_KB
        return _waiting(adu, wait) if is_plain else _waiting(adu, wait, variant)

    rows = []
    bandwidth, lost = {}, {}
    for key in itertools.product(ADU_KB, WAITS_MS):
        bandwidth[key], lost[key] = mbps(measured, case(*key)), loss(measured, case(*key))
        if case(*key) != _waiting(*key):
            rows.append(value("H6", case(*key), "bandwidth", "Mb/s", bandwidth[key]))
            rows.append(value("H6", case(*key), "loss", "%", lost[key]))
    found = _observations(bandwidth, lost)
    for one in found:
        rows += [value("H6", f"{variant}, {name}", one.metric, "", cell) for name, cell in one.cells.items()]
    return [*rows, value("H6", variant, "observations", "of 4", _reproduced(found))]


def _over_wires(measured: Measured) -> list[Row]:
    """The same stream over Ethernet.

    A switch with a cable for each direction loses nothing, so that the first of the paper's four observations, that a
    wait reduces the loss, can't be seen there: its row is of the other three, and does not count.
    """
    rows = []
    reproduced = {}
    for network in wired.NETWORKS:
        keys = list(itertools.product(ADU_KB, WAITS_MS))
        bandwidth = {key: mbps(measured, _wired(network, *key)) for key in keys}
        lost = {key: loss(measured, _wired(network, *key)) for key in keys}
        for key in keys:
            rows.append(value("H6", _wired(network, *key), "bandwidth", "Mb/s", bandwidth[key]))
            rows.append(value("H6", _wired(network, *key), "loss", "%", lost[key]))
        is_shared = network in wired.SHARED
        seen = _observations(bandwidth, lost) if is_shared else _of_bandwidth(bandwidth, lost)
        for one in seen:
            rows += [value("H6", f"{network}, {case}", one.metric, "", cell) for case, cell in one.cells.items()]
        alike = _alike(bandwidth).items()
        rows += [value("H6", f"{network}, {case}", "bandwidth ratio", "", cell) for case, cell in alike]
        if is_shared:
            reproduced[f"{network}, {len(seen)} observations"] = _reproduced(seen)
        else:
            case = f"{network}, {len(seen)} observations of bandwidth"
            rows.append(value("H6", case, "reproduced", "", _reproduced(seen)))
    return rows + REGISTER.rows("H6.wired", "wired", "reproduced", "", reproduced)


def _where_lost(measured: Measured, case: str, shown: str, hops: int) -> tuple[list[Row], Sample]:
    """Share of the relays' losses at each relay, in rows of the name `shown`; and the relays' share of all losses."""
    rows = []
    relays = [f"n{index}" for index in range(1, hops)]
    lost = {relay: measured.sample(case, functools.partial(_lost_at, relay)) for relay in relays}
    together = Sample.of(lambda *counts: float(sum(counts)), *lost.values())
    note = "Equal shares of the losses at each relay"
    for index, relay in enumerate(relays if hops > 2 else ()):
        share = percent(lost[relay], together)
        paper = 100 / len(relays) if shown != SQUARE else None
        rows.append(value("H6", shown, f"lost at N{index + 2}", "%", share, paper=paper, note=note if paper else ""))
    if hops == 3:
        for index in range(hops):
            errors = measured.sample(case, functools.partial(_errors_at, f"n{index}"))
            note = "Headers that it made out, of frames that it could not read: EIFS follows"
            rows.append(value("H6", shown, f"frames in error at N{index + 1}", "", errors, note=note))
    all_lost = measured.flow(case, "stream0", "lost_packets")
    at_relays = percent(together, all_lost)
    full = measured.sample(
        case, lambda document: sum(_lost_at(relay, document, "receive_buffer_full") for relay in relays)
    )
    rows.append(value("H6", shown, "lost in full receive buffers", "%", percent(full, all_lost)))
    return rows, at_relays


def _lost_at(name: str, document: Document, cause: str | None = None) -> float:
    """Units (datagrams of one packet each) that a node's sockets and interface dropped, for one cause or all."""
    drops = _node(name, document)["drops"]
    return float(sum(drops.values()) if cause is None else drops[cause])


def _errors_at(name: str, document: Document) -> float:
    """Frames of which a node received the header but not the payload."""
    return float(_node(name, document)["errors"])


def _node(name: str, document: Document) -> Mapping[str, Any]:
    return next(node for node in document["nodes"] if node["name"] == name)


def _seconds_for_1_gb(document: Document) -> float:
    flow = document["flows"][0]
    if not flow["goodput_bps"]:
        return math.nan
    return float(flow["received_bytes"]) * 8.0 / float(flow["goodput_bps"]) * GB / float(flow["sent_bytes"])


def _notes(table: Table) -> list[str]:
    times = {wait: number(table, _waiting(1, wait), "time for 1 GB") for wait in WAITS_MS}
    second = number(table, _waiting(2, 0), "time for 1 GB")
    return [
        f"1 GB in units of 1 KB takes {times[0]:.0f}, {times[1]:.0f} and {times[2]:.0f} s with no wait, 1 ms and 2 ms "
        "(961, 1106 and 2187 s in the paper). A wait of 1 ms alone is 1049 s. What the paper has beyond that is 54 and "
        "86 µs a unit. Hosts that take their time to copy add none to that, as a unit of 1 KB is copied during the wait: a call and a timer "
        f"would have to. At 2 KB without a wait it is {second:.0f} s (976 s).",
        "The paper's minimum of 503 s for 2 KB units at 1 ms should be 524 s by its own arithmetic, and 1093 s at 2 ms 1049 s.",
        _waits_note(table),
        _alike_note(table),
        "Next to the paper's four observations: "
        + "; ".join(f"{words}: {number(table, variant, 'observations'):g} hold" for variant, words in BESIDE.items())
        + ". A setting counts for nothing.",
        _where_note(table),
        *_wired_notes(table),
    ]


def _waits_note(table: Table) -> str:
    """The size from which on a wait of 2 ms does not halve the loss, and why."""
    falls = {adu: table[f"2 ms / none, {adu} KB", "loss ratio"].measured for adu in ADU_KB}
    mended = [
        adu
        for adu in HELD_KB
        if number(table, _waiting(adu, 2, HELD), "loss")
        <= REGISTER.limit("H6.wait-reduces-loss") * number(table, _waiting(adu, 0, HELD), "loss")
    ]

    def losses(variant: str, wait: int) -> str:
        return ", ".join(significant(number(table, _waiting(adu, wait, variant), "loss"), 2) for adu in HELD_KB)

    idle = [adu for adu, fall in falls.items() if fall is not None and fall > REGISTER.limit("H6.wait-reduces-loss")]
    if not idle:
        return "A wait of 2 ms at least halves the loss at every size."
    return (
        f"From {min(idle)} KB on a wait of 2 ms does not halve the loss here: the call returns when the socket's buffer takes "
        "the unit, and the wait is over before its frames are sent. Windows buffers only datagrams of up to 1024 B (AFD's "
        "FastSendDatagramThreshold) and holds the call for a larger one until it is sent, so that the whole wait is silence. "
        f"With that rule, in source and relays, the loss at 2, 4, 8 and 16 KB with 2 ms is {losses(HELD, 2)} % instead of "
        f"{losses('', 2)} %. Without a wait it is {losses(HELD, 0)} % instead of {losses('', 0)} %. A wait of 2 ms then at least halves the loss "
        + (f"at {' and '.join(map(str, mended))} KB." if mended else "at no size.")
    )


def _where_note(table: Table) -> str:
    """The relay that loses the most over three hops and over four, and what distinguishes three hops in a row from a
    square.
    """
    three, four, square = (
        {relay: table[case, f"lost at {relay}"] for relay in relays}
        for case, relays in (
            (_over_hops(3, 0), ("N2", "N3")),
            (_over_hops(4, 0), ("N2", "N3", "N4")),
            (SQUARE, ("N2", "N3")),
        )
    )

    def shares(rows: Mapping[str, Row]) -> str:
        return ", ".join(f"{relay} {row.measured_text()}" for relay, row in rows.items())

    errors = {
        case: [number(table, case, f"frames in error at N{index}") for index in (1, 2, 3)]
        for case in (_over_hops(3, 0), SQUARE)
    }
    spared = errors[_over_hops(3, 0)][1] == 0.0 < min(errors[_over_hops(3, 0)][::2]) and max(errors[SQUARE]) == 0.0
    return (
        "The paper has equal shares. "
        f"Of what relays lose over three hops {shares(three)}: {_most(three)}. Over four hops {shares(four)}: {_most(four)}. A unit that N2 drops never "
        "reaches the relays behind it, which leaves them less to lose. "
        + (
            "But in a row of three hops N2 gets more than its turns. Of two frames that collide N1 and N3, which are nearer to one of "
            "their senders, make out a header and wait for EIFS. N2 is as far from N1 as from N3, and makes out none. "
            if spared
            else ""
        )
        + f"In a square with sides of 1 m {'no node waits for EIFS, and there ' if max(errors[SQUARE]) == 0.0 else ''}it is {shares(square)}: {_most(square)}. "
        + (
            "So the places decide over three hops."
            if spared and _first(square) and not _first(three)
            else "The places do not decide it."
        )
    )


def _first(rows: Mapping[str, Row]) -> bool:
    """Whether the first relay loses more than each of the others, beyond chance."""
    first, *others = rows.values()
    return all(_above(first, other) for other in others)


def _above(one: Row, other: Row) -> bool:
    if one.measured is None or other.measured is None:
        return False
    return one.measured - (one.ci95 or 0.0) > other.measured + (other.ci95 or 0.0)


def _most(rows: Mapping[str, Row]) -> str:
    """The relay that loses the most, in words."""
    for relay, row in rows.items():
        if all(_above(row, other) for name, other in rows.items() if name != relay):
            return f"{relay} loses the most"
    return "none loses more than each of the others, beyond chance"


def _alike_note(table: Table) -> str:
    """Cases where a wait of 1 ms does not lose as much as one of 2 ms, and whether held calls are the reason."""

    def apart(variant: str) -> list[float]:
        one, two = ([number(table, _waiting(adu, wait, variant), "loss") for adu in HELD_KB] for wait in (1, 2))
        return [first - second for first, second in zip(one, two, strict=True)]

    plain, as_windows = apart(""), apart(HELD)
    return (
        f"With a wait of 1 ms {', '.join(significant(points, 2) for points in plain)} points more are lost than with 2 ms, in units of "
        f"{', '.join(map(str, HELD_KB))} KB. A unit of 2 KB in each millisecond is more than three hops carry, and one in two is not. With calls that are held it "
        f"is {', '.join(significant(points, 2) for points in as_windows)} points, which "
        + (
            "explains it."
            if max(map(abs, as_windows)) <= UNAFFECTED
            else "does not make the two alike. What does in the paper is open."
        )
    )


def _wired_notes(table: Table) -> list[str]:
    """The paper's observations, over Ethernet."""

    def of(network: wired.Network, adu: int, wait: int, metric: str) -> float:
        return number(table, _wired(network, adu, wait), metric)

    def told(network: wired.Network) -> str:
        lost = [[of(network, adu, wait, "loss") for adu in ADU_KB] for wait in WAITS_MS]
        rates = [of(network, adu, wait, "bandwidth") for adu in (1, 2) for wait in (1, 2)]
        return (
            f"Over Ethernet of 10 Mb/s, {network}, {', '.join(significant(points, 2) for points in lost[0])} % are lost without a wait in units of 1 to 16 KB. "
            f"With 2 ms it is {', '.join(significant(points, 2) for points in lost[2])} %. Waits of 1 and 2 ms give {rates[0]:.2f} and {rates[1]:.2f} Mb/s at 1 KB, "
            f"{rates[2]:.2f} and {rates[3]:.2f} at 2 KB."
        )

    apart = [
        adu
        for adu in ADU_KB[1:]
        if abs(of("switch", adu, 1, "bandwidth") / of("switch", adu, 2, "bandwidth") - 1.0) > NOISE
    ]
    return [
        *map(told, wired.SHARED),
        "A host can't send while it receives. Of two ends of a cable that always have a frame, the one that has just sent wins most of the next races (the "
        "capture effect). The source, or the switch behind it, wins them until the relay's buffers have long overflown. That would explain the loss, "
        "and no run has isolated it. hopcast's hosts follow each frame with the next one at once. The first run around hub and half-duplex switch had "
        "two seeds, and an interval wider than the scale; since then it has as many seeds as H6's other cases.",
        "A switch with a cable for each direction lets a relay send as fast as it receives. It loses nothing, and says nothing about loss. There "
        + (
            f"waits of 1 and 2 ms differ in bandwidth at {' and '.join(str(adu) for adu in apart)} KB, where 2 ms are longer than a unit occupies the wire."
            if apart
            else "waits of 1 and 2 ms are alike from 2 KB on, as in the paper."
        ),
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    def figure(metric: str, unit: str, case: Callable[[int, int], str] = _waiting) -> Figure:
        return lines(
            [Line(f"wait {wait} ms", [(adu, table[case(adu, wait), metric]) for adu in ADU_KB]) for wait in WAITS_MS],
            x="ADU size, KB",
            y=f"{metric}, {unit}",
            doubling=True,
        )

    return [
        ("Bandwidth over three hops, by wait", figure("bandwidth", "Mb/s")),
        ("Loss over three hops, by wait", figure("loss", "%")),
        *(
            (
                f"{metric.capitalize()} over three hops of Ethernet, {network}, by wait",
                figure(metric, unit, functools.partial(_wired, network)),
            )
            for network in wired.SHARED
            for metric, unit in (("bandwidth", "Mb/s"), ("loss", "%"))
        ),
    ]


def _setup(amount: Amount) -> list[Parameter]:
    where = Parameter(
        "where units are lost",
        f"{len(_many(amount))} seeds; beside, in a square with sides of 1 m",
        "three in the paper",
    )
    return [*setup(amount), where, held_parameter(), host_parameter(), *wired.setup(amount)]


def _waiting(adu_kb: int, wait_ms: int, variant: str = "") -> str:
    return f"{adu_kb} KB, wait {wait_ms} ms" + (f", {variant}" if variant else "")


def _over_hops(hops: int, wait_ms: int) -> str:
    """Units of 1 KB over this number of hops."""
    if hops == 3:
        return _waiting(1, wait_ms)
    return f"1:{hops}-hop, 1 KB" + (f", wait {wait_ms} ms" if wait_ms else "")


def _more_runs(hops: int) -> str:
    return _over_hops(hops, 0) + MORE_RUNS


def _in_a_square(row: Scenario) -> Scenario:
    """The same laptops at the corners of a square instead of in a row."""
    return row.set("nodes.n.placement", {"shape": "points", "at": SQUARE_M})


def _wired(network: wired.Network, adu_kb: int, wait_ms: int) -> str:
    return f"{network}, {_waiting(adu_kb, wait_ms)}"


EXPERIMENTS = (
    Experiment(
        "H6",
        "One UDP stream over three hops, with a wait after each unit",
        "The application waits 0, 1 or 2 ms after each unit (Fig. 9). Loss falls sharply; half of it occurs at N2, half at "
        "N3; at 1 KB, a wait of 1 ms gives the most bandwidth. All but the loss rate is the same on a wired network of 10 Mb/s.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
