//! Logical link control with the subnetwork access protocol: identifies the protocol in an 802.11 data frame (IEEE Std
//! 802.2-1998; RFC 1042; IEEE Std 802-2014, 9.4).

use crate::ParseError;
use crate::bytes::{array, put};
use crate::code_point::code_points;
use crate::error::Layer;

const LAYER: Layer = Layer("LLC/SNAP");

code_points! {
    /// The protocol of the payload (IEEE 802 Numbers, "Ethertypes").
    EtherType(u16) {
        /// Internet protocol, version 4.
        Ipv4 = 0x0800,
        /// Address resolution protocol.
        Arp = 0x0806,
        /// Internet protocol, version 6.
        Ipv6 = 0x86dd,
        /// Port access authentication (IEEE Std 802.1X).
        Eapol = 0x888e,
    }
}

mod field {
    pub(super) const DSAP: usize = 0;
    pub(super) const SSAP: usize = 1;
    pub(super) const CONTROL: usize = 2;
    pub(super) const ORGANISATION: usize = 3;
    pub(super) const TYPE: usize = 6;
    pub(super) const END: usize = 8;
}

/// Both service access points of a SNAP header (RFC 1042, "Header Format").
const SNAP: u8 = 0xaa;
/// Unnumbered information (RFC 1042, "Header Format").
const UNNUMBERED_INFORMATION: u8 = 0x03;

/// A view of an LLC/SNAP header and its payload.
///
/// ```text
///  0               1               2               3
///  0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
/// +---------------+---------------+---------------+---------------+
/// |   DSAP 0xaa   |   SSAP 0xaa   | Control 0x03  |               |
/// +---------------+---------------+---------------+               +
/// |  Organisation code            |           EtherType           |
/// +-------------------------------+-------------------------------+
/// ```
///
/// RFC 1042, "Header Format". Most significant byte first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole header.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= field::END, "length", 0, length, "at least 8")?;
        Ok(Self { buffer })
    }

    /// Destination service access point.
    pub(crate) fn dsap(&self) -> u8 {
        self.buffer.as_ref()[field::DSAP]
    }

    /// Source service access point.
    pub(crate) fn ssap(&self) -> u8 {
        self.buffer.as_ref()[field::SSAP]
    }

    /// The control field.
    pub(crate) fn control(&self) -> u8 {
        self.buffer.as_ref()[field::CONTROL]
    }

    /// The organisation that assigned [`Self::ether_type`].
    pub(crate) fn organisation(&self) -> [u8; 3] {
        array(self.buffer.as_ref(), field::ORGANISATION)
    }

    /// The protocol of the payload.
    pub fn ether_type(&self) -> EtherType {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::TYPE)).into()
    }

    /// Bytes after the header.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[field::END..]
    }
}

/// The fields of an LLC/SNAP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// The organisation that assigned `ether_type`; [`Repr::ETHERNET`] in nearly every frame.
    pub organisation: [u8; 3],
    /// The protocol of the payload.
    pub ether_type: EtherType,
}

impl Repr {
    /// The organisation code under which EtherTypes mean what they mean on Ethernet (RFC 1042, "Header Format").
    pub const ETHERNET: [u8; 3] = [0; 3];

    /// The header before a payload of `ether_type`.
    pub fn new(ether_type: EtherType) -> Self {
        Self { organisation: Self::ETHERNET, ether_type }
    }

    /// Parses a header; an error if it is LLC without SNAP.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        LAYER.require(packet.dsap() == SNAP, "DSAP", field::DSAP, packet.dsap(), "170")?;
        LAYER.require(packet.ssap() == SNAP, "SSAP", field::SSAP, packet.ssap(), "170")?;
        let control = packet.control();
        LAYER.require(control == UNNUMBERED_INFORMATION, "control", field::CONTROL, control, "3")?;
        Ok(Self { organisation: packet.organisation(), ether_type: packet.ether_type() })
    }

    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        field::END
    }

    /// Writes the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let octets = packet.buffer.as_mut();
        octets[field::DSAP] = SNAP;
        octets[field::SSAP] = SNAP;
        octets[field::CONTROL] = UNNUMBERED_INFORMATION;
        put(octets, field::ORGANISATION, self.organisation);
        put(octets, field::TYPE, u16::from(self.ether_type).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From tcpdump's capture ieee802.11_htc: a DHCP request from a laptop.
    const IPV4: [u8; 8] = [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00, 0x08, 0x00];
    /// From aircrack-ng's capture wpa-psk-linksys: the first message of a four-way handshake.
    const EAPOL: [u8; 8] = [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00, 0x88, 0x8e];

    #[test]
    fn octets_and_meaning() {
        for (octets, ether_type) in [(IPV4, EtherType::Ipv4), (EAPOL, EtherType::Eapol)] {
            let repr = Repr::new(ether_type);
            assert_eq!(Repr::parse(&Packet::new_checked(octets).unwrap()), Ok(repr));
            let mut emitted = [0xee; 8];
            repr.emit(&mut Packet::new_unchecked(&mut emitted));
            assert_eq!(emitted, octets);
        }
    }

    #[test]
    fn llc_without_snap_is_named() {
        // A spanning tree frame: both access points 0x42.
        let error = Repr::parse(&Packet::new_checked([0x42, 0x42, 0x03, 0, 0, 0, 0, 0]).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "LLC/SNAP: DSAP at octet 0 is 66, should be 170");
        assert!(Packet::new_checked(&IPV4[..7]).is_err());
    }

    proptest! {
        #[test]
        fn survives_the_wire(organisation: [u8; 3], ether_type: u16) {
            let repr = Repr { organisation, ether_type: ether_type.into() };
            let mut octets = vec![0xee; repr.buffer_len()];
            repr.emit(&mut Packet::new_unchecked(&mut octets));
            prop_assert_eq!(Repr::parse(&Packet::new_checked(&octets).unwrap()), Ok(repr));
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..32)) {
            if let Ok(packet) = Packet::new_checked(&octets) {
                let _ = Repr::parse(&packet);
                let _ = packet.payload();
            }
        }
    }
}
