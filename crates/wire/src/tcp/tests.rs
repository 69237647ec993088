use super::*;
use proptest::prelude::*;

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 1);

/// From tcpdump's capture mptcp-v1, `SERVER` to `CLIENT`: SYN and ACK, with an option of MPTCP (kind 30, RFC 8684).
/// It was captured before the network card would have computed the checksum: here stands the one that Wireshark expects.
const SYN_ACK: [u8; 52] = [
    0x27, 0x14, 0x82, 0x1a, 0x2f, 0x2c, 0x0b, 0x6d, 0x81, 0xfb, 0xb5, 0xfe, 0xd0, 0x12, 0xff, 0xff, 0x7b, 0xfc, 0x00,
    0x00, 0x02, 0x04, 0x05, 0xb4, 0x04, 0x02, 0x08, 0x0a, 0xc3, 0x37, 0xc5, 0x93, 0x1b, 0xaf, 0x9e, 0xa1, 0x01, 0x03,
    0x03, 0x08, 0x1e, 0x0c, 0x01, 0x01, 0x29, 0xa6, 0xc8, 0x69, 0x81, 0xad, 0x93, 0x3c,
];
/// From the same capture, `CLIENT` to `SERVER`: the ACK that ends the handshake. The checksum is Wireshark's likewise.
const ACK: [u8; 52] = [
    0x82, 0x1a, 0x27, 0x14, 0x81, 0xfb, 0xb5, 0xfe, 0x2f, 0x2c, 0x0b, 0x6e, 0xd0, 0x10, 0x01, 0x00, 0xa5, 0x3f, 0x00,
    0x00, 0x01, 0x01, 0x08, 0x0a, 0x1b, 0xaf, 0x9e, 0xa1, 0xc3, 0x37, 0xc5, 0x93, 0x1e, 0x14, 0x01, 0x01, 0x1f, 0xdb,
    0x5d, 0xf3, 0x28, 0xbc, 0x3d, 0xef, 0x29, 0xa6, 0xc8, 0x69, 0x81, 0xad, 0x93, 0x3c,
];

fn unknown(kind: u8, value: &[u8]) -> UnknownOptions {
    let mut unknown = UnknownOptions::NONE;
    assert!(unknown.push(kind, value));
    unknown
}

fn sack_blocks(blocks: &[(u32, u32)]) -> SackBlocks {
    let mut sack = SackBlocks::NONE;
    for &(left, right) in blocks {
        assert!(sack.push(SackBlock { left, right }));
    }
    sack
}

/// A segment without flags, options and payload.
fn plain() -> Repr {
    Repr {
        source_port: 33306,
        destination_port: 10004,
        sequence: 1,
        acknowledgement: 0,
        flags: Flags::default(),
        window: 0,
        urgent: 0,
        options: Options::NONE,
        payload_len: 0,
    }
}

fn emit(repr: &Repr) -> Vec<u8> {
    let mut octets = vec![0xee; repr.buffer_len()];
    repr.emit(&mut Packet::new_unchecked(&mut octets), CLIENT, SERVER, &[]);
    octets
}

fn parse(octets: &[u8]) -> Result<Repr, ParseError> {
    Repr::parse(&Packet::new_checked(octets)?, CLIENT, SERVER, Policy::Ignore)
}

#[test]
fn octets_and_meaning() {
    let syn_ack = Repr {
        source_port: 10004,
        destination_port: 33306,
        sequence: 791415661,
        acknowledgement: 2180756990,
        flags: Flags::SYN | Flags::ACK,
        window: 65535,
        urgent: 0,
        options: Options {
            max_segment_size: Some(1460),
            window_scale: Some(8),
            sack_permitted: true,
            sack_blocks: SackBlocks::NONE,
            timestamps: Some(Timestamps { value: 3275212179, echo: 464494241 }),
            unknown: unknown(30, &SYN_ACK[42..]),
        },
        payload_len: 0,
    };
    let ack = Repr {
        source_port: 33306,
        destination_port: 10004,
        sequence: 2180756990,
        acknowledgement: 791415662,
        flags: Flags::ACK,
        window: 256,
        urgent: 0,
        options: Options {
            timestamps: Some(Timestamps { value: 464494241, echo: 3275212179 }),
            unknown: unknown(30, &ACK[34..]),
            ..Options::NONE
        },
        payload_len: 0,
    };
    for (octets, repr, source, destination) in [(SYN_ACK, syn_ack, SERVER, CLIENT), (ACK, ack, CLIENT, SERVER)] {
        assert_eq!(Repr::parse(&Packet::new_checked(&octets).unwrap(), source, destination, Policy::Verify), Ok(repr));
        let mut emitted = vec![0xee; repr.buffer_len()];
        repr.emit(&mut Packet::new_unchecked(&mut emitted), source, destination, &[]);
        assert_eq!(emitted, octets);
    }
}

#[test]
fn a_wrong_checksum_is_an_error_unless_ignored() {
    let mut octets = SYN_ACK;
    octets[4] ^= 1;
    let packet = Packet::new_checked(&octets).unwrap();
    let error = Repr::parse(&packet, SERVER, CLIENT, Policy::Verify).unwrap_err();
    assert_eq!((error.field, error.offset), ("checksum", 16));
    assert!(Repr::parse(&packet, SERVER, CLIENT, Policy::Ignore).is_ok());
}

#[test]
fn the_options_are_laid_out_for_their_numbers() {
    let options = |options| emit(&Repr { options, ..plain() })[HEADER_LEN..].to_vec();
    assert_eq!(options(Options::NONE), []);
    assert_eq!(options(Options { window_scale: Some(7), ..Options::NONE }), [1, 3, 3, 7]);
    assert_eq!(options(Options { sack_permitted: true, ..Options::NONE }), [1, 1, 4, 2]);
    let blocks = sack_blocks(&[(0x0102_0304, 0x0506_0708)]);
    let sack = options(Options { sack_blocks: blocks, ..Options::NONE });
    assert_eq!(sack, [1, 1, 5, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
    // An option of odd length is padded to the word with ends of the list.
    assert_eq!(options(Options { unknown: unknown(253, &[9]), ..Options::NONE }), [253, 3, 9, 0]);
}

#[test]
fn four_sack_blocks_fit_alone_and_three_beside_timestamps() {
    let blocks = sack_blocks(&[(1, 2), (3, 4), (5, 6), (7, 8)]);
    let alone = Repr { options: Options { sack_blocks: blocks, ..Options::NONE }, ..plain() };
    assert_eq!(alone.buffer_len(), 20 + 36);
    assert_eq!(parse(&emit(&alone)), Ok(alone));

    let beside = Repr { options: Options { timestamps: Some(Timestamps::default()), ..alone.options }, ..plain() };
    assert_eq!(beside.buffer_len(), 20 + 40);
    let parsed = parse(&emit(&beside)).unwrap();
    assert_eq!(parsed.options.sack_blocks, sack_blocks(&[(1, 2), (3, 4), (5, 6)]));
    assert_eq!(parsed.options.timestamps, Some(Timestamps::default()));

    let mut full = blocks;
    assert!(!full.push(SackBlock::default()));
}

#[test]
fn padding_yields_before_options_do() {
    // 10 octets of timestamps and 30 of something else leave no room for padding.
    let options = Options {
        timestamps: Some(Timestamps { value: 1, echo: 2 }),
        unknown: unknown(254, &[7; 28]),
        ..Options::NONE
    };
    let repr = Repr { options, ..plain() };
    assert_eq!(repr.buffer_len(), 60);
    assert_eq!(parse(&emit(&repr)), Ok(repr));
}

#[test]
fn options_that_cannot_be_are_named() {
    let wrong = |options: &[u8]| {
        let mut octets = emit(&plain());
        octets.extend(options);
        octets[12] = ((octets.len() / 4) as u8) << 4;
        parse(&octets).unwrap_err().to_string()
    };
    assert_eq!(wrong(&[2, 0, 0, 0]), "TCP: option length at octet 21 is 0, should be at least 2");
    assert_eq!(
        wrong(&[1, 1, 8, 10]),
        "TCP: option length at octet 23 is 10, should be at most what is left of the header"
    );
    assert_eq!(wrong(&[1, 1, 1, 8]), "TCP: option kind at octet 23 is 8, should be followed by a length");
    assert_eq!(wrong(&[3, 4, 1, 1]), "TCP: length of window scale at octet 21 is 4, should be 3");
    assert_eq!(wrong(&[2, 2, 1, 1]), "TCP: length of maximum segment size at octet 21 is 2, should be 4");
    assert_eq!(wrong(&[4, 3, 1, 1]), "TCP: length of SACK permitted at octet 21 is 3, should be 2");
    assert_eq!(wrong(&[5, 2, 1, 1]), "TCP: length of SACK at octet 21 is 2, should be 10, 18, 26 or 34");
    assert_eq!(wrong(&[8, 4, 1, 1]), "TCP: length of timestamps at octet 21 is 4, should be 10");
}

#[test]
fn headers_that_cannot_be_are_named() {
    let mut octets = emit(&plain());
    assert!(Packet::new_checked(&octets[..19]).is_err());
    octets[12] = 0x40;
    let error = Packet::new_checked(&octets).unwrap_err();
    assert_eq!(error.to_string(), "TCP: data offset at octet 12 is 4, should be at least 5");
    octets[12] = 0x60;
    let error = Packet::new_checked(&octets).unwrap_err();
    assert_eq!(
        error.to_string(),
        "TCP: data offset at octet 12 is 6, should be at most the buffer's length in words of 4 octets"
    );
    assert!(Packet::new_checked([0x50; 65536]).is_err());
}

#[test]
fn flags_print_by_name() {
    assert_eq!(format!("{:?}", Flags::SYN | Flags::ACK), "Flags(SYN|ACK)");
    assert_eq!(format!("{:?}", Flags(0x211)), "Flags(FIN|ACK; reserved 0x1)");
}

prop_compose! {
    /// Options that may be too many for one header.
    fn any_options()(
        max_segment_size: Option<u16>,
        window_scale: Option<u8>,
        sack_permitted: bool,
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
        timestamps in prop::option::of(any::<(u32, u32)>()),
        others in prop::collection::vec((9_u8.., prop::collection::vec(any::<u8>(), 0..38)), 0..3),
    ) -> Options {
        let mut unknown = UnknownOptions::NONE;
        for (kind, value) in others {
            unknown.push(kind, &value);
        }
        Options {
            max_segment_size, window_scale, sack_permitted, unknown,
            sack_blocks: sack_blocks(&blocks),
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
        }
    }
}

prop_compose! {
    fn any_repr()(
        (source_port, destination_port, sequence, acknowledgement) in any::<(u16, u16, u32, u32)>(),
        flags in (0_u16..0x1000).prop_map(Flags),
        (window, urgent) in any::<(u16, u16)>(),
        options in any_options(),
    ) -> Repr {
        Repr {
            source_port, destination_port, sequence, acknowledgement, flags, window, urgent, options, payload_len: 0,
        }
    }
}

/// Bytes of options without padding.
fn bare_len(options: &Options) -> usize {
    let sack = options.sack_blocks.as_slice().len() * 8;
    options.max_segment_size.map_or(0, |_| 4)
        + options.window_scale.map_or(0, |_| 3)
        + if options.sack_permitted { 2 } else { 0 }
        + options.timestamps.map_or(0, |_| 10)
        + if sack > 0 { 2 + sack } else { 0 }
        + options.unknown.as_slice().len()
}

proptest! {
    #[test]
    fn survives_the_wire(
        repr in any_repr(),
        payload in prop::collection::vec(any::<u8>(), 0..64),
        zeros in 0_u16..64,
        (source, destination) in any::<(u32, u32)>(),
    ) {
        let (source, destination) = (source.into(), destination.into());
        let repr = Repr { payload_len: payload.len() as u16 + zeros, ..repr };
        let header = repr.buffer_len();
        prop_assert!(header <= 60 && header.is_multiple_of(4));
        let mut octets = vec![0; header + usize::from(repr.payload_len)];
        octets[header..header + payload.len()].copy_from_slice(&payload);
        repr.emit(&mut Packet::new_unchecked(&mut octets), source, destination, &payload);
        let parsed = Repr::parse(&Packet::new_checked(&octets).unwrap(), source, destination, Policy::Verify).unwrap();
        if bare_len(&repr.options) <= 40 {
            prop_assert_eq!(parsed, repr);
        } else {
            // Only SACK blocks from the end, and unknown options, may be missing.
            let (sent, kept) = (repr.options.sack_blocks, parsed.options.sack_blocks);
            prop_assert!(sent.as_slice().starts_with(kept.as_slice()));
            let (sack_blocks, unknown) = (parsed.options.sack_blocks, parsed.options.unknown);
            prop_assert!(unknown == repr.options.unknown || unknown == UnknownOptions::NONE);
            prop_assert_eq!(parsed, Repr { options: Options { sack_blocks, unknown, ..repr.options }, ..repr });
        }
    }

    #[test]
    fn arbitrary_octets_never_panic_and_what_is_understood_survives(
        offset in 0x50_u8.., mut octets in prop::collection::vec(prop_oneof![0_u8..12, any::<u8>()], 0..96),
    ) {
        if octets.len() > 12 {
            octets[12] = offset;
        }
        if let Ok(packet) = Packet::new_checked(&octets) {
            let _ = packet.payload();
            let _ = packet.verify_checksum(CLIENT, SERVER);
            if let Ok(repr) = Repr::parse(&packet, CLIENT, SERVER, Policy::Ignore) {
                let repr = Repr { payload_len: 0, ..repr };
                prop_assert_eq!(parse(&emit(&repr)), Ok(repr));
            }
        }
    }
}
