"""Every number of a scenario takes absurd values: each is refused by name, or runs without harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import hopcast
from conftest import TOML
from hopcast import _core


class Number(NamedTuple):
    """A number in the vocabulary: its key, what has to be set for the key to be there, and its schema."""

    key: str
    setting: str
    schema: dict[str, Any]


LISTS = {"nodes": "nodes.n", "flows": "flows.units", "cloud.clips": "cloud.clips.film"}
"""One entry of each list of the base scenario."""
FILLED = {"rate": '"1 Mb/s"', "frequency": '"2.4 GHz"', "receive": '"100 m"', "carrier_sense": '"200 m"'}
FILLED |= {"antenna_height": '"1.5 m"', "spacing": '"5 m"', "columns": "2", "radius": '"5 m"', "width": '"9 m"'}
FILLED |= {"height": '"9 m"', "size": '"1 kB"', "at": "[[0, 0], [5, 0], [9, 0]]", "exponent": "3"}
FILLED |= {"good_ber": "1e-6", "bad_ber": "1e-2", "good_mean": '"0.1 s"', "bad_mean": '"33.3 ms"'}
FILLED |= {"bytes": '"1 MB"', "direction": '"server"', "speed": '"2 m/s"', "name": '"tree"', "file": '"none"'}
FILLED |= {"block": "[9, 9]"}
FILLED |= {"area": '{ width = "9 m", height = "9 m" }'}
"""For keys that a table must have, and the area of nodes that move."""
CLOUD = (
    'cloud={ clips = [{ name = "film", rate = "1 Mb/s", length = "9 s", at = ["n"] }], '
    'requests = [{ from = "n", clip = "film", start = "1 s" }] }'
)
PLACED = CLOUD.replace(', at = ["n"]', "")
WHOLE = {
    "radio.obstacles.walls.0": "radio.obstacles.walls=[{ from = [0, 0], to = [1, 1], attenuation = 3 }]",
    "radio.obstacles.buildings.0": "radio.obstacles.buildings=[{ x = 0, y = 0, width = 1, height = 1, attenuation = 3 }]",
    "radio.obstacles.blockage": "radio.obstacles.blockage={ interval = 9, duration = 1, attenuation = [3, 5] }",
    "cloud": CLOUD,
    "cloud.copies": PLACED.replace("clips", 'placement = "uniform", copies = 2, clips', 1),
    "cloud.hop_time": PLACED.replace("clips", 'placement = "near", hop_time = "1 s", clips', 1),
    "cloud.clips.film": CLOUD,
    "cloud.requests.0": CLOUD,
    "radio.obstacles.drift": "radio.obstacles.drift={ deviation = 3, decorrelation_time = 9 }",
}
"""Tables that the base scenario lacks, and that need several keys."""


def filling(name: str, schema: dict[str, Any]) -> str:
    """A value for a key, by its schema where the name has two meanings."""
    return "0.1" if schema.get("x-steps") else FILLED[name]


def numbers(schema: dict[str, Any], key: str, setting: str = "") -> Iterator[Number]:
    setting = WHOLE.get(key, setting)
    variants = schema.get("oneOf", [])
    if variants and all("properties" in variant for variant in variants):
        for variant in variants:
            filled = [
                f"{name} = {json.dumps(of['const']) if 'const' in of else filling(name, of)}"
                for name, of in variant["properties"].items()
                if "const" in of or name in variant.get("required", ()) or name == "area"
            ]
            yield from numbers(variant, key, f"{key}={{{', '.join(filled)}}}")
    elif "properties" in schema:
        for name, of in schema["properties"].items():
            yield from numbers(of, f"{key}.{name}".lstrip("."), setting)
    elif schema.get("type") == "array":
        yield from numbers(schema["items"], LISTS.get(key, f"{key}.0"), setting)
    elif "number" in schema.get("type", ()) or schema.get("type") == "integer":
        yield Number(key, setting, schema)


ALL = list(numbers(json.loads(_core.json_schema()), ""))


def test_all_numbers_are_found() -> None:
    keys = {number.key for number in ALL}
    for key in ("duration", "seed", "radio.tx_power", "radio.retry_limit.long", "nodes.n.placement.at.0.0"):
        assert key in keys
    assert len(ALL) > 40


class Enough(Exception):
    """It runs, and can be stopped."""


def patience(done: float, total: float) -> None:
    """Called a tenth of a second after the start, then again and again, and at the end."""
    if done < total:
        raise Enough


@pytest.mark.parametrize("number", ALL, ids=[f"{n.key} {n.setting.partition('{')[2].split(',')[0]}" for n in ALL])
def test_absurd_values(number: Number) -> None:
    limits = [number.schema[limit] for limit in ("minimum", "maximum", "exclusiveMinimum") if limit in number.schema]
    values = [
        "nan",
        "inf",
        "-inf",
        "-1",
        "-0.0",
        "0",
        "1",
        "1e-300",
        "1e300",
        "9" * 400,
        str(2**64),
        *map(repr, limits),
    ]
    if (unit := number.schema.get("x-quantity")) is not None:
        symbol = {"time": "s", "size": "B", "rate": "b/s", "length": "m", "frequency": "Hz", "power": "dBm"}.get(
            unit, ""
        )
        values += [f"{value} {symbol}" for value in ("nan", "inf", "-1", "0", "1e300", "9" * 400, "1e-300")]
    for value in values:
        short = [] if number.key == "duration" else ["duration=1 ms", "flows.bulk.start=0"]
        overrides = [*short, *filter(None, [number.setting]), f"{number.key}={value}"]
        error: hopcast.ScenarioError | None = None
        try:
            scenario = hopcast.Scenario.from_toml(TOML, overrides=overrides)
        except hopcast.ScenarioError as refused:
            error = refused
        if error is not None:
            # What contradicts another value may be told of that one.
            assert error.field.split(".")[0] in (number.key.split(".")[0], "flows"), error
            assert len(str(error)) < 2000
            continue
        assert value not in ("nan", "inf", "-inf", "1e300", "9" * 400), overrides
        if number.key == "nodes.n.count":
            continue
        try:
            result = hopcast.run(scenario, progress=patience)
        except (hopcast.ScenarioError, Enough):
            continue
        json.dumps(result.json(), allow_nan=False)
