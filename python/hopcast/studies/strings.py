"""P: TCP and UDP on strings of 802.11 nodes.

M. Petrovic, M. Aboelaze: "Performance of TCP/UDP under Ad Hoc IEEE802.11", University of Toronto and York University.
Experiment P1: one bulk TCP over a string, with an ideal channel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast.studies.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.studies.rows import Row, Sample, claim, value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NODES = 8
HOPS = (1, 2, 3, 4, 5, 6)
SEGMENTS = (200, 1000)
WINDOWS = (1, 2, 4, 20)
"""Segments. 1, 2 and 4 are those of the paper's Table 4; its figures lost theirs. 20 is ns-2's default."""
START = 20.0
"""Seconds that DSDV has to spread its routes."""


def scenario(hops: int, segment: int, window: int, rts: bool, amount: Amount) -> Scenario:
    """A string of eight, of which only neighbours reach each other, and one bulk TCP from its end over `hops`."""
    return Scenario(
        name=_case(hops, segment, window, rts),
        duration=START + _seconds(amount),
        seed=1,
        radio={
            "profile": "ns-2",
            "standard": "802.11",
            "data_rate": "2 Mb/s",
            "rts_threshold": "0 B" if rts else "off",
        },
        nodes=[
            {
                "name": "n",
                "count": NODES,
                "placement": {"shape": "line", "spacing": "200 m"},
                "routing": {"protocol": "dsdv"},
            }
        ],
        flows=[
            {
                "name": "bulk",
                "from": "n0",
                "to": f"n{hops}",
                "start": START,
                "transport": {"protocol": "tcp", "variant": "newreno", "segment": segment, "window": window},
                "application": {"kind": "bulk"},
            }
        ],
    )


def setup(amount: Amount) -> list[Parameter]:
    """Where each parameter comes from."""
    return [
        Parameter("rules", "profile ns-2", "section 3: ns-2 with the CMU extension"),
        Parameter("radio", "802.11 DSSS at 2 Mb/s", "that extension's; the paper gives no rate"),
        Parameter(
            "places",
            "8 nodes in a row, 200 m apart; 250 m range, sensed up to 550 m",
            "neighbours only (section 3); ns-2's defaults",
        ),
        Parameter("routing", "DSDV as in ns-2.35", "section 3"),
        Parameter("start of the transfer", f"{START:g} s", "not stated; every node knows every route by then"),
        Parameter(
            "TCP",
            "NewReno, segments of 200 and 1000 B, windows of 1, 2, 4 and 20 segments",
            "Figs. 2, 3; windows by Table 4, and ns-2's default",
        ),
        Parameter("run", f"{_seconds(amount):g} s, {len(_seeds(amount))} seeds", "not stated"),
    ]


def _seconds(amount: Amount) -> float:
    return amount.pick(quick=30.0, full=200.0)


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=4, full=11)))


def _cases(amount: Amount) -> Mapping[str, Case]:
    return {
        _case(hops, segment, window, rts): Case(scenario(hops, segment, window, rts, amount), _seeds(amount))
        for segment in SEGMENTS
        for rts in (False, True)
        for window in WINDOWS
        for hops in HOPS
    }


def _rows(measured: Measured) -> list[Row]:
    goodput = {
        (hops, segment, window, rts): Sample.of(
            lambda rate: rate / 1e3, measured.flow(_case(hops, segment, window, rts), "bulk", "goodput_bps")
        )
        for segment in SEGMENTS
        for rts in (False, True)
        for window in WINDOWS
        for hops in HOPS
    }
    rows = [value("P1", _case(*key), "goodput", "kb/s", sample) for key, sample in goodput.items()]
    for hops in HOPS:
        for rts in (False, True):
            ratio = goodput[hops, 1000, 1, rts] / goodput[hops, 200, 1, rts]
            case = f"{_hops(hops)}, window 1, {_rts(rts)}, 1000 B / 200 B"
            rows.append(claim("P1", case, "goodput ratio", "", ratio, low=1.0, note="Larger segments win (Fig. 1)"))
    for hops in HOPS:
        for segment in SEGMENTS:
            ratio = goodput[hops, segment, 1, True] / goodput[hops, segment, 1, False]
            case = f"{_hops(hops)}, {segment} B, window 1, RTS / no RTS"
            note = "RTS/CTS does not help (Fig. 1)"
            rows.append(claim("P1", case, "goodput ratio", "", ratio, high=1.0, note=note))
    for segment in SEGMENTS:
        for rts in (False, True):
            for window in WINDOWS[1:]:
                gain = {hops: goodput[hops, segment, window, rts] / goodput[hops, segment, 1, rts] for hops in HOPS}
                case = f"{segment} B, {_rts(rts)}, window {window} / 1"
                rows.append(
                    claim("P1", f"{_hops(HOPS[-1])}, {case}", "goodput ratio", "", gain[HOPS[-1]], low=1.0,
                          note="A larger window raises goodput over many hops (Figs. 2, 3)")
                )  # fmt: skip
                rows.append(
                    claim("P1", f"6 hops − 1 hop, {case}", "gain of the window", "", gain[HOPS[-1]] - gain[1], low=0.0,
                          note="Larger windows help more as hops grow (Figs. 2, 3)")
                )  # fmt: skip
    return rows


def _notes(table: Table) -> list[str]:
    def goodput(hops: int, segment: int, window: int, rts: bool) -> float:
        found = table[_case(hops, segment, window, rts), "goodput"].measured
        return math.nan if found is None else found

    best = {hops: max(WINDOWS, key=lambda window: goodput(hops, 1000, window, False)) for hops in HOPS}
    one, six = goodput(1, 1000, 1, False), goodput(6, 1000, 1, False)
    return [
        "Only the ideal channel: errors and forward error correction are other experiments. DSDV adds its own traffic, and a "
        "neighbour whose frames collide too often is lost until its next update (“routing has no effect on the throughput”, "
        "section 4.1).",
        f"With one segment of 1000 B in flight, goodput falls from {significant(one)} kb/s over one hop to "
        f"{significant(six)} kb/s over six, {one / six:.1f} times: nothing overlaps, and each hop costs its time.",
        "The window that carries most (1000 B, no RTS), from one hop to six: "
        + ", ".join(str(best[hops]) for hops in HOPS)
        + f". Over six hops a window of 4 carries {goodput(6, 1000, 4, False) / six:.2f} times what one segment does, and of 20 "
        f"{goodput(6, 1000, 20, False) / six:.2f} times: the ends of a long string do not sense each other (550 m), so that two "
        "segments can be on the air at once.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    return [
        (
            f"Goodput, segments of {segment} B, {_rts(rts)}",
            lines(
                [
                    Line(
                        f"window {window}",
                        [(hops, table[_case(hops, segment, window, rts), "goodput"]) for hops in HOPS],
                    )
                    for window in WINDOWS
                ],
                x="hops",
                y="goodput, kb/s",
            ),
        )
        for segment in SEGMENTS
        for rts in (False, True)
    ]


def _case(hops: int, segment: int, window: int, rts: bool) -> str:
    return f"{_hops(hops)}, {segment} B, window {window}, {_rts(rts)}"


def _hops(hops: int) -> str:
    return "1 hop" if hops == 1 else f"{hops} hops"


def _rts(rts: bool) -> str:
    return "RTS" if rts else "no RTS"


EXPERIMENTS = (
    Experiment(
        "P1",
        "One bulk TCP on a string, ideal channel",
        "A string of eight nodes of which only neighbours reach each other, one bulk TCP from node 0 to node 1 … 6, segments "
        "of 200 and 1000 B, window 1 and larger, with and without RTS/CTS (Figs. 1–3). Larger segments win, RTS/CTS does not "
        "help, larger windows help more as hops grow.",
        setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
