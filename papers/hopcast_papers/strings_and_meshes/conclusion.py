"""P7: what the paper concludes, and its mesh with other routes and other intervals.

M. Petrovic, M. Aboelaze: "Performance of TCP/UDP under Ad Hoc IEEE802.11", abstract and sections 5 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, average, value
from hopcast.numbers import significant
from hopcast.statistics import mean
from hopcast_papers.h2o.places import loss, number
from hopcast_papers.notes import capitalized, outcome
from hopcast_papers.register import REGISTER
from hopcast_papers.strings_and_meshes import mesh
from hopcast_papers.strings_and_meshes.calls import CHOSEN, TABLE_1, call_case, single
from hopcast_papers.strings_and_meshes.string import (
    CHANNELS,
    ERRORS,
    FEC,
    HOPS,
    IDEAL,
    NS2_WINDOW,
    Channel,
    hops_text,
    kbps,
    one_tcp,
    one_tcp_name,
    parameters,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEGMENT, PACKET = 1000, max(TABLE_1)
"""Bytes of a segment of TCP and of a packet of the call."""
WINDOWS = (1, NS2_WINDOW)
STATIC = "static routes"
LOAD = max(mesh.RATES)
"""kb/s of the connections at constant rates, next to static routes."""
INTERVALS = {1.5: 5.33, 0.05: 160.0}
"""kb/s of packets of 1000 B by the seconds between them: the text's intervals, which contradict its rates (section 5)."""
STRAIGHT = mesh.SIDE - 1
"""Hops of a column or a row."""
FEW = 3
"""Replications of what nothing judges, in the quick form."""


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *parameters(
            amount,
            "P1's and P2's string, P6's mesh",
            "with",
            Parameter("runs", "those of P1, P2 and P6", "shared with them"),
        ),
        Parameter("call and TCP", f"64 kb/s in packets of {PACKET} B; segments of {SEGMENT} B", "as P1 and P2"),
        Parameter(
            STATIC,
            "beside DSDV, on the mesh: each column and each row is the only shortest path",
            "the paper's [8] has static routing (section 5)",
        ),
        Parameter(
            "intervals",
            ", ".join(f"{seconds:g} s ({rate:.1f} kb/s)" for seconds, rate in INTERVALS.items()),
            "section 5; P6 has its rates",
        ),
    ]


def _tcp_case(hops: int, window: int) -> str:
    return one_tcp_name(hops, SEGMENT, window, True, FEC)


def _call_case(hops: int) -> str:
    return single(PACKET, hops)


def _static(channel: Channel) -> str:
    return f"{mesh.case_name(SEGMENT, LOAD, channel)}, {STATIC}"


def _cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for hops in HOPS:
        for window in WINDOWS:
            made[_tcp_case(hops, window)] = one_tcp(_tcp_case(hops, window), hops, SEGMENT, window, True, FEC, amount)
        made[_call_case(hops)] = call_case(PACKET, hops, CHOSEN, amount)
    few = mesh.seeds(amount)[: amount.pick(quick=FEW, full=None)]
    for channel in CHANNELS:
        key = (SEGMENT, LOAD, channel)
        plain = mesh.mesh(mesh.case_name(*key), key, amount)
        made[mesh.case_name(*key)] = Case(plain, mesh.seeds(amount))
        made[_static(channel)] = Case(plain.set("nodes.n.routing", {"protocol": "static"}), mesh.seeds(amount))
        for rate in INTERVALS.values():
            key = (SEGMENT, rate, channel)
            made[mesh.case_name(*key)] = Case(mesh.mesh(mesh.case_name(*key), key, amount), few)
    return made


def _bulk(measured: Measured, case: str) -> Sample:
    """Mean goodput of the bulk connections, in kb/s."""
    return average(kbps(measured, case, at) for at in mesh.BULK)


def _rows(measured: Measured) -> list[Row]:
    rows = []
    better = {}
    for hops in HOPS[1:]:
        arrives = Sample.of(lambda percent: 1.0 - percent / 100.0, loss(measured, _call_case(hops), (0,)))
        rows.append(value("P7", _call_case(hops), "share of the call that arrives", "", arrives))
        for window in WINDOWS:
            kept = kbps(measured, _tcp_case(hops, window)) / kbps(measured, _tcp_case(1, window))
            rows.append(value("P7", _tcp_case(hops, window), "share of one hop that TCP keeps", "", kept))
            few = min(len(arrives.values), len(kept.values))
            better[f"{hops_text(hops)}, call / TCP with window {window}"] = arrives.first(few) / kept.first(few)
    rows += REGISTER.rows("P7.audio-better", "2 to 6 hops", "share ratio", "", better)
    for channel in CHANNELS:
        usual = mesh.case_name(SEGMENT, LOAD, channel)
        found = {name: _bulk(measured, name) for name in (usual, _static(channel))}
        rows += [value("P7", name, "bulk, mean", "kb/s", sample) for name, sample in found.items()]
        rows += _routes(measured, usual)
        ratio = found[_static(channel)] / found[usual]
        rows.append(value("P7", f"{channel}, {STATIC} / DSDV", "bulk, mean, ratio", "", ratio))
    usual, errors = (mesh.case_name(SEGMENT, LOAD, channel) for channel in (IDEAL, ERRORS))
    more = measured.sample(errors, _changes) - measured.sample(usual, _changes)
    rows.append(REGISTER.row("P7.re-routes", f"{ERRORS} − {IDEAL}", "changes of routes in a run", "", more))
    astray = Sample.of(lambda hops: hops - STRAIGHT, measured.sample(errors, _most_hops))
    rows.append(REGISTER.row("P7.off-line", errors, "most hops, beyond the line's", "", astray))
    for rate, channel in product(INTERVALS.values(), CHANNELS):
        name = mesh.case_name(SEGMENT, rate, channel)
        rows.append(value("P7", name, "bulk, mean", "kb/s", _bulk(measured, name)))
    return rows


def _changes(document: Document) -> float:
    """Changes of the routes of all connections of the mesh."""
    return float(sum(flow["route_changes"] for flow in document["flows"]))


def _most_hops(document: Document) -> float:
    """The most hops of a packet that arrived."""
    known = [flow["hops_max"] for flow in document["flows"] if flow["hops_max"] is not None]
    return float(max(known, default=STRAIGHT))


def _hops(document: Document) -> float:
    """Mean number of hops, each connection counted alike; NaN if nothing arrived."""
    known = [flow["hops_mean"] for flow in document["flows"] if flow["hops_mean"] is not None]
    return mean(known) if known else math.nan


def _routes(measured: Measured, case: str) -> list[Row]:
    """How often DSDV changes the routes of the mesh, and whether packets leave their column or row."""
    return [
        value("P7", case, "changes of routes in a run", "", measured.sample(case, _changes)),
        value("P7", case, "hops of a packet", "", measured.sample(case, _hops)),
        value("P7", case, "most hops of a packet", "", measured.sample(case, _most_hops)),
    ]


def _notes(table: Table) -> list[str]:
    def bulk(name: str) -> str:
        return significant(number(table, name, "bulk, mean"))

    return [
        f"Over 6 hops {100.0 * number(table, _call_case(6), 'share of the call that arrives'):.0f} % of a call arrive, and TCP keeps "
        + " and ".join(
            f"{number(table, _tcp_case(6, window), 'share of one hop that TCP keeps'):.2f}" for window in WINDOWS
        )
        + f" of what it has over one hop, with windows of {' and '.join(map(str, WINDOWS))} (errors with FEC).",
        f"What a bulk connection of {SEGMENT} B on the mesh has next to {LOAD:g} kb/s. "
        + " ".join(
            f"{capitalized(channel)}: {bulk(mesh.case_name(SEGMENT, LOAD, channel))} kb/s by DSDV and {bulk(_static(channel))} by static routes."
            for channel in CHANNELS
        ),
        "DSDV changes the routes of the twelve connections "
        + ", ".join(
            f"{significant(number(table, mesh.case_name(SEGMENT, LOAD, channel), 'changes of routes in a run'))} times"
            for channel in CHANNELS
        )
        + f" in a run (ideal, errors, FEC). So the routes of a standing mesh do change. That errors cause it {outcome('P7.re-routes', table)}. A newer sequence number "
        "may come first over a longer way, and then its route is used. With errors fewer updates arrive.",
        f"A column or a row has {STRAIGHT} hops; packets have "
        + ", ".join(
            significant(number(table, mesh.case_name(SEGMENT, LOAD, channel), "hops of a packet"), 3)
            for channel in CHANNELS
        )
        + " on average, and at most "
        + ", ".join(
            significant(number(table, mesh.case_name(SEGMENT, LOAD, channel), "most hops of a packet"))
            for channel in CHANNELS
        )
        + ".",
        "With the text's intervals (ideal, errors, FEC). "
        + " ".join(
            f"A packet every {seconds:g} s: {', '.join(bulk(mesh.case_name(SEGMENT, rate, channel)) for channel in CHANNELS)} kb/s."
            for seconds, rate in INTERVALS.items()
        ),
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    drawn = [
        Line("a call", [(hops, table[_call_case(hops), "share of the call that arrives"]) for hops in HOPS[1:]]),
        *(
            Line(
                f"TCP, window {window}",
                [(hops, table[_tcp_case(hops, window), "share of one hop that TCP keeps"]) for hops in HOPS[1:]],
            )
            for window in WINDOWS
        ),
    ]
    return [("What arrives of a call, and what TCP keeps of one hop", lines(drawn, x="hops", y="share"))]


EXPERIMENTS = (
    Experiment(
        "P7",
        "Calls and bulk transfers, routes and intervals",
        "The paper concludes that such a network suits calls better than bulk transfers (abstract). Its mesh differs from that of its [8] "
        "by DSDV in place of static routes, and its intervals contradict its rates (section 5).",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
