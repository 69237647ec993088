//! Captures as pcapng: frames of 802.11 behind a radiotap header, and bare IPv4 packets, stamped in nanoseconds
//! (draft-ietf-opsawg-pcapng; link types 127 and 228 of the registry of link types, `LINKTYPE_IEEE802_11_RADIOTAP` and
//! `LINKTYPE_IPV4`).
//!
//! A capture is a row of blocks: a section header, a description of each interface, and an enhanced packet block for each
//! packet. [`Writer`] writes these three. [`Reader`] reads them in either byte order, and passes over all others, those of
//! packets without a time included.

mod block;
mod reader;
mod writer;

pub use self::reader::{Reader, Record};
pub use self::writer::{LinkType, Writer};

#[cfg(test)]
mod tests;
