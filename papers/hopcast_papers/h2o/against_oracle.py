"""H12, scene d once more: which requests a rule refuses that the oracle would show, and the other way round.

Both have the same requests, told apart by display, clip and instant. What each has admitted before differs, so a stream that only one of them shows is no
mistake by itself: a rule that refuses a long path has room for two short ones.
"""

from __future__ import annotations

from hopcast.lab.experiment import Document, Measured, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast_papers.h2o import load, oracle
from hopcast_papers.h2o.places import number

RULES = ("statistical", "airtime", "hops")
REFUSED, SHOWN = "not whole of those that the oracle shows", "whole of those that the oracle refuses"
Request = tuple[str, str, float]


def requests(document: Document, *, fine: bool) -> set[Request]:
    """The requests for others' clips within the oracle's time, or those of them that were shown whole and without a hiccup."""
    asked = (one for one in document["cloud"]["streams"] if not oracle.is_stored(one))
    within = (one for one in asked if one["asked_s"] < load.START + load.SHORT and (oracle.is_fine(one) or not fine))
    return {(one["display"], one["clip"], round(one["asked_s"], 6)) for one in within}


def rows(measured: Measured) -> list[Row]:
    """By rule and load: shares of what the oracle shows that the rule does not, and of what it refuses that the rule shows."""
    found: list[Row] = []
    for offered in load.LOADS:
        for rule in RULES:
            missed, more = [], []
            documents = measured.documents[load.case(rule, offered)]
            for ours, other in zip(documents, measured.documents[load.case(load.ORACLE, offered)], strict=True):
                asked, fine = (requests(ours, fine=which) for which in (False, True))
                shown = requests(other, fine=True)
                missed += [100 * len(shown - fine) / len(shown)] if shown else []
                more += [100 * len(fine - shown) / len(asked - shown)] if asked - shown else []
            for metric, shares in ((REFUSED, missed), (SHOWN, more)):
                if shares:
                    found.append(value("H12", load.case(rule, offered), metric, "%", Sample(tuple(shares))))
    return found


def notes(table: Table) -> list[str]:
    """What the rules refuse of what the oracle shows."""

    def each(rule: str) -> str:
        known = [offered for offered in load.LOADS if (load.case(rule, offered), REFUSED) in table]
        return ", ".join(f"{number(table, load.case(rule, offered), REFUSED):.0f}" for offered in known)

    return [
        "d: by load, per cent of the displays that are whole with the oracle and not with a rule: "
        + ". ".join(f"{each(rule)} ({rule})" for rule in RULES)
        + "."
    ]
