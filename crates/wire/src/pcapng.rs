//! Captures in pcapng: frames of 802.11 with a radiotap header, bare IPv4 packets, and Ethernet frames, with times in
//! nanoseconds (draft-ietf-opsawg-pcapng; link types 127, 228 and 1 of the registry of link types,
//! `LINKTYPE_IEEE802_11_RADIOTAP`, `LINKTYPE_IPV4` and `LINKTYPE_ETHERNET`).
//!
//! A capture is a sequence of blocks: a section header, a description of each interface, and an enhanced packet block for
//! each packet. [`Writer`] writes these three. [`Reader`] reads them in either byte order, and skips all others,
//! including those of packets without a time.

mod block;
mod reader;
mod writer;

pub use self::reader::{Reader, Record};
pub use self::writer::{LinkType, Writer};

#[cfg(test)]
mod tests;
