//! The fields of a radiotap header, found through its present words.

use super::{EXTENDED, LAYER, RADIOTAP_NAMESPACE, VENDOR_NAMESPACE, field};
use crate::ParseError;
use crate::bytes::array;

/// Alignment and length of the fields from bit 0 on, in bytes (radiotap.org, "Defined fields").
const LAYOUT: [(usize, usize); 28] = [
    (8, 8),  // TSFT
    (1, 1),  // Flags
    (1, 1),  // Rate
    (2, 4),  // Channel
    (2, 2),  // FHSS
    (1, 1),  // Antenna signal
    (1, 1),  // Antenna noise
    (2, 2),  // Lock quality
    (2, 2),  // TX attenuation
    (2, 2),  // dB TX attenuation
    (1, 1),  // dBm TX power
    (1, 1),  // Antenna
    (1, 1),  // dB antenna signal
    (1, 1),  // dB antenna noise
    (2, 2),  // RX flags
    (2, 2),  // TX flags
    (1, 1),  // RTS retries
    (1, 1),  // Data retries
    (4, 8),  // Extended channel
    (1, 3),  // MCS
    (4, 8),  // A-MPDU status
    (2, 12), // VHT
    (8, 12), // Timestamp
    (2, 12), // HE
    (2, 12), // HE-MU
    (2, 6),  // HE-MU of another user
    (1, 1),  // PSDU of no length
    (2, 4),  // L-SIG
];

/// Alignment and length of what opens a vendor's fields: its identifier, its own namespace, and how long its fields are.
const VENDOR_LAYOUT: (usize, usize) = (2, 6);

/// Alignment and length of a field, if they are known.
pub(super) fn layout(bit: u32) -> Option<(usize, usize)> {
    LAYOUT.get(usize::try_from(bit).ok()?).copied()
}

/// Vendor that defines fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vendor {
    /// The organisation.
    pub organisation: [u8; 3],
    /// Namespace of the vendor.
    pub namespace: u8,
}

/// A field of a radiotap header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'a> {
    /// A field that radiotap.org defines.
    Standard {
        /// Its number.
        bit: u32,
        /// Where it begins, in bytes from the start of the header.
        offset: usize,
        /// What it holds.
        data: &'a [u8],
    },
    /// All fields of one vendor namespace: only the vendor knows their layout.
    Vendor {
        /// Whose they are.
        vendor: Vendor,
        /// Where they begin, in bytes from the start of the header.
        offset: usize,
        /// What they hold.
        data: &'a [u8],
    },
    /// The rest of the header, from a field of unknown length on. Fields after it can't be found.
    Rest {
        /// Number of that field.
        bit: u32,
        /// Where the rest begins, in bytes from the start of the header.
        offset: usize,
        /// What it holds.
        data: &'a [u8],
    },
}

/// Whose fields a present word announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Namespace {
    Radiotap,
    Vendor,
}

/// The fields of a header in their order. Ends with the header, with a [`Field::Rest`] or with the first error.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    header: &'a [u8],
    /// Where the present word is that is being read.
    word_at: usize,
    namespace: Namespace,
    /// The number of the first bit of that word.
    base: u32,
    /// The bit to look at next, within that word; 32 when the word is done, and above when all are.
    next: u32,
    /// Behind the last field.
    data_at: usize,
}

impl<'a> Fields<'a> {
    /// The fields of `header`, which ends where the header ends and holds all of its present words.
    pub(super) fn new(header: &'a [u8]) -> Self {
        let mut data_at = field::PRESENT;
        while u32::from_le_bytes(array(header, data_at)) >> EXTENDED & 1 != 0 {
            data_at += 4;
        }
        data_at += 4;
        Self { header, word_at: field::PRESENT, namespace: Namespace::Radiotap, base: 0, next: 0, data_at }
    }

    fn word(&self) -> u32 {
        u32::from_le_bytes(array(self.header, self.word_at))
    }

    /// Goes on to the next present word; `false` if there is none.
    fn next_word(&mut self) -> bool {
        let has = |bit: u32| self.word() >> bit & 1 != 0;
        if !has(EXTENDED) {
            return false;
        }
        (self.namespace, self.base) = if has(VENDOR_NAMESPACE) {
            (Namespace::Vendor, 0)
        } else if has(RADIOTAP_NAMESPACE) {
            (Namespace::Radiotap, 0)
        } else {
            (self.namespace, self.base.saturating_add(32))
        };
        self.word_at += 4;
        self.next = 0;
        true
    }

    fn end(&mut self) {
        self.next = u32::MAX;
    }

    /// Takes a piece of `length` bytes, at a multiple of `alignment`.
    fn take(&mut self, alignment: usize, length: usize, what: &'static str) -> Result<(usize, &'a [u8]), ParseError> {
        let start = self.data_at.next_multiple_of(alignment);
        let left = self.header.len().saturating_sub(start);
        LAYER.require(length <= left, what, start, length, "at most what is left of the header")?;
        self.data_at = start + length;
        Ok((start, &self.header[start..start + length]))
    }

    fn standard(&mut self, bit: u32) -> Result<Field<'a>, ParseError> {
        let Some((alignment, length)) = layout(bit) else {
            self.end();
            let offset = self.data_at.min(self.header.len());
            return Ok(Field::Rest { bit, offset, data: &self.header[offset..] });
        };
        let (offset, data) = self.take(alignment, length, "length of a field")?;
        Ok(Field::Standard { bit, offset, data })
    }

    fn vendor(&mut self) -> Result<Field<'a>, ParseError> {
        let (alignment, length) = VENDOR_LAYOUT;
        let (_, head) = self.take(alignment, length, "length of a vendor namespace's head")?;
        let skip = u16::from_le_bytes(array(head, 4));
        let (offset, data) = self.take(1, skip.into(), "length of a vendor's fields")?;
        Ok(Field::Vendor { vendor: Vendor { organisation: array(head, 0), namespace: head[3] }, offset, data })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.next > EXTENDED {
                if self.next == u32::MAX || !self.next_word() {
                    return None;
                }
                continue;
            }
            let bit = self.next;
            self.next += 1;
            if self.word() >> bit & 1 == 0 {
                continue;
            }
            let field = match bit {
                EXTENDED | RADIOTAP_NAMESPACE => continue,
                VENDOR_NAMESPACE => self.vendor(),
                // The namespace's own head has told how long the vendor's fields are, and they have been passed.
                _ if self.namespace == Namespace::Vendor => continue,
                _ => self.standard(self.base.saturating_add(bit)),
            };
            if field.is_err() {
                self.end();
            }
            return Some(field);
        }
    }
}
