//! A small language for conversations with one end.
//!
//! Offsets count from the first byte of a stream. Every step asserts that nothing is left to take out, so silence is
//! tested wherever nothing is expected.

use super::super::{CloseReason, Config, Connection, Flags, Options, Output, SackBlock, Segment, State};
use crate::time::{Duration, Instant};

/// Initial sequence number of the end under test: the stream wraps after 3000 bytes.
pub(super) const OWN: u32 = 0_u32.wrapping_sub(3001);
/// Initial sequence number of the hand-made peer: its stream wraps after 1500 bytes.
pub(super) const PEER: u32 = 0_u32.wrapping_sub(1501);
/// SMSS of both.
pub(super) const MSS: u32 = 1000;
/// Receive buffer of the end under test.
pub(super) const BUFFER: u32 = 40_000;

pub(super) struct Bench {
    pub(super) connection: Connection,
    now: Instant,
    events: Vec<Output>,
}

pub(super) fn config() -> Config {
    Config { segment: MSS, send_buffer: 100_000, receive_buffer: BUFFER, ..Config::default() }
}

/// The end under test after an active open at 0 ms, with a measured round trip of 0 ms.
pub(super) fn established() -> Bench {
    established_with(config())
}

pub(super) fn established_with(config: Config) -> Bench {
    established_by(Connection::connect(config, OWN))
}

pub(super) fn established_by(connection: Connection) -> Bench {
    let mut bench = Bench::new(connection);
    let syn = bench.next_segment().expect("a SYN");
    assert_eq!((syn.seq, syn.flags), (OWN, Flags::SYN));
    // The peer agrees to SACK.
    let answer = syn_ack();
    let permitted = syn.options.is_sack_permitted();
    bench.send(if permitted { Segment { options: answer.options.with_sack_permitted(), ..answer } } else { answer });
    bench.recv(ack_of(0).window(syn.window));
    bench.expect_events(&[Output::Connected]);
    bench
}

/// Established, with a congestion window of `segments` and as much of a long stream in flight, sent at `ms`.
pub(super) fn in_flight(segments: u32, ms: u64) -> Bench {
    in_flight_with(config(), segments, ms)
}

pub(super) fn in_flight_with(config: Config, segments: u32, ms: u64) -> Bench {
    let mut bench = established_with(Config { initial_window: Some(segments), ..config });
    bench.at(ms);
    bench.write(100_000);
    for n in 0..segments {
        bench.recv(data(n * MSS, MSS));
    }
    bench
}

/// The peer's answer to the SYN.
pub(super) fn syn_ack() -> Segment {
    Segment {
        seq: PEER,
        ack: OWN.wrapping_add(1),
        flags: Flags::SYN | Flags::ACK,
        window: 65_535,
        options: Options::NONE.with_mss(MSS as u16),
        ..Segment::default()
    }
}

/// From the peer: an acknowledgement of `offset` bytes with an open window.
pub(super) fn ack(offset: u32) -> Segment {
    Segment {
        seq: PEER.wrapping_add(1),
        ack: OWN.wrapping_add(1).wrapping_add(offset),
        flags: Flags::ACK,
        window: 65_535,
        ..Segment::default()
    }
}

/// From the peer: the same, with SACK blocks, each from one offset to another.
pub(super) fn sack(offset: u32, blocks: &[(u32, u32)]) -> Segment {
    let number = |offset| OWN.wrapping_add(1).wrapping_add(offset);
    let block = |&(left, right)| SackBlock { left: number(left), right: number(right) };
    Segment { options: blocks.iter().map(block).fold(Options::NONE, Options::with_block), ..ack(offset) }
}

/// From the peer: `len` bytes of its stream.
pub(super) fn text(offset: u32, len: u32) -> Segment {
    Segment {
        seq: PEER.wrapping_add(1).wrapping_add(offset),
        payload_offset: u64::from(offset),
        payload_len: len as u16,
        ..ack(0)
    }
}

/// Expected: `len` bytes of the own stream.
pub(super) fn data(offset: u32, len: u32) -> Segment {
    Segment {
        seq: OWN.wrapping_add(1).wrapping_add(offset),
        ack: PEER.wrapping_add(1),
        flags: Flags::ACK,
        window: BUFFER as u16,
        payload_offset: u64::from(offset),
        payload_len: len as u16,
        ..Segment::default()
    }
}

/// Expected: an acknowledgement of `offset` bytes of the peer's stream by an end that has sent nothing.
pub(super) fn ack_of(offset: u32) -> Segment {
    Segment { ack: PEER.wrapping_add(1).wrapping_add(offset), ..data(0, 0) }
}

impl Segment {
    pub(super) fn with(self, flags: Flags) -> Self {
        Self { flags: self.flags | flags, ..self }
    }

    pub(super) fn only(self, flags: Flags) -> Self {
        Self { flags, ..self }
    }

    pub(super) fn push(self) -> Self {
        self.with(Flags::PSH)
    }

    pub(super) fn window(self, window: u16) -> Self {
        Self { window, ..self }
    }

    /// With another sequence number, this many bytes into the sender's stream.
    pub(super) fn moved(self, by: i32) -> Self {
        Self { seq: self.seq.wrapping_add_signed(by), ..self }
    }

    pub(super) fn acking(self, offset: u32) -> Self {
        Self { ack: OWN.wrapping_add(1).wrapping_add(offset), ..self }
    }
}

impl Bench {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, now: Instant::START, events: Vec::new() }
    }

    /// Moves to `ms` milliseconds after the start. Timers due before must lead to nothing, those due then fire.
    #[track_caller]
    pub(super) fn at(&mut self, ms: u64) -> &mut Self {
        self.recv_nothing();
        let target = Instant::from_nanos(ms * 1_000_000);
        assert!(target >= self.now, "time runs forwards");
        while let Some(due) = self.connection.poll_timeout().filter(|&due| due <= target) {
            self.now = self.now.max(due);
            self.connection.handle_timeout(self.now);
            if self.now < target {
                let output = self.next_segment();
                assert!(output.is_none(), "at {}, before {target}: {output:?}", self.now);
            } else {
                break;
            }
        }
        self.now = target;
        self
    }

    /// The peer sends a segment.
    #[track_caller]
    pub(super) fn send(&mut self, segment: Segment) -> &mut Self {
        self.recv_nothing();
        self.connection.handle_segment(&segment, self.now);
        self
    }

    /// The next segment that comes out is this one.
    #[track_caller]
    pub(super) fn recv(&mut self, expected: Segment) -> &mut Self {
        let segment = self.next_segment();
        assert_eq!(segment, Some(expected), "at {}", self.now);
        self
    }

    #[track_caller]
    pub(super) fn recv_nothing(&mut self) -> &mut Self {
        let segment = self.next_segment();
        assert_eq!(segment, None, "at {}", self.now);
        self
    }

    #[track_caller]
    pub(super) fn write(&mut self, len: u32) -> &mut Self {
        self.recv_nothing();
        assert_eq!(self.connection.handle_write(len, self.now), len, "bytes taken");
        self
    }

    #[track_caller]
    pub(super) fn read(&mut self, len: u32) -> &mut Self {
        self.recv_nothing();
        assert_eq!(self.connection.handle_read(len, self.now), len, "bytes read");
        self
    }

    #[track_caller]
    pub(super) fn close(&mut self) -> &mut Self {
        self.recv_nothing();
        self.connection.handle_close(self.now);
        self
    }

    #[track_caller]
    pub(super) fn abort(&mut self) -> &mut Self {
        self.recv_nothing();
        self.connection.handle_abort(self.now);
        self
    }

    /// The routing layer tells whether there is a route.
    #[track_caller]
    pub(super) fn route(&mut self, there: bool) -> &mut Self {
        self.recv_nothing();
        match there {
            true => self.connection.handle_link_restored(self.now),
            false => self.connection.handle_link_failure(self.now),
        }
        self
    }

    /// Nothing is to be sent, and these events came since the last look.
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
        assert_eq!(self.connection.state(), State::Closed);
        assert_eq!(self.connection.poll_timeout(), None);
        self
    }

    /// Congestion window and threshold in bytes.
    #[track_caller]
    pub(super) fn expect_window(&mut self, window: u32, threshold: u32) -> &mut Self {
        let seen = (self.connection.congestion_window(), self.connection.slow_start_threshold());
        assert_eq!(seen, (window, threshold), "congestion window and threshold");
        self
    }

    #[track_caller]
    pub(super) fn expect_rto(&mut self, ms: u64) -> &mut Self {
        assert_eq!(self.connection.retransmission_timeout(), Duration::from_millis(ms));
        self
    }

    #[track_caller]
    pub(super) fn expect_timer(&mut self, ms: Option<u64>) -> &mut Self {
        self.recv_nothing();
        assert_eq!(self.connection.poll_timeout(), ms.map(|ms| Instant::from_nanos(ms * 1_000_000)));
        self
    }

    pub(super) fn next_segment(&mut self) -> Option<Segment> {
        loop {
            match self.connection.poll_output(self.now)? {
                Output::Transmit(segment) => return Some(segment),
                event => self.events.push(event),
            }
        }
    }
}
