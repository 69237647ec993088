"""Models written in Python: mobility, propagation and errors, and what all kinds have in common."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import hopcast
from conftest import Hopcast
from hopcast.congestion import CongestionControl
from hopcast.error_model import ErrorModel, ReceivedFrame
from hopcast.extensions import Extensions
from hopcast.mobility import Leg, Mobility, Position
from hopcast.propagation import Propagation
from hopcast.random import Stream, Streams

TOML = """
duration = "20 s"
radio = { standard = "802.11b", data_rate = "11 Mb/s" }
[[nodes]]
name = "n"
count = 6
placement = { shape = "uniform", width = "300 m", height = "200 m" }
mobility = { model = "random-waypoint", speed = [5, 15], pause = ["0 s", "2 s"], start = "classical" }
routing = { protocol = "aodv" }
[[flows]]
name = "f"
from = "n0"
to = "n5"
transport = { protocol = "udp" }
application = { kind = "cbr", rate = "100 kb/s", packet = 500 }
"""


class RandomWaypoint(Mobility):
    """The built-in model, started where the node is placed: the same draws in the same order."""

    def __init__(
        self, place: Position, random: Stream, *, area: tuple[float, float], speed: list[float], pause: list[float]
    ) -> None:
        self.here, self.random = place, random
        self.area, self.speed, self.pause = area, speed, pause
        self.pauses = True

    def between(self, least: float, most: float) -> float:
        return least + self.random.unit() * (most - least)

    def next_leg(self) -> Leg:
        if self.pauses:
            self.pauses = False
            return Leg(self.here, self.between(*self.pause))
        self.pauses = True
        here, self.here = self.here, Position(self.between(0.0, self.area[0]), self.between(0.0, self.area[1]))
        return Leg.trip(here, self.here, self.between(*self.speed))


def custom(model: str, **parameters: object) -> dict[str, object]:
    return {"model": "custom", "name": model, "parameters": parameters}


def moving(model: type[Mobility], **parameters: object) -> hopcast.Scenario:
    scenario = hopcast.Scenario.from_toml(TOML, extensions=Extensions(mobility={"mine": model}))
    return scenario.set("nodes.n.mobility", custom("mine", **parameters))


def measured(result: hopcast.Result) -> list[list[dict[str, Any]]]:
    """All that was measured."""
    return [table.to_dicts() for table in (result.flows, result.nodes, result.series)]


def test_random_waypoint_in_python_is_random_waypoint() -> None:
    ours = hopcast.run(hopcast.Scenario.from_toml(TOML), replications=2)
    theirs = hopcast.run(
        moving(RandomWaypoint, area=[300, 200], speed=[5, 15], pause=[0, 2]), replications=2, threads=2
    )
    assert measured(theirs) == measured(ours)
    assert ours.flows["received_packets"].min() > 50  # type: ignore[operator]
    still = hopcast.run(hopcast.Scenario.from_toml(TOML).set("nodes.n.mobility", {"model": "static"}), replications=2)
    assert measured(still) != measured(ours)


class FreeSpace(Propagation):
    """The built-in model."""

    def __init__(self, frequency: float) -> None:
        self.unit = 299_792_458.0 / frequency / (4.0 * math.pi)

    def gain(self, sender: Position, receiver: Position) -> float:
        x, y, z = (b - a for a, b in zip(sender, receiver, strict=True))
        squared = x * x + y * y + z * z
        return self.unit * self.unit / squared if squared > self.unit * self.unit else 1.0

    def reach(self, gain: float) -> float:
        if gain == 0.0:
            return math.inf
        return 0.0 if gain > 1.0 else self.unit / math.sqrt(gain)


@pytest.mark.parametrize("mobility", ["static", "random-waypoint"])
def test_free_space_in_python_is_free_space(mobility: str) -> None:
    changes = [] if mobility == "random-waypoint" else ['nodes.n.mobility={ model = "static" }']
    channel = hopcast.Scenario.from_toml(
        TOML, overrides=changes, extensions=Extensions(propagation={"mine": FreeSpace})
    )
    fading = {"fading": "rayleigh"}
    ours = hopcast.run(channel.set("radio.propagation", {"model": "free-space", **fading}))
    theirs = hopcast.run(channel.set("radio.propagation", {**custom("mine"), **fading}))
    assert measured(theirs) == measured(ours)
    assert ours.flows["received_packets"].min() > 50  # type: ignore[operator]


class Bits(ErrorModel):
    """Bits that err independently: the built-in Gilbert-Elliott channel where both states are alike."""

    def __init__(self, streams: Streams, *, ber: float) -> None:
        self.ber = ber

    def loss(self, frame: ReceivedFrame) -> float:
        return -math.expm1(8 * frame.length * math.log1p(-self.ber))


def erring(model: type[ErrorModel], **parameters: object) -> hopcast.Scenario:
    scenario = hopcast.Scenario.from_toml(TOML, extensions=Extensions(errors={"mine": model}))
    return scenario.set("radio.errors", custom("mine", **parameters))


@pytest.mark.parametrize("reception", ["sinr", "threshold"])
def test_bit_errors_in_python_are_bit_errors(reception: str) -> None:
    channel = hopcast.Scenario.from_toml(TOML).set("radio.reception", reception)
    built_in = {"model": "gilbert-elliott", "good_ber": 1e-5, "bad_ber": 1e-5, "good_mean": "1 s", "bad_mean": "1 s"}
    ours = hopcast.run(channel.set("radio.errors", built_in), replications=2)
    theirs = hopcast.run(erring(Bits, ber=1e-5).set("radio.reception", reception), replications=2, threads=2)
    assert measured(theirs) == measured(ours)
    assert measured(hopcast.run(channel, replications=2)) != measured(ours)
    assert ours.flows["received_packets"].min() > 50  # type: ignore[operator]


def test_an_error_model_is_told_of_each_frame_that_arrives() -> None:
    told: list[ReceivedFrame] = []

    class Told(ErrorModel):
        def __init__(self, streams: Streams) -> None:
            self.stream = streams.stream(3)

        def loss(self, frame: ReceivedFrame) -> float:
            told.append(frame)
            return 0.0

    place = {"shape": "points", "at": [[0.0, 0.0], [100.0, 0.0]]}
    text = TOML.replace("count = 6", "count = 2").replace('"n5"', '"n1"')
    scenario = hopcast.Scenario.from_toml(text, extensions=Extensions(errors={"mine": Told}))
    still = scenario.set("nodes.n.mobility", {"model": "static"}).set("nodes.n.placement", place)
    result = hopcast.run(still.set("nodes.n.routing", {"protocol": "static"}).set("radio.errors", custom("mine")))
    data = [frame for frame in told if frame.kind == "data"]
    assert len(data) == result.flows["received_packets"].item()
    # By hand: 20 dBm less 4 dB, and 80.1 dB of free space; 564 bytes at 11 Mb/s.
    first = data[0]
    assert first[:5] == ("data", 0, 1, 564, 11e6)
    assert first.power == pytest.approx(-64.07, abs=0.01)
    assert first.end - first.start == pytest.approx(564 * 8 / 11e6, abs=1e-6)
    acknowledgement = next(frame for frame in told if frame.kind == "ack")
    assert acknowledgement[:4] == ("ack", 1, 0, 14)


@pytest.mark.parametrize("loss", [-0.1, 1.1, math.nan, "often", ArithmeticError("never")])
def test_a_loss_that_is_none_ends_the_run(loss: Any) -> None:
    class Wrong(Bits):
        def loss(self, frame: ReceivedFrame) -> float:
            if isinstance(loss, Exception):
                raise loss
            result: float = loss
            return result

    with pytest.raises(hopcast.RunError, match=r"an error model raised (Value|Type|Arithmetic)Error") as failed:
        hopcast.run(erring(Wrong, ber=0.0))
    if isinstance(loss, float):
        assert "should be from 0 to 1" in str(failed.value.__cause__)


class Still(Mobility):
    """Goes nowhere, or does something wrong after a while."""

    wrong: object = None

    def __init__(self, place: Position, random: Stream) -> None:
        self.place, self.legs = place, 0

    def next_leg(self) -> Any:
        self.legs += 1
        if self.legs < 3:
            return Leg(self.place, 1.0)
        if isinstance(self.wrong, Exception):
            raise self.wrong
        return self.wrong


@pytest.mark.parametrize(
    ("wrong", "cause", "told"),
    [
        (ArithmeticError("lost"), ArithmeticError, "lost"),
        (Leg(Position(math.nan, 0.0), 1.0), ValueError, "is no place: coordinates must be finite"),
        (Leg(Position(0.0, 0.0), -1.0), ValueError, "a leg takes -1 s, should be at least 0 s"),
        (Leg(Position(0.0, 0.0), math.nan), ValueError, "a leg takes NaN s, should be at least 0 s"),
        (None, TypeError, "None"),
    ],
)
def test_an_exception_of_a_mobility_model_ends_the_run(wrong: object, cause: type[Exception], told: str) -> None:
    class Wrong(Still):
        pass

    Wrong.wrong = wrong
    scenario = moving(Wrong)
    for _ in range(2):
        with pytest.raises(hopcast.RunError, match=f"a mobility model raised {cause.__name__}") as failed:
            hopcast.run(scenario)
        assert told in str(failed.value.__cause__)
        assert failed.value.result is None


def test_an_exception_in_a_constructor_ends_the_run_as_well() -> None:
    class Picky(Still):
        def __init__(self, place: Position, random: Stream) -> None:
            super().__init__(place, random)
            if place != Position(0.0, 0.0):
                raise ArithmeticError(f"not at {place}")

    with pytest.raises(hopcast.RunError, match="a mobility model raised ArithmeticError"):
        hopcast.run(moving(Picky))


@pytest.mark.parametrize("gain", [-1.0, 2.0, math.nan, "strong"])
def test_a_gain_that_is_none_ends_the_run(gain: Any) -> None:
    class Wrong(FreeSpace):
        def gain(self, sender: Position, receiver: Position) -> float:
            result: float = gain
            return result

    scenario = hopcast.Scenario.from_toml(TOML, extensions=Extensions(propagation={"mine": Wrong}))
    with pytest.raises(hopcast.RunError, match=r"a propagation model raised (Value|Type)Error"):
        hopcast.run(scenario.set("radio.propagation", custom("mine")))


def test_parameters_are_checked_and_names_are_known() -> None:
    with pytest.raises(hopcast.ScenarioError) as refused:
        moving(RandomWaypoint, area=[1, 1], speed=[1, 2])
    assert refused.value.field == "nodes.n.mobility.parameters"
    assert "pause" in str(refused.value)
    with pytest.raises(hopcast.ScenarioError) as unknown:
        moving(Still).set("nodes.n.mobility", custom("mime"))
    assert 'did you mean "mine"' in str(unknown.value)

    with pytest.raises(hopcast.ScenarioError) as refused:
        erring(Bits, bar=0.1)
    assert refused.value.field == "radio.errors.parameters"
    assert "bar" in str(refused.value)
    with pytest.raises(hopcast.ScenarioError) as unknown:
        erring(Bits, ber=0.1).set("radio.errors", custom("mime"))
    assert unknown.value.field == "radio.errors.name"
    assert 'there is no error model of this name; did you mean "mine"' in str(unknown.value)

    # A class without what the kind needs is found before anything runs.
    class Lazy(Mobility):
        def __init__(self, place: Position, random: Stream) -> None:
            pass

    with pytest.raises(hopcast.ScenarioError, match="abstract method"):
        moving(Lazy)  # type: ignore[type-abstract]


def test_extensions_join_and_the_later_one_wins() -> None:
    class Other(Still):
        pass

    one = Extensions(mobility={"mine": Still}, propagation={"space": FreeSpace})
    both = one | Extensions(mobility={"mine": Other, "yours": Still})
    assert both.entries() == (
        ("mobility", "mine", Other),
        ("mobility", "yours", Still),
        ("propagation", "space", FreeSpace),
    )
    scenario = hopcast.Scenario.from_toml(TOML, extensions=both, congestion={"law": CongestionControl})
    assert scenario.set("seed", 2).extensions() == (("congestion", "law", CongestionControl), *both.entries())


def test_a_stream_by_hand_gives_the_same_numbers_each_time() -> None:
    one, same, other = Stream(7), Stream(7), Stream(8)
    drawn = [one.unit() for _ in range(1000)]
    assert drawn == [same.unit() for _ in range(1000)]
    assert all(0.0 <= number < 1.0 for number in drawn)
    assert sum(drawn) / 1000 == pytest.approx(0.5, abs=0.05)
    assert other.unit() != drawn[0]
    assert {one.below(3) for _ in range(100)} == {0, 1, 2}
    assert one.next_u64() < 2**64
    with pytest.raises(OverflowError):
        one.below(-1)


def test_streams_by_hand_give_each_thing_its_own_numbers() -> None:
    def drawn(seed: int, number: int) -> list[float]:
        stream = Streams(seed).stream(number)
        return [stream.unit() for _ in range(3)]

    assert drawn(7, 1) == drawn(7, 1)
    assert len({drawn(seed, number)[0] for seed in (7, 8) for number in (0, 1, 2**64 - 1)}) == 6
    with pytest.raises(OverflowError):
        Streams(7).stream(-1)


PACKAGE = Path(hopcast.__file__).parent
EXAMPLE = re.compile(r"::\n\n((?:    .*\n|\n)+)")


@pytest.mark.parametrize("module", ["application", "error_model", "mobility", "propagation"])
def test_the_example_of_a_module_runs(module: str, tmp_path: Path) -> None:
    found = EXAMPLE.search((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    assert found
    (tmp_path / "string.toml").write_text(TOML, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        exec("\n".join(line.removeprefix("    ") for line in found[1].splitlines()), {"__name__": module})


MODELS = """
from hopcast import Extensions
from hopcast.mobility import Leg, Mobility

class Still(Mobility):
    def __init__(self, place, random, *, pause=1.0):
        self.place, self.pause = place, pause

    def next_leg(self):
        return Leg(self.place, self.pause)

EXTENSIONS = Extensions(mobility={"still": Still})
"""


def test_the_command_line_takes_models_from_files_and_modules(
    hopcast: Hopcast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scenario.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "models.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    still = 'nodes.n.mobility={ model = "custom", name = "still", parameters = { pause = 3.0 } }'
    arguments = ("run", str(tmp_path / "scenario.toml"), "--json", "--set")
    for source in (str(tmp_path / "models.py"), "models"):
        done = hopcast(*arguments, still, "--extension", source)
        assert done.returncode == 0, done.stderr
    static = hopcast(*arguments, 'nodes.n.mobility={ model = "static" }')
    ours, theirs = (json.loads(run.stdout)["flows"] for run in (done, static))
    assert ours == theirs
    unknown = hopcast(*arguments, still)
    assert unknown.returncode == 2
    assert "there is no mobility model of this name" in unknown.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "there is no such file"),
        ("x = 1", "EXTENSIONS is None; expected a hopcast.Extensions"),
        ("\nraise ArithmeticError('no')", "models.py:2: ArithmeticError: no"),
    ],
)
def test_a_file_without_models_is_refused(hopcast: Hopcast, tmp_path: Path, text: str | None, told: str) -> None:
    (tmp_path / "scenario.toml").write_text(TOML, encoding="utf-8")
    if text is not None:
        (tmp_path / "models.py").write_text(text, encoding="utf-8")
    done = hopcast("run", str(tmp_path / "scenario.toml"), "--extension", str(tmp_path / "models.py"))
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
