//! The radiotap header: a radio's information about a frame that it received or sent (radiotap.org).

mod fields;
mod modulation;

use crate::ParseError;
use crate::bit_set::bit_set;
use crate::bytes::{array, put};
use crate::error::Layer;

pub use fields::{Field, Fields, Vendor};
pub use modulation::{AmpduStatus, Bandwidth, He, HeGuardInterval, Mcs, Modulation, Vht};

const LAYER: Layer = Layer("radiotap");

/// The fixed part of the header with one word of present bits, in bytes.
const FIXED_LEN: usize = 8;

mod field {
    pub(super) const VERSION: usize = 0;
    pub(super) const LENGTH: usize = 2;
    pub(super) const PRESENT: usize = 4;
}

/// Numbers of the fields that are understood here (radiotap.org, "Defined fields").
pub mod bit {
    /// Timer synchronisation function: when the frame's first bit arrived, in µs.
    pub const TSFT: u32 = 0;
    /// Flags of the frame.
    pub const FLAGS: u32 = 1;
    /// Rate, in units of 500 kb/s.
    pub const RATE: u32 = 2;
    /// Frequency in MHz and flags of the channel.
    pub const CHANNEL: u32 = 3;
    /// Received power, in dBm.
    pub const ANTENNA_SIGNAL: u32 = 5;
    /// Flags of the reception.
    pub const RX_FLAGS: u32 = 14;
    /// How a frame of HT was sent.
    pub const MCS: u32 = 19;
    /// Place in an A-MPDU.
    pub const AMPDU_STATUS: u32 = 20;
    /// How a frame of VHT was sent.
    pub const VHT: u32 = 21;
    /// How a frame of HE was sent.
    pub const HE: u32 = 23;
}

/// Bits of a present word that announce no field but tell about the next word, by number (radiotap.org, "Extended presence
/// masks" and "Namespaces").
const RADIOTAP_NAMESPACE: u32 = 29;
const VENDOR_NAMESPACE: u32 = 30;
const EXTENDED: u32 = 31;

/// Properties of a frame (radiotap.org, "Flags").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// The short preamble of high-rate DSSS.
    pub const SHORT_PREAMBLE: Self = Self(0x02);
    /// Encrypted with WEP.
    pub const WEP: Self = Self(0x04);
    /// Fragmented.
    pub const FRAGMENTATION: Self = Self(0x08);
    /// The frame check sequence follows the frame.
    pub const FCS_AT_END: Self = Self(0x10);
    /// Padding brings the frame body to a multiple of 4 bytes.
    pub const DATA_PAD: Self = Self(0x20);
    /// The frame check sequence was wrong.
    pub const BAD_FCS: Self = Self(0x40);
    /// A short guard interval.
    pub const SHORT_GUARD_INTERVAL: Self = Self(0x80);
}

bit_set!(Flags);

/// Properties of a channel (radiotap.org, "Channel").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ChannelFlags(pub u16);

impl ChannelFlags {
    /// Between 902 and 928 MHz. As Wireshark names it; radiotap.org leaves the bit open.
    pub const SPECTRUM_900_MHZ: Self = Self(0x0008);
    /// Turbo: 40 MHz wide.
    pub const TURBO: Self = Self(0x0010);
    /// Complementary code keying: 802.11b, and the DSSS rates before it.
    pub const CCK: Self = Self(0x0020);
    /// Orthogonal frequency division multiplexing: 802.11a and 802.11g.
    pub const OFDM: Self = Self(0x0040);
    /// 2.4 GHz.
    pub const SPECTRUM_2_GHZ: Self = Self(0x0080);
    /// 5 GHz.
    pub const SPECTRUM_5_GHZ: Self = Self(0x0100);
    /// Only passive scans are allowed.
    pub const PASSIVE: Self = Self(0x0200);
    /// CCK and OFDM in turn: 802.11g together with 802.11b.
    pub const DYNAMIC: Self = Self(0x0400);
    /// Gaussian frequency shift keying: frequency hopping.
    pub const GFSK: Self = Self(0x0800);
}

bit_set!(ChannelFlags);

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Centre frequency, in MHz.
    pub frequency: u16,
    /// Its properties.
    pub flags: ChannelFlags,
}

/// A view of a radiotap header and the frame after it.
///
/// ```text
/// octets  1        1        2               4                4        as present says
/// +--------+--------+----------------+-----------------+- - - - - - -+----------+-------+
/// |Version | Pad    |    Length      |     Present     |More present |  Fields  | Frame |
/// +--------+--------+----------------+-----------------+- - - - - - -+----------+-------+
/// ```
///
/// radiotap.org, "Header". Least significant byte first. Each bit of a present word stands for a field. The fields come in the
/// order of their bits, each at a multiple of its alignment from the start of the header. Bit 31: another present word follows;
/// bit 29: that one begins again with bit 0; bit 30: that one belongs to a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a header of version 0 with all of its present words. [`Self::fields`] checks
    /// whether the announced fields are there as well.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= FIXED_LEN, "length of the buffer", 0, length, "at least 8")?;
        let packet = Self { buffer };
        LAYER.require(packet.version() == 0, "version", field::VERSION, packet.version(), "0")?;
        let header = packet.header_len();
        LAYER.require(header >= FIXED_LEN, "length", field::LENGTH, header, "at least 8")?;
        LAYER.require(header <= length, "length", field::LENGTH, header, "at most the buffer's length")?;
        let mut at = field::PRESENT;
        while packet.present_at(at) >> EXTENDED & 1 != 0 {
            at += 4;
            LAYER.require(at + 4 <= header, "length", field::LENGTH, header, "beyond the last present word")?;
        }
        Ok(packet)
    }

    /// The version: 0.
    pub(crate) fn version(&self) -> u8 {
        self.buffer.as_ref()[field::VERSION]
    }

    /// Length of the header with its fields, in bytes.
    pub fn header_len(&self) -> usize {
        u16::from_le_bytes(array(self.buffer.as_ref(), field::LENGTH)).into()
    }

    fn present_at(&self, at: usize) -> u32 {
        u32::from_le_bytes(array(self.buffer.as_ref(), at))
    }

    /// Iterates over the fields, in their order.
    pub fn fields(&self) -> Fields<'_> {
        Fields::new(&self.buffer.as_ref()[..self.header_len()])
    }

    /// The frame after the header.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..]
    }
}

/// The fields of a radiotap header that a simulated radio sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repr {
    /// Time when the first bit of the frame's MAC header arrived at the MAC, in µs of the MAC's timer.
    pub tsft: Option<u64>,
    /// Properties of the frame.
    pub flags: Option<Flags>,
    /// Rate, in units of 500 kb/s.
    pub rate: Option<u8>,
    /// Channel of the transmission.
    pub channel: Option<Channel>,
    /// Power at the antenna, in dBm.
    pub antenna_signal: Option<i8>,
    /// How a frame of HT, VHT or HE was sent; others have a rate instead.
    pub modulation: Option<Modulation>,
    /// Place in an A-MPDU.
    pub ampdu: Option<AmpduStatus>,
}

impl Repr {
    /// Parses a header. It skips fields of vendors and those that [`Repr`] does not have; of fields that occur for each
    /// of several antennas, the first counts.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        let mut repr = Self::default();
        for field in packet.fields() {
            let Field::Standard { bit, data, .. } = field? else { continue };
            // Each of these fields is as long as `fields::LAYOUT` says.
            match bit {
                bit::TSFT => _ = repr.tsft.get_or_insert_with(|| u64::from_le_bytes(array(data, 0))),
                bit::FLAGS => _ = repr.flags.get_or_insert_with(|| Flags(data[0])),
                bit::RATE => _ = repr.rate.get_or_insert_with(|| data[0]),
                bit::CHANNEL => {
                    repr.channel.get_or_insert_with(|| Channel {
                        frequency: u16::from_le_bytes(array(data, 0)),
                        flags: ChannelFlags(u16::from_le_bytes(array(data, 2))),
                    });
                }
                bit::ANTENNA_SIGNAL => _ = repr.antenna_signal.get_or_insert_with(|| i8::from_le_bytes(array(data, 0))),
                bit::AMPDU_STATUS => _ = repr.ampdu.get_or_insert_with(|| AmpduStatus::parse(data)),
                bit::MCS => _ = repr.modulation.get_or_insert_with(|| Modulation::Ht(Mcs::parse(data))),
                bit::VHT => _ = repr.modulation.get_or_insert_with(|| Modulation::Vht(Vht::parse(data))),
                bit::HE => _ = repr.modulation.get_or_insert_with(|| Modulation::He(He::parse(data))),
                _ => {}
            }
        }
        Ok(repr)
    }

    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        self.encode().length
    }

    /// Writes the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let Header { octets, length } = self.encode();
        packet.buffer.as_mut()[..length].copy_from_slice(&octets[..length]);
    }

    fn encode(&self) -> Header {
        let mut header = Header { octets: [0; HEADER_LEN], length: FIXED_LEN };
        if let Some(tsft) = self.tsft {
            header.push(bit::TSFT, tsft.to_le_bytes());
        }
        if let Some(Flags(flags)) = self.flags {
            header.push(bit::FLAGS, [flags]);
        }
        if let Some(rate) = self.rate {
            header.push(bit::RATE, [rate]);
        }
        if let Some(Channel { frequency, flags: ChannelFlags(flags) }) = self.channel {
            let ([a, b], [c, d]) = (frequency.to_le_bytes(), flags.to_le_bytes());
            header.push(bit::CHANNEL, [a, b, c, d]);
        }
        if let Some(signal) = self.antenna_signal {
            header.push(bit::ANTENNA_SIGNAL, signal.to_le_bytes());
        }
        if let Some(Modulation::Ht(mcs)) = self.modulation {
            header.push(bit::MCS, mcs.octets());
        }
        if let Some(ampdu) = self.ampdu {
            header.push(bit::AMPDU_STATUS, ampdu.octets());
        }
        match self.modulation {
            Some(Modulation::Vht(vht)) => header.push(bit::VHT, vht.octets()),
            Some(Modulation::He(he)) => header.push(bit::HE, he.octets()),
            Some(Modulation::Ht(_)) | None => {}
        }
        put(&mut header.octets, field::LENGTH, (header.length as u16).to_le_bytes());
        header
    }
}

/// Length of a header with every field of [`Repr`] and the padding before it, in bytes.
const HEADER_LEN: usize = FIXED_LEN + 8 + 1 + 1 + 4 + 1 + Mcs::LEN + 3 + AmpduStatus::LEN + He::LEN;

/// A header on its way to the wire.
struct Header {
    octets: [u8; HEADER_LEN],
    length: usize,
}

impl Header {
    fn push<const N: usize>(&mut self, bit: u32, data: [u8; N]) {
        // `bit` is one of the constants above, all of them in the table.
        let alignment = fields::layout(bit).map_or(1, |(alignment, _)| alignment);
        let start = self.length.next_multiple_of(alignment);
        put(&mut self.octets, start, data);
        self.length = start + N;
        let present = u32::from_le_bytes(array(&self.octets, field::PRESENT)) | 1 << bit;
        put(&mut self.octets, field::PRESENT, present.to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
