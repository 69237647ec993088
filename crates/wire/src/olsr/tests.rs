use proptest::prelude::*;

use super::hello::{LinkCode, LinkType, NeighbourType};
use super::*;

/// From tcpdump's capture OLSRv1_HNA_sgw_1, made by an olsrd with extensions: an HNA message, and one of type 201.
#[rustfmt::skip]
const CAPTURED: [u8; 72] = [
    0x00, 0x48, 0xce, 0x93,
    0x04, 0x2c, 0x00, 0x1c, 0xac, 0x1f, 0xaf, 0xdc, 0xff, 0x00, 0x6c, 0xe5,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x04, 0x04, 0x0a, 0xaf, 0xdc, 0x00, 0xff, 0xff, 0xff, 0x00,
    0xc9, 0x85, 0x00, 0x28, 0xac, 0x1f, 0xaf, 0xdc, 0x01, 0x00, 0x6c, 0xe6,
    0x00, 0x00, 0x04, 0x03, 0x06, 0x00, 0x00, 0x0c, 0xac, 0x1d, 0xaf, 0xdd, 0x00, 0x00, 0x50, 0x3f,
    0x04, 0x00, 0x00, 0x0c, 0xac, 0x1f, 0xaf, 0xdd, 0x00, 0x00, 0x29, 0x0e,
];

const ORIGINATOR: Ipv4Addr = Ipv4Addr::new(172, 31, 175, 220);

fn header(kind: MessageType, body_len: usize) -> MessageRepr {
    MessageRepr {
        kind,
        validity: TimeCode(0x86),
        originator: ORIGINATOR,
        time_to_live: 255,
        hop_count: 0,
        sequence: 27877,
        body_len: body_len as u16,
    }
}

fn packet(messages: &[(MessageType, &[u8])]) -> Vec<u8> {
    let mut octets = vec![0; HEADER_LEN];
    for (kind, body) in messages {
        let header = header(*kind, body.len());
        let start = octets.len();
        octets.resize(start + header.buffer_len(), 0xee);
        header.emit(&mut octets[start..]);
        octets.extend(*body);
    }
    let repr = Repr { sequence: 52883, payload_len: (octets.len() - HEADER_LEN) as u16 };
    repr.emit(&mut Packet::new_unchecked(&mut octets));
    octets
}

#[test]
fn a_captured_packet_says_what_tshark_says() {
    let packet = Packet::new_checked(&CAPTURED).unwrap();
    let repr = Repr::parse(&packet).unwrap();
    assert_eq!(repr, Repr { sequence: 52883, payload_len: 68 });
    let messages: Vec<_> = packet.messages().map(Result::unwrap).collect();
    let [hna, other] = messages[..] else { panic!("{messages:?}") };
    let header = MessageRepr { validity: TimeCode(0x2c), ..header(MessageType::Hna, 16) };
    assert_eq!(hna.header(), header);
    assert_eq!(hna.header().validity.as_nanos(), 288_000_000_000);
    let networks = hna::Repr::parse(&hna::View::new_checked(hna.body()).unwrap()).networks;
    let network =
        |address: [u8; 4], netmask: [u8; 4]| hna::Network { address: address.into(), netmask: netmask.into() };
    assert_eq!(networks, [network([0; 4], [0, 7, 4, 4]), network([10, 175, 220, 0], [255, 255, 255, 0])]);
    let repr = other.header();
    assert_eq!((repr.kind, repr.sequence, repr.time_to_live), (MessageType::Unknown(201), 27878, 1));
    assert_eq!((repr.validity.as_nanos(), repr.body_len), (3_000_000_000, 28));

    let mut emitted = [0xee; 32];
    Repr::parse(&packet).unwrap().emit(&mut Packet::new_unchecked(&mut emitted));
    header.emit(&mut emitted[4..]);
    hna::Repr { networks }.emit(&mut emitted[16..]);
    assert_eq!(emitted, CAPTURED[..32]);
}

#[test]
fn a_hello_is_laid_out_as_in_section_6_1() {
    let code = |link, neighbour| LinkCode { link, neighbour };
    let [near, far, lost] = [1, 2, 3].map(|last| Ipv4Addr::new(10, 0, 0, last));
    let repr = hello::Repr {
        interval: TimeCode(0x05),
        willingness: 3,
        links: vec![
            (code(LinkType::Symmetric, NeighbourType::Mpr), vec![near, far]),
            (code(LinkType::Lost, NeighbourType::NotNeighbour), vec![lost]),
        ],
    };
    let mut octets = [0xee; 24];
    assert_eq!(repr.buffer_len(), octets.len());
    repr.emit(&mut octets);
    #[rustfmt::skip]
    let expected = [
        0, 0, 0x05, 3,
        0b1010, 0, 0, 12, 10, 0, 0, 1, 10, 0, 0, 2,
        0b0011, 0, 0, 8, 10, 0, 0, 3,
    ];
    assert_eq!(octets, expected);
    assert_eq!(hello::Repr::parse(&hello::View::new_checked(&octets).unwrap()), repr);
}

#[test]
fn codes_without_a_meaning_are_passed_over() {
    for code in 0..=255 {
        let known = code < 12 && code != 0b0010;
        assert_eq!(LinkCode::parse(code).is_some(), known, "{code}");
    }
    #[rustfmt::skip]
    let octets = [0, 0, 5, 3, 0x10, 0, 0, 8, 10, 0, 0, 1, 0b0110, 0, 0, 8, 10, 0, 0, 2];
    let links = hello::Repr::parse(&hello::View::new_checked(&octets).unwrap()).links;
    let known = LinkCode { link: LinkType::Symmetric, neighbour: NeighbourType::Symmetric };
    assert_eq!(links, [(known, vec![Ipv4Addr::new(10, 0, 0, 2)])]);
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    assert!(Packet::new_checked(&CAPTURED[..71]).is_err());
    assert!(Packet::new_checked(&CAPTURED[..15]).is_err());
    let mut octets = CAPTURED;
    octets[1] = 15;
    let error = Packet::new_checked(octets).unwrap_err();
    assert_eq!(error.to_string(), "OLSR: packet length at octet 0 is 15, should be at least 16");

    // The second message is a message too long: the first one counts.
    let mut octets = CAPTURED;
    octets[35] = 41;
    let packet = Packet::new_checked(octets).unwrap();
    let messages: Vec<_> = packet.messages().collect();
    assert_eq!(messages.len(), 2);
    assert!(messages[0].is_ok());
    let error = messages[1].unwrap_err();
    assert_eq!(error.to_string(), "OLSR: message size at octet 34 is 41, should be at most what is left of the packet");

    for size in [0, 3, 6, 16, 255] {
        let hello = [0, 0, 5, 3, 6, 0, 0, size, 10, 0, 0, 1, 10, 0, 0, 2];
        assert!(hello::View::new_checked(&hello).is_err(), "{size}");
    }
    assert!(hello::View::new_checked(&[0, 0, 5]).is_err());
    assert!(hello::View::new_checked(&[0, 0, 5, 3, 6, 0]).is_err());
    assert!(tc::View::new_checked(&[0, 1, 0]).is_err());
    assert!(tc::View::new_checked(&[0, 1, 0, 0, 10, 0, 0]).is_err());
    assert!(mid::View::new_checked(&[10, 0, 0]).is_err());
    assert!(hna::View::new_checked(&[10, 0, 0, 0]).is_err());
}

fn addresses(count: core::ops::Range<usize>) -> impl Strategy<Value = Vec<Ipv4Addr>> {
    prop::collection::vec(any::<u32>().prop_map(Ipv4Addr::from_bits), count)
}

fn link() -> impl Strategy<Value = (LinkCode, Vec<Ipv4Addr>)> {
    let code = (0_u8..12).prop_filter_map("a code without a meaning", LinkCode::parse);
    (code, addresses(0..9))
}

proptest! {
    #[test]
    fn survives_the_wire(
        links in prop::collection::vec(link(), 0..6),
        (interval, willingness, ansn) in any::<(u8, u8, u16)>(),
        (neighbours, interfaces) in (addresses(0..9), addresses(0..9)),
        networks in addresses(0..5),
    ) {
        let hello = hello::Repr { interval: TimeCode(interval), willingness, links };
        let tc = tc::Repr { ansn, neighbours };
        let mid = mid::Repr { interfaces };
        let network = |&address: &Ipv4Addr| hna::Network { address, netmask: Ipv4Addr::new(255, 255, 0, 0) };
        let hna = hna::Repr { networks: networks.iter().map(network).collect() };
        let mut bodies = [hello.buffer_len(), tc.buffer_len(), mid.buffer_len(), hna.buffer_len()].map(|len| vec![0xee; len]);
        hello.emit(&mut bodies[0]);
        tc.emit(&mut bodies[1]);
        mid.emit(&mut bodies[2]);
        hna.emit(&mut bodies[3]);
        let kinds = [MessageType::Hello, MessageType::Tc, MessageType::Mid, MessageType::Hna];
        let whole: Vec<_> = kinds.into_iter().zip(bodies.iter().map(Vec::as_slice)).collect();
        let octets = packet(&whole);
        let packet = Packet::new_checked(&octets).unwrap();
        let messages: Vec<_> = packet.messages().map(Result::unwrap).collect();
        for (message, (kind, body)) in messages.iter().zip(&whole) {
            prop_assert_eq!(message.header(), header(*kind, body.len()));
        }
        let body = |nth: usize| messages[nth].body();
        prop_assert_eq!(hello::Repr::parse(&hello::View::new_checked(body(0)).unwrap()), hello);
        prop_assert_eq!(tc::Repr::parse(&tc::View::new_checked(body(1)).unwrap()), tc);
        prop_assert_eq!(mid::Repr::parse(&mid::View::new_checked(body(2)).unwrap()), mid);
        prop_assert_eq!(hna::Repr::parse(&hna::View::new_checked(body(3)).unwrap()), hna);
    }

    #[test]
    fn arbitrary_octets_never_panic(
        octets in prop::collection::vec(any::<u8>(), 0..80),
        flips in prop::collection::vec((0_usize..72, any::<u8>()), 0..4),
    ) {
        let mut mutated = CAPTURED;
        for (at, octet) in flips {
            mutated[at] = octet;
        }
        for octets in [&octets[..], &mutated] {
            if let Ok(packet) = Packet::new_checked(octets) {
                let _ = Repr::parse(&packet);
                for message in packet.messages().flatten() {
                    let _ = message.header();
                    read(message.body());
                }
            }
            read(octets);
        }
    }
}

/// As the body of a message of any type.
fn read(body: &[u8]) {
    let _ = hello::View::new_checked(body).map(|view| hello::Repr::parse(&view));
    let _ = tc::View::new_checked(body).map(|view| tc::Repr::parse(&view));
    let _ = mid::View::new_checked(body).map(|view| mid::Repr::parse(&view));
    let _ = hna::View::new_checked(body).map(|view| hna::Repr::parse(&view));
}
