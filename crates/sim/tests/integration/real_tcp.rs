//! TCP between simulated hosts and real ones, segment by segment; and with hopcast's own connection in place of Linux's,
//! with the same results as in the simulator.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::{Config, Connection, Flags, Options, Output, Segment, Timestamps, Variant};
use hopcast_sim::address::ip_address;
use hopcast_sim::host::Listener;
use hopcast_sim::id::NodeId;
use hopcast_sim::metrics::{DropCause, FlowSummary};
use hopcast_sim::run::Delivery;
use hopcast_sim::run::Simulation;
use hopcast_wire::checksum::Policy;
use hopcast_wire::ipv4::Protocol;
use hopcast_wire::llc::EtherType;
use hopcast_wire::{icmpv4, tcp};
use proptest::prelude::*;

use crate::real::{REAL, deliveries, emulation_of, frame, hardware, in_a_line, ip_of, packet};
use crate::scenarios;

/// The port of a program at the real host.
const PORT: u16 = 40_000;
/// The port of a host's first flow.
const SINK: u16 = 49_152;
/// Initial sequence number of the real host.
const INITIAL: u32 = u32::MAX - 500;

/// A real host, three simulated ones in a line behind it, of which the second passes on by an application, and a flow.
fn pair(from: &str, to: &str, transport: &str, application: &str) -> String {
    let flow = format!(
        r#"
        [[flows]]
        name = "f"
        from = "{from}"
        to = "{to}"
        start = "1 s"
        transport = {{ protocol = "tcp", segment = "1000 B", {transport} }}
        application = {{ {application} }}
        "#
    );
    let nodes = ["real = true", "", "relay = \"application\"", ""];
    in_a_line("duration = \"20 s\"", "data_rate = \"6 Mb/s\"", &nodes, &flow)
}

/// Time on the air of a packet of this number of bytes at 6 Mb/s: MAC header, LLC and FCS are 36 bytes more, and the
/// PHY's preamble, SERVICE and tail are those of IEEE 802.11-2020, 17.4.3. Then it has 100 m to go, 333.6 ns.
fn airtime(octets: u64) -> Duration {
    Duration::from_micros(20 + 4 * (16 + 8 * (octets + 36) + 6).div_ceil(24)) + Duration::from_nanos(334)
}

fn at(milliseconds: u64) -> Instant {
    Instant::START + Duration::from_millis(milliseconds)
}

fn summary(simulation: &Simulation) -> FlowSummary {
    simulation.flows().iter().next().expect("there is a flow").summary(simulation.now())
}

/// The bytes of a packet with a segment of the real host's, whose payload is of ones.
fn octets_of(to: NodeId, [source, destination]: [u16; 2], segment: &Segment) -> Vec<u8> {
    let header = segment.header(source, destination);
    let mut octets = vec![0; header.buffer_len()];
    let payload = vec![1; segment.payload_len.into()];
    let ends = [REAL, to].map(ip_address);
    header.emit(&mut tcp::Packet::new_unchecked(&mut octets), ends[0], ends[1], &payload);
    octets.extend(payload);
    packet(to, 6, (0, false), &octets)
}

/// The real host sends a segment.
fn send(simulation: &mut Simulation, to: NodeId, ports: [u16; 2], segment: &Segment) {
    let octets = octets_of(to, ports, segment);
    simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
}

/// The segment of TCP that a real host is given, with its ports. It must be right.
fn segment_of(delivery: &Delivery) -> ([u16; 2], Segment) {
    let (ip, octets) = ip_of(delivery);
    assert_eq!(ip.protocol, Protocol::Tcp);
    let packet = tcp::Packet::new_checked(&octets[..]).expect("a segment");
    assert!(packet.payload().iter().all(|&octet| octet == 0), "the octets of a simulated application are zeros");
    let header = tcp::Repr::parse(&packet, ip.source, ip.destination, Policy::Verify).expect("a right one");
    ([header.source_port, header.destination_port], Segment::from(&header))
}

/// The one segment that comes within a tenth of a second.
fn one(simulation: &mut Simulation) -> Segment {
    let deliveries = deliveries(simulation);
    let [delivery] = &deliveries[..] else { panic!("one segment: {deliveries:?}") };
    segment_of(delivery).1
}

fn syn(seq: u32) -> Segment {
    Segment { seq, flags: Flags::SYN, window: 65_535, options: Options::NONE.with_mss(1460), ..Segment::default() }
}

fn ack(seq: u32, ack: u32) -> Segment {
    Segment { seq, ack, flags: Flags::ACK, window: 65_535, ..Segment::default() }
}

#[test]
fn a_simulated_source_opens_sends_and_closes_in_segments_that_a_real_host_can_read() {
    let text = pair("b", "a", "variant = \"sack\", timestamps = true", "kind = \"bulk\", bytes = \"1500 B\"");
    let (_, mut simulation) = emulation_of(text);
    let to = NodeId(0);
    let listener = simulation.listeners()[0];
    assert_eq!(simulation.listeners().len(), 1);
    assert_eq!(listener, Listener { protocol: Protocol::Tcp, port: SINK, from: NodeId(1), to, ..listener });
    simulation.run_until(at(1_000));
    let [delivery] = &deliveries(&mut simulation)[..] else { panic!("the SYN alone") };
    // The medium is idle: it leaves when the flow starts.
    assert_eq!(delivery.at, at(1_000) + airtime(60));
    let (_, octets) = ip_of(delivery);
    let ports = [u16::from_be_bytes([octets[0], octets[1]]), SINK];
    assert_eq!(octets[2..4], SINK.to_be_bytes());
    let isn = u32::from_be_bytes([octets[4], octets[5], octets[6], octets[7]]);
    // No acknowledgement; ten words; SYN; a window of 65535 octets at least; no urgent pointer.
    assert_eq!((&octets[8..16], &octets[18..20]), (&[0, 0, 0, 0, 0xa0, 0x02, 0xff, 0xff][..], &[0, 0][..]));
    // RFC 9293, section 3.2: MSS; RFC 2018: SACK permitted; RFC 7323: timestamps, 1000 ms after the start, and the window scale.
    assert_eq!(octets[20..26], [2, 4, 0x03, 0xe8, 4, 2]);
    assert_eq!(octets[26..36], [8, 10, 0, 0, 0x03, 0xe8, 0, 0, 0, 0]);
    assert_eq!((&octets[36..39], octets.len()), (&[1, 3, 3][..], 40));
    assert_eq!(segment_of(delivery).0, ports);

    // The real host's clock says something else, and its windows count 128 octets.
    let back = [SINK, ports[0]];
    let options = Options::new(Some(Timestamps { value: 77, echo: 1_000 }));
    let answer = Segment {
        flags: Flags::SYN | Flags::ACK,
        ack: isn.wrapping_add(1),
        options: options.with_mss(1460).with_window_scale(7).with_sack_permitted(),
        ..syn(INITIAL)
    };
    send(&mut simulation, NodeId(1), back, &answer);
    let data = deliveries(&mut simulation);
    let data: Vec<Segment> = data.iter().map(|delivery| segment_of(delivery).1).collect();
    // RFC 6691: the room for timestamps is of the segment. The second one goes with the last octet, and the FIN.
    let stamps = |segment: &Segment| segment.options.timestamps().map(|stamps| stamps.echo);
    let seen: Vec<_> = data.iter().map(|data| (data.seq.wrapping_sub(isn), data.payload_len, stamps(data))).collect();
    assert_eq!(seen, [(1, 988, Some(77)), (989, 512, Some(77))]);
    assert!(data.iter().all(|data| data.ack == INITIAL.wrapping_add(1)));
    assert_eq!(data[1].flags, Flags::ACK | Flags::PSH | Flags::FIN);
    assert_eq!([summary(&simulation).sent_bytes, summary(&simulation).received_bytes], [1500, 1500]);

    // It is closed by both sides.
    let stamped = Options::new(Some(Timestamps { value: 300, echo: 1_200 }));
    let fin = Segment { flags: Flags::FIN | Flags::ACK, options: stamped, ..ack(INITIAL + 1, isn.wrapping_add(1502)) };
    send(&mut simulation, NodeId(1), back, &fin);
    let last = one(&mut simulation);
    assert_eq!((last.flags, last.ack, last.seq), (Flags::ACK, INITIAL + 2, isn.wrapping_add(1502)));
    let summary = summary(&simulation);
    assert_eq!([summary.received_packets, summary.in_flight_packets, summary.lost_packets], [2, 0, 0]);
    assert_eq!(simulation.refused().count(), 0);
}

#[test]
fn octets_count_when_all_before_them_have_come_to_the_real_host() {
    // Three packets of a hundred are lost.
    let text = pair("b", "a", "variant = \"cubic\"", "kind = \"bulk\", bytes = \"200 kB\"").replace(
        "propagation =",
        "errors = { model = \"packet\", level = \"network\", rate = 0.03 }\n        propagation =",
    );
    let (_, mut simulation) = emulation_of(text);
    let mut peer = Peer::listens(Variant::Cubic);
    let mut highest = 0;
    while simulation.now() < simulation.end() {
        peer.step(&mut simulation);
        let (summary, read) = (summary(&simulation), peer.connection.statistics().bytes_received);
        assert_eq!(summary.received_bytes, read, "what the real host's own machine has in order");
        highest = highest.max(peer.connection.statistics().out_of_order);
    }
    assert!(highest > 0, "there were gaps");
    assert_eq!(summary(&simulation).received_bytes, 200_000);
}

#[test]
fn a_real_program_connects_to_the_sink_and_what_it_sends_is_measured() {
    let (_, mut simulation) = emulation_of(pair("a", "b", "variant = \"newreno\"", "kind = \"bulk\""));
    let listener = simulation.listeners()[0];
    assert_eq!((listener.from, listener.to, listener.port), (REAL, NodeId(1), SINK));
    let ports = [PORT, SINK];
    simulation.run_until(at(3_000));
    send(&mut simulation, NodeId(1), ports, &syn(INITIAL));
    let answer = one(&mut simulation);
    assert_eq!((answer.flags, answer.ack), (Flags::SYN | Flags::ACK, INITIAL.wrapping_add(1)));
    // Nothing was offered but the MSS, so nothing else is answered.
    assert_eq!(answer.options, Options::NONE.with_mss(1000));
    let isn = answer.seq;
    send(&mut simulation, NodeId(1), ports, &ack(INITIAL.wrapping_add(1), isn.wrapping_add(1)));
    assert_eq!(deliveries(&mut simulation), []);

    // One segment: it is written where it enters, and read where it arrives.
    let data = Segment { payload_len: 600, ..ack(INITIAL.wrapping_add(1), isn.wrapping_add(1)) };
    let entered = simulation.now();
    send(&mut simulation, NodeId(1), ports, &data);
    assert_eq!(summary(&simulation).sent_bytes, 600);
    deliveries(&mut simulation);
    let first = summary(&simulation);
    assert_eq!([first.sent_packets, first.received_packets, first.received_bytes], [1, 1, 600]);
    assert_eq!(first.delay_mean_s, Some(airtime(640).as_secs_f64()));
    assert_eq!(first.first_arrival_s, Some((entered + airtime(640)).as_secs_f64()));
    // The program asked for the connection at 3 s, and not when the flow starts.
    let time = simulation.now().saturating_since(at(3_000)).as_secs_f64();
    assert!((first.goodput_bps - 4800.0 / time).abs() < 1e-6, "{first:?}");

    // Sent again, with 300 octets that are new; the delayed acknowledgement, and the one of the end.
    let again = Segment { payload_len: 600, ..ack(INITIAL.wrapping_add(301), isn.wrapping_add(1)) };
    send(&mut simulation, NodeId(1), ports, &again);
    send(&mut simulation, NodeId(1), ports, &again);
    let acks = deliveries(&mut simulation);
    assert_eq!(segment_of(acks.last().expect("acknowledgements")).1.ack, INITIAL.wrapping_add(901));
    let second = summary(&simulation);
    assert_eq!([second.sent_packets, second.sent_bytes, second.received_bytes], [2, 900, 900]);
    assert_eq!(second.tcp.unwrap().retransmitted_segments, 0, "the run is not over");

    // While the connection lives a second one is refused; and its peer is asked whether it knows of it still.
    assert_eq!(refused(&mut simulation), Some(INITIAL.wrapping_add(901)));

    let fin = Segment { flags: Flags::FIN | Flags::ACK, ..ack(INITIAL.wrapping_add(901), isn.wrapping_add(1)) };
    send(&mut simulation, NodeId(1), ports, &fin);
    let answers: Vec<Segment> = deliveries(&mut simulation).iter().map(|delivery| segment_of(delivery).1).collect();
    let last = answers.last().expect("it closes too");
    assert_eq!((last.flags, last.ack), (Flags::FIN | Flags::ACK, INITIAL.wrapping_add(902)));
    // The last acknowledgement has not come: the connection lives.
    assert_eq!(refused(&mut simulation), Some(INITIAL.wrapping_add(902)));
    send(&mut simulation, NodeId(1), ports, &ack(INITIAL.wrapping_add(902), isn.wrapping_add(2)));
    deliveries(&mut simulation);
    // A finite amount: the time ends with the last octet.
    let (start, last_arrival) = (3.0, summary(&simulation).last_arrival_s.expect("some arrived"));
    assert!((summary(&simulation).goodput_bps - 7200.0 / (last_arrival - start)).abs() < 1e-6);

    // Another one may come, and counts to the same flow.
    send(&mut simulation, NodeId(1), [PORT + 1, SINK], &syn(5));
    let answer = one(&mut simulation);
    assert_eq!((answer.flags, answer.ack), (Flags::SYN | Flags::ACK, 6));
    assert_ne!(answer.seq, isn, "RFC 9293, section 3.4.1: it has numbers of its own");
    let data = Segment { payload_len: 100, ..ack(6, answer.seq.wrapping_add(1)) };
    send(&mut simulation, NodeId(1), [PORT + 1, SINK], &data);
    deliveries(&mut simulation);
    // What is lost with a connection that is reset is lost.
    let ahead = Segment { payload_len: 100, ..ack(206, answer.seq.wrapping_add(1)) };
    send(&mut simulation, NodeId(1), [PORT + 1, SINK], &ahead);
    deliveries(&mut simulation);
    assert_eq!([summary(&simulation).sent_bytes, summary(&simulation).received_bytes], [1200, 1000]);
    let reset = Segment { flags: Flags::RST, ..ack(106, 0) };
    send(&mut simulation, NodeId(1), [PORT + 1, SINK], &reset);
    assert_eq!(deliveries(&mut simulation), []);
    assert_eq!([summary(&simulation).lost_packets, summary(&simulation).in_flight_packets], [1, 0]);
    send(&mut simulation, NodeId(1), ports, &syn(99));
    let answer = one(&mut simulation);
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK);
    assert_eq!(refused(&mut simulation), None, "nobody is asked before the handshake is done");
    send(&mut simulation, NodeId(1), ports, &ack(100, answer.seq.wrapping_add(1)));
    deliveries(&mut simulation);

    // The reset of a program that was killed gets lost. When the next one is refused, its host resets what it does not know.
    assert_eq!(refused(&mut simulation), Some(100));
    send(&mut simulation, NodeId(1), ports, &Segment { flags: Flags::RST, ..ack(100, 0) });
    assert_eq!(deliveries(&mut simulation), []);
    send(&mut simulation, NodeId(1), [PORT + 1, SINK], &syn(5));
    assert_eq!(one(&mut simulation).flags, Flags::SYN | Flags::ACK);
    simulation.finish();
    assert_eq!(summary(&simulation).tcp.unwrap().retransmitted_segments, 1, "of the real host; there was one");
}

/// A request from another port than that of the connection is refused. Returns what the peer of that is told to have sent.
fn refused(simulation: &mut Simulation) -> Option<u32> {
    send(simulation, NodeId(1), [PORT + 1, SINK], &syn(5));
    let mut segments: Vec<_> = deliveries(simulation).iter().map(segment_of).collect();
    segments.sort_by_key(|(ports, _)| ports[1]);
    let (ports, reset) = segments.pop().expect("it is answered");
    assert_eq!((ports, reset.flags, reset.seq, reset.ack), ([SINK, PORT + 1], Flags::RST | Flags::ACK, 0, 6));
    let [(ports, question)] = segments[..] else { return None };
    assert_eq!((ports, question.flags, question.payload_len), ([SINK, PORT], Flags::ACK, 0));
    Some(question.ack)
}

#[test]
fn rfc_9293_section_3_10_7_1_what_no_socket_takes_is_reset() {
    let (_, mut simulation) = emulation_of(pair("a", "b", "", "kind = \"bulk\""));
    // Stations wait for DIFS at the beginning.
    simulation.run_until(at(1));
    // A host with a flow, and one without, which is a hop further.
    for (to, hops) in [(NodeId(1), 1), (NodeId(2), 2)] {
        let start = simulation.now();
        send(&mut simulation, to, [PORT, 80], &syn(7));
        let [delivery] = &deliveries(&mut simulation)[..] else { panic!("one segment") };
        let (ip, octets) = ip_of(delivery);
        assert_eq!((ip.source, ip.destination, ip.time_to_live), (ip_address(to), ip_address(REAL), 65 - hops));
        let [high, low] = PORT.to_be_bytes();
        assert_eq!(octets[..16], [0, 80, high, low, 0, 0, 0, 0, 0, 0, 0, 8, 0x50, 0x14, 0, 0]);
        assert_eq!(segment_of(delivery).0, [80, PORT]);
        if hops == 1 {
            // After the frame its acknowledgement of 44 µs a SIFS later, then DIFS and up to 15 slots; the flight of three frames.
            let rest = delivery.at.saturating_since(start + airtime(44) + airtime(40));
            let slots = rest.as_nanos() - 16_000 - 44_000 - 34_000;
            assert!(slots.is_multiple_of(9_000) && slots <= 15 * 9_000, "{slots} ns");
        }
        // With an acknowledgement, that is the number of the reset; a reset is not answered.
        send(&mut simulation, to, [PORT, 80], &ack(7, 1_000));
        let reset = one(&mut simulation);
        assert_eq!((reset.flags, reset.seq, reset.ack), (Flags::RST, 1_000, 0));
        send(&mut simulation, to, [PORT, 80], &Segment { flags: Flags::RST, ..ack(7, 0) });
        assert_eq!(deliveries(&mut simulation), []);
        assert_eq!(simulation.counters()[to.0 as usize][DropCause::NoSocket], 3);
    }
    // To the sink, without a connection.
    send(&mut simulation, NodeId(1), [PORT, SINK], &ack(7, 1_000));
    assert_eq!(one(&mut simulation).flags, Flags::RST);
    assert_eq!(summary(&simulation).sent_packets, 0);
}

#[test]
fn a_segment_that_is_not_what_was_sent_is_dropped_and_counted() {
    let (_, mut simulation) = emulation_of(pair("a", "b", "", "kind = \"bulk\""));
    let right = octets_of(NodeId(1), [PORT, SINK], &syn(7));
    for place in 20..right.len() {
        let mut wrong = right.clone();
        wrong[place] ^= 0x10;
        simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &wrong)).expect("it is sent");
        assert_eq!(deliveries(&mut simulation), [], "octet {place}");
    }
    // Cut short, too.
    let short = packet(NodeId(1), 6, (0, false), &right[20..39]);
    simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &short)).expect("it is sent");
    assert_eq!(deliveries(&mut simulation), []);
    assert_eq!(simulation.counters()[1][DropCause::Corrupted], right.len() as u64 - 20 + 1);
    assert_eq!(summary(&simulation).sent_packets, 0);
}

#[test]
fn a_flood_of_requests_takes_one_place() {
    let (_, mut simulation) = emulation_of(pair("a", "b", "", "kind = \"bulk\""));
    // Nobody completes the first of them, which is the one that is answered.
    let mut flags = Vec::new();
    for port in 1..300 {
        send(&mut simulation, NodeId(1), [port, SINK], &syn(u32::from(port)));
        simulation.run_until(simulation.now() + Duration::from_millis(1));
        flags.extend(std::iter::from_fn(|| simulation.poll_delivery()).map(|delivery| segment_of(&delivery)));
    }
    let answers: Vec<u16> =
        flags.iter().filter(|(_, segment)| !segment.flags.contains(Flags::RST)).map(|(ports, _)| ports[1]).collect();
    assert_eq!(answers, [1]);
    // Its host knows of none: it resets the answer, and the sink listens again.
    let isn = flags[0].1.seq;
    send(&mut simulation, NodeId(1), [1, SINK], &Segment { flags: Flags::RST, ..ack(2, isn.wrapping_add(1)) });
    deliveries(&mut simulation);
    send(&mut simulation, NodeId(1), [400, SINK], &syn(7));
    assert_eq!(one(&mut simulation).flags, Flags::SYN | Flags::ACK);
    assert_eq!(summary(&simulation).sent_packets, 0);
}

#[test]
fn a_flow_takes_no_connections_but_those_of_its_source() {
    // The sink of a flow between two simulated hosts, and a flow from the real one to another host.
    let two = pair("b", "c", "", "kind = \"bulk\"")
        + &pair("a", "d", "", "kind = \"bulk\"")[pair("a", "d", "", "").find("[[flows]]").expect("it has a flow")..]
            .replace("\"f\"", "\"g\"");
    let (_, mut simulation) = emulation_of(two.replace("relay = \"application\"", ""));
    send(&mut simulation, NodeId(2), [PORT, SINK], &syn(7));
    assert_eq!(one(&mut simulation).flags, Flags::RST | Flags::ACK);
    send(&mut simulation, NodeId(1), [PORT, SINK], &syn(7));
    assert_eq!(one(&mut simulation).flags, Flags::RST | Flags::ACK, "the port of a source that has not begun");
    send(&mut simulation, NodeId(3), [PORT, SINK], &syn(7));
    assert_eq!(one(&mut simulation).flags, Flags::SYN | Flags::ACK);
}

#[test]
fn a_source_that_is_refused_ends_and_that_is_told() {
    let (scenario, mut simulation) = emulation_of(pair("b", "a", "", "kind = \"bulk\""));
    simulation.run_until(at(1_000));
    let [delivery] = &deliveries(&mut simulation)[..] else { panic!("the SYN") };
    let ([source, _], syn) = segment_of(delivery);
    let reset = Segment { flags: Flags::RST | Flags::ACK, ..ack(0, syn.seq.wrapping_add(1)) };
    send(&mut simulation, NodeId(1), [SINK, source], &reset);
    assert_eq!(deliveries(&mut simulation), []);
    let refused: Vec<_> = simulation.refused().map(|(flow, end)| (flow.0, end.node, end.port)).collect();
    assert_eq!(refused, [(0, NodeId(0), SINK)]);
    simulation.run_until(simulation.end());
    assert_eq!(simulation.poll_delivery(), None);
    let summary = summary(&simulation);
    assert_eq!((summary.received_packets, summary.in_flight_packets), (0, 0));
    assert!(summary.lost_packets > 0 && scenario.flows.len() == 1, "{summary:?}");
}

/// hopcast's own connection in place of Linux's at the real host.
struct Peer {
    connection: Connection,
    to: NodeId,
    /// The own, and that of the other end, which a listener learns.
    ports: [u16; 2],
    /// Bytes still to be written, from then on.
    left: u32,
    opens: Instant,
}

impl Peer {
    fn config(variant: Variant) -> Config {
        // As the scenario has it.
        Config { segment: 1000, variant, ..Config::default() }
    }

    fn listens(variant: Variant) -> Self {
        let connection = Connection::listen(Self::config(variant), INITIAL);
        Self { connection, to: NodeId(1), ports: [SINK, 0], left: 0, opens: Instant::MAX }
    }

    fn connects(variant: Variant, to: NodeId, octets: u32) -> Self {
        let connection = Connection::connect(Self::config(variant), INITIAL);
        Self { connection, to, ports: [PORT, SINK], left: octets, opens: at(1_000) }
    }

    /// To the next instant at which something happens, or to the end.
    fn step(&mut self, simulation: &mut Simulation) {
        let own = if self.opens < Instant::MAX { Some(self.opens) } else { self.connection.poll_timeout() };
        let own = own.unwrap_or(Instant::MAX).max(simulation.now());
        simulation.run_until(simulation.next_event().min(own));
        let now = simulation.now();
        while let Some(delivery) = simulation.poll_delivery() {
            let ([source, destination], segment) = segment_of(&delivery);
            assert_eq!((delivery.at, destination), (now, self.ports[0]));
            self.ports[1] = source;
            self.connection.handle_segment(&segment, now);
            self.drain(simulation);
        }
        if self.opens <= now {
            self.opens = Instant::MAX;
            self.write(now);
        } else if own <= now {
            self.connection.handle_timeout(now);
        }
        self.drain(simulation);
    }

    fn write(&mut self, now: Instant) {
        self.left -= self.connection.handle_write(self.left, now);
        if self.left == 0 {
            self.connection.handle_close(now);
        }
    }

    fn drain(&mut self, simulation: &mut Simulation) {
        let now = simulation.now();
        if self.opens < Instant::MAX {
            return;
        }
        while let Some(output) = self.connection.poll_output(now) {
            match output {
                Output::Transmit(segment) => {
                    let segment = Segment { payload_offset: 0, ..segment };
                    send(simulation, self.to, self.ports, &segment);
                }
                Output::Readable => {
                    self.connection.handle_read(u32::MAX, now);
                    if self.connection.is_finished() {
                        self.connection.handle_close(now);
                    }
                }
                Output::Connected | Output::Writable if self.left > 0 => self.write(now),
                Output::Connected | Output::Writable | Output::Closed(_) => {}
            }
        }
    }
}

/// What the simulator says of the flow.
fn simulated(text: &str) -> FlowSummary {
    let scenario = scenarios::scenario(text);
    let mut simulation = Simulation::new(&scenario, 1).expect("all nodes are connected");
    simulation.run_until(simulation.end());
    summary(&simulation)
}

const VARIANTS: [(&str, Variant); 4] =
    [("reno", Variant::Reno), ("newreno", Variant::NewReno), ("sack", Variant::Sack), ("cubic", Variant::Cubic)];

#[test]
fn with_the_same_machine_at_the_real_host_a_flow_there_is_that_of_the_simulator() {
    for (name, variant) in VARIANTS {
        // Over a simulated router, and over one of which an application passes the octets on.
        for from in ["b", "c", "d"] {
            let text = pair(from, "a", &format!("variant = \"{name}\""), "kind = \"bulk\", bytes = \"300 kB\"");
            let (_, mut simulation) = emulation_of(text.clone());
            let mut peer = Peer::listens(variant);
            peer.to = NodeId(if from == "b" { 1 } else { 2 });
            while simulation.now() < simulation.end() {
                peer.step(&mut simulation);
            }
            simulation.check().expect("no packet is lost without a cause");
            assert_eq!(summary(&simulation).received_bytes, 300_000);
            // Ways to a real host are unknown.
            assert_eq!(summary(&simulation), FlowSummary { ways: None, ..simulated(&text) }, "{name} from {from}");
        }
    }
}

#[test]
fn what_a_real_sink_answers_is_no_part_of_the_flow() {
    let (_, mut simulation) =
        emulation_of(pair("b", "a", "variant = \"sack\"", "kind = \"cbr\", rate = \"80 kb/s\", packet = \"100 B\""));
    // More than the window that the source offers, and then no more: it goes on reading.
    let mut peer = Peer { left: 400_000, ..Peer::listens(Variant::Sack) };
    while simulation.now() < simulation.end() {
        peer.step(&mut simulation);
    }
    assert_eq!(peer.connection.statistics().bytes_acknowledged, 400_000);
    let summary = summary(&simulation);
    assert_eq!(summary.received_bytes, peer.connection.statistics().bytes_received);
    // A hundred octets each 10 ms, at the first instant too; the last ones wait for an acknowledgement, up to 0.2 s.
    assert_eq!([summary.sent_packets, summary.sent_bytes, summary.lost_packets], [1_900, 190_000, 0]);
    assert!(summary.received_packets >= 1_880, "{summary:?}");
    // The source has not come to its end with the other's.
    assert!((summary.goodput_bps - summary.received_bytes as f64 * 8.0 / 19.0).abs() < 1e-6, "{summary:?}");
}

#[test]
fn with_the_same_machine_at_the_real_host_a_flow_from_there_is_that_of_the_simulator() {
    for (name, variant) in VARIANTS {
        for (to, first) in [("b", 1), ("c", 2), ("d", 2)] {
            let text = pair("a", to, &format!("variant = \"{name}\""), "kind = \"bulk\", bytes = \"300 kB\"");
            let (_, mut simulation) = emulation_of(text.clone());
            let mut peer = Peer::connects(variant, NodeId(first), 300_000);
            while simulation.now() < simulation.end() {
                peer.step(&mut simulation);
            }
            simulation.check().expect("no packet is lost without a cause");
            let (real, simulated) = (summary(&simulation), simulated(&text));
            assert_eq!([real.sent_bytes, real.received_bytes, real.lost_packets], [300_000, 300_000, 0]);
            // Writes are others, and so are their delays; the octets come when they do in the simulator.
            let octets = |summary: &FlowSummary| {
                (summary.goodput_bps, summary.first_arrival_s, summary.last_arrival_s, summary.received_bytes)
            };
            assert_eq!(octets(&real), octets(&simulated), "{name} to {to}");
        }
    }
}

proptest! {
    #[test]
    fn whatever_segments_a_real_host_sends_nothing_vanishes(
        to_the_sink in any::<bool>(),
        segments in prop::collection::vec(
            (any::<bool>(), 0_u16..0x200, prop_oneof![0_u32..4_000, any::<u32>()], prop_oneof![0_u32..4_000, any::<u32>()],
             (any::<u16>(), 0_u16..1200), prop::option::of((any::<u32>(), any::<u32>()))),
            0..40,
        ),
    ) {
        let ends = if to_the_sink { ["a", "b"] } else { ["b", "a"] };
        let text = pair(ends[0], ends[1], "variant = \"sack\", timestamps = true", "kind = \"bulk\", bytes = \"20 kB\"");
        let (_, mut simulation) = emulation_of(text);
        simulation.run_until(at(1_001));
        let mut isn = 0;
        let mut ports = if to_the_sink { [PORT, SINK] } else { [SINK, SINK] };
        for (is_other, flags, seq, ack, (window, payload_len), stamps) in segments {
            let options = Options::new(stamps.map(|(value, echo)| Timestamps { value, echo }));
            // Numbers near those of the other end say something.
            let ack = isn + ack % (1 << 31);
            let segment = Segment { seq, ack, flags: Flags(flags), window, payload_len, options, ..Segment::default() };
            send(&mut simulation, NodeId(1), [ports[0] + u16::from(is_other), ports[1]], &segment);
            simulation.check().expect("no packet is lost without a cause");
            simulation.run_until(simulation.now() + Duration::from_millis(3));
            while let Some(delivery) = simulation.poll_delivery() {
                if ip_of(&delivery).0.protocol == icmpv4::PROTOCOL.into() {
                    continue;
                }
                let ([source, _], segment) = segment_of(&delivery);
                if segment.flags.contains(Flags::SYN) {
                    (isn, ports[1]) = (segment.seq % (1 << 31), source);
                }
            }
        }
        deliveries(&mut simulation);
        let summary = summary(&simulation);
        prop_assert!(summary.received_bytes <= summary.sent_bytes);
    }
}
