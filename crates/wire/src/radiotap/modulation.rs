//! How a frame of HT, VHT or HE was sent, and its place in an A-MPDU (radiotap.org, "MCS", "A-MPDU status", "VHT" and "HE").

use crate::bytes::{array, put};

/// Width of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bandwidth {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz.
    Mhz160,
}

/// Guard interval of an HE symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeGuardInterval {
    /// 0.8 µs.
    Ns800,
    /// 1.6 µs.
    Ns1600,
    /// 3.2 µs.
    Ns3200,
}

/// A frame of HT in the mixed format: field MCS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mcs {
    /// Index, 0 to 76.
    pub index: u8,
    /// Whether the channel is 40 MHz wide, instead of 20.
    pub is_40_mhz: bool,
    /// Whether the guard interval is 0.4 µs, instead of 0.8.
    pub short_guard_interval: bool,
    /// Whether the code is one of parity checks, instead of convolutional.
    pub ldpc: bool,
}

impl Mcs {
    pub(super) const LEN: usize = 3;
    /// Bandwidth, index, guard interval, format and code are known, and that there is neither STBC nor an extension stream.
    const KNOWN: u8 = 0x7f;

    pub(super) fn octets(self) -> [u8; Self::LEN] {
        let flags = u8::from(self.is_40_mhz) | u8::from(self.short_guard_interval) << 2 | u8::from(self.ldpc) << 4;
        [Self::KNOWN, flags, self.index]
    }

    /// What is not known counts as the plain choice.
    pub(super) fn parse(data: &[u8]) -> Self {
        let flag = |known: u8, bit: u8| data[0] & known != 0 && data[1] & bit != 0;
        Self {
            index: data[2],
            is_40_mhz: data[0] & 0x01 != 0 && data[1] & 0x03 == 1,
            short_guard_interval: flag(0x04, 0x04),
            ldpc: flag(0x10, 0x10),
        }
    }
}

/// A frame of VHT to a single user: field VHT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vht {
    /// Index, 0 to 9.
    pub index: u8,
    /// Spatial streams, 1 to 8.
    pub streams: u8,
    /// Width of the channel.
    pub bandwidth: Bandwidth,
    /// Whether the guard interval is 0.4 µs, instead of 0.8.
    pub short_guard_interval: bool,
    /// Whether the code is one of parity checks, instead of convolutional.
    pub ldpc: bool,
}

impl Vht {
    pub(super) const LEN: usize = 12;
    /// Guard interval and bandwidth are known, and that there is no STBC; index, streams and code have no bit for that.
    const KNOWN: u16 = 0x0045;
    const SHORT_GUARD_INTERVAL: u8 = 0x04;

    pub(super) fn octets(self) -> [u8; Self::LEN] {
        let mut octets = [0; Self::LEN];
        put(&mut octets, 0, Self::KNOWN.to_le_bytes());
        octets[2] = if self.short_guard_interval { Self::SHORT_GUARD_INTERVAL } else { 0 };
        octets[3] = match self.bandwidth {
            Bandwidth::Mhz20 => 0,
            Bandwidth::Mhz40 => 1,
            Bandwidth::Mhz80 => 4,
            Bandwidth::Mhz160 => 11,
        };
        octets[4] = self.index << 4 | (self.streams & 0x0f);
        octets[8] = u8::from(self.ldpc);
        octets
    }

    /// The first user's; a part of a channel counts as the whole one. What is not known counts as the plain choice.
    pub(super) fn parse(data: &[u8]) -> Self {
        let known = u16::from_le_bytes(array(data, 0));
        Self {
            index: data[4] >> 4,
            streams: data[4] & 0x0f,
            bandwidth: match data[3] {
                1..=3 => Bandwidth::Mhz40,
                4..=10 => Bandwidth::Mhz80,
                11..=25 => Bandwidth::Mhz160,
                _ => Bandwidth::Mhz20,
            },
            short_guard_interval: known & 0x0004 != 0 && data[2] & Self::SHORT_GUARD_INTERVAL != 0,
            ldpc: data[8] & 1 != 0,
        }
    }
}

/// A frame of HE to a single user: field HE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct He {
    /// Index, 0 to 11.
    pub index: u8,
    /// Spatial streams, 1 to 8.
    pub streams: u8,
    /// Width of the channel.
    pub bandwidth: Bandwidth,
    /// Guard interval.
    pub guard_interval: HeGuardInterval,
    /// Whether the code is one of parity checks, instead of convolutional.
    pub ldpc: bool,
}

impl He {
    pub(super) const LEN: usize = 12;
    /// Data 1: format SU; index, code and bandwidth are known.
    const KNOWN_1: u16 = 0x0020 | 0x0080 | 0x4000;
    /// Data 2: the guard interval is known.
    const KNOWN_2: u16 = 0x0002;

    pub(super) fn octets(self) -> [u8; Self::LEN] {
        let interval = match self.guard_interval {
            HeGuardInterval::Ns800 => 0,
            HeGuardInterval::Ns1600 => 1,
            HeGuardInterval::Ns3200 => 2,
        };
        let data = [
            Self::KNOWN_1,
            Self::KNOWN_2,
            u16::from(self.index & 0x0f) << 8 | u16::from(self.ldpc) << 13,
            0,
            self.bandwidth as u16 | interval << 4,
            u16::from(self.streams & 0x0f),
        ];
        let mut octets = [0; Self::LEN];
        for (place, word) in data.into_iter().enumerate() {
            put(&mut octets, 2 * place, word.to_le_bytes());
        }
        octets
    }

    /// What is not known counts as the plain choice.
    pub(super) fn parse(data: &[u8]) -> Self {
        let word = |number: usize| u16::from_le_bytes(array(data, 2 * (number - 1)));
        Self {
            index: (word(3) >> 8 & 0x0f) as u8,
            streams: (word(6) & 0x0f) as u8,
            bandwidth: match word(5) & 0x0f {
                1 => Bandwidth::Mhz40,
                2 => Bandwidth::Mhz80,
                3 => Bandwidth::Mhz160,
                _ => Bandwidth::Mhz20,
            },
            guard_interval: match word(5) >> 4 & 0x03 {
                1 => HeGuardInterval::Ns1600,
                2 => HeGuardInterval::Ns3200,
                _ => HeGuardInterval::Ns800,
            },
            ldpc: word(3) & 1 << 13 != 0,
        }
    }
}

/// How a frame was sent for which radiotap has an index in place of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Modulation {
    /// HT.
    Ht(Mcs),
    /// VHT.
    Vht(Vht),
    /// HE.
    He(He),
}

/// The place of a frame in an A-MPDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AmpduStatus {
    /// The same for all frames of an A-MPDU.
    pub reference: u32,
    /// Whether it is the last one.
    pub is_last: bool,
}

impl AmpduStatus {
    pub(super) const LEN: usize = 8;
    /// It is known which one is the last.
    const LAST_KNOWN: u16 = 0x0004;
    const LAST: u16 = 0x0008;

    pub(super) fn octets(self) -> [u8; Self::LEN] {
        let flags = Self::LAST_KNOWN | if self.is_last { Self::LAST } else { 0 };
        let mut octets = [0; Self::LEN];
        put(&mut octets, 0, self.reference.to_le_bytes());
        put(&mut octets, 4, flags.to_le_bytes());
        octets
    }

    pub(super) fn parse(data: &[u8]) -> Self {
        let flags = u16::from_le_bytes(array(data, 4));
        Self { reference: u32::from_le_bytes(array(data, 0)), is_last: flags & Self::LAST != 0 }
    }
}
