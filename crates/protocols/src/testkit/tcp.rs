//! TCP as a peer of a pair. Its events are its outputs but for segments.

use super::{Choices, Datagram, Output, Peer, Subject};
use crate::time::Instant;
use crate::transport::tcp::{self, Connection, Flags, Options, SackBlock, Segment, Timestamps};

/// Bytes of the headers of IPv4 and TCP without options.
const HEADERS: u32 = 40;

impl Datagram for Segment {
    fn link_len(&self) -> u32 {
        HEADERS + self.options_len() + u32::from(self.payload_len)
    }

    fn corrupt(&mut self, at: u32, mask: u8) {
        let mask = u32::from(mask) << (8 * (at % 4));
        match at / 4 % 4 {
            0 => self.seq ^= mask,
            1 => self.ack ^= mask,
            2 => self.window ^= (mask | mask >> 16) as u16,
            _ => self.flags = Flags(self.flags.0 ^ ((mask | mask >> 16) as u16 & 0x1ff)),
        }
    }
}

impl Peer for Connection {
    type Datagram = Segment;
    type Event = tcp::Output;

    fn handle_datagram(&mut self, segment: &Segment, now: Instant) {
        self.handle_segment(segment, now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    fn poll_output(&mut self, now: Instant) -> Option<Output<Segment, tcp::Output>> {
        self.poll_output(now).map(|output| match output {
            tcp::Output::Transmit(segment) => Output::Transmit(segment),
            event => Output::Event(event),
        })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }
}

impl Subject for Connection {
    fn handle_request(&mut self, choices: &mut Choices<'_>, now: Instant) {
        match choices.byte() % 16 {
            0..=6 => {
                self.handle_write(choices.u16().into(), now);
            }
            7..=11 => {
                self.handle_read(choices.u16().into(), now);
            }
            12 => self.handle_link_failure(now),
            13 => self.handle_link_restored(now),
            14 => self.handle_close(now),
            _ => match choices.byte() % 4 {
                0 => self.handle_abort(now),
                1 => self.handle_doubt(now),
                _ => {
                    self.handle_write(u32::MAX, now);
                }
            },
        }
    }

    /// A segment with numbers near to those of the last one, with any flags and options.
    fn handle_forgery(&mut self, choices: &mut Choices<'_>, last: Option<&Segment>, now: Instant) {
        let last = last.copied().unwrap_or_default();
        let seq = choices.near(last.seq.into()) as u32;
        let ack = choices.near(last.ack.into()) as u32;
        let flags = match choices.byte() % 16 {
            0..=7 => Flags::ACK,
            8 | 9 => Flags::SYN | Flags::ACK,
            10 | 11 => Flags::SYN,
            12 | 13 => Flags::FIN | Flags::ACK,
            _ => Flags(choices.byte().into()),
        };
        let window = choices.pick(&[0, last.window, u16::MAX, 1, 1000]);
        let payload_len = if choices.bool() { choices.u16() } else { 0 };
        let stamps = choices.option(|choices| Timestamps { value: choices.u32(), echo: choices.u32() });
        let mut options = Options::new(stamps);
        if let Some(mss) = choices.option(Choices::u16) {
            options = options.with_mss(mss);
        }
        if let Some(shift) = choices.option(Choices::byte) {
            options = options.with_window_scale(shift);
        }
        if choices.bool() {
            options = options.with_sack_permitted();
        }
        // What the other end acknowledges is near to what this one has sent.
        for _ in 0..choices.byte() % 5 {
            let [left, right] = [choices.near(ack.into()), choices.near(ack.into())].map(|number| number as u32);
            options = options.with_block(SackBlock { left, right });
        }
        let segment = Segment { payload_offset: seq.into(), seq, ack, payload_len, flags, window, options };
        self.handle_segment(&segment, now);
    }

    fn check(&self) {
        let tcp::Config { send_buffer, receive_buffer, .. } = *self.config();
        assert!(self.readable() <= receive_buffer.into(), "the receive buffer is bounded");
        let (space, flight) = (self.send_space(), self.bytes_in_flight());
        // The FIN has a position of its own.
        assert!(space <= send_buffer && flight <= u64::from(send_buffer) + 1, "room for {space}, {flight} in flight");
    }
}
