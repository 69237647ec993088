"""H12, scene d once more: whom admission refuses. Its runs are told apart by how many links a request is away from the clip, and by home.

A request is as far away as the fewest links between its home and the one copy of the clip, whatever path was taken or refused. Where copies are depends on
the seed alone, so a stream of any rule tells it of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Document, Measured, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.theory import jain
from hopcast_papers.h2o import load, oracle
from hopcast_papers.h2o.places import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RULES = ("statistical", "airtime", "hops", "all")
OFFERED = 1.0
"""The load at which requests compete, and rules still differ in whom they serve."""
DISTANCES = tuple(range(1, 2 * (load.SIDE - 1) + 1))
"""Links between two homes of the grid."""


def case(rule: str, links: int) -> str:
    """The name of the rows of requests that far away."""
    return f"d, {rule}, load {OFFERED:g}, {links} link{'s' if links > 1 else ''} away"


def _place(home: str) -> tuple[int, int]:
    return divmod(int(home.removeprefix("home")), load.SIDE)


def distance(home: str, other: str) -> int:
    """The fewest links between two homes of the grid."""
    return sum(abs(one - two) for one, two in zip(_place(home), _place(other), strict=True))


def sources(documents: list[Document]) -> dict[str, str]:
    """Where each clip is that one of the streams brought, in runs of one seed."""
    streams = (one for document in documents for one in document["cloud"]["streams"])
    return {one["clip"]: one["source"] for one in streams if one["source"] is not None}


def _by_run(measured: Measured, rule: str) -> list[tuple[list[oracle.Stream], dict[str, str]]]:
    """Of each run the requests for others' clips of which it is known where they are, and where they are."""
    found = []
    for place, document in enumerate(measured.documents[load.case(rule, OFFERED)]):
        same_seed = [
            measured.documents[load.case(one, offered)][place] for one in (rule, "all") for offered in load.LOADS
        ]
        where = sources(same_seed)
        asked = [one for one in document["cloud"]["streams"] if not oracle.is_stored(one) and one["clip"] in where]
        found.append((asked, where))
    return found


def _share(streams: list[oracle.Stream], counts: Callable[[oracle.Stream], bool]) -> float | None:
    return 100 * sum(map(counts, streams)) / len(streams) if streams else None


def _began(stream: oracle.Stream) -> bool:
    return stream["start_up_s"] is not None


def rows(measured: Measured) -> list[Row]:
    """Shares of requests that began and that were whole, by distance, and how evenly homes are served."""
    found: list[Row] = []
    for rule in RULES:
        runs = _by_run(measured, rule)
        for links in DISTANCES:
            near = [
                [one for one in asked if distance(one["display"], where[one["clip"]]) == links] for asked, where in runs
            ]
            for metric, counts in (("begun", _began), ("whole without a hiccup", oracle.is_fine)):
                shares = tuple(share for share in (_share(one, counts) for one in near) if share is not None)
                if shares:
                    found.append(value("H12", case(rule, links), metric, "%", Sample(shares)))
        even = tuple(_evenness(asked) for asked, _ in runs)
        found.append(value("H12", load.case(rule, OFFERED), "Jain's index of homes", "", Sample(even)))
    return found


def _evenness(asked: list[oracle.Stream]) -> float:
    """Jain's index of the shares of the homes' requests that were whole and without a hiccup."""
    homes = sorted({one["display"] for one in asked})
    shares = [_share([one for one in asked if one["display"] == home], oracle.is_fine) or 0.0 for home in homes]
    return jain(shares) if any(shares) else 0.0


def notes(table: Table) -> list[str]:
    """Whom the rules serve."""

    def each(rule: str) -> str:
        known = [links for links in DISTANCES if (case(rule, links), "begun") in table]
        return ", ".join(f"{number(table, case(rule, links), 'begun'):.0f}" for links in known)

    return [
        f"d: at load {OFFERED:g}, by the links between home and clip from one to {DISTANCES[-1]}, per cent of the requests that begin: "
        + ". ".join(f"{each(rule)} ({rule})" for rule in RULES)
        + "."
    ]


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Shares of the requests that were whole, against the distance of the clip."""
    from hopcast.figures import Line, lines

    metric = "whole without a hiccup"
    drawn = [
        Line(
            rule,
            [(links, table[case(rule, links), metric]) for links in DISTANCES if (case(rule, links), metric) in table],
        )
        for rule in RULES
    ]
    y = "whole without a hiccup, %"
    return [
        (f"d: displays that were whole, by distance, at load {OFFERED:g}", lines(drawn, x="links to the clip", y=y))
    ]
