//! Packet formats: typed headers, parse and emit, one format per file.
//!
//! Each format has two layers:
//!
//! * `Packet<T>` is a view of bytes, with one accessor per field. It knows the layout.
//! * `Repr` is the meaning: a plain value, [parsed](ipv4::Repr::parse) from a view and [emitted](ipv4::Repr::emit) as bytes. A
//!   simulated node handles `Repr`; bytes appear for captures and real hosts.
//!
//! A `Repr` describes only the header (that of [`probe`] also the trailer). `buffer_len` is the length of that header,
//! `emit` writes exactly these bytes, and the caller writes the payload after them. Where a checksum covers the payload,
//! `emit` takes the payload as a slice. If the slice is shorter than `payload_len`, the missing bytes count as zeros, so
//! a payload of zeros is the empty slice.
//!
//! # A first example
//!
//! A UDP datagram, written and read again. [`ParseError`] names the layer, the field and its offset.
//!
//! ```
//! use core::net::Ipv4Addr;
//! use hopcast_wire::checksum::Policy;
//! use hopcast_wire::udp::{Packet, Repr};
//!
//! let (from, to) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
//! let repr = Repr { source_port: 5000, destination_port: 7, payload_len: 4 };
//! let mut bytes = vec![0; repr.buffer_len()];
//! repr.emit(&mut Packet::new_unchecked(&mut bytes), from, to, b"ping");
//! bytes.extend(b"ping");
//!
//! assert_eq!(Repr::parse(&Packet::new_checked(&bytes)?, from, to, Policy::Verify)?, repr);
//!
//! bytes[8] = b'P';
//! let error = Repr::parse(&Packet::new_checked(&bytes)?, from, to, Policy::Verify).unwrap_err();
//! assert_eq!((error.field, error.offset), ("checksum", 6));
//! # Ok::<(), hopcast_wire::ParseError>(())
//! ```
//!
//! # A whole one
//!
//! The datagram in an IPv4 packet, in a capture that Wireshark opens, and back.
//!
//! ```
//! # use core::net::Ipv4Addr;
//! use hopcast_wire::checksum::Policy;
//! use hopcast_wire::ipv4::Protocol;
//! use hopcast_wire::pcapng::{LinkType, Reader, Writer};
//! use hopcast_wire::{ipv4, udp};
//!
//! # let (from, to) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
//! let datagram = udp::Repr { source_port: 5000, destination_port: 7, payload_len: 4 };
//! let packet = ipv4::Repr {
//!     type_of_service: 0,
//!     identification: 1,
//!     dont_fragment: false,
//!     more_fragments: false,
//!     fragment_offset: 0,
//!     time_to_live: 64,
//!     protocol: Protocol::Udp,
//!     source: from,
//!     destination: to,
//!     payload_len: (datagram.buffer_len() + 4) as u16,
//! };
//! let mut bytes = vec![0; packet.buffer_len() + datagram.buffer_len()];
//! let (ip, udp) = bytes.split_at_mut(packet.buffer_len());
//! packet.emit(&mut ipv4::Packet::new_unchecked(ip));
//! datagram.emit(&mut udp::Packet::new_unchecked(udp), from, to, b"ping");
//! bytes.extend(b"ping");
//!
//! let mut writer = Writer::new(Vec::new(), "radio")?;
//! let wire = writer.add_interface("wire", LinkType::Ipv4)?;
//! writer.write_on(wire, 1_500_000, &bytes)?;
//!
//! let record = Reader::new(&writer.into_inner()[..])?.next().expect("one packet")?;
//! assert_eq!((record.at, &record.octets), (1_500_000, &bytes));
//! let ip = ipv4::Packet::new_checked(&record.octets)?;
//! assert_eq!(ipv4::Repr::parse(&ip, Policy::Verify)?, packet);
//! let udp = udp::Packet::new_checked(ip.payload())?;
//! assert_eq!(udp::Repr::parse(&udp, from, to, Policy::Verify)?, datagram);
//! assert_eq!(udp.payload(), b"ping");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What may panic
//!
//! * `Packet::new_unchecked` never panics, but accessors on the view that it returns panic if the buffer is too short.
//! * `Packet::new_checked` never panics, whatever the bytes. No accessor on the view that it returns panics, as long as
//!   the buffer isn't changed through the setters.
//! * `Repr::parse` never panics on a view from `new_checked`; it returns a [`ParseError`] that names the field, where it
//!   stands, and what it holds.
//! * `Repr::buffer_len` never panics.
//! * `Repr::emit` and the setters of a view panic if the buffer is too short. [`ipv4::Repr::emit`], [`udp::Repr::emit`],
//!   [`tcp::Repr::emit`] and [`dccp::Packet::fill_checksum`] also panic if the packet would not fit into 65535 bytes,
//!   [`dccp::Repr::emit`] if the header would not fit into 1020, and [`dsr::Repr::emit`] if a list is longer than its length
//!   field can tell, [`fec::information`] if an ADU has more than 65535 bytes. They accept every other value: numbers wider
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
pub mod cloud;
mod code_point;
pub mod dccp;
pub mod dsdv;
pub mod dsr;
pub mod ecn;
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
