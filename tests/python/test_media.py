"""Congestion controls of media written in Python."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import pytest

import hopcast
from conftest import ROOT
from hopcast.media import MediaCongestionControl, PacketResult, Probe, Source

TOML = """
duration = "20 s"
nodes = [{ name = "a", role = "wired" }, { name = "b", role = "wired" }]
links = [{ between = ["a", "b"], rate = "2 Mb/s", delay = "20 ms", queue = { packets = 100 } }]

[[flows]]
name = "call"
from = "a"
to = "b"
transport = { protocol = "rtp", congestion = "mine" }
application = { kind = "codec", min_rate = "200 kb/s", max_rate = "1 Mb/s", model = "steady" }
"""


def with_law(law: type[MediaCongestionControl], transport: dict[str, Any] | None = None) -> hopcast.Scenario:
    scenario = hopcast.Scenario.from_toml(TOML, extensions=hopcast.Extensions(media={"mine": law}))
    return scenario.set("flows.call.transport", {"protocol": "rtp", "congestion": "mine", **(transport or {})})


class Plain(MediaCongestionControl):
    """The base class as it is."""


def test_a_law_that_does_nothing_is_none() -> None:
    ours = hopcast.run(with_law(Plain), replications=2, threads=2)
    theirs = hopcast.run(with_law(Plain, {"congestion": "none"}), replications=2)
    assert ours.flows.equals(theirs.flows)
    assert ours.series.equals(theirs.series)


class Rate(MediaCongestionControl):
    """A rate that is always the same."""

    def __init__(self, *, rate: float = 400e3) -> None:
        self.rate = rate

    def on_start(self, source: Source) -> None:
        self.target_rate = self.rate
        self.pacing_rate = 2 * self.rate


def test_target_rate_and_parameters_reach_the_encoder() -> None:
    for parameters, rate in (({}, 400e3), ({"rate": 800e3}, 800e3)):
        flow = hopcast.run(with_law(Rate, {"parameters": parameters})).flows
        # The least rate before the first frame under the law, and the codec's variation of 21 % over 600 frames.
        assert flow["goodput_bps"][0] == pytest.approx(rate, rel=0.05)


class Noted(MediaCongestionControl):
    """Notes what it is told."""

    notes: list[tuple[str, Any]]

    def on_start(self, source: Source) -> None:
        Noted.notes = [("start", source)]
        self.target_rate = source.min_rate
        self.timeout = 1.5

    def on_sent(self, number: int, size: int, in_flight: int, now: float) -> None:
        self.notes.append(("sent", (number, size, in_flight, now)))

    def on_frame(self, size: int, queued: int, queue_delay: float, now: float) -> None:
        self.notes.append(("frame", (size, queued, queue_delay, now)))

    def on_feedback(self, packets: list[PacketResult], rtt: float | None, in_flight: int, now: float) -> None:
        self.notes.append(("feedback", (packets, rtt, in_flight, now)))

    def on_timeout(self, now: float) -> None:
        self.notes.append(("timeout", now))
        self.timeout = None
        self.probe = Probe(7, 1e6, 5, 0)


class Started(MediaCongestionControl):
    """Notes what the source of its session can do."""

    sources: ClassVar[list[Source]] = []

    def on_start(self, source: Source) -> None:
        self.sources.append(source)


def test_a_law_is_told_the_weight_of_its_flow() -> None:
    for transport in ({}, {"weight": 2.5}):
        hopcast.run(with_law(Started, transport).set("duration", "0.1 s"), threads=1)
    assert [source.weight for source in Started.sources] == [1.0, 2.5]


def test_what_a_law_is_told_is_what_happens() -> None:
    hopcast.run(with_law(Noted), threads=1)
    told: dict[str, list[Any]] = {}
    for name, what in Noted.notes:
        told.setdefault(name, []).append(what)
    source = told["start"][0]
    assert source._replace(frame_period=0) == Source(200_000, 1_000_000, 0, 40, 1500, False)
    assert source.frame_period == pytest.approx(1 / 30)
    assert told["timeout"] == [1.5]
    assert [sent[0] for sent in told["sent"]] == list(range(len(told["sent"])))
    assert sum(frame[0] for frame in told["frame"]) == pytest.approx(20 * 200e3 / 8, rel=0.05)
    results = [result for packets, *_ in told["feedback"] for result in packets]
    assert [result.number for result in results] == list(range(len(results)))
    assert all(result.arrival is not None and not result.is_marked for result in results)
    # Five packets of a burst, a full one each, as the probe said.
    assert sum(result.probe == 7 for result in results) == 5
    assert {result.probe for result in results} == {None, 7}
    # The wire's 20 ms each way, a packet of up to 1500 B at 2 Mb/s, and one of 80 B back.
    rtts = [rtt for _, rtt, *_ in told["feedback"]]
    assert 0.040 < min(rtts) < max(rtts) < 0.070
    for number, size, in_flight, _ in told["sent"]:
        assert in_flight >= size > 40, number


class Window(MediaCongestionControl):
    """One packet in flight."""

    def on_start(self, source: Source) -> None:
        self.target_rate = source.max_rate
        self.window = source.packet


def test_a_window_limits_what_is_in_flight() -> None:
    flow = hopcast.run(with_law(Window)).flows
    # A packet in 100 ms, after which its report comes, and 40 ms of the way.
    assert flow["goodput_bps"][0] < 1460 * 8 / 0.14


class Marked(MediaCongestionControl):
    """Sends more than the wire carries, and counts marks."""

    seen: list[bool]

    def on_start(self, source: Source) -> None:
        Marked.seen = []
        self.target_rate = source.max_rate
        self.ecn = "ect1" if source.is_markable else "not-ect"

    def on_feedback(self, packets: list[PacketResult], rtt: float | None, in_flight: int, now: float) -> None:
        self.seen += [packet.is_marked for packet in packets]


@pytest.mark.parametrize("ecn", [True, False])
def test_marks_are_told(ecn: bool) -> None:
    scenario = with_law(Marked, {"ecn": ecn}).set("links.0.rate", "700 kb/s")
    queue = {"packets": 100, "discipline": "drop-tail", "ecn": True, "target": "10 ms"}
    hopcast.run(scenario.set("links.0.queue", queue), threads=1)
    assert any(Marked.seen) == ecn


class Failing(Plain):
    """Raises after a while."""

    def on_feedback(self, packets: list[PacketResult], rtt: float | None, in_flight: int, now: float) -> None:
        raise ArithmeticError(f"at {now:.1f} s")


def wrong(name: str, value: Any) -> type[MediaCongestionControl]:
    """A law with a wrong value of this attribute."""

    class Wrong(Plain):
        def on_start(self, source: Source) -> None:
            setattr(self, name, value)

    return Wrong


class Late(Plain):
    """A timer that is always due."""

    timeout = 1.0


@pytest.mark.parametrize(
    ("law", "cause", "told"),
    [
        (Failing, ArithmeticError, "at "),
        (wrong("target_rate", -1), ValueError, "target_rate is -1 b/s"),
        (wrong("target_rate", float("nan")), ValueError, "target_rate is NaN b/s"),
        (wrong("pacing_rate", 0), ValueError, "pacing_rate is 0 b/s"),
        (wrong("window", -1), ValueError, "window is -1"),
        (wrong("ecn", "ce"), ValueError, 'ecn is "ce"'),
        (wrong("probe", Probe(1, 0.0, 1, 1)), ValueError, "rate of the probe is 0 b/s"),
        (wrong("timeout", "soon"), TypeError, "real number"),
        (Late, ValueError, "timeout is still 1 s"),
    ],
)
def test_an_exception_ends_the_run_and_is_its_cause(
    law: type[MediaCongestionControl], cause: type[Exception], told: str
) -> None:
    with pytest.raises(hopcast.RunError, match=f"raised {cause.__name__}") as failed:
        hopcast.run(with_law(law))
    assert isinstance(failed.value.__cause__, cause)
    assert told in str(failed.value.__cause__)


def test_wrong_names_and_parameters_are_told() -> None:
    for transport, field, message in [
        ({"parameters": {"speed": 1}}, "parameters", "speed"),
        ({"congestion": "mime"}, "congestion", 'did you mean "mine"'),
        ({"congestion": "screan"}, "congestion", 'did you mean "scream"'),
        ({"congestion": "gcc", "parameters": {"rate": 1}}, "parameters", "have no effect"),
    ]:
        with pytest.raises(hopcast.ScenarioError, match=message) as refused:
            with_law(Rate, cast(Any, transport))
        assert refused.value.field == f"flows.call.transport.{field}"


def test_the_law_of_the_page_runs() -> None:
    page = (ROOT / "docs" / "adding-a-congestion-control.md").read_text(encoding="utf-8")
    block = page[page.index("# Congestion control of media") :].split("```python\n")[1].split("```")[0]
    space: dict[str, Any] = {}
    exec(block.split("scenario = ")[0], space)
    law = next(
        made
        for made in space.values()
        if isinstance(made, type) and issubclass(made, MediaCongestionControl) and made is not MediaCongestionControl
    )
    flow = hopcast.run(with_law(law)).flows
    assert flow["goodput_bps"][0] > 700e3
    assert flow["lost_packets"][0] == 0


CALL = """
duration = "60 s"
nodes = [{ name = "a", role = "wired" }, { name = "b", role = "wired" }]
links = [{ between = ["a", "b"], rate = "10 Mb/s", delay = "20 ms", queue = { packets = 100 } }]

[[flows]]
name = "call"
from = "a"
to = "b"
stop = "59 s"
transport = { protocol = "rtp", congestion = "none" }
application = { kind = "audio" }
player = { jitter_buffer = { kind = "fixed", delay = "30 ms" } }
"""


def frames(overrides: list[str]) -> dict[str, Any]:
    (flow,) = hopcast.run(hopcast.Scenario.from_toml(CALL, overrides=overrides)).json()["flows"]
    return cast(dict[str, Any], flow)


def test_frames_over_rtp_are_on_time_late_or_lost() -> None:
    whole = frames([])
    assert (whole["frames_on_time"], whole["frames_late"], whole["frames_lost"]) == (whole["sent_packets"], 0, 0)
    assert (whole["hiccups"], whole["hiccup_time_s"]) == (0, 0.0)
    # The wire's 20 ms and transmission, and the buffer's 30 ms.
    assert whole["playout_delay_mean_s"] == pytest.approx(whole["delay_mean_s"] + 0.030, abs=1e-6)
    # A frame of audio is a packet, so each packet that the wire loses is a frame, and stops the display for 20 ms.
    some = frames(["links.0.loss=0.05"])
    assert some["frames_lost"] == some["lost_packets"] > 50
    assert some["frames_on_time"] == some["received_packets"]
    assert some["hiccup_time_s"] == pytest.approx(0.02 * some["frames_lost"], abs=0.05)
    # From 30 s on the wire is 50 ms slower, and the buffer covers 30: half of the frames are late, or all if it follows.
    slower = 'links.0.delay=[["0 s", "20 ms"], ["30 s", "70 ms"]]'
    late = frames([slower])
    assert late["frames_late"] == pytest.approx(late["sent_packets"] * 29 / 59, rel=0.01)
    follows = frames([slower, 'flows.call.player={ jitter_buffer = { kind = "adaptive" } }'])
    assert 0 < follows["frames_late"] < 100


@pytest.mark.parametrize("application", ['{ kind = "codec" }', '{ kind = "video-trace", file = "big-buck-bunny" }'])
def test_films_and_encoders_have_frames_of_several_packets(application: str) -> None:
    player = 'flows.call.player={ jitter_buffer = { kind = "adaptive" } }'
    flow = frames([player, f"flows.call.application={application}", 'flows.call.transport.congestion="scream"'])
    counts = [flow[name] for name in ("frames_on_time", "frames_late", "frames_lost")]
    rate = 30 if "codec" in application else 25
    assert sum(counts) == pytest.approx(59 * rate, rel=0.02)
    assert flow["sent_packets"] > sum(counts)
    assert counts[0] > 0.95 * sum(counts)
    assert flow["delay_p5_s"] <= flow["delay_p50_s"] <= flow["delay_p95_s"] <= flow["delay_p99_s"]


def test_a_jitter_buffer_refuses_what_has_no_effect() -> None:
    for override, named in (
        ("flows.call.player.start_up_delay=1", "flows.call.player.start_up_delay"),
        ('flows.call.application={ kind = "bulk" }', "flows.call.player"),
        (
            'flows.call.player={ jitter_buffer = { kind = "adaptive", min_delay = "3 s" } }',
            "flows.call.player.jitter_buffer.max_delay",
        ),
    ):
        with pytest.raises(hopcast.ScenarioError) as refused:
            hopcast.Scenario.from_toml(CALL, overrides=[override])
        assert named in refused.value.field or "flows.0" in refused.value.field, override


def test_results_show_the_states_of_adtfrc_over_rtp() -> None:
    def states(overrides: list[str]) -> list[str | None]:
        series = hopcast.run(hopcast.Scenario.from_toml(CALL, overrides=overrides)).series
        for measured in ("plr", "stt_packets_per_s", "idd_s", "loss_event_rate"):
            assert series[measured].drop_nulls().len() > 0, measured
        return cast(list[str | None], series["state"].to_list())

    over_rtp = 'flows.call.transport.congestion="adtfrc"'
    # The wire is cut at 30 s. Half of the intervals follow, and all of them but the first see it, as over DCCP.
    cut = 'links.0.loss=[["0 s", 0], ["30 s", 1]]'
    ours = states([over_rtp, cut])
    theirs = states(['flows.call.transport={ protocol = "adtfrc" }', cut])
    assert ours[:280] == theirs[:280] == ["normal"] * 280
    assert ours[320:] == theirs[320:] == ["disconnection"] * 280
    # Without a cut, losses at random are errors of the channel.
    encoder = 'flows.call.application={ kind = "codec", max_rate = "5 Mb/s" }'
    random = states([over_rtp, encoder, "links.0.loss=0.05"])
    assert random.count("channel_error") > 10 * max(1, random.count("congestion"))
