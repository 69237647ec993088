//! MPEG transport streams: from bytes to RTP packets at their times.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::rtp::timestamp;
use hopcast_wire::mpegts::{CLOCK_MODULUS, CLOCK_RATE, PACKET_LEN, Packet, SYNC};
use hopcast_wire::rtp::{self, Contributors};

use super::session::{TRANSPORT_LEN, TRANSPORT_STREAM_TYPE};

/// Bytes that are read ahead: 350 packets.
const AHEAD: usize = 64 << 10;
/// A clock reference comes at least each 0.1 s (ISO/IEC 13818-1, 2.7.2); a jump of more than ten of them is a new clock.
const LONGEST_STEP: u64 = CLOCK_RATE;

/// Finds the packets in bytes as they are read.
#[derive(Debug)]
pub(crate) struct Reader {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// Bytes that belonged to no packet.
    skipped: u64,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; AHEAD], start: 0, end: 0, ended: false, skipped: 0 }
    }

    /// Whether it has no whole packet left and more may come.
    pub(crate) fn is_hungry(&self) -> bool {
        !self.ended && self.end - self.start <= PACKET_LEN
    }

    /// Reads once; nothing read is the end.
    pub(crate) fn fill<E>(&mut self, read: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<usize, E> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let count = read(&mut self.buffer[self.end..])?;
        self.end += count;
        self.ended |= count == 0;
        Ok(count)
    }

    /// Whether all packets have been taken and no more will come.
    pub(crate) fn is_finished(&self) -> bool {
        self.ended && self.end - self.start < PACKET_LEN
    }

    /// Bytes that belonged to no packet so far, those behind the last packet included.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped + if self.is_finished() { (self.end - self.start) as u64 } else { 0 }
    }

    /// The next packet, if it is there.
    pub(crate) fn next(&mut self) -> Option<&[u8; PACKET_LEN]> {
        while self.end - self.start >= PACKET_LEN {
            let octets = &self.buffer[self.start..self.end];
            // A sync octet counts with another one a packet later: others look like it.
            let follows = octets.get(PACKET_LEN).is_none_or(|&octet| octet == SYNC);
            if follows && Packet::new_checked(&octets[..PACKET_LEN]).is_ok() {
                if octets.len() == PACKET_LEN && !self.ended {
                    // Whether it is one is known when the next octet is.
                    return None;
                }
                self.start += PACKET_LEN;
                return self.buffer[self.start - PACKET_LEN..self.start].try_into().ok();
            }
            self.start += 1;
            self.skipped += 1;
        }
        None
    }
}

/// The time of each packet in the media, by the program clock references of the first program that has any.
#[derive(Debug, Default)]
pub(crate) struct ProgramClock {
    /// Whose references count.
    identifier: Option<u16>,
    /// The last reference in ticks, and its time in the media.
    last: Option<(u64, Duration)>,
    /// Packets since then.
    since: u64,
    /// Time of a packet between the two last references.
    step: Duration,
    /// The time of the last packet.
    now: Duration,
}

impl ProgramClock {
    /// The time of the next packet. Between references it is carried on at the last pace, which may be too fast: at a reference,
    /// time may go back.
    pub(crate) fn time_of(&mut self, packet: &Packet<&[u8]>) -> Duration {
        let reference =
            packet.clock().filter(|_| *self.identifier.get_or_insert(packet.identifier()) == packet.identifier());
        self.since += 1;
        let time = match (reference, self.last) {
            (None, None) => return self.now,
            (None, Some((_, at))) => at + self.step * self.since,
            (Some(ticks), last) => {
                let time = last.map_or(self.now, |(before, at)| {
                    let passed = (ticks % CLOCK_MODULUS + CLOCK_MODULUS - before) % CLOCK_MODULUS;
                    if passed > LONGEST_STEP || packet.is_discontinuous() {
                        return self.now;
                    }
                    let passed = Duration::from_nanos(passed * 1_000_000_000 / CLOCK_RATE);
                    self.step = passed / self.since;
                    at + passed
                });
                self.last = Some((ticks % CLOCK_MODULUS, time));
                self.since = 0;
                time
            }
        };
        self.now = time;
        time
    }
}

/// Packs transport packets into RTP packets (RFC 2250, 2).
#[derive(Debug)]
pub(super) struct Packetizer {
    octets: Vec<u8>,
    /// When the first transport packet of this RTP packet is due, in the media. It never goes back.
    time: Duration,
    source: u32,
    sequence: u16,
    /// What the timestamps begin with (RFC 3550, 5.1, wants it random).
    timestamp: u32,
}

impl Packetizer {
    /// For the source `source`, whose numbers and timestamps begin at these.
    pub(super) fn new(source: u32, sequence: u16, timestamp: u32) -> Self {
        Self { octets: Vec::with_capacity(TRANSPORT_LEN), time: Duration::ZERO, source, sequence, timestamp }
    }

    /// The next transport packet, which is due at `time` in the media. `true` if the RTP packet is complete: it is to be
    /// [taken](Self::packet) before the next one.
    pub(super) fn push(&mut self, packet: &[u8], time: Duration) -> bool {
        if self.octets.is_empty() {
            self.time = self.time.max(time);
            self.octets.resize(rtp::HEADER_LEN, 0);
        }
        self.octets.extend_from_slice(packet);
        self.octets.len() >= TRANSPORT_LEN
    }

    /// The RTP packet that was begun, and when it is due in the media; `None` if nothing is in it.
    pub(super) fn packet(&mut self) -> Option<(&[u8], Duration)> {
        if self.octets.is_empty() {
            return None;
        }
        let repr = rtp::Repr {
            // Set where the clock jumps (RFC 2250, 2); the clock of these timestamps doesn't.
            marker: false,
            payload_type: TRANSPORT_STREAM_TYPE,
            sequence: self.sequence,
            timestamp: self.timestamp.wrapping_add(timestamp(Instant::START + self.time)),
            source: self.source,
            contributors: Contributors::NONE,
            extension: None,
            payload_len: self.octets.len() - rtp::HEADER_LEN,
            padding_len: 0,
        };
        repr.emit(&mut rtp::Packet::new_unchecked(&mut self.octets[..]));
        Some((&self.octets, self.time))
    }

    /// Begins the next RTP packet.
    pub(super) fn advance(&mut self) {
        self.octets.clear();
        self.sequence = self.sequence.wrapping_add(1);
    }
}

/// When media is due on the way: at the pace of the media, counted from the first packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// The instant and the time in the media at which they were matched.
    start: Option<(Instant, Duration)>,
}

impl Pace {
    /// When what has this time in the media is due.
    pub(super) fn due(&mut self, time: Duration, now: Instant) -> Instant {
        let (start, first) = *self.start.get_or_insert((now, time));
        start + time.saturating_sub(first)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A packet of identifier 0x100, with a clock reference of these ticks and random access if given; `fill` fills it.
    pub(crate) fn transport_packet(
        identifier: u16,
        ticks: Option<u64>,
        random_access: bool,
        fill: u8,
    ) -> [u8; PACKET_LEN] {
        let mut octets = [fill; PACKET_LEN];
        let [high, low] = identifier.to_be_bytes();
        octets[..6].copy_from_slice(&[SYNC, high, low, 0x30, 7, if random_access { 0x40 } else { 0 }]);
        if let Some(ticks) = ticks {
            octets[5] |= 0x10;
            let bits = (ticks / 300) << 15 | 0x3f << 9 | (ticks % 300);
            octets[6..12].copy_from_slice(&bits.to_be_bytes()[2..]);
        }
        octets
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn times(references: &[Option<u64>]) -> Vec<Duration> {
        let mut clock = ProgramClock::default();
        let packets = references.iter().map(|&ticks| transport_packet(0x100, ticks, false, 0));
        packets.map(|octets| clock.time_of(&Packet::new_checked(&octets[..]).expect("a packet"))).collect()
    }

    #[test]
    fn packets_between_references_follow_the_last_pace() {
        let second = CLOCK_RATE;
        let late = CLOCK_MODULUS - second / 10;
        let found = times(&[None, Some(late), None, None, None, Some(late + second / 25), None, None, Some(0), None]);
        // 40 ms in four packets; then 60 ms in three, across the end of the clock.
        assert_eq!(found, [0, 0, 0, 0, 0, 40, 50, 60, 100, 120].map(ms));
    }

    #[test]
    fn a_clock_that_jumps_goes_on_from_where_it_was() {
        let second = CLOCK_RATE;
        let found = times(&[Some(0), Some(second / 10), Some(50 * second), Some(50 * second + second / 10)]);
        assert_eq!(found, [0, 100, 100, 200].map(ms));
        // Back, as at the end of a file that is repeated.
        assert_eq!(times(&[Some(second), Some(second * 11 / 10), Some(second), Some(second * 6 / 5)])[3], ms(300));
    }

    #[test]
    fn packets_are_found_among_other_octets() {
        let mut reader = Reader::new();
        let packet = transport_packet(0x100, None, false, 7);
        let mut octets = vec![SYNC, 1, 2];
        octets.extend([packet, packet].concat());
        octets.extend([9; 5]);
        octets.extend(packet);
        octets.extend([SYNC; 10]);
        let mut left = &octets[..];
        let mut found = 0;
        while !reader.is_finished() {
            while let Some(next) = reader.next() {
                assert_eq!(*next, packet);
                found += 1;
            }
            let read = |buffer: &mut [u8]| {
                let (now, later) = left.split_at(left.len().min(50));
                buffer[..now.len()].copy_from_slice(now);
                left = later;
                Ok::<_, ()>(now.len())
            };
            if reader.is_hungry() {
                reader.fill(read).expect("it is read");
            }
        }
        // The second one is not followed by another: who can tell it from chance?
        assert_eq!((found, reader.skipped()), (2, 3 + 188 + 5 + 10));
    }

    #[test]
    fn seven_packets_make_one_of_rtp() {
        let mut packetizer = Packetizer::new(5, u16::MAX, 1000);
        assert!(packetizer.packet().is_none());
        let packet = transport_packet(0x100, None, false, 7);
        let complete: Vec<_> = (0..7).map(|nth| packetizer.push(&packet, ms(100 + nth))).collect();
        assert_eq!(complete, [false, false, false, false, false, false, true]);
        let (octets, time) = packetizer.packet().expect("it is there");
        let view = rtp::Packet::new_checked(octets).expect("RTP");
        assert_eq!((view.payload_type(), view.sequence(), view.source(), time), (33, u16::MAX, 5, ms(100)));
        assert_eq!(view.timestamp(), 1000 + 9000);
        assert_eq!(view.payload(), packet.repeat(7));
        packetizer.advance();
        packetizer.push(&packet, ms(200));
        let (octets, _) = packetizer.packet().expect("the rest");
        let view = rtp::Packet::new_checked(octets).expect("RTP");
        assert_eq!((view.sequence(), view.payload()), (0, &packet[..]));
    }

    proptest! {
        /// However it is cut, a stream of whole packets comes out as it was.
        #[test]
        fn nothing_of_a_whole_stream_is_skipped(count in 1_usize..40, cuts in prop::collection::vec(1_usize..500, 1..80)) {
            let stream: Vec<u8> = (0..count).flat_map(|n| transport_packet(0x100, None, false, n as u8)).collect();
            let (mut left, mut found, mut cuts) = (&stream[..], Vec::new(), cuts.into_iter().cycle());
            let mut reader = Reader::new();
            while !reader.is_finished() {
                while let Some(packet) = reader.next() {
                    found.extend_from_slice(packet);
                }
                let len = left.len().min(cuts.next().unwrap_or(1));
                let (now, later) = left.split_at(len);
                left = later;
                reader.fill(|buffer| { buffer[..len].copy_from_slice(now); Ok::<_, ()>(len) }).expect("it is read");
            }
            while let Some(packet) = reader.next() {
                found.extend_from_slice(packet);
            }
            prop_assert_eq!(found, stream);
            prop_assert_eq!(reader.skipped(), 0);
        }

        #[test]
        fn arbitrary_octets_never_panic_and_rtp_never_goes_back(octets in prop::collection::vec(prop_oneof![Just(SYNC), any::<u8>()], 0..2000)) {
            let (mut reader, mut clock, mut last) = (Reader::new(), ProgramClock::default(), Duration::ZERO);
            let mut packetizer = Packetizer::new(1, 2, 3);
            let len = octets.len();
            reader.fill(|buffer| { buffer[..len].copy_from_slice(&octets); Ok::<_, ()>(len) }).expect("it is read");
            reader.fill(|_| Ok::<_, ()>(0)).expect("the end");
            while let Some(packet) = reader.next() {
                let time = clock.time_of(&Packet::new_checked(&packet[..]).expect("it was checked"));
                packetizer.push(packet, time);
                let (_, time) = packetizer.packet().expect("it is there");
                prop_assert!(time >= last);
                last = time;
                packetizer.advance();
            }
            prop_assert!(reader.is_finished());
        }
    }
}
