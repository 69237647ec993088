//! A bench for one end: packets made by hand go in, packets that come out are compared whole.

use std::sync::Arc;

use hopcast_wire::dccp::{self, Body, OptionList, OptionRepr};

use super::super::{CloseReason, Config, Connection, Output, Packet, Payload, State};
use crate::time::{Duration, Instant};

pub(super) const CLIENT_ISS: u64 = 1_000;
pub(super) const SERVER_ISS: u64 = 50_000;
/// Numbers and features that the other side of the bench has.
pub(super) const WINDOW: [u8; 6] = [0, 0, 0, 0, 3, 232];

/// A packet taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) sequence: u64,
    pub(super) body: Body,
    pub(super) ccval: u8,
    /// Each option as its bytes.
    pub(super) options: Vec<Vec<u8>>,
    pub(super) payload: Payload,
}

pub(super) fn take_apart(packet: &Packet) -> Seen {
    let view = dccp::Packet::new_checked(&packet.header[..]).expect("what is sent is a packet");
    let nobody = core::net::Ipv4Addr::UNSPECIFIED;
    let repr =
        dccp::Repr::parse(&view, nobody, nobody, hopcast_wire::checksum::Policy::Ignore).expect("it has a meaning");
    let options = repr.options.iter().map(|option| encode(&option.expect("its options are right"))).collect();
    Seen { sequence: repr.sequence, body: repr.body, ccval: repr.ccval, options, payload: packet.payload }
}

pub(super) fn encode(option: &OptionRepr) -> Vec<u8> {
    let mut list = OptionList::new();
    assert!(list.push(option));
    list.as_options().as_octets().to_vec()
}

/// A packet of the peer.
pub(super) fn packet(sequence: u64, body: Body, options: &[OptionRepr], len: u32) -> Packet {
    let mut list = OptionList::new();
    assert!(options.iter().all(|option| list.push(option)));
    Packet { header: Arc::from(header([2, 1], 0, sequence, body, &list)), payload: Payload { unit: sequence, len } }
}

/// The bytes of a header between two ports, with long sequence numbers.
pub(super) fn header(
    [source_port, destination_port]: [u16; 2],
    ccval: u8,
    sequence: u64,
    body: Body,
    options: &OptionList,
) -> Vec<u8> {
    let repr = dccp::Repr {
        source_port,
        destination_port,
        ccval,
        checksum_coverage: 0,
        extended: true,
        sequence,
        body,
        options: options.as_options(),
        payload_len: 0,
    };
    let mut header = vec![0; repr.buffer_len()];
    repr.emit(&mut dccp::Packet::new_unchecked(&mut header));
    header
}

pub(super) fn ms(n: u64) -> Instant {
    Instant::START + Duration::from_millis(n)
}

pub(super) struct Bench {
    pub(super) connection: Connection,
    pub(super) now: Instant,
    pub(super) events: Vec<Output>,
}

impl Bench {
    pub(super) fn client(config: Config) -> Self {
        let config = Config { local_port: 1, remote_port: 2, ..config };
        Self { connection: Connection::connect(config, CLIENT_ISS), now: ms(0), events: Vec::new() }
    }

    pub(super) fn server(config: Config) -> Self {
        Self {
            connection: Connection::listen(Config { local_port: 1, ..config }, SERVER_ISS),
            now: ms(0),
            events: Vec::new(),
        }
    }

    /// A client in OPEN at 100 ms, with a round trip of 100 ms; its next number is `CLIENT_ISS` + 2, the server's
    /// `SERVER_ISS` + 2.
    #[track_caller]
    pub(super) fn open_client(config: Config) -> Self {
        let mut bench = Self::client(config);
        bench.recv();
        bench.at(100).send(SERVER_ISS, response(CLIENT_ISS), &answers());
        bench.recv();
        bench.send(SERVER_ISS + 1, Body::Ack { acknowledgement: CLIENT_ISS + 1 }, &[]);
        bench.expect_state(State::Open).expect_events(&[Output::Connected]);
        bench
    }

    /// A server in OPEN at 100 ms; its next number is `SERVER_ISS` + 2, the client's `CLIENT_ISS` + 2.
    #[track_caller]
    pub(super) fn open_server(config: Config) -> Self {
        let mut bench = Self::server(config);
        bench.send(CLIENT_ISS, request(), &wishes());
        bench.recv();
        bench.at(100).send(CLIENT_ISS + 1, Body::Ack { acknowledgement: SERVER_ISS }, &confirms());
        bench.recv();
        bench.expect_state(State::Open).expect_events(&[Output::Connected]);
        bench
    }

    /// Time passes; nothing must be due on the way.
    #[track_caller]
    pub(super) fn at(&mut self, now: u64) -> &mut Self {
        self.recv_nothing();
        let now = ms(now);
        if let Some(due) = self.connection.poll_timeout() {
            assert!(due >= now, "due at {due}");
        }
        self.now = now;
        self
    }

    /// Time passes to the next timer, which is at this instant.
    #[track_caller]
    pub(super) fn timer(&mut self, at: u64) -> &mut Self {
        self.recv_nothing();
        assert_eq!(self.connection.poll_timeout(), Some(ms(at)));
        self.connection.handle_timeout(Instant::from_nanos(ms(at).as_nanos() - 1));
        self.recv_nothing();
        self.now = ms(at);
        self.connection.handle_timeout(self.now);
        self
    }

    #[track_caller]
    pub(super) fn send(&mut self, sequence: u64, body: Body, options: &[OptionRepr]) -> &mut Self {
        self.deliver(&packet(sequence, body, options, 0))
    }

    #[track_caller]
    pub(super) fn send_data(&mut self, sequence: u64, options: &[OptionRepr]) -> &mut Self {
        self.deliver(&packet(sequence, Body::Data, options, 1000))
    }

    #[track_caller]
    pub(super) fn deliver(&mut self, packet: &Packet) -> &mut Self {
        self.recv_nothing();
        self.connection.handle_packet(packet, self.now);
        self
    }

    #[track_caller]
    pub(super) fn write(&mut self, unit: u64) -> &mut Self {
        assert!(self.connection.handle_write(Payload { unit, len: 1000 }, self.now), "taken");
        self
    }

    pub(super) fn next(&mut self) -> Option<Packet> {
        loop {
            match self.connection.poll_output(self.now)? {
                Output::Transmit(packet) => return Some(packet),
                event => self.events.push(event),
            }
        }
    }

    #[track_caller]
    pub(super) fn recv(&mut self) -> Seen {
        take_apart(&self.next().expect("a packet"))
    }

    /// The next packet has this number and body, no payload, and window counter 0; its options are returned.
    #[track_caller]
    pub(super) fn expect(&mut self, sequence: u64, body: Body) -> Vec<Vec<u8>> {
        let seen = self.recv();
        assert_eq!((seen.sequence, seen.body, seen.payload.len, seen.ccval), (sequence, body, 0, 0));
        seen.options
    }

    #[track_caller]
    pub(super) fn recv_nothing(&mut self) -> &mut Self {
        if let Some(packet) = self.next() {
            panic!("unexpected {:?}", take_apart(&packet));
        }
        self
    }

    #[track_caller]
    pub(super) fn expect_events(&mut self, events: &[Output]) -> &mut Self {
        self.recv_nothing();
        assert_eq!(core::mem::take(&mut self.events), events);
        self
    }

    #[track_caller]
    pub(super) fn expect_state(&mut self, state: State) -> &mut Self {
        self.recv_nothing();
        assert_eq!(self.connection.state(), state);
        self
    }

    #[track_caller]
    pub(super) fn expect_closed(&mut self, reason: CloseReason) -> &mut Self {
        self.recv_nothing();
        assert_eq!(self.events.last(), Some(&Output::Closed(reason)));
        self
    }
}

pub(super) fn request() -> Body {
    Body::Request { service_code: 0 }
}

pub(super) fn response(acknowledgement: u64) -> Body {
    Body::Response { acknowledgement, service_code: 0 }
}

/// What a client like ours asks for.
pub(super) fn wishes() -> [OptionRepr<'static>; 8] {
    use hopcast_wire::dccp::Feature;
    [
        OptionRepr::Mandatory,
        OptionRepr::ChangeL(Feature::Ccid, &[3]),
        OptionRepr::Mandatory,
        OptionRepr::ChangeR(Feature::Ccid, &[3]),
        OptionRepr::ChangeL(Feature::SequenceWindow, &WINDOW),
        OptionRepr::ChangeL(Feature::EcnIncapable, &[1]),
        OptionRepr::ChangeL(Feature::SendNdpCount, &[1]),
        OptionRepr::ChangeR(Feature::SendLossEventRate, &[1]),
    ]
}

/// What a server like ours answers to a client like ours, and asks in turn.
pub(super) fn answers() -> [OptionRepr<'static>; 10] {
    use hopcast_wire::dccp::Feature;
    [
        OptionRepr::ConfirmR(Feature::Ccid, &[3, 3]),
        OptionRepr::ConfirmL(Feature::Ccid, &[3, 3]),
        OptionRepr::ConfirmR(Feature::SequenceWindow, &WINDOW),
        OptionRepr::ConfirmR(Feature::EcnIncapable, &[1, 0, 1]),
        OptionRepr::ConfirmR(Feature::SendNdpCount, &[1, 1, 0]),
        OptionRepr::ConfirmL(Feature::SendLossEventRate, &[1, 1, 0]),
        OptionRepr::ChangeL(Feature::SequenceWindow, &WINDOW),
        OptionRepr::ChangeL(Feature::EcnIncapable, &[1]),
        OptionRepr::ChangeL(Feature::SendNdpCount, &[1]),
        OptionRepr::ChangeR(Feature::SendLossEventRate, &[1]),
    ]
}

/// What a client like ours confirms.
pub(super) fn confirms() -> [OptionRepr<'static>; 4] {
    use hopcast_wire::dccp::Feature;
    [
        OptionRepr::ConfirmR(Feature::SequenceWindow, &WINDOW),
        OptionRepr::ConfirmR(Feature::EcnIncapable, &[1, 0, 1]),
        OptionRepr::ConfirmR(Feature::SendNdpCount, &[1, 1, 0]),
        OptionRepr::ConfirmL(Feature::SendLossEventRate, &[1, 1, 0]),
    ]
}

pub(super) fn encode_all(options: &[OptionRepr]) -> Vec<Vec<u8>> {
    options.iter().map(encode).collect()
}
