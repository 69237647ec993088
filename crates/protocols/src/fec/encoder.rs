//! The sender: repair packets behind source packets.

use std::collections::VecDeque;

use hopcast_wire::fec::{BLOCKS, PAYLOAD_ID_LEN, Repr};

use super::{Code, Config, Packet};
use crate::time::Instant;

/// Makes repair packets for a stream. See the [module](super).
#[derive(Debug)]
pub struct Encoder<C: Code> {
    config: Config,
    code: C,
    /// The block that is being filled, its ADUs so far, and when it is cut short.
    block: u32,
    adus: Vec<C::Adu>,
    deadline: Option<Instant>,
    outputs: VecDeque<Packet<C>>,
    sent: Sent,
}

/// What an encoder counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// ADUs, each in a source packet.
    pub source_packets: u64,
    /// Bytes of the ADUs.
    pub source_octets: u64,
    /// Repair packets.
    pub repair_packets: u64,
    /// Bytes that correction cost: payload IDs of either kind, and repair symbols.
    pub overhead_octets: u64,
    /// Blocks that were finished.
    pub blocks: u64,
    /// Those among them that were cut short.
    pub cut: u64,
}

impl Sent {
    /// What correction cost, as a ratio to what was to be sent; 0 before anything was.
    pub fn overhead(&self) -> f64 {
        if self.source_octets == 0 { 0.0 } else { self.overhead_octets as f64 / self.source_octets as f64 }
    }
}

impl<C: Code> Encoder<C> {
    /// An encoder at the start of a stream.
    pub fn new(config: &Config, code: C) -> Self {
        Self {
            config: config.clamped(),
            code,
            block: 0,
            adus: Vec::new(),
            deadline: None,
            outputs: VecDeque::new(),
            sent: Sent::default(),
        }
    }

    /// The stream's next ADU, of at most 65535 bytes. Its source packet is the next output; the repair packets follow the
    /// block's last one.
    pub fn handle_adu(&mut self, adu: C::Adu, now: Instant) {
        let id = Repr { block: self.block, symbol: self.adus.len() as u8, source_block_length: self.config.source };
        self.sent.source_packets += 1;
        self.sent.source_octets += self.code.adu_len(&adu) as u64;
        self.sent.overhead_octets += PAYLOAD_ID_LEN as u64;
        self.outputs.push_back(Packet::Source(id, adu.clone()));
        if self.adus.is_empty() {
            self.deadline = Some(now + self.config.block_timeout);
        }
        self.adus.push(adu);
        if self.adus.len() == usize::from(self.config.source) {
            self.finish();
        }
    }

    /// Time has come to `now`: cuts a block short whose time is up.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|due| due <= now) {
            self.handle_end();
        }
    }

    /// The stream ends or pauses: the block is cut short at once.
    pub fn handle_end(&mut self) {
        if !self.adus.is_empty() {
            self.sent.cut += 1;
            self.finish();
        }
    }

    /// The next packet to send.
    #[must_use = "an output that is not carried out is lost"]
    pub fn poll_output(&mut self) -> Option<Packet<C>> {
        self.outputs.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    /// The next block has this number.
    #[cfg(test)]
    pub(super) fn start_at(&mut self, block: u32) {
        self.block = block % BLOCKS;
    }

    /// What it counted.
    pub fn statistics(&self) -> &Sent {
        &self.sent
    }

    fn finish(&mut self) {
        // A block has at most 255 ADUs.
        let source = self.adus.len() as u8;
        for (index, symbol) in (0..).zip(self.code.encode(&self.adus, self.config.repair_of(source))) {
            let id = Repr { block: self.block, symbol: source + index, source_block_length: source };
            self.sent.repair_packets += 1;
            self.sent.overhead_octets += (PAYLOAD_ID_LEN + self.code.repair_len(&symbol)) as u64;
            self.outputs.push_back(Packet::Repair(id, symbol));
        }
        self.adus.clear();
        self.deadline = None;
        self.block = (self.block + 1) % BLOCKS;
        self.sent.blocks += 1;
    }
}
