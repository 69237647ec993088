"""Parameters that the papers leave unstated, and other plausible values of each."""

from __future__ import annotations

from hopcast.lab.change import Change, with_values
from hopcast.lab.sensitivity import Alternative, Unsaid
from hopcast.scenario import Scenario
from hopcast_papers.ns2 import LATER_MIN_RTO, MIN_RTO


def staggered(seconds: float) -> Change:
    """Start each flow this much later than the one before it."""

    def change(scenario: Scenario) -> Scenario:
        starts = [
            (key, value)
            for key, value, _ in scenario.explain()
            if key.startswith("flows.") and key.endswith(".start") and key.count(".") == 2
        ]
        for index, (key, value) in enumerate(starts):
            scenario = scenario.set(key, float(value.removesuffix(" s")) + index * seconds)
        return scenario

    return change


def without_rts(scenario: Scenario) -> Scenario:
    """No RTS before data, and as many attempts at a data frame as with RTS. Otherwise data would count against the
    limit of short frames (IEEE 802.11-2020, 10.3.4.4), and an experiment that varies the limit of long frames would
    vary nothing.
    """
    attempts = {key: value for key, value, _ in scenario.explain()}["radio.retry_limit.long"]
    return with_values(scenario, {"radio.rts_threshold": "off", "radio.retry_limit.short": int(attempts)})


def later_least_rto(scenario: Scenario) -> Scenario:
    """TCP connections have the minimum timeout of ns-2 since 2004; other flows stay the same."""
    connections = [
        key.removesuffix(".protocol")
        for key, value, _ in scenario.explain()
        if key.startswith("flows.") and key.endswith(".transport.protocol") and value.strip('"') == "tcp"
    ]
    return with_values(scenario, {f"{connection}.min_rto": LATER_MIN_RTO for connection in connections})


def rfc_3448(scenario: Scenario) -> Scenario:
    """TFRC and ADTFRC by RFC 3448; other flows stay the same."""
    protocols = {
        key.removesuffix(".protocol"): value.strip('"')
        for key, value, _ in scenario.explain()
        if key.startswith("flows.") and key.endswith(".transport.protocol")
    }
    rated = [transport for transport, protocol in protocols.items() if protocol in ("tfrc", "adtfrc")]
    return with_values(scenario, {f"{transport}.variant": "rfc3448" for transport in rated})


UNSAID = (
    Unsaid(
        "RTS/CTS",
        "off",
        ("H4", "H5", "H6"),
        (
            Alternative(
                "before every frame", "the paper argues from it (sections II, III)", {"radio.rts_threshold": "0 B"}
            ),
        ),
    ),
    Unsaid(
        "socket buffers",
        "8 KiB, Windows XP's default",
        ("H2", "H4", "H5", "H6"),
        (
            Alternative(
                "64 KiB",
                "the most that TCP can use without scaling its window (RFC 7323), which programs ask for",
                {"nodes.*.socket_buffer": "64 KiB"},
            ),
        ),
    ),
    Unsaid(
        "interface queue",
        "50 packets",
        ("H5", "H6"),
        (Alternative("200 packets", "that of Windows' driver is not published", {"radio.queue.packets": 200}),),
    ),
    Unsaid(
        "rate of acknowledgements",
        "24 Mb/s",
        ("H2", "H4", "H5"),
        (
            Alternative(
                "6 Mb/s",
                "where it alone is a basic rate (IEEE 802.11-2020, 10.6.6.5)",
                {"radio.basic_rate": "6 Mb/s"},
            ),
        ),
    ),
    Unsaid(
        "attempts at a frame",
        "7",
        ("H5", "H9"),
        (Alternative("4", "the standard's other limit, aLongRetryLimit", {"radio.retry_limit.short": 4}),),
    ),
    Unsaid(
        "start of the streams",
        "all at once",
        ("H4", "H9", "P5"),
        (Alternative("one after another, by 0.2 s", "a person or a script starts them", change=staggered(0.2)),),
    ),
    Unsaid(
        "carrier sense",
        "550 m, ns-2's default",
        ("P1", "P5", "P6"),
        (
            Alternative(
                "250 m, as far as frames are received",
                "the paper says only that neighbours reach each other (section 3)",
                {"radio.carrier_sense_threshold": "-64.4 dBm"},
            ),
        ),
    ),
    Unsaid(
        "TCP's window",
        "20 segments, ns-2's default",
        ("P5",),
        (
            Alternative("1 segment", "that of Fig. 1", {"flows.*.transport.window": 1}),
            Alternative("4 segments", "the largest of Table 4", {"flows.*.transport.window": 4}),
        ),
    ),
    Unsaid(
        "least RTO of TCP",
        f"{MIN_RTO}, ns-2's until 2004/10/14",
        ("P1", "P5", "P6", "M3", "M4", "M5"),
        (Alternative(LATER_MIN_RTO, "as ns-2 has since 2004/10/14", change=later_least_rto),),
    ),
    Unsaid(
        "least RTO of TCP",
        f"{MIN_RTO}, ns-2's until 2004/10/14",
        ("P4",),
        (Alternative(LATER_MIN_RTO, "as ns-2 has since 2004/10/14", change=later_least_rto, long=True),),
    ),
    Unsaid(
        "delayed acknowledgements",
        "none, as ns-2's TCPSink",
        ("P5", "P6"),
        (Alternative("200 ms", "as on real hosts", {"flows.*.transport.delayed_ack": "200 ms"}, long=True),),
    ),
    Unsaid(
        "interface queue",
        "50 packets, ns-2's default",
        ("P5",),
        (Alternative("10 packets", "a card's", {"radio.queue.packets": 10}, long=True),),
    ),
    Unsaid(
        "DSDV on a frame that is given up",
        "keeps the neighbour, ns-2's default",
        ("P5", "P6"),
        (
            Alternative(
                "loses it",
                "ns-2's `use_mac_` 1; section 5 speaks of it",
                {"nodes.*.routing.link_layer_notification": True},
            ),
        ),
    ),
    Unsaid(
        "rate of a call",
        "64 kb/s (G.711)",
        ("P2", "P3", "P4"),
        (Alternative("8 kb/s (G.729)", "the other coder of the time", beside=", 8 kb/s"),),
    ),
    Unsaid(
        "rate, start and length of the calls",
        "64 kb/s, once all routes are known",
        ("P2", "P3", "P4"),
        (
            Alternative(
                "8 kb/s, with the simulation, for 900 s",
                "fitted: what the paper's tables suggest, with which they are then compared",
                beside=", fitted to the tables",
            ),
        ),
    ),
    Unsaid(
        "start of the calls",
        "once all routes are known",
        ("P2", "P4"),
        (
            Alternative(
                "10 s into the simulation", "ns-2 scripts start flows early", {"flows.*.start": 10.0}, long=True
            ),
        ),
    ),
    Unsaid(
        "length of a call",
        "20 s, in the full form 200 s",
        ("P2",),
        (Alternative("600 s", "not stated", {"duration": 750.0}, long=True),),
    ),
    Unsaid(
        "DSDV on a frame that is given up",
        "keeps the neighbour, ns-2's default",
        ("P2", "P3", "P4"),
        (
            Alternative(
                "loses it",
                "ns-2's `use_mac_` 1; section 5 speaks of it",
                {"nodes.*.routing.link_layer_notification": True},
                long=True,
            ),
        ),
    ),
    Unsaid(
        "channel of the calls",
        "errors with FEC",
        ("P2", "P3", "P4"),
        (
            Alternative(
                "ideal",
                "sections 3 and 4 have three kinds",
                {"*.errors.fec": "none", "*.errors.good_ber": 0.0, "*.errors.bad_ber": 0.0},
                long=True,
            ),
            Alternative("errors without FEC", "sections 3 and 4 have three kinds", {"*.errors.fec": "none"}, long=True),
        ),
    ),
    Unsaid(
        "RTS/CTS",
        "on, ns-2's default",
        ("P2", "P3", "P4"),
        (
            Alternative(
                "off", "the paper finds that it doesn't help (section 4.1)", {"radio.rts_threshold": "off"}, long=True
            ),
        ),
    ),
    Unsaid(
        "delay limit of a call",
        "150 ms (ITU-T G.114)",
        ("P2", "P3", "P4"),
        (Alternative("400 ms", "the most that G.114 accepts", {"flows.*.application.deadline": "400 ms"}, long=True),),
    ),
    Unsaid(
        "MTU",
        "none, as ns-2",
        ("P4",),
        (Alternative("1500 B", "that of real hosts", {"radio.mtu": "1500 B"}, long=True),),
    ),
    Unsaid(
        "TCP's window",
        "212 segments, hopcast's default socket buffer",
        ("W1", "W2", "W6"),
        (
            Alternative("20 segments", "ns-2's default", {"flows.download.transport.window": 20}),
            Alternative("10 000 segments", "what nothing here fills", {"flows.download.transport.window": 10_000}),
        ),
    ),
    Unsaid(
        "rate of control frames",
        "24 Mb/s",
        ("W1", "W2"),
        (Alternative("6 Mb/s", "where it alone is a basic rate", {"radio.basic_rate": "6 Mb/s"}),),
    ),
    Unsaid(
        "RTS/CTS",
        "before every frame, ns-2's default",
        ("W1", "W2", "W6"),
        (Alternative("off, with as many attempts at data", "as access points ship", change=without_rts),),
    ),
    Unsaid(
        "times of the packets",
        "late by up to 10 ms, the clock tick of Linux 2.2",
        ("A3",),
        (
            Alternative("even", "a program that never sleeps", beside=", even times"),
            Alternative("late by up to an interval", "any phase", beside=", up to an interval late"),
        ),
    ),
    Unsaid(
        "frames that overlap",
        "are lost",
        ("A3",),
        (
            Alternative(
                "one of two equally strong is received",
                "despreading eleven chips leaves room for it",
                beside=", one of two frames survives",
            ),
            Alternative(
                "likewise, and packets late by up to an interval",
                "both",
                beside=", one of two frames survives, up to an interval late",
            ),
        ),
    ),
    Unsaid(
        "carrier sense",
        "70 m, two hops",
        ("A4", "A5"),
        (
            Alternative(
                "100 m, three hops",
                "two hops are the least that section 4.3 says",
                {"radio.propagation.carrier_sense": "100 m"},
            ),
        ),
    ),
    Unsaid(
        "TCP's window",
        "22 segments, Linux 2.2's 32 kB",
        ("A4", "A5"),
        (
            Alternative("8 segments", "a third of it", {"flows.*.transport.window": 8}),
            Alternative("44 segments", "64 kB", {"flows.*.transport.window": 44}),
        ),
    ),
    Unsaid(
        "packets that wait for a route",
        "3, Linux 2.2's unres_qlen",
        ("A2", "A3"),
        (Alternative("64", "as in ns-2 and RFC 3561's implementations", {"nodes.*.route_queue": 64}),),
    ),
    Unsaid(
        "packets of the CBR flows",
        "512 B",
        ("M1",),
        (Alternative("1000 B", "those of the streams", {"flows.burst*.application.packet": "1000 B"}),),
    ),
    Unsaid(
        "rules of TFRC",
        "ns-2's as of 2002",
        ("M3", "M4", "M5"),
        (Alternative("RFC 3448", "the paper names TFRC without a version", change=rfc_3448, long=True),),
    ),
    Unsaid(
        "errors of packets",
        "above the MAC's attempts",
        ("M4", "M5"),
        (
            Alternative(
                "below them", "the paper does not say where they sit", {"radio.errors.level": "frame"}, long=True
            ),
        ),
    ),
    Unsaid(
        "RTS/CTS",
        "before every frame, ns-2's default",
        ("M4", "M5"),
        (Alternative("off", "not stated", {"radio.rts_threshold": "off"}, long=True),),
    ),
    Unsaid(
        "carrier sense",
        "550 m, ns-2's default",
        ("M4", "M5"),
        (
            Alternative(
                "250 m, as far as frames are received",
                "not stated",
                {"radio.carrier_sense_threshold": "-64.4 dBm"},
                long=True,
            ),
        ),
    ),
)
"""The parameters. Those that a paper states are not here."""
