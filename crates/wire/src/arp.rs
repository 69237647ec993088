//! The address resolution protocol (RFC 826) for IPv4 over 48-bit MAC addresses.

use std::net::Ipv4Addr;

use crate::bytes::{array, put};
use crate::code_point::code_points;
use crate::error::Layer;
use crate::llc::EtherType;
use crate::{MacAddress, ParseError};

const LAYER: Layer = Layer("ARP");

/// Length of a packet that maps IPv4 addresses to MAC addresses, in bytes (RFC 826, "Packet format").
pub const PACKET_LEN: usize = 28;

/// Hardware address space of MAC addresses, those of 802.11 included (RFC 826, "Definitions"; IANA, "Hardware Types").
const ETHERNET: u16 = 1;
const HARDWARE_LEN: u8 = 6;
const PROTOCOL_LEN: u8 = 4;

code_points! {
    /// What a packet is for (RFC 826, "Definitions"; IANA, "ARP Operation Codes").
    Operation(u16) {
        /// Who has the target's protocol address?
        Request = 1,
        /// The sender has it.
        Reply = 2,
    }
}

mod field {
    pub(super) const HARDWARE_SPACE: usize = 0;
    pub(super) const PROTOCOL_SPACE: usize = 2;
    pub(super) const HARDWARE_LEN: usize = 4;
    pub(super) const PROTOCOL_LEN: usize = 5;
    pub(super) const OPERATION: usize = 6;
    pub(super) const SENDER_HARDWARE: usize = 8;
    pub(super) const SENDER_PROTOCOL: usize = 14;
    pub(super) const TARGET_HARDWARE: usize = 18;
    pub(super) const TARGET_PROTOCOL: usize = 24;
}

/// A view of an ARP packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |    Hardware address space     |    Protocol address space     |
/// +---------------+---------------+-------------------------------+
/// | Hardware len. | Protocol len. |           Operation           |
/// +---------------+---------------+-------------------------------+
/// |                    Sender's hardware address                  |
/// +                               +-------------------------------+
/// |                               |   Sender's protocol address   |
/// +-------------------------------+-------------------------------+
/// |   Sender's protocol address   |   Target's hardware address   |
/// +-------------------------------+                               +
/// |                    Target's hardware address                  |
/// +---------------------------------------------------------------+
/// |                    Target's protocol address                  |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 826, "Packet format", with the lengths of MAC and IPv4 addresses. Most significant byte first. Bytes of the buffer
/// beyond the packet, which padding puts there, are no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole packet.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= PACKET_LEN, "length", 0, length, "at least 28")?;
        Ok(Self { buffer })
    }

    /// What kind of addresses the hardware addresses are.
    pub(crate) fn hardware_space(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::HARDWARE_SPACE))
    }

    /// What kind of addresses the protocol addresses are.
    pub(crate) fn protocol_space(&self) -> EtherType {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::PROTOCOL_SPACE)).into()
    }

    /// Length of a hardware address, in bytes.
    pub(crate) fn hardware_len(&self) -> u8 {
        self.buffer.as_ref()[field::HARDWARE_LEN]
    }

    /// Length of a protocol address, in bytes.
    pub(crate) fn protocol_len(&self) -> u8 {
        self.buffer.as_ref()[field::PROTOCOL_LEN]
    }

    /// Purpose of the packet.
    pub fn operation(&self) -> Operation {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::OPERATION)).into()
    }

    /// Hardware address of the sender.
    pub fn sender_hardware(&self) -> MacAddress {
        MacAddress(array(self.buffer.as_ref(), field::SENDER_HARDWARE))
    }

    /// Protocol address of the sender.
    pub fn sender_protocol(&self) -> Ipv4Addr {
        array::<4>(self.buffer.as_ref(), field::SENDER_PROTOCOL).into()
    }

    /// Hardware address of the target; of no meaning in a request.
    pub fn target_hardware(&self) -> MacAddress {
        MacAddress(array(self.buffer.as_ref(), field::TARGET_HARDWARE))
    }

    /// Protocol address of the target.
    pub fn target_protocol(&self) -> Ipv4Addr {
        array::<4>(self.buffer.as_ref(), field::TARGET_PROTOCOL).into()
    }
}

/// The fields of an ARP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Purpose of the packet.
    pub operation: Operation,
    /// Hardware address of the sender.
    pub sender_hardware: MacAddress,
    /// Protocol address of the sender.
    pub sender_protocol: Ipv4Addr,
    /// Hardware address of the target; of no meaning in a request.
    pub target_hardware: MacAddress,
    /// Protocol address of the target.
    pub target_protocol: Ipv4Addr,
}

impl Repr {
    /// Parses a packet; an error if its addresses are not MAC and IPv4 addresses.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        let (hardware, protocol) = (packet.hardware_space(), packet.protocol_space());
        LAYER.require(hardware == ETHERNET, "hardware address space", field::HARDWARE_SPACE, hardware, "1")?;
        let is_ipv4 = protocol == EtherType::Ipv4;
        LAYER.require(is_ipv4, "protocol address space", field::PROTOCOL_SPACE, u16::from(protocol), "2048")?;
        let (hardware, protocol) = (packet.hardware_len(), packet.protocol_len());
        LAYER.require(hardware == HARDWARE_LEN, "hardware length", field::HARDWARE_LEN, hardware, "6")?;
        LAYER.require(protocol == PROTOCOL_LEN, "protocol length", field::PROTOCOL_LEN, protocol, "4")?;
        Ok(Self {
            operation: packet.operation(),
            sender_hardware: packet.sender_hardware(),
            sender_protocol: packet.sender_protocol(),
            target_hardware: packet.target_hardware(),
            target_protocol: packet.target_protocol(),
        })
    }

    /// Length of the packet, in bytes.
    pub fn buffer_len(&self) -> usize {
        PACKET_LEN
    }

    /// Writes the packet.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let octets = packet.buffer.as_mut();
        put(octets, field::HARDWARE_SPACE, ETHERNET.to_be_bytes());
        put(octets, field::PROTOCOL_SPACE, u16::from(EtherType::Ipv4).to_be_bytes());
        octets[field::HARDWARE_LEN] = HARDWARE_LEN;
        octets[field::PROTOCOL_LEN] = PROTOCOL_LEN;
        put(octets, field::OPERATION, u16::from(self.operation).to_be_bytes());
        put(octets, field::SENDER_HARDWARE, self.sender_hardware.0);
        put(octets, field::SENDER_PROTOCOL, self.sender_protocol.octets());
        put(octets, field::TARGET_HARDWARE, self.target_hardware.0);
        put(octets, field::TARGET_PROTOCOL, self.target_protocol.octets());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NEAR: MacAddress = MacAddress([0, 0, 0, 0, 0, 1]);
    const FAR: MacAddress = MacAddress([0, 0, 0, 0, 0, 2]);
    const NEAR_IP: Ipv4Addr = Ipv4Addr::new(10, 1, 1, 1);
    const FAR_IP: Ipv4Addr = Ipv4Addr::new(10, 1, 1, 2);
    /// From ns-3's capture bug-606-test-1-0: who has 10.1.1.1?
    const REQUEST: [u8; PACKET_LEN] = [
        0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x0a, 0x01, 0x01, 0x02,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0a, 0x01, 0x01, 0x01,
    ];
    /// The answer.
    const REPLY: [u8; PACKET_LEN] = [
        0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x0a, 0x01, 0x01, 0x01,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x0a, 0x01, 0x01, 0x02,
    ];

    #[test]
    fn octets_and_meaning() {
        let request = Repr {
            operation: Operation::Request,
            sender_hardware: FAR,
            sender_protocol: FAR_IP,
            target_hardware: MacAddress::BROADCAST,
            target_protocol: NEAR_IP,
        };
        let reply = Repr {
            operation: Operation::Reply,
            sender_hardware: NEAR,
            sender_protocol: NEAR_IP,
            target_hardware: FAR,
            target_protocol: FAR_IP,
        };
        for (octets, repr) in [(REQUEST, request), (REPLY, reply)] {
            assert_eq!(Repr::parse(&Packet::new_checked(octets).unwrap()), Ok(repr));
            let mut emitted = [0xee; PACKET_LEN];
            repr.emit(&mut Packet::new_unchecked(&mut emitted));
            assert_eq!(emitted, octets);
        }
    }

    #[test]
    fn other_kinds_of_addresses_are_refused() {
        let error = |at: usize, value: u8| {
            let mut octets = REQUEST;
            octets[at] = value;
            Repr::parse(&Packet::new_checked(octets).unwrap()).unwrap_err().to_string()
        };
        assert_eq!(error(1, 6), "ARP: hardware address space at octet 0 is 6, should be 1");
        assert_eq!(error(2, 0x86), "ARP: protocol address space at octet 2 is 34304, should be 2048");
        assert_eq!(error(4, 8), "ARP: hardware length at octet 4 is 8, should be 6");
        assert_eq!(error(5, 16), "ARP: protocol length at octet 5 is 16, should be 4");
        let error = Packet::new_checked(&REQUEST[..27]).unwrap_err();
        assert_eq!(error.to_string(), "ARP: length at octet 0 is 27, should be at least 28");
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            operation in any::<u16>(),
            (sender_hardware, target_hardware) in any::<([u8; 6], [u8; 6])>(),
            (sender_protocol, target_protocol) in any::<(u32, u32)>(),
            padding in 0_usize..20,
        ) {
            let repr = Repr {
                operation: operation.into(),
                sender_hardware: MacAddress(sender_hardware),
                sender_protocol: sender_protocol.into(),
                target_hardware: MacAddress(target_hardware),
                target_protocol: target_protocol.into(),
            };
            let mut octets = vec![0xee; repr.buffer_len() + padding];
            repr.emit(&mut Packet::new_unchecked(&mut octets));
            prop_assert_eq!(Repr::parse(&Packet::new_checked(&octets).unwrap()), Ok(repr));
            prop_assert_eq!(u16::from(repr.operation), operation);
        }

        #[test]
        fn arbitrary_octets_never_panic(
            mut octets in prop::collection::vec(any::<u8>(), 0..40),
            is_right in any::<bool>(),
        ) {
            if is_right && octets.len() >= 6 {
                octets[..6].copy_from_slice(&REQUEST[..6]);
            }
            match Packet::new_checked(&octets) {
                Ok(packet) => {
                    let parsed = Repr::parse(&packet);
                    prop_assert!(parsed.is_ok() || !is_right);
                }
                Err(_) => prop_assert!(octets.len() < PACKET_LEN),
            }
        }
    }
}
