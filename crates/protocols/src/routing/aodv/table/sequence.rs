//! Sequence numbers of destinations.

/// A destination sequence number (RFC 3561, section 6.1).
///
/// Numbers wrap around: of two, that one is newer which follows the other within half of the circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routing::aodv) struct Sequence(pub(in crate::routing::aodv) u32);

impl Sequence {
    /// The number after this one.
    pub(in crate::routing::aodv) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Whether this number comes after the other one.
    pub(in crate::routing::aodv) const fn is_newer_than(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).cast_signed() > 0
    }

    /// Whether this number is the other one or comes after it.
    pub(in crate::routing::aodv) fn is_at_least(self, other: Self) -> bool {
        self == other || self.is_newer_than(other)
    }

    /// The newer of the two.
    pub(in crate::routing::aodv) const fn or_newer(self, other: Self) -> Self {
        if other.is_newer_than(self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_around() {
        let last = Sequence(u32::MAX);
        assert_eq!(last.next(), Sequence(0), "section 6.1: the largest number is followed by zero");
        assert!(last.next().is_newer_than(last) && !last.is_newer_than(last.next()));
        assert_eq!(last.or_newer(Sequence(0)), Sequence(0));
        assert_eq!(Sequence(0).or_newer(last), Sequence(0));
        assert_eq!(Sequence(0x7fff_ffff).next(), Sequence(0x8000_0000));
        assert!(Sequence(0x8000_0000).is_newer_than(Sequence(0x7fff_ffff)));
        assert!(Sequence(5).is_at_least(Sequence(5)) && !Sequence(5).is_newer_than(Sequence(5)));
    }
}
