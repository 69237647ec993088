//! The accounting of one block: which symbols are there. What they hold is in the same places.

use hopcast_wire::fec::{MAX_SYMBOLS, Repr};

use super::Code;
use crate::time::Instant;

/// A block that a decoder remembers.
#[derive(Debug)]
pub(super) struct Block<C: Code> {
    /// Which symbols came, by number.
    seen: [u64; MAX_SYMBOLS.div_ceil(64)],
    /// Source symbols that came, and the number after the last of them.
    source_count: u8,
    source_end: u8,
    /// Source symbols in the block: what a repair packet told or, without one, what a source packet did.
    length: Length,
    /// What came, as long as something may be missing. Source symbols stand in their places.
    source: Vec<Option<C::Adu>>,
    repair: Vec<(u8, C::Repair)>,
    /// What tells how long a missing symbol was waited for: the instant of the first packet, as if of symbol 0, then number and
    /// instant of each source symbol beyond all earlier ones.
    progress: Vec<(u8, Instant)>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// The block may have been cut short.
    Announced(u8),
    Final(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Something may be missing.
    Open,
    /// All source symbols came or were recovered.
    Whole,
    /// What came does not belong together.
    Spoilt,
}

/// What a packet is to its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Not seen before.
    New,
    /// The symbol is there.
    Duplicate,
    /// It contradicts what came before.
    Contradiction,
}

impl<C: Code> Block<C> {
    pub(super) fn new(first: &Repr, now: Instant) -> Self {
        Self {
            seen: [0; 4],
            source_count: 0,
            source_end: 0,
            length: Length::Announced(first.source_block_length),
            source: Vec::new(),
            repair: Vec::new(),
            progress: vec![(0, now)],
            state: State::Open,
        }
    }

    /// Takes note of a symbol, but for what it holds.
    fn note(&mut self, repr: &Repr) -> Fit {
        let (symbol, told) = (repr.symbol, repr.source_block_length);
        let consistent = match self.length {
            // A source packet knows the length that was planned, a repair packet the one that came of it.
            Length::Announced(planned) if repr.is_source() => told == planned,
            Length::Announced(planned) => told <= planned && self.source_end <= told,
            Length::Final(length) if repr.is_source() => symbol < length && told >= length,
            Length::Final(length) => told == length,
        };
        if !consistent {
            return Fit::Contradiction;
        }
        let (word, bit) = (usize::from(symbol / 64), 1 << (symbol % 64));
        if self.seen[word] & bit != 0 {
            return Fit::Duplicate;
        }
        self.seen[word] |= bit;
        if repr.is_source() {
            self.source_count += 1;
            self.source_end = self.source_end.max(symbol + 1);
        } else {
            self.length = Length::Final(told);
        }
        Fit::New
    }

    /// A source symbol comes.
    pub(super) fn take_source(&mut self, repr: &Repr, adu: C::Adu, now: Instant) -> Fit {
        let end = self.source_end;
        let fit = self.note(repr);
        if fit == Fit::New && self.state == State::Open {
            let place = usize::from(repr.symbol);
            if self.source.len() <= place {
                self.source.resize(place + 1, None);
            }
            self.source[place] = Some(adu);
            if repr.symbol >= end {
                self.progress.push((repr.symbol, now));
            }
        }
        fit
    }

    /// A repair symbol comes.
    pub(super) fn take_repair(&mut self, repr: &Repr, symbol: C::Repair) -> Fit {
        let fit = self.note(repr);
        if fit == Fit::New && self.state == State::Open {
            self.repair.push((repr.symbol, symbol));
        }
        fit
    }

    /// What is missing, once it can be had: number, ADU, and since when there was cause to expect it. `None` if the symbols do
    /// not belong together. After that, and once all is there, what the block holds is let go.
    pub(super) fn recover(&mut self, code: &C) -> Option<Vec<(C::Adu, Instant)>> {
        let (Length::Announced(length) | Length::Final(length)) = self.length;
        let (wanted, have) = (usize::from(length), usize::from(self.source_count));
        if self.state != State::Open || have < wanted && have + self.repair.len() < wanted {
            return Some(Vec::new());
        }
        let mut recovered = Some(Vec::new());
        if have < wanted {
            self.source.resize(wanted, None);
            recovered = code.decode(&self.source, &self.repair[..wanted - have]);
        }
        self.state = if recovered.is_some() { State::Whole } else { State::Spoilt };
        let since = |number: u8| {
            // The last that came before it in the stream; for the first ones, the first packet of the block.
            let before = self.progress.iter().take_while(|&&(other, _)| other <= number);
            before.last().map_or(self.progress[0].1, |&(_, at)| at)
        };
        let recovered = recovered.map(|adus| adus.into_iter().map(|(number, adu)| (adu, since(number))).collect());
        if self.state == State::Whole {
            // A copy that comes late is a duplicate.
            (0..length).for_each(|number| self.seen[usize::from(number / 64)] |= 1 << (number % 64));
        }
        (self.source, self.repair, self.progress) = (Vec::new(), Vec::new(), Vec::new());
        recovered
    }

    /// Source symbols that never came and were not recovered, as far as the block's length is known.
    pub(super) fn missing(&self) -> u64 {
        let (Length::Announced(length) | Length::Final(length)) = self.length;
        if self.state == State::Whole { 0 } else { u64::from(length.saturating_sub(self.source_count)) }
    }
}
