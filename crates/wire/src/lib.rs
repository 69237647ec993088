//! Packet formats: typed headers, parse and emit, one format a file.
//!
//! Each format has two layers:
//!
//! * `Packet<T>` is a view on octets, with one accessor per field. It is where the layout is known.
//! * `Repr` is the meaning: a plain value that is made by [parsing](ipv4::Repr::parse) a view and becomes octets again when
//!   it is [emitted](ipv4::Repr::emit). What a simulated node handles is a `Repr`; octets appear for captures and real hosts.
//!
//! A `Repr` describes the header alone (that of [`probe`] also what stands behind the payload). `buffer_len` is the length of that header, `emit` writes exactly these octets, and the
//! payload is written behind them by whoever has it. Where a checksum covers the payload, `emit` is handed the payload as a
//! slice; what the slice lacks up to `payload_len` counts as zeros, so that a payload of zeros is the empty slice.
//!
//! # What may panic
//!
//! * `Packet::new_unchecked` never panics, but accessors on the view that it returns panic if the buffer is too short.
//! * `Packet::new_checked` never panics, whatever the octets. No accessor on the view that it returns panics, as long as
//!   the buffer isn't changed through the setters.
//! * `Repr::parse` never panics on a view from `new_checked`; it returns a [`ParseError`] that names the field, where it
//!   stands, and what it holds.
//! * `Repr::buffer_len` never panics.
//! * `Repr::emit` and the setters of a view panic if the buffer is too short. [`ipv4::Repr::emit`], [`udp::Repr::emit`],
//!   [`tcp::Repr::emit`] and [`dccp::Packet::fill_checksum`] also panic if the packet would not fit into 65535 octets,
//!   [`dccp::Repr::emit`] if the header would not fit into 1020, and [`dsr::Repr::emit`] if a list is longer than its length
//!   field can tell, [`fec::information`] if an ADU has more than 65535 octets. They accept every other value: numbers wider
//!   than their field on the wire are cut to it.
//!
//! # Values without a name
//!
//! Every code point that can be something unnamed has a variant `Unknown(n)`, which is emitted as it was read. Make code
//! points from numbers with `From`: it never yields `Unknown` of a number that has a name.

pub mod aodv;
pub mod arp;
mod bit_set;
mod bytes;
pub mod checksum;
mod code_point;
pub mod dccp;
pub mod dsdv;
pub mod dsr;
mod error;
pub mod ethernet;
pub mod fec;
pub mod icmpv4;
pub mod ieee80211;
pub mod ipv4;
pub mod llc;
mod mac_address;
pub mod mpegts;
pub mod olsr;
pub mod pcapng;
pub mod probe;
pub mod radiotap;
pub mod rtcp;
pub mod rtp;
pub mod tcp;
pub mod udp;

pub use error::ParseError;
pub use mac_address::MacAddress;
