//! Explicit congestion notification: the two low bits of the type of service (RFC 3168, section 5).

/// The ECN field of an IP header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: a router drops the packet to show congestion.
    #[default]
    NotEct,
    /// ECT(1): the transport understands marks, and reacts to them as L4S does (RFC 9331, section 4.1).
    Ect1,
    /// ECT(0): the transport understands marks.
    Ect0,
    /// CE: congestion experienced.
    Ce,
}

impl Ecn {
    /// The field in a type of service.
    pub const fn of(type_of_service: u8) -> Self {
        match type_of_service & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The same type of service with this field.
    pub const fn put(self, type_of_service: u8) -> u8 {
        type_of_service & !3 | self as u8
    }

    /// Whether a queue may mark the packet instead of dropping it. A packet that is marked already stays marked.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168, figure 1, with the code points of the differentiated services left alone.
    #[test]
    fn the_field_is_the_two_low_bits() {
        let names = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (bits, ecn) in (0..).zip(names) {
            assert_eq!((Ecn::of(0xb8 | bits), ecn.put(0xb8), ecn.put(0xbb)), (ecn, 0xb8 | bits, 0xb8 | bits));
            assert_eq!(ecn.is_capable(), bits > 0);
        }
    }
}
