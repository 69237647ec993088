"""The dictionary of results has every field of real results, and its page is up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars
import pytest

import hopcast
from declared import check
from hopcast.fields import FIELDS, field, schemas
from hopcast.lab.experiment import Measured

ROOT = Path(__file__).parents[2]
SCHEMAS = schemas()

CELL = """
duration = "3 s"

[radio]
standard = "802.11a"
data_rate = "aarf"

[[nodes]]
name = "n"
count = 3
routing = { protocol = "aodv" }
placement = { shape = "line", spacing = "20 m" }

[[flows]]
name = "file"
from = "n0"
to = "n2"
transport = { protocol = "tcp" }
application = { kind = "bulk" }

[[flows]]
name = "call"
from = "n1"
to = "n0"
transport = { protocol = "udp" }
application = { kind = "cbr", rate = "1 Mb/s", packet = "500 B" }

[[flows]]
name = "media"
from = "n0"
to = "n1"
transport = { protocol = "adtfrc" }
application = { kind = "cbr", rate = "2 Mb/s", packet = "1000 B" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `hopcast run --out` writes of two replications."""
    out = tmp_path_factory.mktemp("fields")
    hopcast.run(hopcast.Scenario.from_toml(CELL), replications=2, out=out)
    return out


@pytest.mark.skipif(sys.platform != "linux", reason="the page has the live commands, which need Linux")
def test_the_page_is_up_to_date() -> None:
    subprocess.run([sys.executable, ROOT / "tools/docs/results.py", "--check"], check=True)


@pytest.mark.parametrize("example", ["film", "mesh", "fec", "video", "house", "cell", "rates", "wires"])
def test_every_field_of_an_example_is_declared(example: str) -> None:
    scenario = hopcast.Scenario.from_toml(ROOT / "examples" / f"{example}.toml").set("duration", 3.0)
    check(hopcast.run(scenario).json(), SCHEMAS["run"])


def test_every_field_of_several_replications_is_declared() -> None:
    check(hopcast.run(hopcast.Scenario.from_toml(CELL), replications=2).json(), SCHEMAS["run"])


def test_a_field_that_is_not_declared_is_noticed() -> None:
    document = hopcast.run(hopcast.Scenario.from_toml(CELL).set("duration", 0.1)).json()
    document["totals"]["frames_lost"] = 1
    with pytest.raises(AssertionError, match="frames_lost"):
        check(document, SCHEMAS["run"])


def test_every_column_of_a_table_is_declared(folder: Path) -> None:
    for name in ("flows", "nodes", "series"):
        table = polars.read_parquet(folder / f"{name}.parquet")
        assert sorted(table.columns) == sorted(FIELDS[name]), name


def test_meaning_unit_divisor_and_place_are_told() -> None:
    ratio = field("flows", "loss_ratio")
    assert (ratio.unit, ratio.divisor) == ("ratio", "sent packets")
    assert "in flight are not lost" in ratio.meaning
    collisions = FIELDS["run"]["totals.collisions"]
    assert (collisions.unit, collisions.counted) == ("receptions", "at each receiver, whomever the frame is for")
    assert "Counted at each receiver" in str(collisions)
    assert field("conversations", "from_port").unit is None


def test_a_wrong_name_gets_the_nearest_one() -> None:
    with pytest.raises(hopcast.HopcastError, match="did you mean 'goodput_bps'") as raised:
        field("flows", "goodput_bsp")
    assert isinstance(raised.value, KeyError)
    with pytest.raises(KeyError, match="there are seed, time_s, flow"):
        field("series", "xyzzy")
    document = hopcast.run(hopcast.Scenario.from_toml(CELL).set("duration", 0.1)).json()
    measured = Measured({"a": [document]})
    assert measured.flow("a", "call", "goodput_bps").values[0] >= 0.0
    with pytest.raises(KeyError, match="flow 'call' has no field 'goodput_bsp'; did you mean 'goodput_bps'"):
        measured.flow("a", "call", "goodput_bsp")
