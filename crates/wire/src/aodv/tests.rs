use super::*;
use proptest::prelude::*;
use std::net::Ipv4Addr;

/// From ns-3's capture aodv-chain-regression-test-2-0: 10.1.1.2 passes on a request of 10.1.1.1 for 10.1.1.5.
const REQUEST: [u8; 24] = [
    1, 0x28, 0, 1, // G and U, one hop.
    0, 0, 0, 2, 10, 1, 1, 5, 0, 0, 0, 0, 10, 1, 1, 1, 0, 0, 0, 2,
];

/// From the same: 10.1.1.4 replies for 10.1.1.5.
const REPLY: [u8; 20] = [
    2, 0x40, 0, 1, // A, one hop.
    10, 1, 1, 5, 0, 0, 0, 0, 10, 1, 1, 1, 0, 0, 0x0b, 0x0a,
];

fn both_ways(octets: &[u8], repr: Repr<'_>) {
    assert_eq!(Repr::parse(octets), Ok(repr));
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut emitted);
    assert_eq!(emitted, octets);
}

#[test]
fn octets_and_meaning_of_a_request() {
    let repr = RequestRepr {
        flags: RequestFlags::GRATUITOUS | RequestFlags::UNKNOWN_SEQUENCE,
        hop_count: 1,
        id: 2,
        destination: Ipv4Addr::new(10, 1, 1, 5),
        destination_sequence: 0,
        originator: Ipv4Addr::new(10, 1, 1, 1),
        originator_sequence: 2,
        extensions: Extensions::NONE,
    };
    both_ways(&REQUEST, Repr::Request(repr));
    assert_eq!(repr.flags.without(RequestFlags::GRATUITOUS), RequestFlags::UNKNOWN_SEQUENCE);
}

#[test]
fn octets_and_meaning_of_a_reply() {
    let repr = ReplyRepr {
        flags: ReplyFlags::ACKNOWLEDGE,
        prefix_size: 0,
        hop_count: 1,
        destination: Ipv4Addr::new(10, 1, 1, 5),
        destination_sequence: 0,
        originator: Ipv4Addr::new(10, 1, 1, 1),
        lifetime: 2826,
        extensions: Extensions::NONE,
    };
    both_ways(&REPLY, Repr::Reply(repr));
}

#[test]
fn octets_and_meaning_of_a_hello_with_its_interval() {
    #[rustfmt::skip]
    let octets = [
        2, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 7, 10, 0, 0, 1, 0, 0, 0x0f, 0xa0,
        1, 4, 0, 0, 0x07, 0xd0, // Hello interval: 2 s.
    ];
    let extension = hello_interval(2000);
    let repr = ReplyRepr {
        flags: ReplyFlags::NONE,
        prefix_size: 0,
        hop_count: 0,
        destination: Ipv4Addr::new(10, 0, 0, 1),
        destination_sequence: 7,
        originator: Ipv4Addr::new(10, 0, 0, 1),
        lifetime: 4000,
        extensions: Extensions::new_checked(&extension, 20).unwrap(),
    };
    both_ways(&octets, Repr::Reply(repr));
    assert_eq!(repr.extensions.hello_interval(), Some(2000));
    assert_eq!(ReplyPacket::new_checked(&octets).unwrap().extensions(), repr.extensions);
}

#[test]
fn octets_and_meaning_of_an_error() {
    #[rustfmt::skip]
    let octets = [
        3, 0x80, 0, 2,
        10, 0, 0, 9, 0xff, 0xff, 0xff, 0xff,
        10, 0, 0, 8, 0, 0, 0, 5,
    ];
    let unreachable = [
        Unreachable { destination: Ipv4Addr::new(10, 0, 0, 9), sequence: u32::MAX },
        Unreachable { destination: Ipv4Addr::new(10, 0, 0, 8), sequence: 5 },
    ];
    both_ways(&octets, Repr::Error(ErrorRepr { no_delete: true, unreachable: unreachable[..].into() }));
    // Octets behind the last destination are no part of it.
    let mut longer = octets.to_vec();
    longer.push(9);
    assert_eq!(Repr::parse(&longer), Repr::parse(&octets));
}

#[test]
fn octets_and_meaning_of_an_acknowledgement() {
    both_ways(&[4, 0], Repr::Acknowledgement);
    assert_eq!(Repr::parse(&[4, 0xff]), Ok(Repr::Acknowledgement), "reserved bits are ignored");
}

#[test]
fn reserved_bits_are_ignored() {
    let mut octets = REQUEST;
    octets[1] |= 0x07;
    octets[2] = 0xff;
    assert_eq!(Repr::parse(&octets), Repr::parse(&REQUEST));
    let mut octets = REPLY;
    octets[1] |= 0x3f;
    octets[2] |= 0xe0;
    assert_eq!(Repr::parse(&octets), Repr::parse(&REPLY));
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let refused = |octets: &[u8]| Repr::parse(octets).unwrap_err().to_string();
    assert_eq!(refused(&[]), "AODV: length at octet 0 is 0, should be at least 2");
    assert_eq!(refused(&[4]), "AODV: length at octet 0 is 1, should be at least 2");
    assert_eq!(refused(&[5, 0]), "AODV: type at octet 0 is 5, should be 1 to 4");
    assert_eq!(refused(&REQUEST[..23]), "AODV: length at octet 0 is 23, should be at least 24");
    assert_eq!(refused(&REPLY[..19]), "AODV: length at octet 0 is 19, should be at least 20");
    assert_eq!(refused(&[3, 0, 0]), "AODV: length at octet 0 is 3, should be at least 4");
    assert_eq!(refused(&[3, 0, 0, 0]), "AODV: destination count at octet 3 is 0, should be at least 1");
    let mut error = vec![3, 0, 0, 2];
    error.extend([0; 15]);
    assert_eq!(refused(&error), "AODV: destination count at octet 3 is 2, should be what the message has room for");
    assert!(RequestPacket::new_checked(&REPLY).is_err());
}

#[test]
fn extensions_are_whole_or_refused() {
    let with = |extension: &[u8]| [&REQUEST, extension].concat();
    let refused = |extension: &[u8]| Repr::parse(&with(extension)).unwrap_err().to_string();
    assert_eq!(refused(&[9]), "AODV: extension at octet 24 is 9, should be followed by its length");
    let expected = "AODV: extension length at octet 27 is 2, should be what the message has room for";
    assert_eq!(refused(&[9, 0, 9, 2, 0]), expected);
    assert_eq!(refused(&[1, 3, 0, 0, 0]), "AODV: hello interval length at octet 25 is 3, should be 4");
    let octets = with(&[9, 0, 200, 2, 5, 6]);
    let Repr::Request(repr) = Repr::parse(&octets).unwrap() else { panic!("it is a request") };
    let all: Vec<_> = repr.extensions.iter().collect();
    let (first, second) = (ExtensionKind::Unknown(9), ExtensionKind::Unknown(200));
    assert_eq!(all, [Extension { kind: first, data: &[] }, Extension { kind: second, data: &[5, 6] }]);
    assert_eq!((first.is_mandatory(), second.is_mandatory()), (false, true));
    assert_eq!(repr.extensions.hello_interval(), None);
}

fn extensions() -> impl Strategy<Value = Vec<u8>> {
    let other = (2_u8.., prop::collection::vec(any::<u8>(), 0..9)).prop_map(|(kind, data)| {
        let mut octets = vec![kind, data.len() as u8];
        octets.extend(data);
        octets
    });
    let one = prop_oneof![other, any::<u32>().prop_map(|interval| hello_interval(interval).to_vec())];
    prop::collection::vec(one, 0..4).prop_map(|all| all.concat())
}

proptest! {
    #[test]
    fn requests_survive_the_wire(
        (flags, hop_count, id) in any::<(u8, u8, u32)>(),
        (destination, destination_sequence) in any::<(Ipv4Addr, u32)>(),
        (originator, originator_sequence) in any::<(Ipv4Addr, u32)>(),
        extensions in extensions(),
    ) {
        let flags = RequestFlags(flags & 0xf8);
        let extensions = Extensions::new_checked(&extensions, 24).unwrap();
        let repr = Repr::Request(RequestRepr {
            flags, hop_count, id, destination, destination_sequence, originator, originator_sequence, extensions,
        });
        let octets = repr.to_octets();
        prop_assert_eq!(Repr::parse(&octets), Ok(repr));
    }

    #[test]
    fn replies_survive_the_wire(
        (flags, prefix_size, hop_count, lifetime) in any::<(u8, u8, u8, u32)>(),
        (destination, destination_sequence, originator) in any::<(Ipv4Addr, u32, Ipv4Addr)>(),
        extensions in extensions(),
    ) {
        let (flags, prefix_size) = (ReplyFlags(flags & 0xc0), prefix_size & 31);
        let extensions = Extensions::new_checked(&extensions, 20).unwrap();
        let repr = Repr::Reply(ReplyRepr {
            flags, prefix_size, hop_count, destination, destination_sequence, originator, lifetime, extensions,
        });
        let octets = repr.to_octets();
        prop_assert_eq!(Repr::parse(&octets), Ok(repr));
    }

    #[test]
    fn errors_survive_the_wire(
        no_delete: bool,
        unreachable in prop::collection::vec(any::<(Ipv4Addr, u32)>(), 1..=MAX_UNREACHABLE),
    ) {
        let values: Vec<_> =
            unreachable.into_iter().map(|(destination, sequence)| Unreachable { destination, sequence }).collect();
        let repr = Repr::Error(ErrorRepr { no_delete, unreachable: values[..].into() });
        let octets = repr.to_octets();
        prop_assert_eq!(Repr::parse(&octets), Ok(repr));
    }

    #[test]
    fn arbitrary_octets_never_panic(code in 0_u8..6, mut octets in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Some(first) = octets.first_mut() {
            *first = code;
        }
        if let Ok(repr) = Repr::parse(&octets) {
            let emitted = repr.to_octets();
            prop_assert_eq!(Repr::parse(&emitted), Ok(repr));
        }
        if let Ok(packet) = RequestPacket::new_checked(&octets) {
            let _ = (packet.extensions().iter().count(), packet.extensions().hello_interval());
        }
        if let Ok(packet) = ErrorPacket::new_checked(&octets) {
            prop_assert_eq!(packet.unreachable().iter().count(), packet.count());
        }
    }
}
