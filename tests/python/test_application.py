"""Applications written in Python: they do what built-in ones do, the example answers polls, and what they say is checked."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hopcast
from conftest import ROOT, Hopcast
from hopcast.application import Application, Constant, Film
from hopcast.extensions import load
from hopcast.random import Stream

EXAMPLE = ROOT / "examples" / "sensor_poll.py"

TOML = """
duration = "10 s"
radio = { standard = "802.11", data_rate = "1 Mb/s", propagation = { model = "range", receive = "150 m", carrier_sense = "300 m" } }
[[nodes]]
name = "n"
count = 3
placement = { shape = "line", spacing = "100 m" }
[[flows]]
name = "f"
from = "n0"
to = "n2"
start = "1 s"
transport = { protocol = "udp" }
application = { kind = "cbr", rate = "200 kb/s", packet = 500 }
"""


class Cbr(Application):
    """The built-in application: a packet each `interval` seconds, of use for `deadline` seconds, if there is a deadline."""

    def __init__(
        self, start: float, random: Stream, *, packet: int, interval: float, deadline: float | None = None
    ) -> None:
        self.start, self.interval, self.deadline, self.written = start, interval, deadline, 0
        self.largest_write, self.timeline = packet, Constant(interval)

    def poll_write(self, now: float) -> int | None:
        assert now >= self.poll_timeout()
        return self.largest_write

    def handle_written(self, now: float) -> None:
        self.written += 1

    def poll_timeout(self) -> float:
        return self.start + self.written * self.interval

    def expires(self) -> float | None:
        return None if self.deadline is None else self.poll_timeout() + self.deadline


class Adu(Application):
    """The built-in application: blocking writes of `size` bytes, each `wait` seconds after the one before has returned."""

    is_blocking = True
    is_finite = True

    def __init__(self, start: float, random: Stream, *, size: int, wait: float, amount: int) -> None:
        self.largest_write, self.wait, self.left, self.next = size, wait, amount, start

    def poll_write(self, now: float) -> int:
        return min(self.left, self.largest_write)

    def handle_written(self, now: float) -> None:
        self.left -= self.poll_write(now)
        self.next = now + self.wait

    def poll_timeout(self) -> float | None:
        return self.next if self.left > 0 else None


FRAMES = [2500, 900, 4000]


class Movie(Application):
    """The built-in film: frames of these sizes at even intervals, in packets."""

    largest_write = 1000
    timeline = Film(FRAMES, 0.125, 1000)

    def __init__(self, start: float, random: Stream) -> None:
        self.start, self.frame, self.left = start, 0, FRAMES[0]

    def poll_write(self, now: float) -> int:
        return min(self.left, self.largest_write)

    def handle_written(self, now: float) -> None:
        self.left -= self.poll_write(now)
        while self.left == 0:
            self.frame += 1
            self.left = FRAMES[self.frame % len(FRAMES)]

    def poll_timeout(self) -> float:
        return self.start + 0.125 * self.frame


def scenario(
    transport: str, application: str, more: str = "", *overrides: str, **models: type[Application]
) -> hopcast.Scenario:
    text = TOML[: TOML.index("transport")] + f"transport = {{ {transport} }}\napplication = {application}\n{more}\n"
    return hopcast.Scenario.from_toml(text, overrides=overrides, extensions=hopcast.Extensions(application=models))


def custom(name: str, parameters: str = "") -> str:
    return f'{{ kind = "custom", name = "{name}", parameters = {{ {parameters} }} }}'


def measured(wanted: hopcast.Scenario) -> list[list[dict[str, Any]]]:
    """All that was measured."""
    result = hopcast.run(wanted, replications=2, threads=2)
    assert result.flows["received_packets"].min() > 20  # type: ignore[operator]
    return [table.to_dicts() for table in (result.flows, result.nodes, result.series)]


TRANSPORTS = [f'protocol = "{name}"' for name in ("udp", "tcp", "tfrc", "adtfrc")] + [
    f'protocol = "rtp", congestion = "{name}"' for name in ("gcc", "scream")
]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_constant_bit_rate_in_python_is_constant_bit_rate(transport: str) -> None:
    # Twice what the path carries, so that writes are refused; the interval has no rounding.
    built_in = scenario(transport, '{ kind = "cbr", rate = "1024 kb/s", packet = 500 }', "player = {}")
    ours = scenario(transport, custom("mine", "packet = 500, interval = 0.00390625"), "player = {}", mine=Cbr)
    assert measured(ours) == measured(built_in)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_blocking_writes_of_an_amount_in_python_are_such_writes(transport: str) -> None:
    built_in = scenario(transport, '{ kind = "adu", size = 1000, wait = "1 ms", bytes = 100300 }')
    ours = scenario(transport, custom("mine", "size = 1000, wait = 0.001, amount = 100300"), mine=Adu)
    assert measured(ours) == measured(built_in)
    assert hopcast.run(ours).flows["received_bytes"].item() == 100_300


def test_what_has_expired_is_not_sent() -> None:
    audio = '{ kind = "audio", rate = "512 kb/s", packet = 500, deadline = "250 ms" }'
    built_in = scenario('protocol = "udp"', audio)
    parameters = "packet = 500, interval = 0.0078125"
    ours = scenario('protocol = "udp"', custom("mine", parameters + ", deadline = 0.25"), mine=Cbr)
    assert measured(ours) == measured(built_in)
    assert measured(ours) != measured(scenario('protocol = "udp"', custom("mine", parameters), mine=Cbr))


def test_a_player_shows_a_film_in_python(tmp_path: Path) -> None:
    lines = (f"{frame}\tI\t{125 * frame}\t{size}\n" for frame, size in enumerate(FRAMES))
    (tmp_path / "film.dat").write_text("".join(lines), encoding="utf-8")
    film = hopcast.Scenario.from_toml(
        TOML.replace(
            '{ kind = "cbr", rate = "200 kb/s", packet = 500 }',
            '{ kind = "video-trace", file = "film.dat", packet = 1000 }',
        )
        + "player = {}\n",
        traces=[tmp_path],
    )
    assert measured(scenario('protocol = "udp"', custom("mine"), "player = {}", mine=Movie)) == measured(film)


def test_the_sensor_of_the_example_answers_polls() -> None:
    models = load(str(EXAMPLE))
    text = EXAMPLE.read_text(encoding="utf-8").split('SCENARIO = """')[1].split('"""')[0]
    wanted = hopcast.Scenario.from_toml(text, extensions=models)
    result = hopcast.run(wanted, replications=10, threads=2)
    flows = {name: result.flows.filter(name=name) for name in ("requests", "readings")}
    # Two links there and two back, of which each loses 0.1; three attempts.
    answered = 0.9**4
    attempts = (1 - (1 - answered) ** 3) / answered
    sent = flows["requests"]["sent_packets"]
    assert sent.mean() == pytest.approx(100 * attempts, rel=0.05)
    assert flows["readings"]["received_packets"].mean() == pytest.approx(100 * (1 - (1 - answered) ** 3), rel=0.03)
    # The sensor answers each request that arrives, and nothing else.
    assert flows["readings"]["sent_packets"].equals(flows["requests"]["received_packets"])
    assert hopcast.run(wanted, replications=10, threads=1).flows.equals(result.flows)


def test_the_example_prints_what_it_measured() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], check=True, capture_output=True, text=True)
    assert "readings" in done.stdout


def test_an_application_is_told_of_arrivals_from_its_start_to_its_stop() -> None:
    told: list[tuple[int, float]] = []

    class Listener(Cbr):
        def handle_received(self, octets: int, now: float) -> None:
            told.append((octets, now))

    back = """
[[flows]]
name = "back"
from = "n2"
to = "n0"
start = "3 s"
stop = "5 s"
listens_to = "f"
transport = { protocol = "udp" }
application = { kind = "custom", name = "listener", parameters = { packet = 10, interval = 0.5 } }
"""
    cbr = '{ kind = "cbr", rate = "40 kb/s", packet = 500 }'
    result = hopcast.run(scenario('protocol = "udp"', cbr, back, listener=Listener))
    # Ten packets a second.
    assert len(told) == pytest.approx(20, abs=1)
    assert {octets for octets, _ in told} == {500}
    assert 3.0 <= told[0][1] < told[-1][1] < 5.0
    assert result.flows.filter(name="back")["sent_packets"].item() == 4


def wrong(**says: object) -> type[Application]:
    """An application whose methods give these values, or raise them; other attributes have them."""

    def method(value: object) -> Any:
        def give(self: Cbr, *_: object) -> object:
            # Not to begin with: a scenario makes objects of its own.
            if self.written < 3:
                return getattr(Cbr, name)(self, *_)
            if isinstance(value, Exception):
                raise value
            return value

        name = next(key for key, given in says.items() if given is value)
        return give

    methods = {name: method(value) for name, value in says.items()}
    return type("Wrong", (Cbr,), methods)


PARAMETERS = "packet = 500, interval = 0.01"


@pytest.mark.parametrize(
    ("method", "says", "cause", "told"),
    [
        ("poll_write", -3, ValueError, "a write of -3 bytes, should be from 1 to 500, the largest_write"),
        ("poll_write", 0, ValueError, "a write of 0 bytes"),
        ("poll_write", 501, ValueError, "a write of 501 bytes"),
        ("poll_write", 10**40, OverflowError, ""),
        ("poll_write", 1.5, TypeError, "float"),
        ("poll_write", "much", TypeError, "str"),
        ("poll_write", None, ValueError, "although poll_timeout has come"),
        ("poll_timeout", -1.0, ValueError, "the time is -1 s, should be at least 0 s"),
        ("poll_timeout", math.nan, ValueError, "nan is no time"),
        ("poll_timeout", "soon", TypeError, "str"),
        ("handle_written", ArithmeticError("lost"), ArithmeticError, "lost"),
        ("expires", -0.5, ValueError, "the time is -0.5 s"),
        ("expires", math.nan, ValueError, "nan is no time"),
        ("expires", "never", TypeError, "str"),
    ],
)
def test_what_an_application_says_is_checked(method: str, says: object, cause: type[Exception], told: str) -> None:
    wanted = scenario('protocol = "udp"', custom("mine", PARAMETERS), mine=wrong(**{method: says}))
    for _ in range(2):
        with pytest.raises(hopcast.RunError) as failed:
            hopcast.run(wanted)
        assert str(failed.value).startswith(f'flow "f": application "mine": {method} raised {cause.__name__}')
        assert type(failed.value.__cause__) is cause
        assert told in str(failed.value.__cause__)
        assert told in str(failed.value)
        assert failed.value.result is None


def test_an_exception_says_where_it_was_raised() -> None:
    with pytest.raises(hopcast.RunError, match=r"lost \(.*test_application.py, line \d+\)$"):
        hopcast.run(scenario('protocol = "udp"', custom("mine", PARAMETERS), mine=wrong(expires=ValueError("lost"))))


def test_an_exception_on_an_arrival_ends_the_run() -> None:
    class Deaf(Cbr):
        def handle_received(self, octets: int, now: float) -> None:
            raise ArithmeticError(octets)

    back = '[[flows]]\nname = "back"\nfrom = "n2"\nto = "n0"\nlistens_to = "f"\ntransport = { protocol = "tcp" }\n'
    back += f"application = {custom('mine', PARAMETERS)}"
    wanted = scenario('protocol = "udp"', '{ kind = "cbr", rate = "40 kb/s", packet = 500 }', back, mine=Deaf)
    with pytest.raises(
        hopcast.RunError, match='flow "back": application "mine": handle_received raised ArithmeticError: 500'
    ):
        hopcast.run(wanted)


def test_writes_without_end_at_one_instant_end_the_run() -> None:
    class Endless(Cbr):
        def handle_written(self, now: float) -> None:
            pass

    with pytest.raises(hopcast.RunError, match="handle_written raised ValueError: 100000 writes at 1 s"):
        hopcast.run(scenario('protocol = "udp"', custom("mine", PARAMETERS), mine=Endless))


def test_an_application_that_could_not_be_made_ends_the_run() -> None:
    class Late(Cbr):
        def __init__(self, start: float, random: Stream, **parameters: Any) -> None:
            if start > 0:
                raise ArithmeticError("too late")
            super().__init__(start, random, **parameters)

    with pytest.raises(hopcast.RunError, match='flow "f": application "mine" raised ArithmeticError: too late'):
        hopcast.run(scenario('protocol = "udp"', custom("mine", PARAMETERS), mine=Late))


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"largest_write": 0}, "largest_write is 0 bytes, should be from 1 to 1073741824"),
        ({"largest_write": 2**31}, "largest_write is 2147483648 bytes"),
        ({"largest_write": 1.5}, "largest_write: 'float' object"),
        ({"largest_write": 70_000}, "is more than a UDP datagram holds; expected at most 65507 B"),
        ({"is_blocking": None}, "is_blocking: "),
        ({"is_finite": "yes"}, "is_finite: "),
        ({"timeline": 0.02}, "timeline is 0.02, should be a Constant or Film of hopcast.application, or None"),
        ({"timeline": Constant(0.0)}, "timeline: the interval is 0 s, should be more than 0 s"),
        ({"timeline": Constant(math.nan)}, "timeline: the interval is NaN s"),
        ({"timeline": Film([0], 0.04, 1000)}, "timeline: a film needs frames and packets of at least 1 byte"),
        ({"timeline": Film([100], 0.04, 0)}, "timeline: a film needs frames and packets of at least 1 byte"),
        ({"timeline": Film([-1], 0.04, 10)}, "frames: "),
    ],
)
def test_wrong_attributes_are_errors_of_the_scenario(attributes: dict[str, object], told: str) -> None:
    class Odd(Cbr):
        def __init__(self, start: float, random: Stream, **parameters: Any) -> None:
            super().__init__(start, random, **parameters)
            vars(self).update(attributes)

    with pytest.raises(hopcast.ScenarioError) as refused:
        scenario('protocol = "udp"', custom("mine", PARAMETERS), mine=Odd)
    assert refused.value.field == "flows.f.application.parameters"
    assert told in str(refused.value)


def test_parameters_and_names_are_checked() -> None:
    with pytest.raises(hopcast.ScenarioError, match="length") as refused:
        scenario('protocol = "udp"', custom("mine", "length = 3"), mine=Cbr)
    assert refused.value.field == "flows.f.application.parameters"
    with pytest.raises(hopcast.ScenarioError, match='did you mean "mine"'):
        scenario('protocol = "udp"', custom("mime"), mine=Cbr)
    with pytest.raises(hopcast.ScenarioError, match="timeline"):
        scenario('protocol = "udp"', custom("mine", "size = 1, wait = 0.1, amount = 1"), "player = {}", mine=Adu)

    class Lazy(Application):
        def __init__(self, start: float, random: Stream) -> None:
            self.largest_write = 1

    with pytest.raises(hopcast.ScenarioError, match="abstract method"):
        scenario('protocol = "udp"', custom("mine"), mine=Lazy)  # type: ignore[type-abstract]


def test_the_command_line_takes_applications(hopcast: Hopcast, tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8").split('SCENARIO = """')[1].split('"""')[0]
    (tmp_path / "poll.toml").write_text(text, encoding="utf-8")
    arguments = ("run", str(tmp_path / "poll.toml"), "--extension", str(EXAMPLE), "--set", "duration=5", "--json")
    done = hopcast(*arguments)
    assert done.returncode == 0, done.stderr
    requests, readings = json.loads(done.stdout)["flows"]
    assert requests["sent_packets"] >= 5
    assert 0 < readings["received_packets"] <= 5


def test_the_application_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "adding-an-application.md").read_text(encoding="utf-8")
    (tmp_path / "scenario.toml").write_text(TOML, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "documentation"}
    exec(page.split("```python\n")[1].split("```")[0], names)
    text = scenario('protocol = "udp"', custom("talk"), talk=names["Talkspurts"]).set("duration", 200)
    # 50 packets a second for 1 s of each 2.6 s.
    sent = hopcast.run(text).flows["sent_packets"].item()
    assert sent == pytest.approx(199 * 50 / 2.6, rel=0.2)
