"""The studies of cards: their scenarios and arithmetic by hand, and their main findings on short runs."""

from __future__ import annotations

import pytest

from hopcast.lab import AMOUNTS, run_experiments
from hopcast.lab.experiment import Table
from hopcast_papers import EXPERIMENTS
from hopcast_papers.aodv_testbed import hop as testbed
from hopcast_papers.h2o import cards as h2o_cards
from hopcast_papers.h2o.places import number

QUICK = AMOUNTS["quick"]


def run(id_: str) -> Table:
    return Table(run_experiments([EXPERIMENTS[id_]], QUICK).rows)


# One process runs both experiments.
pytestmark = pytest.mark.xdist_group("cards")


@pytest.fixture(scope="module")
def h7() -> Table:
    return run("H7")


@pytest.fixture(scope="module")
def a1() -> Table:
    return run("A1")


def test_every_cell_of_table_two_has_its_bandwidth_and_loss(h7: Table) -> None:
    cells = [row for row in h7.rows if row.metric in ("bandwidth", "loss") and row.paper is not None]
    assert len(cells) == 40
    assert h7["1:3-hop, 2 cards, application routing, multiple channels", "loss"].paper == 33.26
    assert h7["1:2-hop, 2 cards, OS routing, single channel", "bandwidth"].paper == 15.9


def test_two_cards_help_on_two_channels_only(h7: Table) -> None:
    def mbps(cards: str, column: str) -> float:
        return number(h7, f"1:2-hop, {cards}, application routing, {column}", "bandwidth")

    one = mbps("1 card", "single channel")
    assert mbps("2 cards", "single channel") == pytest.approx(one, rel=0.02)
    assert mbps("2 cards", "multiple channels, no leakage") == pytest.approx(2 * one, rel=0.03)
    assert one < mbps("2 cards", "multiple channels") < 1.5 * one


# Two senders carry about 25.7 Mb/s in units of 1 KB; 2 x 18.07 and 2 x 15.90 are 36.14 and 31.80.
@pytest.mark.parametrize(("routing", "air"), [("application", 36.14), ("OS", 31.80)])
def test_the_columns_of_two_cards_are_swapped(h7: Table, routing: str, air: float) -> None:
    case = f"1:2-hop, 2 cards, {routing} routing"
    assert (
        number(h7, f"{case}, swapped", "air needed / air") < 1.0 < number(h7, f"{case}, as printed", "air needed / air")
    )
    carried = 2 * number(h7, "2:1-hop, single channel", "bandwidth")
    assert number(h7, f"{case}, as printed", "air needed / air") == pytest.approx(air / carried, rel=1e-3)
    assert number(h7, f"{case}, multiple channels", "misfit printed / swapped") > 1.0


# 40 mW, 20 lg(4 pi 1 m / 57.9 mm) = 46.7 dB of path, and 28 + 16 dB of rejection; two at once are 3 dB more.
def test_leakage_costs_what_is_sensed_of_it(h7: Table) -> None:
    leaks = h2o_cards.leakage_dbm()
    assert leaks == pytest.approx(16.02 - 46.73 - 44.0, abs=0.01)
    unsensed = leaks + h2o_cards.REJECTION_DB - h2o_cards.UNSENSED_DB
    assert unsensed + 3.02 < h2o_cards.SENSED_DBM < leaks < h2o_cards.ENERGY_DBM
    for hops in (2, 3):
        sensed, not_sensed, apart = (
            number(h7, f"1:{hops}-hop, 2 cards, application routing, {column}", "bandwidth")
            for column in (h2o_cards.MULTIPLE, h2o_cards.UNSENSED, h2o_cards.APART)
        )
        assert not_sensed == pytest.approx(apart, rel=0.01)
        assert sensed < 0.6 * apart
    (note,) = [note for note in EXPERIMENTS["H7"].notes(h7) if "-74.7 dBm" in note]
    assert "a card that conforms doesn't have to defer" in note
    assert "it is sensing that costs" in note


def test_an_operating_system_with_an_applications_queue_loses_as_much(h7: Table) -> None:
    for hops in (2, 3):
        by_os = number(h7, f"1:{hops}-hop, 1 card, OS routing, {h2o_cards.SHORT}", "loss")
        assert by_os == pytest.approx(number(h7, f"1:{hops}-hop, 1 card, application routing, single channel", "loss"))
    assert any("as the application does" in note for note in EXPERIMENTS["H7"].notes(h7))


def test_tcp_changes_with_the_channels_and_with_nothing_else(h7: Table) -> None:
    *found, over_three = [row for row in h7.rows if row.metric == "TCP, to one card"]
    assert len(found) == 14
    assert all((abs(number(h7, row.case, row.metric) - 1.0) <= 0.1) == ("single" in row.case) for row in found)
    assert (over_three.kind, over_three.verdict) == ("claim", "holds")


def test_relays_have_two_cards_and_ends_one() -> None:
    (design,) = (d for d in h2o_cards.STREAMS if (d.hops, d.cards, d.routing) == (3, 2, "os"))
    nodes = [h2o_cards._node(design, h2o_cards.MULTIPLE, place) for place in range(4)]
    assert [[radio["channel"] for radio in node["radios"]] for node in nodes] == [[36], [36, 48], [48, 60], [60]]
    nodes = [h2o_cards._node(design, h2o_cards.SINGLE, place) for place in range(4)]
    assert {radio["channel"] for node in nodes for radio in node["radios"]} == {36}


# By hand, payload 1472 of 1500 B: 11776 bit / (3.46 + 6.30 ms), and / (0.96 + 6.30 ms), less what access takes.
def test_bandwidth_by_card_is_that_worked_out_by_hand(a1: Table) -> None:
    assert number(a1, "PCMCIA to ISA", "bandwidth") == pytest.approx(11.776 / 9.76, rel=0.005)
    assert number(a1, testbed.FAST_COPY, "bandwidth") == pytest.approx(11.776 / 7.26, rel=0.005)
    assert number(a1, "ISA to ISA", "bandwidth") == pytest.approx(number(a1, testbed.BARE, "bandwidth"), rel=0.001)
    assert 1.7 < number(a1, "ISA to PCMCIA", "bandwidth") < 11.776 / 6.30


def test_times_of_table_one_come_back_from_delays(a1: Table) -> None:
    # To the card and from it.
    table = {
        "PCMCIA, MTU": (3.46, 2.057),
        "PCMCIA, RREQ": (1.13, 0.139),
        "ISA, MTU": (0.96, 0.955),
        "ISA, RREQ": (0.067, 0.048),
    }
    for case, (to, from_) in table.items():
        assert number(a1, case, "copy to card") == pytest.approx(to, abs=0.003)
        assert number(a1, case, "copy from card") == pytest.approx(from_, abs=0.003)
