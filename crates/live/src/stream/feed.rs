//! Where the media comes from: one transport stream, or a ladder of the same media at several rates.
//!
//! All rungs of a ladder are read in step, by the time in the media. The highest whose rate is allowed is sent; it is left, and
//! entered, where a decoder may begin: at the first random access point of the other one that the media has not passed.

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

    /// Octets that belonged to no packet.
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
