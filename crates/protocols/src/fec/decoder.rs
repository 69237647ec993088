//! The receiver: delivers what comes, and recovers what does not.

use std::collections::{BTreeMap, VecDeque};

use hopcast_wire::ParseError;
use hopcast_wire::fec::{BLOCKS, Repr, parse_repair, parse_source};

use super::block::{Block, Fit};
use super::{Code, Config, Octets, Packet};
use crate::time::{Duration, Instant};

/// Farthest jump of block numbers, ahead of all others, that a single packet is believed: what RFC 3550, appendix A.1, allows
/// sequence numbers of packets (MAX_DROPOUT).
const FARTHEST: u32 = 3000;

/// Recovers lost packets of a stream. See the [module](super).
///
/// It holds at most [`Config::blocks`] blocks, each with at most 255 symbols and 1 KiB besides.
#[derive(Debug)]
pub struct Decoder<C: Code> {
    remembered: usize,
    code: C,
    /// By number, unrolled from 24 bits.
    blocks: BTreeMap<u64, Block<C>>,
    /// The number after the last block that is forgotten; later ones may be there.
    floor: u64,
    /// A packet was far from all blocks: its block.
    far: Option<u32>,
    outputs: VecDeque<Output<C::Adu>>,
    received: Received,
}

/// An ADU for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output<T> {
    /// What was sent.
    pub adu: T,
    /// For one that was recovered: how long before there was cause to expect it, which is when the packet before it came, or the
    /// block's first. `None` for one that came by itself.
    pub recovered_after: Option<Duration>,
}

/// What a decoder counted. Packets of either kind that came are those delivered, kept, duplicate, late or contradictory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// ADUs delivered as they came.
    pub delivered: u64,
    /// ADUs delivered after recovery.
    pub recovered: u64,
    /// The sum of what [`Output::recovered_after`] told, and the largest: the delay that recovery added.
    pub recovery_delay: Duration,
    /// See `recovery_delay`.
    pub largest_recovery_delay: Duration,
    /// Repair packets that were new.
    pub repair_packets: u64,
    /// Packets of either kind whose symbol was there.
    pub duplicates: u64,
    /// Packets of blocks that are forgotten or out of reach.
    pub late: u64,
    /// Packets that contradict others of their block; and blocks whose symbols do not belong together.
    pub contradictions: u64,
    /// ADUs of forgotten blocks that neither came nor were recovered. Blocks of which nothing came are not among them.
    pub lost: u64,
}

impl<C: Code> Decoder<C> {
    /// A decoder at the start of a stream, or in its middle.
    pub fn new(config: &Config, code: C) -> Self {
        Self {
            remembered: config.clamped().blocks,
            code,
            blocks: BTreeMap::new(),
            floor: 0,
            far: None,
            outputs: VecDeque::new(),
            received: Received::default(),
        }
    }

    /// A packet comes. Any packet at all may be given.
    pub fn handle_packet(&mut self, packet: Packet<C>, now: Instant) {
        let (Packet::Source(repr, _) | Packet::Repair(repr, _)) = &packet;
        let repr = *repr;
        let is_source = matches!(packet, Packet::Source(..));
        let sound = repr.source_block_length > 0 && repr.symbol < 255 && repr.is_source() == is_source;
        if !sound {
            self.received.contradictions += 1;
            return;
        }
        let Some(number) = self.place(repr.block) else {
            self.received.late += 1;
            return;
        };
        let block = self.blocks.entry(number).or_insert_with(|| Block::new(&repr, now));
        let fit = match packet {
            Packet::Source(_, adu) => {
                let fit = block.take_source(&repr, adu.clone(), now);
                if fit == Fit::New {
                    self.received.delivered += 1;
                    self.outputs.push_back(Output { adu, recovered_after: None });
                }
                fit
            }
            Packet::Repair(_, symbol) => {
                let fit = block.take_repair(&repr, symbol);
                self.received.repair_packets += u64::from(fit == Fit::New);
                fit
            }
        };
        match fit {
            Fit::New => self.recover(number, now),
            Fit::Duplicate => self.received.duplicates += 1,
            Fit::Contradiction => self.received.contradictions += 1,
        }
        self.forget();
    }

    /// The next ADU for the user.
    #[must_use = "an output that is not carried out is lost"]
    pub fn poll_output(&mut self) -> Option<Output<C::Adu>> {
        self.outputs.pop_front()
    }

    /// What it counted.
    pub fn statistics(&self) -> &Received {
        &self.received
    }

    /// Blocks that are remembered.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The unrolled number of a block, if it is within reach.
    fn place(&mut self, block: u32) -> Option<u64> {
        let Some((&newest, _)) = self.blocks.last_key_value() else {
            // The first packet of all. There is room below it, for those of its time that are late.
            self.floor = u64::from(BLOCKS) + u64::from(block) - self.remembered.min(BLOCKS as usize / 2) as u64;
            return Some(u64::from(BLOCKS) + u64::from(block));
        };
        // The distance wraps by intent, in 24 bits.
        let ahead = block.wrapping_sub(newest as u32) % BLOCKS;
        if ahead <= FARTHEST {
            self.far = None;
            return Some(newest + u64::from(ahead));
        }
        let number = newest.checked_sub(u64::from(BLOCKS - ahead)).filter(|&number| number >= self.floor);
        if number.is_some() {
            self.far = None;
            return number;
        }
        // Twice in a row: the sender has started anew.
        if self.far.is_some_and(|far| block.wrapping_sub(far) % BLOCKS <= 1) {
            self.far = None;
            self.received.lost += self.blocks.values().map(Block::missing).sum::<u64>();
            self.blocks.clear();
            return self.place(block);
        }
        self.far = Some(block);
        None
    }

    fn recover(&mut self, number: u64, now: Instant) {
        let block = self.blocks.get_mut(&number).expect("the packet's block is there");
        let Some(adus) = block.recover(&self.code) else {
            self.received.contradictions += 1;
            return;
        };
        for (adu, since) in adus {
            let delay = now.saturating_since(since);
            self.received.recovered += 1;
            self.received.recovery_delay += delay;
            self.received.largest_recovery_delay = self.received.largest_recovery_delay.max(delay);
            self.outputs.push_back(Output { adu, recovered_after: Some(delay) });
        }
    }

    /// Keeps to the blocks that are to be remembered: those up to the newest.
    fn forget(&mut self) {
        let Some((&newest, _)) = self.blocks.last_key_value() else { return };
        self.floor = self.floor.max((newest + 1).saturating_sub(self.remembered as u64));
        while let Some(entry) = self.blocks.first_entry().filter(|entry| *entry.key() < self.floor) {
            self.received.lost += entry.remove().missing();
        }
    }
}

impl Decoder<Octets> {
    /// A source packet comes from the wire.
    pub fn handle_source_octets(&mut self, packet: &[u8], now: Instant) -> Result<(), ParseError> {
        let (adu, repr): (&[u8], Repr) = parse_source(packet)?;
        self.handle_packet(Packet::Source(repr, adu.to_vec()), now);
        Ok(())
    }

    /// A repair packet comes from the wire.
    pub fn handle_repair_octets(&mut self, packet: &[u8], now: Instant) -> Result<(), ParseError> {
        let (repr, symbol): (Repr, &[u8]) = parse_repair(packet)?;
        self.handle_packet(Packet::Repair(repr, symbol.to_vec()), now);
        Ok(())
    }
}
