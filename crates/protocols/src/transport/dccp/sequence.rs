//! Numbers of 48 bits, unrolled to 64, and the windows of valid ones (RFC 4340, section 7).

/// A number on the wire has 48 bits.
const MODULUS: u64 = 1 << 48;

/// The first number of a sequence, unrolled: one turn above zero, so that earlier ones exist.
pub(super) const fn first(number: u64) -> u64 {
    number % MODULUS + MODULUS
}

/// The number on the wire of an unrolled one.
pub(super) const fn number(unrolled: u64) -> u64 {
    unrolled % MODULUS
}

/// The unrolled number nearest to `reference` that is `number` on the wire (circular comparison, RFC 4340, section 7.1).
pub(super) const fn unroll(number: u64, reference: u64) -> u64 {
    // The shift puts the sign of the difference of 48 bits where that of 64 is.
    let difference = (number.wrapping_sub(reference) << 16) as i64 >> 16;
    reference.saturating_add_signed(difference)
}

/// The own numbers: what was sent, and which acknowledgements are valid.
#[derive(Clone, Debug)]
pub(super) struct Own {
    /// ISS.
    first: u64,
    /// GSS; below ISS before the first packet.
    greatest: u64,
    /// GAR: the greatest number that the peer acknowledged.
    pub(super) acknowledged: u64,
    /// Sequence Window of this end, as far as the peer has confirmed it.
    pub(super) window: u64,
}

/// The default of both sequence windows (RFC 4340, section 7.5.2).
const DEFAULT_WINDOW: u64 = 100;

impl Own {
    pub(super) fn new(initial: u64) -> Self {
        let first = first(initial);
        Self { first, greatest: first - 1, acknowledged: first, window: DEFAULT_WINDOW }
    }

    /// The number of the next packet.
    pub(super) fn next(&mut self) -> u64 {
        self.greatest += 1;
        self.greatest
    }

    /// GSS.
    pub(super) fn greatest(&self) -> u64 {
        self.greatest
    }

    /// Whether an acknowledgement number lies in AWL to AWH, and not below `least`.
    pub(super) fn is_valid(&self, acknowledged: u64, least: u64) -> bool {
        let low = (self.greatest + 1).saturating_sub(self.window).max(self.first).max(least);
        (low..=self.greatest).contains(&acknowledged)
    }
}

/// The peer's numbers: what was received, and which packets are valid.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// ISR.
    first: u64,
    /// GSR.
    pub(super) greatest: u64,
    /// The peer's Sequence Window.
    pub(super) window: u64,
}

impl Peer {
    pub(super) fn new(initial: u64) -> Self {
        let first = first(initial);
        Self { first, greatest: first, window: DEFAULT_WINDOW }
    }

    /// SWL.
    pub(super) fn low(&self) -> u64 {
        (self.greatest + 1).saturating_sub(self.window / 4).max(self.first)
    }

    /// SWH.
    fn high(&self) -> u64 {
        self.greatest.saturating_add((3 * self.window).div_ceil(4))
    }

    /// Whether a packet's number lies in SWL to SWH, and not below `least`.
    pub(super) fn is_valid(&self, number: u64, least: u64) -> bool {
        (self.low().max(least)..=self.high()).contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_7_1_numbers_wrap_at_48_bits() {
        for reference in [first(0), first(5), first(MODULUS - 1), 3 * MODULUS + 7] {
            for step in [-(1_i64 << 46), -1, 0, 1, 1 << 46] {
                let unrolled = reference.saturating_add_signed(step);
                assert_eq!(unroll(number(unrolled), reference), unrolled, "{reference} {step}");
            }
        }
        assert_eq!(number(first(MODULUS + 3)), 3);
    }

    #[test]
    fn section_7_5_1_the_windows_by_hand() {
        let mut peer = Peer::new(1000);
        let at = |number: u64| first(number);
        // W = 100: SWL = max(GSR + 1 - 25, ISR), SWH = GSR + 75.
        assert!(
            [(999, false), (1000, true), (1075, true), (1076, false)]
                .iter()
                .all(|&(number, valid)| peer.is_valid(at(number), 0) == valid)
        );
        peer.greatest = at(2000);
        assert!(
            [(1975, false), (1976, true), (2075, true), (2076, false)]
                .iter()
                .all(|&(number, valid)| peer.is_valid(at(number), 0) == valid)
        );
        assert!(!peer.is_valid(at(2000), at(2001)));
        // An odd window rounds down below and up above.
        peer.window = 101;
        assert!(peer.is_valid(at(1976), 0) && !peer.is_valid(at(1975), 0) && peer.is_valid(at(2076), 0));

        let mut own = Own::new(5000);
        assert!(!own.is_valid(at(5000), 0), "nothing was sent");
        (0..200).for_each(|_| {
            own.next();
        });
        // GSS = 5199, W' = 100: AWL = 5100.
        assert!(
            [(5099, false), (5100, true), (5199, true), (5200, false)]
                .iter()
                .all(|&(number, valid)| own.is_valid(at(number), 0) == valid)
        );
    }
}
