"""H12, scene c: pairs of homes 192 feet apart, each at another place, and which of them a rule admits.

The paper saw 22 Mb/s at one place, 2 Mb/s at another, and at times no contact (section VI). Here the places differ by log-normal shadowing, and each
changes slowly. A clip is judged by what was before it, and stalls or not by what comes after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o.places import FOOT, NOISE_FIGURE_DB, RATED
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Cloud

DISTANCE = 192 * FOOT
RATE, LENGTH = 4e6, 30.0
"""b/s and seconds of a clip."""
Rule = Literal["statistical", "mean", "all"]
KEYS: Mapping[Rule, Cloud] = {
    "statistical": {"admission": "statistical", "stalls_per_hour": 6.0},
    "mean": {"admission": "mean"},
    "all": {"admission": "all"},
}
"""Six stalls per hour: two minutes of a profile can't tell of rarer ones."""


def case(rule: Rule) -> str:
    """The name of a case."""
    return f"c, {rule}"


def _scenario(rule: Rule, amount: Amount) -> Scenario:
    clips = amount.pick(quick=4, full=20)
    return Scenario(
        name=case(rule),
        duration=120 + 60 * clips,
        seed=1,
        radio={
            "standard": "802.11a",
            "data_rate": "ideal",
            "rts_threshold": "off",
            "tx_power": f"{RATED.power_dbm:.2f} dBm",
            "noise_figure": f"{NOISE_FIGURE_DB:.2f} dB",
            "propagation": {"model": "log-distance", "exponent": 2, "shadowing": "8 dB"},
            "obstacles": {"drift": {"deviation": "4 dB", "decorrelation_time": "30 s"}},
        },
        nodes=[{"name": "home", "count": 2, "placement": {"shape": "line", "spacing": DISTANCE}}],
        cloud={
            **KEYS[rule],
            "clips": [{"name": "clip", "rate": RATE, "length": LENGTH, "at": ["home0"]}],
            "requests": [{"from": "home1", "clip": "clip", "start": 120 + 60 * number} for number in range(clips)],
        },
    )


def setup(amount: Amount) -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "c: places",
            f"{len(_seeds(amount))} pairs 192 ft apart; shadowing of 8 dB, drift of 4 dB within 30 s; the best rate for the power",
            "192 ft: 22 Mb/s, 2 Mb/s, or none (section VI)",
        ),
        Parameter("c: profile", "two minutes before the first clip; clips of 30 s", "not stated"),
    ]


def _seeds(amount: Amount) -> tuple[int, ...]:
    return amount.pick(quick=tuple(range(2801, 2813)), full=tuple(range(2801, 2831)))


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases: each seed is a place."""
    return {case(rule): Case(_scenario(rule, amount), _seeds(amount)) for rule in KEYS}


def _streams(document: Document) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document["cloud"]["streams"]
    return found


def _admitted(document: Document) -> float:
    """Clips that came, per cent of those asked for."""
    streams = _streams(document)
    return 100 * sum(one["source"] is not None for one in streams) / max(len(streams), 1)


def stalled(documents: list[Document]) -> float:
    """Share of admitted clips at all places that stood still, did not begin or broke off; zero of none."""
    admitted = [one for document in documents for one in _streams(document) if one["source"] is not None]
    bad = sum(bool(one["hiccups"] > 0) or one["start_up_s"] is None or one["outcome"] == "broken" for one in admitted)
    return bad / len(admitted) if admitted else 0.0


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    shares = {rule: stalled(list(measured.documents[case(rule)])) for rule in KEYS}
    for rule in KEYS:
        name = case(rule)
        admitted = measured.sample(name, _admitted)
        found.append(value("H12", name, "admitted", "%", admitted))
        some = 100 * sum(one > 0 for one in admitted.values) / len(admitted.values)
        found.append(value("H12", name, "places with an admitted clip", "%", Sample((some,))))
        found.append(value("H12", name, "starved of the admitted", "%", Sample((100 * shares[rule],))))
    ratio = shares["statistical"] / shares["mean"] if shares["mean"] else 1.0
    found.append(REGISTER.row("H12.places", "c", "starved, statistical / mean", "", Sample((ratio,))))
    return found


def figures(table: Table) -> list[tuple[str, Figure]]:
    """What each rule admits at places 192 ft apart, and how much of that starves."""
    from hopcast.figures import Group, bars

    metrics = ("admitted", "places with an admitted clip", "starved of the admitted")
    groups = [Group.of(metric, [table[case(rule), metric] for rule in KEYS]) for metric in metrics]
    title = "c: clips at places 192 ft apart"
    return [(title, bars(list(KEYS), groups, y="clips or places, %", x="rule of admission"))]
