use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);
const D: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 4);

fn emit(repr: &Repr<'_>) -> Vec<u8> {
    let mut octets = vec![0xee; repr.buffer_len()];
    repr.emit(&mut Packet::new_unchecked(&mut octets));
    octets
}

fn parse(octets: &[u8]) -> Result<Vec<DsrOption<'_>>, ParseError> {
    let packet = Packet::new_checked(octets)?;
    assert_eq!(packet.header_len() + packet.payload().len(), octets.len());
    packet.options().collect()
}

/// Bytes by the figures of RFC 4728, 6.2 to 6.9, without the fixed portion, and what they mean.
#[test]
fn octets_and_meaning() {
    let request = RouteRequest { identification: 0x1234, target: D, addresses: Addresses::List(&[B, C]) };
    let reply = RouteReply { last_hop_external: false, addresses: Addresses::List(&[B, D]) };
    let external = RouteReply { last_hop_external: true, addresses: Addresses::List(&[D]) };
    let error = |salvage, kind| RouteError { salvage, source: C, destination: A, kind, extension: &[] };
    let route = SourceRoute {
        first_hop_external: false,
        last_hop_external: false,
        salvage: 0,
        segments_left: 1,
        addresses: Addresses::List(&[B, C]),
    };
    let salvaged = SourceRoute {
        first_hop_external: true,
        last_hop_external: true,
        salvage: 15,
        segments_left: 2,
        addresses: Addresses::List(&[B, C]),
    };
    let ack_request = AckRequest { identification: 0xbeef, extension: &[] };
    let previous_hop = AckRequest { identification: 0xbeef, extension: &[10, 0, 0, 1] };
    #[rustfmt::skip]
    let cases: [(DsrOption<'_>, &[u8]); 15] = [
        (DsrOption::RouteRequest(request), &[1, 14, 0x12, 0x34, 10, 0, 0, 4, 10, 0, 0, 2, 10, 0, 0, 3]),
        (DsrOption::RouteReply(reply), &[2, 9, 0, 10, 0, 0, 2, 10, 0, 0, 4]),
        (DsrOption::RouteReply(external), &[2, 5, 0x80, 10, 0, 0, 4]),
        (
            DsrOption::RouteError(error(2, ErrorKind::NodeUnreachable(D))),
            &[3, 14, 1, 2, 10, 0, 0, 3, 10, 0, 0, 1, 10, 0, 0, 4],
        ),
        (
            DsrOption::RouteError(error(0, ErrorKind::FlowStateNotSupported)),
            &[3, 10, 2, 0, 10, 0, 0, 3, 10, 0, 0, 1],
        ),
        (
            DsrOption::RouteError(error(15, ErrorKind::OptionNotSupported(OptionType::Unknown(129)))),
            &[3, 11, 3, 15, 10, 0, 0, 3, 10, 0, 0, 1, 129],
        ),
        // Unknown flow, of the flow state extension (RFC 4728, 7.3.1).
        (
            DsrOption::RouteError(error(0, ErrorKind::Unknown { kind: 129, information: &[10, 0, 0, 4, 0, 7] })),
            &[3, 16, 129, 0, 10, 0, 0, 3, 10, 0, 0, 1, 10, 0, 0, 4, 0, 7],
        ),
        (DsrOption::AckRequest(ack_request), &[160, 2, 0xbe, 0xef]),
        (DsrOption::AckRequest(previous_hop), &[160, 6, 0xbe, 0xef, 10, 0, 0, 1]),
        (
            DsrOption::Ack(Ack { identification: 0xbeef, source: B, destination: A }),
            &[32, 10, 0xbe, 0xef, 10, 0, 0, 2, 10, 0, 0, 1],
        ),
        (DsrOption::SourceRoute(route), &[96, 10, 0x00, 0x01, 10, 0, 0, 2, 10, 0, 0, 3]),
        // 1 1 0000 1111 000010.
        (DsrOption::SourceRoute(salvaged), &[96, 10, 0xc3, 0xc2, 10, 0, 0, 2, 10, 0, 0, 3]),
        (DsrOption::Pad1, &[224]),
        (DsrOption::PadN { length: 2 }, &[0, 2, 0, 0]),
        // Timeout, of the flow state extension (RFC 4728, 7.2.1).
        (DsrOption::Unknown { kind: 128, data: &[0, 60] }, &[128, 2, 0, 60]),
    ];
    for (option, octets) in cases {
        let repr = Repr { next_header: Protocol::NoNextHeader, options: &[option] };
        let expected = [&[59, 0, 0, octets.len() as u8], octets].concat();
        assert_eq!(emit(&repr), expected, "{option:?}");
        assert_eq!(parse(&expected), Ok(vec![option]));
    }
}

#[test]
fn a_header_is_padded_before_another_one_only() {
    let reply = |addresses| RouteReply { last_hop_external: false, addresses: Addresses::List(addresses) };
    let (seven, eleven) = (DsrOption::RouteReply(reply(&[B])), DsrOption::RouteReply(reply(&[B, C])));
    let ack_request = DsrOption::AckRequest(AckRequest { identification: 1, extension: &[] });
    for (options, padding) in [
        (&[seven][..], &[224][..]),
        (&[seven, eleven], &[0, 0]),
        (&[seven, seven, seven], &[0, 1, 0]),
        (&[ack_request], &[]),
    ] {
        let bare = emit(&Repr { next_header: Protocol::NoNextHeader, options });
        let padded = emit(&Repr { next_header: Protocol::Udp, options });
        assert_eq!(padded[4..], [&bare[4..], padding].concat());
        assert!(padded.len().is_multiple_of(4));
        assert_eq!(Packet::new_checked(&padded).unwrap().next_header(), Protocol::Udp);
    }
}

#[test]
fn what_is_wrong_is_named() {
    let error = |octets: &[u8]| parse(octets).unwrap_err().to_string();
    assert_eq!(error(&[59, 0, 0]), "DSR: length of the buffer at octet 0 is 3, should be at least 4");
    assert_eq!(error(&[17, 0x83, 0, 1]), "DSR: flow state header (F) at octet 1 is 131, should be below 128");
    assert_eq!(error(&[59, 0, 0, 1]), "DSR: payload length at octet 2 is 1, should be what is there");
    assert_eq!(
        error(&[17, 0, 0, 1, 224]),
        "DSR: payload length at octet 2 is 1, should be a multiple of 4 before another header"
    );
    assert_eq!(error(&[59, 0, 0, 1, 1]), "DSR: option type at octet 4 is 1, should be followed by a length");
    assert_eq!(
        error(&[59, 0, 0, 4, 224, 2, 9, 0]),
        "DSR: option length at octet 6 is 9, should be at most what is left of the header"
    );
    let request = [59, 0, 0, 9, 1, 7, 0, 1, 10, 0, 0, 4, 10];
    assert_eq!(error(&request), "DSR: length of Route Request at octet 5 is 7, should be 6 + 4 n");
    assert_eq!(error(&[59, 0, 0, 3, 2, 1, 0]), "DSR: length of Route Reply at octet 5 is 1, should be at least 5");
    let unreachable = [59, 0, 0, 13, 3, 11, 1, 0, 10, 0, 0, 3, 10, 0, 0, 1, 9];
    assert_eq!(
        error(&unreachable),
        "DSR: length of Route Error at octet 5 is 11, should be at least 14 for NODE_UNREACHABLE"
    );
    let route = [59, 0, 0, 8, 96, 6, 0, 2, 10, 0, 0, 2];
    assert_eq!(error(&route), "DSR: segments left at octet 7 is 2, should be at most the number of addresses");
}

/// RFC 4728, 6.1: the first three bits of a type tell what to do with it.
#[test]
fn a_type_tells_what_to_do_without_support() {
    use Unsupported::{Drop, Ignore, Mark, Remove};
    for (number, what, is_reported) in [
        (1, Ignore, false),
        (32, Remove, false),
        (96, Drop, false),
        (128, Ignore, true),
        (160, Remove, true),
        (224, Drop, true),
        (0x5f, Mark, false),
        (0xdf, Mark, true),
    ] {
        let kind = OptionType::from(number);
        assert_eq!((kind.if_unsupported(), kind.is_reported_if_unsupported()), (what, is_reported), "{number}");
    }
}

#[test]
fn the_longest_lists_fit() {
    let list = [B; 64];
    let route = |addresses| {
        let segments_left = addresses as u8;
        DsrOption::SourceRoute(SourceRoute {
            first_hop_external: false,
            last_hop_external: false,
            salvage: 0,
            segments_left,
            addresses: Addresses::List(&list[..addresses]),
        })
    };
    let options = [
        route(MAX_ADDRESSES_OF_ROUTE),
        DsrOption::RouteReply(RouteReply {
            last_hop_external: false,
            addresses: Addresses::List(&list[..MAX_ADDRESSES_OF_REPLY]),
        }),
        DsrOption::RouteRequest(RouteRequest {
            identification: 0,
            target: D,
            addresses: Addresses::List(&list[..MAX_ADDRESSES_OF_REQUEST]),
        }),
    ];
    let octets = emit(&Repr { next_header: Protocol::Udp, options: &options });
    assert_eq!(parse(&octets).unwrap()[..3], options);
    assert_eq!((MAX_ADDRESSES_OF_ROUTE, MAX_ADDRESSES_OF_REPLY, MAX_ADDRESSES_OF_REQUEST), (63, 63, 62));
}

/// What an option is made of: type, numbers, addresses, bytes.
type Parts = (u8, u8, u16, Vec<u32>, Vec<u8>);

fn option_of<'a>((kind, small, number, _, octets): &'a Parts, addresses: &'a [Ipv4Addr]) -> DsrOption<'a> {
    let list = Addresses::List(addresses);
    let (first, second) = (addresses[0], addresses[addresses.len() - 1]);
    let error = |kind, extension| {
        DsrOption::RouteError(RouteError { salvage: small & 15, source: first, destination: second, kind, extension })
    };
    match kind % 11 {
        0 => DsrOption::RouteRequest(RouteRequest { identification: *number, target: first, addresses: list }),
        1 => DsrOption::RouteReply(RouteReply { last_hop_external: small & 1 == 0, addresses: list }),
        2 => error(ErrorKind::NodeUnreachable(second), octets),
        3 => error(ErrorKind::FlowStateNotSupported, octets),
        4 => error(ErrorKind::OptionNotSupported((*small).into()), octets),
        5 => error(ErrorKind::Unknown { kind: 4 + small % 252, information: octets }, &[]),
        6 => DsrOption::AckRequest(AckRequest { identification: *number, extension: octets }),
        7 => DsrOption::Ack(Ack { identification: *number, source: first, destination: second }),
        8 => DsrOption::SourceRoute(SourceRoute {
            first_hop_external: small & 1 == 0,
            last_hop_external: small & 2 == 0,
            salvage: small >> 4,
            segments_left: (usize::from(*number) % (addresses.len() + 1)) as u8,
            addresses: list,
        }),
        9 => DsrOption::PadN { length: *small },
        _ => DsrOption::Unknown { kind: 4 + small % 28, data: octets },
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    let addresses = prop::collection::vec(any::<u32>(), 1..8);
    (any::<u8>(), any::<u8>(), any::<u16>(), addresses, prop::collection::vec(any::<u8>(), 0..12))
}

proptest! {
    #[test]
    fn survives_the_wire(all in prop::collection::vec(parts(), 0..6), data in prop::collection::vec(any::<u8>(), 0..9)) {
        let lists: Vec<Vec<Ipv4Addr>> = all.iter().map(|parts| parts.3.iter().map(|&n| n.into()).collect()).collect();
        let options: Vec<_> = all.iter().zip(&lists).map(|(parts, list)| option_of(parts, list)).collect();
        for next_header in [Protocol::NoNextHeader, Protocol::Tcp] {
            let repr = Repr { next_header, options: &options };
            let mut octets = emit(&repr);
            octets.extend(&data);
            let read = parse(&octets).unwrap();
            prop_assert_eq!(&read[..options.len()], &options[..]);
            let is_padding = |option: &DsrOption<'_>| matches!(option, DsrOption::Pad1 | DsrOption::PadN { .. });
            prop_assert!(read[options.len()..].iter().all(is_padding));
            let packet = Packet::new_checked(&octets).unwrap();
            prop_assert_eq!(packet.payload(), &data[..]);
        }
    }

    #[test]
    fn arbitrary_octets_never_panic_and_become_the_same_again(mut octets in prop::collection::vec(any::<u8>(), 0..80), known in any::<bool>()) {
        if octets.len() > 6 && known {
            octets[1] &= 0x7f;
            octets[0] = 59;
            octets[2] = 0;
            octets[3] = (octets.len() - 4) as u8;
            octets[4] = [0, 1, 2, 3, 32, 96, 160, 224][usize::from(octets[4]) % 8];
            octets[5] %= octets.len() as u8;
        }
        if let Ok(options) = parse(&octets) {
            let packet = Packet::new_checked(&octets).unwrap();
            let again = emit(&Repr { next_header: packet.next_header(), options: &options });
            prop_assert_eq!(parse(&again).unwrap(), options);
        }
    }
}
