//! One event of a recording: 32 bytes.

use hopcast_protocols::time::{Duration, Instant};

/// Kind of an event. The discriminant is its number in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// A frame on the air, at its transmitter.
    Transmit,
    /// A frame decoded at a node.
    Receive,
    /// A frame lost at a node by interference.
    Collision,
    /// A frame lost at a node by noise or an error model, without interference.
    Noise,
    /// The countdown of a backoff.
    Backoff,
    /// Virtual carrier sense is busy for the duration.
    Nav,
    /// Physical carrier sense is busy for the duration.
    Busy,
    /// A packet enters an interface queue.
    Enqueue,
    /// A node gave up a packet or frame.
    Drop,
    /// An application's packet leaves for the network.
    Send,
    /// A packet reaches its application.
    Deliver,
    /// A frame of media at its player.
    Media,
    /// Playback stands still.
    Stall,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub(super) const ALL: [Self; 13] = [
        Self::Transmit,
        Self::Receive,
        Self::Collision,
        Self::Noise,
        Self::Backoff,
        Self::Nav,
        Self::Busy,
        Self::Enqueue,
        Self::Drop,
        Self::Send,
        Self::Deliver,
        Self::Media,
        Self::Stall,
    ];

    /// The place among the kinds at one instant: a packet arrives, is shown, leaves, is queued and dropped before frames begin.
    pub(super) const fn order(self) -> u8 {
        match self {
            Self::Deliver => 0,
            Self::Media => 1,
            Self::Stall => 2,
            Self::Send => 3,
            Self::Enqueue => 4,
            Self::Drop => 5,
            Self::Transmit => 6,
            Self::Receive => 7,
            Self::Collision => 8,
            Self::Noise => 9,
            Self::Busy => 10,
            Self::Nav => 11,
            Self::Backoff => 12,
        }
    }

    /// The stable name in recordings.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Transmit => "transmit",
            Self::Receive => "receive",
            Self::Collision => "collision",
            Self::Noise => "noise",
            Self::Backoff => "backoff",
            Self::Nav => "nav",
            Self::Busy => "busy",
            Self::Enqueue => "enqueue",
            Self::Drop => "drop",
            Self::Send => "send",
            Self::Deliver => "deliver",
            Self::Media => "media",
            Self::Stall => "stall",
        }
    }
}

/// Something that happened at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// When it began.
    pub(super) time: Instant,
    /// How long it took; zero for an instant. Files hold at most 4.29 s.
    pub(super) duration: Duration,
    /// Index of the node.
    pub(super) node: u16,
    /// Index of the other node; [`Self::NO_INDEX`]: none, or all.
    pub(super) peer: u16,
    /// What happened.
    pub(super) kind: Kind,
    /// Type of the frame, or cause of the drop.
    pub(super) code: u8,
    /// Index of the flow, or [`Self::NO_INDEX`].
    pub(super) flow: u16,
    /// Size in bytes.
    pub(super) size: u32,
    /// Number of the transmission, the same in its receptions; [`Self::NO_FRAME`]: none.
    pub(super) frame: u32,
    /// Meaning by kind.
    pub(super) value: i32,
}

impl Event {
    /// Bytes of a record.
    pub(super) const LENGTH: usize = 32;
    /// No node, or no flow.
    pub(super) const NO_INDEX: u16 = u16::MAX;
    /// No transmission.
    pub(super) const NO_FRAME: u32 = u32::MAX;

    /// The event of a record; `None` if its kind is unknown.
    pub(super) fn from_bytes(bytes: &[u8; Self::LENGTH]) -> Option<Self> {
        let two = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let four = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Some(Self {
            time: Instant::from_nanos(u64::from(four(0)) | u64::from(four(4)) << 32),
            duration: Duration::from_nanos(u64::from(four(8))),
            node: two(12),
            peer: two(14),
            kind: *Kind::ALL.get(usize::from(bytes[16]))?,
            code: bytes[17],
            flow: two(18),
            size: four(20),
            frame: four(24),
            value: four(28) as i32,
        })
    }

    /// The record in files.
    pub(super) fn to_bytes(self) -> [u8; Self::LENGTH] {
        let duration = u32::try_from(self.duration.as_nanos()).unwrap_or(u32::MAX);
        let mut bytes = [0; Self::LENGTH];
        bytes[0..8].copy_from_slice(&self.time.as_nanos().to_le_bytes());
        bytes[8..12].copy_from_slice(&duration.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.node.to_le_bytes());
        bytes[14..16].copy_from_slice(&self.peer.to_le_bytes());
        bytes[16] = self.kind as u8;
        bytes[17] = self.code;
        bytes[18..20].copy_from_slice(&self.flow.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.size.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.frame.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.value.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_numbers_of_the_format() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }

    #[test]
    fn a_record_has_its_fields_at_the_places_of_the_format() {
        let event = Event {
            time: Instant::from_nanos(0x0102_0304_0506_0708),
            duration: Duration::from_nanos(1 << 40),
            node: 0x1112,
            peer: Event::NO_INDEX,
            kind: Kind::Drop,
            code: 3,
            flow: 0x2122,
            size: 0x3132_3334,
            frame: 0x4142_4344,
            value: -2,
        };
        let expected = [
            8, 7, 6, 5, 4, 3, 2, 1, 0xff, 0xff, 0xff, 0xff, 0x12, 0x11, 0xff, 0xff, 8, 3, 0x22, 0x21, 0x34, 0x33, 0x32,
            0x31, 0x44, 0x43, 0x42, 0x41, 0xfe, 0xff, 0xff, 0xff,
        ];
        assert_eq!(event.to_bytes(), expected);
        let clipped = Event { duration: Duration::from_nanos(u64::from(u32::MAX)), ..event };
        assert_eq!(Event::from_bytes(&expected), Some(clipped));
    }
}
