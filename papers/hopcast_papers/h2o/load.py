"""H12, scene d: displays that come at random, by each rule of admission, from a quarter of the load that the air carries to twice that load.

The card is scaled, so that a full medium has few frames: 802.11a at 6 Mb/s carries 5.14 Mb/s of media, and a clip has 4/22 of that, as the paper's
yardstick has of its card. The quick form has too little display for rates of hiccups: its claims are about large differences.

Next to the rules stand the oracle (`oracle`), TCP per hop (`tcp_per_hop`), 802.11e with admission by medium time (airtime with the access categories, as
its TSPEC asks for), and displays that adapt the rate of the clip, and are all admitted or by their lowest rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.results import Result
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes, oracle, tcp_per_hop
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import outcome
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Clip, Cloud, Nodes, Radio

CARD = 5.14e6
"""b/s of media over one link alone, by clause 17: 1888 µs for a frame of 1396 B, 60 for SIFS and ACK, 101.5 for DIFS and backoff."""
RATE = CARD * 4 / 22
SIDE, LENGTH = 3, 20.0
"""Homes in a row of the grid and rows; seconds of a clip."""
HOMES: Nodes = {"name": "home", "count": SIDE**2, "placement": {"shape": "grid", "columns": SIDE, "spacing": "20 m"}}
RADIO: Radio = homes.radio("6 Mb/s", "70 m")
LINKS = 2.0
"""Mean links of a shortest path between two of nine homes in a grid: 2 · (3 − 1/3) / 3 · 9/8."""
Rule = Literal["statistical", "airtime", "hops", "mean", "all"]
Adaptation = Literal["bba", "bola", "robust-mpc"]
RULES: tuple[Rule, ...] = ("statistical", "airtime", "hops", "mean", "all")
ORACLE, EDCA, TCP = "oracle", "airtime and 802.11e", "all, TCP per hop"
ADAPTATIONS: Mapping[str, Adaptation] = {
    "adaptive, BBA": "bba",
    "adaptive, BOLA": "bola",
    "adaptive, MPC": "robust-mpc",
}
"""Displays that are all admitted and adapt the rate, and by which rule."""
BOTH = "statistical, lowest rate, and MPC"
"""Displays that the statistical rule admits by their lowest rate, and that adapt it."""
LADDER = (0.25, 0.5, 0.75)
"""Their lower rates, as shares of the clip's: 1, 2 and 3 of 4 Mb/s."""
SEGMENT, BUFFER = 1.0, 10.0
"""Seconds of a segment, and of their buffer: half of the short clip."""
NAMES = (*RULES, TCP, EDCA, *ADAPTATIONS, BOTH, ORACLE)
"""All that is compared."""
LOADS = (0.25, 0.5, 1.0, 2.0)
"""Share of the time that all requests would need."""
HOURS: Mapping[float, float] = {0.25: 22.0, 0.5: 13.0, 1.0: 8.0, 2.0: 5.5}
"""Hours of requests of a run of the full form, by load: ten runs have 100 hours of display also where half of the requests are refused."""
SHORT = 240.0
"""Seconds of requests of a run of the quick form; in both forms of the oracle, which runs each request once, and of TCP, where no display gives up: at
twice the load displays of hours would wait for each other.
"""
START, PREFETCH = 60.0, 2.0
"""Seconds after which links are known, and of media with which a display begins."""
QUICK, FULL = (2701, 2702, 2703, 2704), tuple(range(2701, 2711))
"""Seeds of the two forms."""
ENTERED = 2
"""The first seeds of the quick form, with which the sentences on admitting all were entered. The others came for the figure, after a run."""


def case(rule: str, load: float) -> str:
    """The name of a case."""
    return f"d, {rule}, load {load:g}"


def interval(load: float) -> float:
    """Seconds from one request of a home to its next, so that all of them together need this share of the time."""
    airtime = RATE / CARD * LINKS * LENGTH * (1 - 1 / SIDE**2)
    return SIDE**2 * airtime / load


def scenario(name: str, load: float, amount: Amount) -> Scenario:
    """The homes and their requests, by this rule at this load."""
    length = SHORT if name in (ORACLE, TCP) else amount.pick(quick=SHORT, full=3600.0 * HOURS[load])
    rules: dict[str, Rule] = {**{rule: rule for rule in RULES}, EDCA: "airtime", BOTH: "statistical"}
    radio: Radio = {**RADIO}
    if name == EDCA:
        radio["edca"] = "2012"
    clip: Clip = {"name": "clip", "count": SIDE**2, "rate": RATE, "length": LENGTH}
    cloud: Cloud = {
        "admission": rules.get(name, "all"),
        # As 25 of 22 Mb/s.
        "nominal_rate": CARD * 25 / 22,
        "prefetch": PREFETCH,
        "placement": "uniform",
        "copies": 1,
        "clips": [clip],
        "requests": [{"from": "home", "clip": "clip", "start": START, "every": interval(load), "stop": START + length}],
    }
    if name in ADAPTATIONS or name == BOTH:
        clip["lower_rates"] = [share * RATE for share in LADDER]
        rule = ADAPTATIONS.get(name, "robust-mpc")
        cloud["adaptation"] = {
            "rule": rule,
            "segment": SEGMENT,
            "buffer": BUFFER,
            "reserve": "lowest" if name == BOTH else "highest",
        }
    return Scenario(
        name=case(name, load),
        duration=START + length + 2 * LENGTH,
        seed=1,
        radio=radio,
        nodes=[HOMES],
        cloud=cloud,
    )


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "d: homes", "9 in a grid, 20 m apart, reach 25 m, all sense each other", "“20 nodes” of a proposal, scaled"
        ),
        Parameter(
            "d: clips",
            f"{RATE / 1e6:.3g} Mb/s for {LENGTH:g} s over a card of 5.14 Mb/s; one copy each",
            "4 of 22 Mb/s",
        ),
        Parameter(
            "d: requests",
            f"Poisson, Zipf 0.729; over shortest paths clips need {', '.join(f'{load:g}' for load in LOADS)} times the time that there is",
            "not stated",
        ),
        Parameter(
            "d: adaptive displays",
            f"all admitted, or by the statistical rule and the lowest rate; {', '.join(f'{100 * share:g}' for share in LADDER)} and 100 % of the rate, segments of {SEGMENT:g} s, buffer of {BUFFER:g} s",
            "ours",
        ),
        Parameter(
            "d: oracle",
            f"runs each request in the simulator, with those admitted before it, and looks {oracle.AHEAD:g} s ahead; {SHORT:g} s of requests",
            "ours",
        ),
        Parameter(
            "d: TCP per hop",
            f"all begin, over connections between neighbours on the shortest path, which is known; sources are paced at the rate of the clip; {SHORT:g} s of requests",
            "“TCP per hop” of a proposal",
        ),
    ]


def _over_tcp(result: Result) -> Document:
    scene = tcp_per_hop.Scene(
        RADIO, HOMES, side=SIDE, begin=START, clips=SIDE**2, rate=RATE, length=LENGTH, prefetch=PREFETCH
    )
    return tcp_per_hop.observe(result, scene)


OBSERVED = {ORACLE: oracle.observe, TCP: _over_tcp}
"""What runs further runs."""


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=QUICK, full=FULL)
    return {
        case(name, load): Case(scenario(name, load, amount), seeds, observe=OBSERVED.get(name))
        for name in NAMES
        for load in LOADS
    }


def fine(document: Document) -> float:
    """Displays of others' clips that were whole and never stood still, per cent of those asked for."""
    totals = document["cloud"]["totals"]
    asked = totals["offered"] - totals["local"]
    return float(100 * totals["completed_without_hiccup"] / asked) if asked else math.nan


def _shown(document: Document) -> float:
    """Media of others' clips that were shown, in bits, per cent of those asked for."""
    others = [one for one in document["cloud"]["streams"] if not oracle.is_stored(one)]
    shown = sum(one["played_s"] * (one["rate_mean_bps"] or RATE) / RATE for one in others)
    asked = document["cloud"]["totals"]["offered"] - document["cloud"]["totals"]["local"]
    return float(100 * shown / (asked * LENGTH)) if asked else math.nan


METRICS: Final[tuple[tuple[str, str, Callable[[Document], float]], ...]] = (
    ("admitted", "%", homes.admitted_of_others),
    ("whole without a hiccup", "%", fine),
    ("hiccups", "1/h", homes.hiccups_per_hour),
    ("start-up", "s", homes.start_up),
)
"""By which scenes with these homes are compared."""


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for load in LOADS:
        for rule in NAMES:
            name = case(rule, load)
            found.append(value("H12", name, "admitted", "%", measured.sample(name, homes.admitted_of_others)))
            found.append(value("H12", name, "whole without a hiccup", "%", measured.sample(name, fine)))
            found.append(value("H12", name, "media shown", "%", measured.sample(name, _shown)))
            found.append(value("H12", name, "hiccups", "1/h", measured.sample(name, homes.hiccups_per_hour)))
            hours = homes.hours_displayed(measured.documents[name])
            found.append(value("H12", name, "time displayed in all runs", "h", hours))
    high = LOADS[-1]
    ours, none = case("statistical", high), case("all", high)
    entered = measured
    if len(measured.documents[ours]) == len(QUICK):
        entered = Measured({name: measured.documents[name][:ENTERED] for name in (ours, none)})
    base = entered.sample(none, homes.hiccups_per_hour).mean
    fewer = entered.sample(ours, lambda one: homes.hiccups_per_hour(one) / base if base else 1.0)
    found.append(REGISTER.row("H12.load-starve", "d", "hiccups per hour, statistical / all", "", fewer))
    whole = entered.sample(none, fine).mean
    more = entered.sample(ours, lambda one: fine(one) - whole)
    found.append(REGISTER.row("H12.load-whole", "d", "whole without a hiccup, statistical − all", "%", more))
    adaptive = {name: measured.sample(case(name, high), homes.hiccups_per_hour).mean for name in ADAPTATIONS}
    least = min(adaptive.values())
    fewer = measured.sample(ours, lambda one: homes.hiccups_per_hour(one) / least if least else 1.0)
    found.append(
        REGISTER.row("H12.load-adaptive", "d", "hiccups per hour, statistical / best adaptive rule", "", fewer)
    )
    alone = measured.sample(case("adaptive, MPC", high), homes.hiccups_per_hour).mean
    fewer = measured.sample(case(BOTH, high), lambda one: homes.hiccups_per_hour(one) / alone if alone else 1.0)
    found.append(REGISTER.row("H12.load-both", "d", "hiccups per hour, lowest rate admitted / all admitted", "", fewer))
    best = measured.sample(case(ORACLE, high), fine).mean
    near = measured.sample(ours, lambda one: fine(one) / best if best else 1.0)
    found.append(REGISTER.row("H12.load-oracle", "d", "whole without a hiccup, statistical / oracle", "", near))
    return found


def notes(table: Table) -> list[str]:
    """What the rules serve at each load, and whether adaptation does as well."""

    def each(rule: str, metric: str) -> str:
        return ", ".join(f"{number(table, case(rule, load), metric):.0f}" for load in LOADS)

    loads = ", ".join(f"{load:g}" for load in LOADS)
    whole = "whole without a hiccup"
    return [
        f"d: at {loads} times the load that the air carries, displays whole and without a hiccup, in per cent of those asked for: "
        + ". ".join(f"{each(rule, whole)} ({rule})" for rule in ("statistical", "airtime", "hops"))
        + f". {each('mean', whole)} (mean), {each('all', whole)} (all), {each(ORACLE, whole)} ({ORACLE}, which tries each request in the simulator).",
        "d: in the same order hiccups per hour: "
        + ". ".join(f"{each(rule, 'hiccups')} ({rule})" for rule in ("statistical", "hops", "all"))
        + ".",
        f"d: displays that are all admitted and lower their rates are whole in {each('adaptive, MPC', whole)} % of the cases (MPC). They have "
        f"{each('adaptive, MPC', 'hiccups')} hiccups per hour. If the rule admits the lowest rate, {each(BOTH, whole)} % are whole, with "
        f"{each(BOTH, 'hiccups')} hiccups per hour. The sentence is about hiccups at twice the load, and {outcome('H12.load-adaptive', table)}. It does not say "
        "that admission is better than adaptation.",
    ]


def figures(table: Table) -> list[tuple[str, Figure]]:
    """The main figure of H12: hiccups, displays that were whole, and media shown, against the offered load."""
    return [("d: hiccups, displays that were whole, and media shown, against offered load", panels(table))]


LOOKS: Mapping[str, dict[str, Any]] = {
    ORACLE: {"linestyle": "--", "color": "#6f7782", "marker": "*"},
    TCP: {"linestyle": ":", "color": "#7a5195", "marker": "P"},
    EDCA: {"linestyle": ":"},
    BOTH: {"linestyle": "-.", "color": "#d64f6b", "marker": "X"},
    **{name: {"linestyle": "--"} for name in ADAPTATIONS},
}
"""Of lines that differ from the others."""


def panels(table: Table) -> Figure:
    """A panel for each of the three, with a line for each rule."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    from hopcast.figures import COLOURS, MARKERS, STYLE, intervals

    shares = {
        "whole without a hiccup": "whole without a hiccup, % of requests",
        "media shown": "media shown, % of what was asked for",
    }
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(12.0, 4.6), layout="constrained")
        panels = dict(zip(("hiccups", *shares), figure.subplots(1, 3), strict=True))
        for metric, axes in panels.items():
            for place, name in enumerate(NAMES):
                found = [table[case(name, load), metric] for load in LOADS]
                heights = [row.measured or 0.0 for row in found]
                half = [row.ci95 or 0.0 for row in found]
                ends = intervals(heights, half, "%" if metric in shares else "1/h")
                look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
                look |= LOOKS.get(name, {})
                # Side by side, so that intervals of one load can be told apart.
                shifted = [load * 2 ** ((place - (len(NAMES) - 1) / 2) * 0.05) for load in LOADS]
                axes.errorbar(shifted, heights, yerr=ends, label=name, elinewidth=0.8, capsize=2.0, **look)
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_locator(FixedLocator(LOADS))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(FuncFormatter(lambda load, _: f"{load:g}"))
            axes.set_xlabel("offered load, share of the time that there is")
        hiccups = panels["hiccups"]
        hiccups.set_yscale("symlog", linthresh=1.0, linscale=0.5)
        hiccups.set_ylim(0.0, 3000.0)
        hiccups.yaxis.set_major_locator(FixedLocator([0, 1, 10, 100, 1000]))
        hiccups.yaxis.set_major_formatter(FuncFormatter(lambda height, _: f"{height:g}"))
        hiccups.set_ylabel("hiccups per hour of display")
        for metric, label in shares.items():
            panels[metric].set_ylim(0.0, 105.0)
            panels[metric].set_ylabel(label)
        handles, labels = hiccups.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=5)
    return figure
