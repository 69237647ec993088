"""H12, scene a: how many streams each rule admits over one to four hops in one range, and how many of them starve."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Case, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Requests

RATE = 4e6
"""b/s of a clip: the paper's yardstick (section I)."""
CARD = 22e6
"""b/s of media that a link carries alone: what the paper saw at 192 feet (section VI). 802.11a at 36 Mb/s has 22.05, by clause
17: 332 µs for a frame of 1396 B, 44 for SIFS and ACK, 101.5 for DIFS and backoff, for 1316 B of media.
"""
SHARE = 0.85
"""Share of time that streams may reserve: `cloud.max_airtime`."""
HOPS = (1, 2, 3, 4)
Rule = Literal["statistical", "airtime", "hops", "mean", "all"]
RULES: tuple[Rule, ...] = ("statistical", "airtime", "hops", "mean", "all")
"""The rule under test, and the baselines: airtime alone, hop count (T1), mean bandwidth (T2), admit all."""


def fitting(hops: int) -> int:
    """Streams over this number of hops in one range for which there is airtime."""
    return math.floor(SHARE * CARD / (RATE * hops))


def too_many(hops: int) -> int:
    """The least number of streams that need more than all of the time."""
    return math.floor(CARD / (RATE * hops)) + 1


def _scenario(rule: Rule, hops: int, amount: Amount) -> Scenario:
    """A row of devices that all sense each other: the last one asks the first one for a clip, again and again."""
    length = amount.pick(quick=60.0, full=300.0)
    asked = too_many(hops) + (0 if rule == "all" else 1)
    requests: list[Requests] = [
        {"from": f"home{hops}", "clip": f"film{number}", "start": f"{60 + 5 * number} s"} for number in range(asked)
    ]
    return Scenario(
        name=case(rule, hops),
        duration=60 + 5 * asked + 3 * length,
        seed=1,
        radio=homes.radio(carrier_sense="200 m"),
        nodes=[{"name": "home", "count": hops + 1, "placement": {"shape": "line", "spacing": "20 m"}}],
        cloud={
            "admission": rule,
            "clips": [{"name": "film", "count": asked, "rate": RATE, "length": length, "at": ["home0"]}],
            "requests": requests,
        },
    )


def case(rule: str, hops: int) -> str:
    """The name of a case."""
    return f"a, {rule}, {hops} hop{'s' if hops > 1 else ''}"


def setup(amount: Amount) -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter("a: card", "802.11a at 36 Mb/s: 22.05 Mb/s of media", "22 Mb/s (section VI); clause 17"),
        Parameter(
            "a: places", "20 m apart, reach 25 m, all sense each other", "k participants “in the same radio range”"
        ),
        Parameter("a: runs", f"{len(_seeds(amount))} seeds", "not stated"),
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    return {case(rule, hops): Case(_scenario(rule, hops, amount), _seeds(amount)) for rule in RULES for hops in HOPS}


def _seeds(amount: Amount) -> tuple[int, ...]:
    return amount.pick(quick=(2201, 2202), full=tuple(range(2201, 2211)))


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for rule in RULES:
        for hops in HOPS:
            name = case(rule, hops)
            found.append(value("H12", name, "admitted", "streams", measured.sample(name, homes.total("admitted"))))
            found.append(
                value("H12", name, "starved of those", "%", measured.sample(name, lambda one: 100 * homes.starved(one)))
            )
    ours = {hops: case("statistical", hops) for hops in HOPS}
    admitted = {
        name: measured.sample(name, lambda one, hops=hops: homes.total("admitted")(one) / fitting(hops))  # type: ignore[misc]
        for hops, name in ours.items()
    }
    found += REGISTER.rows("H12.reserved", "a, statistical", "admitted / fitting", "", admitted)
    hiccups = {name: measured.sample(name, homes.total("hiccups")) for name in ours.values()}
    found += REGISTER.rows("H12.hiccup-free", "a, statistical", "hiccups", "", hiccups)
    everybody = {
        case("all", hops): measured.sample(case("all", hops), lambda one: 1 - homes.starved(one)) for hops in HOPS
    }
    found += REGISTER.rows("H12.starve", "a, all, one too many", "streams without a hiccup / admitted", "", everybody)
    return found


def notes(table: Table) -> list[str]:
    """How many streams each rule admits."""

    def admitted(rule: str) -> str:
        return ", ".join(f"{table[case(rule, hops), 'admitted'].measured:g}" for hops in HOPS)

    return [
        "a: admitted over one to four hops: "
        + "; ".join(f"{rule} {admitted(rule)}" for rule in RULES)
        + f". By airtime {', '.join(str(fitting(hops)) for hops in HOPS)} fit."
    ]


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Streams that each rule admits."""
    from hopcast.figures import Group, bars

    streams = [Group.of("admitted", [table[case(rule, 1), "admitted"] for rule in RULES])]
    return [("a: streams admitted over one hop", bars(list(RULES), streams, x="rule of admission", y="streams"))]
