//! Source of the media: one transport stream, or a ladder of the same media at several rates.
//!
//! The feed reads all rungs of a ladder in step, by the time in the media, and sends the highest one whose rate is
//! allowed. It changes rungs only where a decoder can begin: at the first random access point of the new rung that the
//! media has not passed.

use std::collections::BTreeMap;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::mpegts::{self, PACKET_LEN, Packet};

use super::transport_stream::{Pace, Packetizer, ProgramClock, Reader};

/// One rung: the media at one rate.
#[derive(Debug)]
struct Rung {
    /// In bit/s.
    rate: f64,
    reader: Reader,
    clock: ProgramClock,
    /// The next packet, and its time.
    next: Option<([u8; PACKET_LEN], Duration)>,
    /// The latest packets of its tables: of programs, and of the program.
    tables: [Option<[u8; PACKET_LEN]>; 2],
    program_map: Option<u16>,
}

/// The media, packet by packet.
#[derive(Debug)]
pub(super) struct Feed {
    rungs: Vec<Rung>,
    current: usize,
    /// The rung that is to be entered, which waits at a random access point.
    candidate: Option<usize>,
    packetizer: Packetizer,
    /// The next RTP packet is complete, or is the last.
    ready: bool,
    pace: Option<Pace>,
    /// Time in the media.
    position: Duration,
    /// The last continuity counter of each identifier, where rungs change.
    counters: BTreeMap<u16, u8>,
    switches: u64,
}

impl Feed {
    /// Rungs by rate in bit/s, the lowest first; at least one. With a pace, packets are due at their times in the media;
    /// without, at once.
    pub(super) fn new(rates: &[f64], packetizer: Packetizer, is_paced: bool) -> Self {
        let rungs = rates.iter().map(|&rate| Rung {
            rate,
            reader: Reader::new(),
            clock: ProgramClock::default(),
            next: None,
            tables: [None; 2],
            program_map: None,
        });
        Self {
            rungs: rungs.collect(),
            current: 0,
            candidate: None,
            packetizer,
            ready: false,
            pace: is_paced.then(Pace::default),
            position: Duration::ZERO,
            counters: BTreeMap::new(),
            switches: 0,
        }
    }

    /// Whether a rung has to be read.
    pub(super) fn is_hungry(&self, rung: usize) -> bool {
        self.rungs[rung].next.is_none() && self.rungs[rung].reader.is_hungry()
    }

    /// Reads a rung once; nothing read is its end.
    pub(super) fn fill<E>(
        &mut self,
        rung: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.rungs[rung].reader.fill(read)
    }

    /// The rate that the transport allows, in bit/s, has changed.
    pub(super) fn handle_rate(&mut self, allowed: f64) {
        let fits = |rung: &Rung| rung.rate <= allowed;
        let wanted = self.rungs.iter().rposition(fits).unwrap_or(0);
        if wanted == self.current {
            self.candidate = None;
        } else if self.candidate != Some(wanted) {
            self.candidate = Some(wanted);
        }
    }

    /// When the next RTP packet is due, if all of it has been read.
    pub(super) fn poll_due(&mut self, now: Instant) -> Option<Instant> {
        while !self.ready {
            self.step_others();
            self.enter_candidate();
            if self.ready {
                break;
            }
            let current = &mut self.rungs[self.current];
            current.read_next();
            let Some((packet, time)) = current.next.take() else {
                // The last RTP packet may be short.
                self.ready = current.reader.is_finished();
                break;
            };
            self.position = time;
            self.push(packet, time);
        }
        if !self.ready {
            return None;
        }
        let (_, time) = self.packetizer.packet()?;
        Some(self.pace.as_mut().map_or(now, |pace| pace.due(time, now)))
    }

    /// The RTP packet that is due.
    pub(super) fn packet(&mut self) -> Option<&[u8]> {
        self.packetizer.packet().map(|(octets, _)| octets)
    }

    /// The packet has been handed over.
    pub(super) fn advance(&mut self) {
        self.packetizer.advance();
        self.ready = false;
    }

    /// Whether all has been handed over.
    pub(super) fn is_finished(&mut self) -> bool {
        let current = &self.rungs[self.current];
        current.next.is_none() && current.reader.is_finished() && self.packetizer.packet().is_none()
    }

    /// Bytes that belonged to no packet.
    pub(super) fn skipped(&self) -> u64 {
        self.rungs.iter().map(|rung| rung.reader.skipped()).sum()
    }

    /// The rate of the rung that is sent, in bit/s; `None` without a ladder.
    pub(super) fn rung(&self) -> Option<f64> {
        (self.rungs.len() > 1).then(|| self.rungs[self.current].rate)
    }

    /// How often another rung was entered.
    pub(super) fn switches(&self) -> u64 {
        self.switches
    }

    /// A packet goes on its way.
    fn push(&mut self, mut packet: [u8; PACKET_LEN], time: Duration) {
        if self.rungs.len() > 1
            && let Ok(mut view) = Packet::new_checked(&mut packet[..])
        {
            let next = self.counters.entry(view.identifier()).or_insert(view.continuity().wrapping_sub(1) & 0x0f);
            if view.has_payload() {
                *next = (*next + 1) & 0x0f;
            }
            view.set_continuity(*next);
        }
        self.ready |= self.packetizer.push(&packet, time);
    }

    /// What is not sent goes by: up to the time in the media, and for the candidate from there to where it may be entered.
    fn step_others(&mut self) {
        for (nth, rung) in self.rungs.iter_mut().enumerate().filter(|&(nth, _)| nth != self.current) {
            let is_candidate = self.candidate == Some(nth);
            loop {
                rung.read_next();
                let Some((packet, time)) = &rung.next else { break };
                let is_access = Packet::new_checked(&packet[..]).is_ok_and(|packet| packet.is_random_access());
                if *time >= self.position && (is_access || !is_candidate) {
                    break;
                }
                rung.next = None;
            }
        }
    }

    /// Changes over to the candidate once the media has come to where it waits.
    fn enter_candidate(&mut self) {
        let Some(candidate) = self.candidate else { return };
        self.rungs[self.current].read_next();
        let [waits, goes] = [candidate, self.current].map(|nth| self.rungs[nth].next.as_ref().map(|&(_, time)| time));
        let arrived = match (waits, goes) {
            (Some(waits), Some(goes)) => goes >= waits,
            _ => false,
        };
        if !arrived {
            return;
        }
        if self.packetizer.packet().is_some() {
            // What belongs to the old rung goes by itself, in a shorter RTP packet.
            self.ready = true;
            return;
        }
        self.candidate = None;
        self.current = candidate;
        self.switches += 1;
        let (tables, time) = (self.rungs[candidate].tables, waits.unwrap_or(self.position));
        for table in tables.into_iter().flatten() {
            self.push(table, time);
        }
    }
}

impl Rung {
    /// Reads the next packet, unless it is there.
    fn read_next(&mut self) {
        if self.next.is_some() {
            return;
        }
        let Some(octets) = self.reader.next() else { return };
        let octets = *octets;
        let Ok(packet) = Packet::new_checked(&octets[..]) else { return };
        let time = self.clock.time_of(&packet);
        if packet.identifier() == mpegts::PROGRAM_ASSOCIATION {
            self.tables[0] = Some(octets);
            self.program_map = mpegts::first_program_map(packet.payload()).or(self.program_map);
        } else if self.program_map == Some(packet.identifier()) && packet.starts_unit() {
            self.tables[1] = Some(octets);
        }
        self.next = Some((octets, time));
    }
}

#[cfg(test)]
mod tests {
    use hopcast_wire::mpegts::CLOCK_RATE;
    use hopcast_wire::rtp;

    use super::super::transport_stream::tests::transport_packet;
    use super::*;

    const VIDEO: u16 = 0x100;

    /// Media of `seconds`: tables and a random access point each second, `per_second` packets of `fill` in each.
    fn rendition(seconds: u64, per_second: u64, fill: u8) -> Vec<u8> {
        let mut octets = Vec::new();
        let mut counter = 0;
        for second in 0..seconds {
            octets.extend(table(0, fill));
            octets.extend(table(0x1000, fill));
            for nth in 0..per_second {
                let ticks = CLOCK_RATE * second + CLOCK_RATE * nth / per_second;
                let mut packet = transport_packet(VIDEO, (nth % 10 == 0).then_some(ticks), nth == 0, fill);
                Packet::new_checked(&mut packet[..]).expect("a packet").set_continuity(counter);
                counter = (counter + 1) % 16;
                octets.extend(packet);
            }
        }
        octets
    }

    /// The tables: that of programs names 0x1000 as the map of program 1.
    fn table(identifier: u16, fill: u8) -> [u8; PACKET_LEN] {
        let mut octets = [fill; PACKET_LEN];
        let [high, low] = identifier.to_be_bytes();
        octets[..4].copy_from_slice(&[0x47, 0x40 | high, low, 0x10]);
        octets[4..21].copy_from_slice(&[0, 0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, 0xf0, 0, 1, 2, 3, 4]);
        octets
    }

    /// Plays renditions; `allowed` is asked before each RTP packet, with the seconds of media so far. Returns the transport
    /// packets that were sent.
    fn play(renditions: &[(f64, Vec<u8>)], mut allowed: impl FnMut(u64) -> f64) -> (Vec<[u8; PACKET_LEN]>, Feed) {
        let rates: Vec<f64> = renditions.iter().map(|&(rate, _)| rate).collect();
        let mut feed = Feed::new(&rates, Packetizer::new(1, 2, 3), false);
        let mut left: Vec<&[u8]> = renditions.iter().map(|(_, octets)| &octets[..]).collect();
        let mut sent = Vec::new();
        for _ in 0..100_000 {
            for (nth, left) in left.iter_mut().enumerate() {
                while feed.is_hungry(nth) {
                    let read = |buffer: &mut [u8]| {
                        let (now, later) = left.split_at(left.len().min(buffer.len()).min(4000));
                        buffer[..now.len()].copy_from_slice(now);
                        *left = later;
                        Ok::<_, ()>(now.len())
                    };
                    feed.fill(nth, read).expect("it is read");
                }
            }
            if feed.is_finished() {
                return (sent, feed);
            }
            feed.handle_rate(allowed(feed.position.as_nanos() / 1_000_000_000));
            if feed.poll_due(Instant::START).is_some() {
                let packet = feed.packet().expect("it is due");
                let packet = rtp::Packet::new_checked(packet).expect("RTP");
                let payload = packet.payload();
                sent.extend(
                    payload.chunks(PACKET_LEN).map(|packet| <[u8; PACKET_LEN]>::try_from(packet).expect("whole")),
                );
                feed.advance();
            }
        }
        panic!("it never ends");
    }

    fn video(sent: &[[u8; PACKET_LEN]]) -> impl Iterator<Item = Packet<&[u8]>> {
        let packets = sent.iter().map(|octets| Packet::new_checked(&octets[..]).expect("a packet"));
        packets.filter(|packet| packet.identifier() == VIDEO)
    }

    #[test]
    fn one_stream_goes_through_as_it_is() {
        let film = rendition(3, 30, 7);
        let (sent, feed) = play(&[(0.0, film.clone())], |_| 0.0);
        assert_eq!(sent.concat(), film);
        assert_eq!((feed.rung(), feed.switches(), feed.skipped()), (None, 0, 0));
    }

    #[test]
    fn the_rung_follows_the_rate_and_changes_where_a_decoder_may_begin() {
        let ladder = [(1e6, rendition(12, 40, 1)), (2e6, rendition(12, 80, 2))];
        // Up after 3 s of media, down after 7.
        let (sent, feed) = play(&ladder, |second| if (3..7).contains(&second) { 2.5e6 } else { 1.5e6 });
        assert_eq!((feed.rung(), feed.switches()), (Some(1e6), 2));
        let fills: Vec<u8> = video(&sent).map(|packet| packet.payload()[100]).collect();
        // Each change comes with the next random access point: at 3 s and at 7 s.
        let runs: Vec<(u8, usize)> = fills.chunk_by(|one, other| one == other).map(|run| (run[0], run.len())).collect();
        assert_eq!(runs, [(1, 3 * 40), (2, 4 * 80), (1, 5 * 40)]);
        for (before, after) in
            sent.windows(2).filter(|pair| pair[0][150] != pair[1][150]).map(|pair| (pair[0], pair[1]))
        {
            // Tables come first, those of the new rung.
            let first = Packet::new_checked(&after[..]).expect("a packet");
            assert_eq!(first.identifier(), mpegts::PROGRAM_ASSOCIATION, "after {}", before[150]);
        }
        // No decoder sees a gap.
        let counters: Vec<u8> = video(&sent).map(|packet| packet.continuity()).collect();
        assert!(counters.windows(2).all(|pair| (pair[0] + 1) % 16 == pair[1]), "{counters:?}");
    }

    #[test]
    fn below_the_lowest_rung_the_lowest_is_sent() {
        let ladder = [(1e6, rendition(3, 40, 1)), (2e6, rendition(3, 80, 2))];
        let (sent, feed) = play(&ladder, |_| 1e3);
        assert!(video(&sent).all(|packet| packet.payload()[100] == 1));
        assert_eq!(feed.switches(), 0);
    }

    #[test]
    fn media_is_due_at_its_time() {
        let film = rendition(2, 50, 1);
        let mut feed = Feed::new(&[0.0], Packetizer::new(1, 2, 3), true);
        let mut left = &film[..];
        let (mut due, begin) = (Vec::new(), Instant::from_nanos(5_000_000_000));
        while !feed.is_finished() {
            if feed.is_hungry(0) {
                let read = |buffer: &mut [u8]| {
                    let (now, later) = left.split_at(left.len().min(buffer.len()));
                    buffer[..now.len()].copy_from_slice(now);
                    left = later;
                    Ok::<_, ()>(now.len())
                };
                feed.fill(0, read).expect("it is read");
            }
            if let Some(at) = feed.poll_due(begin) {
                due.push((at - begin).as_secs_f64());
                feed.advance();
            }
        }
        // 104 packets in 15 of RTP, over 2 s.
        assert_eq!(due.len(), 15);
        assert!(due.is_sorted() && due[0] == 0.0);
        assert!((due[14] - 98.0 / 52.0).abs() < 0.05, "{due:?}");
    }
}
