use crate::code_point::code_points;

code_points! {
    /// What a management frame is for (IEEE Std 802.11-2020, Table 9-1).
    ManagementSubtype(u8) {
        /// Association request.
        AssociationRequest = 0,
        /// Association response.
        AssociationResponse = 1,
        /// Reassociation request.
        ReassociationRequest = 2,
        /// Reassociation response.
        ReassociationResponse = 3,
        /// Probe request.
        ProbeRequest = 4,
        /// Probe response.
        ProbeResponse = 5,
        /// Beacon.
        Beacon = 8,
        /// Announcement traffic indication message.
        Atim = 9,
        /// Disassociation.
        Disassociation = 10,
        /// Authentication.
        Authentication = 11,
        /// Deauthentication.
        Deauthentication = 12,
        /// Action.
        Action = 13,
    }
}

code_points! {
    /// What a control frame is for (IEEE Std 802.11-2020, Table 9-1).
    ControlSubtype(u8) {
        /// Block acknowledgement request.
        BlockAckRequest = 8,
        /// Block acknowledgement.
        BlockAck = 9,
        /// Power save poll.
        PsPoll = 10,
        /// Request to send.
        Rts = 11,
        /// Clear to send.
        Cts = 12,
        /// Acknowledgement.
        Ack = 13,
        /// End of the contention-free period.
        CfEnd = 14,
    }
}

code_points! {
    /// What a data frame carries (IEEE Std 802.11-2020, Table 9-1).
    DataSubtype(u8) {
        /// Data.
        Data = 0,
        /// Nothing: only the header counts.
        Null = 4,
        /// Data with quality of service.
        QosData = 8,
        /// Nothing, with quality of service.
        QosNull = 12,
    }
}

impl DataSubtype {
    /// Whether the header has a QoS control field (9.2.4.1.3: bit 7 of the frame control field).
    pub fn is_qos(self) -> bool {
        u8::from(self) & 0x08 != 0
    }
}

/// Type and subtype (IEEE Std 802.11-2020, 9.2.4.1.3). Subtypes have 4 bits: of an `Unknown` with more, the lower 4 count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameType {
    /// Type 0.
    Management(ManagementSubtype),
    /// Type 1.
    Control(ControlSubtype),
    /// Type 2.
    Data(DataSubtype),
    /// Type 3, with its subtype.
    Extension(u8),
}

/// Flags of a frame that don't say where its addresses are (IEEE Std 802.11-2020, 9.2.4.1.5 to 9.2.4.1.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Another fragment follows.
    pub more_fragments: bool,
    /// The frame was sent before.
    pub retry: bool,
    /// The transmitter will doze after this exchange.
    pub power_management: bool,
    /// More is waiting for the receiver, which dozes.
    pub more_data: bool,
    /// The body is encrypted.
    pub protected: bool,
    /// There is an HT control field, or, in older frames, order must be kept.
    pub order: bool,
}

impl Flags {
    /// No flag.
    pub const NONE: Self = Self {
        more_fragments: false,
        retry: false,
        power_management: false,
        more_data: false,
        protected: false,
        order: false,
    };
}

/// The frame control field, of protocol version 0.
///
/// ```text
/// bit  0   1 2   3 4           7  8    9    10    11    12    13   14    15
/// +-------+-----+---------------+----+----+-----+-----+-----+----+-----+-----+
/// |Version|Type |    Subtype    | To |From|More |Retry|Power|More|Prot.|Order|
/// |       |     |               | DS | DS |frag.|     |mgmt.|data|     |     |
/// +-------+-----+---------------+----+----+-----+-----+-----+----+-----+-----+
/// ```
///
/// IEEE Std 802.11-2020, 9.2.4.1. Bits 0 to 7 are the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameControl {
    /// Type and subtype.
    pub frame_type: FrameType,
    /// To the distribution system (9.2.4.1.4).
    pub to_ds: bool,
    /// From the distribution system (9.2.4.1.4).
    pub from_ds: bool,
    /// The rest.
    pub flags: Flags,
}

impl FrameControl {
    /// The field in a frame that neither comes from a distribution system nor goes to one.
    pub(crate) fn new(frame_type: FrameType, flags: Flags) -> Self {
        Self { frame_type, to_ds: false, from_ds: false, flags }
    }
}

/// The protocol version, bits 0 and 1, is left out.
impl From<u16> for FrameControl {
    fn from(bits: u16) -> Self {
        let subtype = (bits >> 4 & 0x0f) as u8;
        let frame_type = match bits >> 2 & 0x03 {
            0 => FrameType::Management(subtype.into()),
            1 => FrameType::Control(subtype.into()),
            2 => FrameType::Data(subtype.into()),
            _ => FrameType::Extension(subtype),
        };
        let flag = |bit: u16| bits >> bit & 1 != 0;
        Self {
            frame_type,
            to_ds: flag(8),
            from_ds: flag(9),
            flags: Flags {
                more_fragments: flag(10),
                retry: flag(11),
                power_management: flag(12),
                more_data: flag(13),
                protected: flag(14),
                order: flag(15),
            },
        }
    }
}

impl From<FrameControl> for u16 {
    fn from(control: FrameControl) -> Self {
        let (kind, subtype) = match control.frame_type {
            FrameType::Management(subtype) => (0, subtype.into()),
            FrameType::Control(subtype) => (1, subtype.into()),
            FrameType::Data(subtype) => (2, subtype.into()),
            FrameType::Extension(subtype) => (3, subtype),
        };
        let Flags { more_fragments, retry, power_management, more_data, protected, order } = control.flags;
        let flags =
            [control.to_ds, control.from_ds, more_fragments, retry, power_management, more_data, protected, order];
        let flags = flags.iter().enumerate().fold(0, |bits, (nth, &flag)| bits | Self::from(flag) << (8 + nth));
        flags | Self::from(subtype & 0x0f) << 4 | kind << 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_the_field_survives() {
        for bits in 0..=u16::MAX {
            assert_eq!(u16::from(FrameControl::from(bits)), bits & !0x0003);
        }
    }

    #[test]
    fn types_have_the_numbers_of_table_9_1() {
        let first_octet = |frame_type| u16::from(FrameControl::new(frame_type, Flags::NONE)) as u8;
        assert_eq!(first_octet(FrameType::Management(ManagementSubtype::Beacon)), 0x80);
        assert_eq!(first_octet(FrameType::Management(ManagementSubtype::ProbeRequest)), 0x40);
        assert_eq!(first_octet(FrameType::Control(ControlSubtype::Rts)), 0xb4);
        assert_eq!(first_octet(FrameType::Control(ControlSubtype::Cts)), 0xc4);
        assert_eq!(first_octet(FrameType::Control(ControlSubtype::Ack)), 0xd4);
        assert_eq!(first_octet(FrameType::Data(DataSubtype::Data)), 0x08);
        assert_eq!(first_octet(FrameType::Data(DataSubtype::Null)), 0x48);
        assert_eq!(first_octet(FrameType::Data(DataSubtype::QosData)), 0x88);
        assert_eq!(first_octet(FrameType::Extension(0)), 0x0c);
    }

    #[test]
    fn each_flag_has_its_bit() {
        let second_octet = |flags| u16::from(FrameControl::new(FrameType::Data(DataSubtype::Data), flags)) >> 8;
        assert_eq!(second_octet(Flags { more_fragments: true, ..Flags::NONE }), 0x04);
        assert_eq!(second_octet(Flags { retry: true, ..Flags::NONE }), 0x08);
        assert_eq!(second_octet(Flags { power_management: true, ..Flags::NONE }), 0x10);
        assert_eq!(second_octet(Flags { more_data: true, ..Flags::NONE }), 0x20);
        assert_eq!(second_octet(Flags { protected: true, ..Flags::NONE }), 0x40);
        assert_eq!(second_octet(Flags { order: true, ..Flags::NONE }), 0x80);
    }
}
