"""H12: a cloud of devices that reserve paths, and know their neighbours by statistics: what the paper leaves to the future.

The paper has no numbers of it. Scene a is in `capacity`, b in `slow_link`, `calibration` and `limits`, c in `feet`, d in `load`, `by_distance`,
`against_oracle` and `on_air`, e in `shortening`, f in `placement`, g in `caches`, h in `walks`, i in `crossing`, k in `order`, l in `batches`, m in `lies`, n in
`vehicles`, o and p in `parts`, and failures in `losses` and `kills`. Real hosts, scene j of a proposal, are H15 (`live_cloud`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row
from hopcast_papers.h2o import (
    against_oracle,
    batches,
    by_distance,
    caches,
    capacity,
    crossing,
    feet,
    kills,
    lies,
    load,
    losses,
    on_air,
    order,
    parts,
    placement,
    shortening,
    slow_link,
    vehicles,
    walks,
)
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import finding, outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("clips", "4 Mb/s, constant; packets of 1316 B", "the paper's yardstick (section I)"),
        *capacity.setup(amount),
        *slow_link.setup(amount),
        *feet.setup(amount),
        *load.setup(),
        *parts.setup(),
        *shortening.setup(amount),
        *placement.setup(),
        *caches.setup(),
        *walks.setup(),
        *crossing.setup(),
        *order.setup(),
        *batches.setup(),
        *lies.setup(),
        *vehicles.setup(),
        *losses.setup(),
        *kills.setup(),
    ]


def _cases(amount: Amount) -> Mapping[str, Case]:
    return {
        **capacity.cases(amount),
        **slow_link.cases(amount),
        **feet.cases(amount),
        **load.cases(amount),
        **shortening.cases(amount),
        **placement.cases(amount),
        **caches.cases(amount),
        **walks.cases(amount),
        **crossing.cases(amount),
        **losses.cases(amount),
        **parts.cases(amount),
        **kills.cases(amount),
        **order.cases(amount),
        **batches.cases(amount),
        **lies.cases(amount),
        **vehicles.cases(amount),
    }


def _rows(measured: Measured) -> list[Row]:
    return [
        *capacity.rows(measured),
        *slow_link.rows(measured),
        *feet.rows(measured),
        *load.rows(measured),
        *by_distance.rows(measured),
        *against_oracle.rows(measured),
        *on_air.rows(measured),
        *parts.rows(measured),
        *shortening.rows(measured),
        *placement.rows(),
        *placement.contended_rows(measured),
        *caches.rows(measured),
        *walks.rows(measured),
        *crossing.rows(measured),
        *order.rows(measured),
        *batches.rows(measured),
        *lies.rows(measured),
        *vehicles.rows(measured),
        *losses.rows(measured),
        *kills.rows(measured),
    ]


def _notes(table: Table) -> list[str]:
    return [
        *capacity.notes(table),
        *slow_link.notes(table),
        "c: at 192 ft a clip of 4 Mb/s comes over 802.11a or does not, as its lowest rate is 6 Mb/s. Of the admitted clips "
        + " and ".join(
            f"{number(table, feet.case(rule), 'starved of the admitted'):.1f} % ({rule})"
            for rule in ("statistical", "mean")
        )
        + f" stall, {finding('H12.places', table)} times as many by the profile, and the sentence {outcome('H12.places', table)}.",
        *load.notes(table),
        *by_distance.notes(table),
        *against_oracle.notes(table),
        *on_air.notes(table),
        *parts.notes(table),
        *shortening.notes(table),
        "f: under the assumptions of the 2004 paper first, then where displays contend for the air of 802.11a. A string that needs N − H copies saves little of a short clip.",
        *placement.notes(table),
        *kills.notes(table),
        "e and h: the display's watch over its first path was added after a run of e with another seed. The seeds of both ran before and after that. "
        "c ran first with the power in watts instead of dBm, and again with the unit mended.",
        "d: the quick form had one load and two seeds at first. Three more loads, two more seeds, the oracle, and 802.11e were added after those runs. The sentences on admitting all are judged by the two seeds.",
        "Scenes with reserved airtime ran again when devices began to tell at once what is reserved. Before, streams that reserved within two seconds of each other could take the same "
        "airtime, which runs of d with another seed showed. Scenes in which paths are lost ran again when the first search after that became shorter. Then H12.flicker, which had held, failed. b, o and p ran again "
        "when the estimate of stalls knew how fast a source sends. Scenes in which paths are lost ran once more when a display went on searching for 20 s, whatever became of its searches. Then "
        "H12.edge, which had been open, failed in the quick form.",
        "d and n: TCP per hop, and carriers that expect to meet the display, were added after the runs of all other scenes but o and p. Limits along b, and requests of d "
        "one by one next to the oracle, and what takes the air there, were added after all of them. No sentence is judged by any of these.",
        "Scenes a to i, k to p, and failures; real hosts are H15. In the quick form a case has less than 100 hours of display, so that rates of hiccups below 0.03 per hour can't be told from zero.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    return [
        *slow_link.figures(table),
        *capacity.figures(table),
        *load.figures(table),
        *by_distance.figures(table),
        *parts.figures(table),
        *feet.figures(table),
        *shortening.figures(table),
        *caches.figures(table),
        *walks.figures(table),
        *crossing.figures(table),
        *order.figures(table),
        *vehicles.figures(table),
        *losses.figures(table),
        *kills.figures(table),
    ]


EXPERIMENTS = (
    Experiment(
        "H12",
        "A cloud that admits streams by statistics",
        "Devices keep profiles of their neighbours, reserve airtime along a path, and admit a stream if it seldom stalls; next to admission by "
        "hops, mean bandwidth, airtime alone, and none. The paper names this as future work and has no numbers. "
        "a: streams of 4 Mb/s over one to four hops in one range. b: a link that is now and then slow. c: places at 192 ft. d: displays that come at random. e: people come and go, and a path could be "
        "shorter. f: where copies are stored, with the numbers of a paper of 2004. g: homes that keep what they display. h: devices that people carry. i: traffic that reserves "
        "nothing. k: which of a producer's streams sends next. l: long runs in batches. m: a device that lies. n: vehicles. o: without one part of a device each. p: one parameter changed.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
