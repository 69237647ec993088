use proptest::prelude::*;

use super::*;

const CLIENT: Ipv4Addr = Ipv4Addr::new(139, 133, 209, 176);
const SERVER: Ipv4Addr = Ipv4Addr::new(139, 133, 209, 65);

/// From tcpdump's capture dccp_partial_csum_v4_simple: the handshake of two Linux hosts of 2006, and a DataAck.
const REQUEST: [u8; 32] = [
    0xcd, 0xbb, 0x13, 0x89, 0x08, 0x00, 0xa7, 0x66, 0x01, 0x00, 0x00, 0x07, 0xb8, 0xbb, 0x92,
    0x40, // The numbers.
    0x00, 0x00, 0x00, 0x00, // The service code.
    0x20, 0x04, 0x05, 0x02, 0x22, 0x04, 0x01, 0x02, 0x20, 0x04, 0x01, 0x02,
];
const ACK: [u8; 36] = [
    0xcd, 0xbb, 0x13, 0x89, 0x09, 0x00, 0xdf, 0x09, 0x07, 0x00, 0x00, 0x07, 0xb8, 0xbb, 0x92,
    0x41, // The numbers,
    0x00, 0x00, 0x00, 0x00, 0x72, 0xc5, 0x83, 0x51, // two of them.
    0x00, 0x23, 0x04, 0x05, 0x02, 0x26, 0x03, 0x00, 0x2b, 0x04, 0x00, 0x01,
];

fn parse(octets: &[u8], from: Ipv4Addr, to: Ipv4Addr, policy: Policy) -> Result<(), ParseError> {
    Repr::parse(&Packet::new_checked(octets)?, from, to, policy).map(|_| ())
}

fn emit(repr: &Repr, payload: &[u8]) -> Vec<u8> {
    let mut octets = vec![0xee; repr.buffer_len()];
    let mut packet = Packet::new_unchecked(&mut octets);
    repr.emit(&mut packet);
    packet.fill_checksum(CLIENT, SERVER, payload, repr.payload_len);
    octets.extend_from_slice(payload);
    octets.resize(repr.buffer_len() + usize::from(repr.payload_len), 0);
    octets
}

/// A packet of the type `kind`, with everything else from the other arguments.
fn body(kind: u8, acknowledgement: u64, word: u32) -> Body {
    let [code, data @ ..] = word.to_be_bytes();
    match PacketType::from(kind) {
        PacketType::Request => Body::Request { service_code: word },
        PacketType::Response => Body::Response { acknowledgement, service_code: word },
        PacketType::Data => Body::Data,
        PacketType::Ack => Body::Ack { acknowledgement },
        PacketType::DataAck => Body::DataAck { acknowledgement },
        PacketType::CloseReq => Body::CloseReq { acknowledgement },
        PacketType::Close => Body::Close { acknowledgement },
        PacketType::Reset => Body::Reset { acknowledgement, code: ResetCode::from(code), data },
        PacketType::Sync => Body::Sync { acknowledgement },
        _ => Body::SyncAck { acknowledgement },
    }
}

#[test]
fn octets_and_meaning_of_a_request() {
    let packet = Packet::new_checked(&REQUEST).unwrap();
    let repr = Repr::parse(&packet, CLIENT, SERVER, Policy::Verify).unwrap();
    let options: Vec<_> = repr.options.iter().map(Result::unwrap).collect();
    assert_eq!(
        options,
        [
            OptionRepr::ChangeL(Feature::AckRatio, &[2]),
            OptionRepr::ChangeR(Feature::Ccid, &[2]),
            OptionRepr::ChangeL(Feature::Ccid, &[2]),
        ]
    );
    assert_eq!((repr.source_port, repr.destination_port), (52667, 5001));
    assert_eq!((repr.sequence, repr.extended), (33_164_071_488, true));
    assert_eq!((repr.body, repr.payload_len), (Body::Request { service_code: 0 }, 0));
    assert_eq!(emit(&repr, &[]), REQUEST);
}

#[test]
fn octets_and_meaning_of_an_acknowledgement() {
    let packet = Packet::new_checked(&ACK).unwrap();
    let repr = Repr::parse(&packet, CLIENT, SERVER, Policy::Verify).unwrap();
    assert_eq!(repr.body, Body::Ack { acknowledgement: 0x72c5_8351 });
    let options: Vec<_> = repr.options.iter().map(Result::unwrap).collect();
    assert_eq!(
        options,
        [
            OptionRepr::ConfirmR(Feature::AckRatio, &[2]),
            OptionRepr::Other(OptionKind::AckVector0, &[0]),
            OptionRepr::ElapsedTime(1),
        ]
    );
    assert_eq!(emit(&repr, &[]), ACK);
}

#[test]
fn every_option_has_the_octets_of_its_section() {
    let mut list = OptionList::new();
    let echo = TimestampEcho { timestamp: 0x0102_0304, elapsed: Some(0x0506) };
    let long_echo = TimestampEcho { timestamp: 1, elapsed: Some(0x0001_0000) };
    let short_echo = TimestampEcho { timestamp: 1, elapsed: None };
    for (option, octets) in [
        (OptionRepr::Mandatory, &[1][..]),
        (OptionRepr::SlowReceiver, &[2]),
        (OptionRepr::ChangeL(Feature::Ccid, &[3, 2]), &[32, 5, 1, 3, 2]),
        (OptionRepr::ConfirmL(Feature::Ccid, &[3, 3, 2]), &[33, 6, 1, 3, 3, 2]),
        (OptionRepr::ChangeR(Feature::SendLossEventRate, &[1]), &[34, 4, 192, 1]),
        (OptionRepr::ConfirmR(Feature::SequenceWindow, &[0, 0, 0, 0, 3, 232]), &[35, 9, 3, 0, 0, 0, 0, 3, 232]),
        (OptionRepr::NdpCount(0), &[37, 3, 0]),
        (OptionRepr::NdpCount(300), &[37, 4, 1, 44]),
        (OptionRepr::NdpCount((1 << 48) - 1), &[37, 8, 255, 255, 255, 255, 255, 255]),
        (OptionRepr::Timestamp(0x0102_0304), &[41, 6, 1, 2, 3, 4]),
        (OptionRepr::TimestampEcho(echo), &[42, 8, 1, 2, 3, 4, 5, 6]),
        (OptionRepr::TimestampEcho(long_echo), &[42, 10, 0, 0, 0, 1, 0, 1, 0, 0]),
        (OptionRepr::TimestampEcho(short_echo), &[42, 6, 0, 0, 0, 1]),
        (OptionRepr::ElapsedTime(0x0506), &[43, 4, 5, 6]),
        (OptionRepr::ElapsedTime(0x0001_0000), &[43, 6, 0, 1, 0, 0]),
        (OptionRepr::LossEventRate(u32::MAX), &[192, 6, 255, 255, 255, 255]),
        (OptionRepr::ReceiveRate(0x0001_0203), &[194, 6, 0, 1, 2, 3]),
        (OptionRepr::NetworkState(NetworkState::CONGESTION | NetworkState::URGENT), &[248, 3, 0x81]),
        (OptionRepr::Other(OptionKind::Unknown(3), &[]), &[3]),
        (OptionRepr::Other(OptionKind::Unknown(130), &[7]), &[130, 3, 7]),
    ] {
        let mut alone = OptionList::new();
        assert!(alone.push(&option));
        assert_eq!(alone.as_options().as_octets(), octets);
        assert_eq!(alone.as_options().iter().collect::<Vec<_>>(), [Ok(option)]);
        assert!(list.extend(&alone));
    }
    assert_eq!(list.as_options().iter().filter(Result::is_ok).count(), 20);
}

#[test]
fn loss_intervals_have_the_octets_of_rfc_4342_section_8_6() {
    let intervals = [
        LossInterval { lossless: 0x0001_0203, nonce_echo: true, lossy: 0x0004_0506, data: 0x0007_0809 },
        LossInterval { lossless: 0x00ff_ffff, nonce_echo: false, lossy: 0, data: 0x00ff_ffff },
    ];
    let mut list = OptionList::new();
    assert!(list.push_loss_intervals(3, intervals.into_iter()));
    let octets = [193, 21, 3, 1, 2, 3, 0x84, 5, 6, 7, 8, 9, 255, 255, 255, 0, 0, 0, 255, 255, 255];
    assert_eq!(list.as_options().as_octets(), octets);
    let Some(Ok(OptionRepr::LossIntervals(read))) = list.as_options().iter().next() else { panic!("no intervals") };
    assert_eq!((read.skip, read.iter().collect::<Vec<_>>()), (3, intervals.to_vec()));
    // Twenty-eight don't fit into the 253 octets of a value, nor into the list.
    assert!(!list.push_loss_intervals(0, [LossInterval::default(); 28].into_iter()));
    assert_eq!(list.as_options().as_octets(), octets);
}

#[test]
fn numbers_of_24_bits_make_a_short_header() {
    for (body, length) in [(Body::Data, 12), (Body::Ack { acknowledgement: 0x0106_0504 }, 16)] {
        let repr = Repr {
            source_port: 1,
            destination_port: 2,
            ccval: 5,
            checksum_coverage: 0,
            extended: false,
            sequence: 0x0103_0201,
            body,
            options: Options::NONE,
            payload_len: 0,
        };
        let octets = emit(&repr, &[]);
        assert_eq!(octets.len(), length);
        assert_eq!((octets[5], &octets[9..12]), (0x50, &[3, 2, 1][..]));
        let packet = Packet::new_checked(&octets).unwrap();
        assert_eq!(packet.sequence(), 0x03_0201);
        assert_eq!(packet.acknowledgement(), (length == 16).then_some(0x06_0504));
        assert!(packet.verify_checksum(CLIENT, SERVER));
        // A type that can't be short is emitted long.
        assert_eq!(Repr { body: Body::Sync { acknowledgement: 0 }, ..repr }.buffer_len(), 24);
    }
}

#[test]
fn the_checksum_covers_what_it_says() {
    let payload = [0x11; 40];
    for (coverage, reach) in [(0, 40), (1, 0), (2, 4), (11, 40)] {
        let repr = Repr {
            source_port: 1,
            destination_port: 2,
            ccval: 0,
            checksum_coverage: coverage,
            extended: true,
            sequence: 1,
            body: Body::Data,
            options: Options::NONE,
            payload_len: 40,
        };
        let octets = emit(&repr, &payload);
        for at in 0..40 {
            let mut broken = octets.clone();
            broken[16 + at] ^= 4;
            assert_eq!(parse(&broken, CLIENT, SERVER, Policy::Verify).is_err(), at < reach, "{coverage} {at}");
        }
        let error = parse(&octets, CLIENT, CLIENT, Policy::Verify).unwrap_err();
        assert_eq!((error.field, error.offset), ("checksum", 6));
        parse(&octets, CLIENT, CLIENT, Policy::Ignore).unwrap();
    }
    let mut too_far = ACK;
    too_far[5] = 2;
    assert!(parse(&too_far, CLIENT, SERVER, Policy::Verify).is_err(), "there is no payload to cover");
}

#[test]
fn headers_that_cannot_be_are_refused() {
    let error = |change: &dyn Fn(&mut [u8; 32])| {
        let mut octets = REQUEST;
        change(&mut octets);
        Packet::new_checked(octets).unwrap_err().to_string()
    };
    assert_eq!(Packet::new_checked(&REQUEST[..11]).unwrap_err().field, "length");
    assert_eq!(error(&|octets| octets[8] = 0x15), "DCCP: type at octet 8 is 10, should be at most 9");
    assert_eq!(error(&|octets| octets[8] = 0), "DCCP: X at octet 8 is 0, should be 1 in a packet of this type");
    let least = "DCCP: data offset at octet 4 is 4, should be at least the words of a header of this type";
    assert_eq!(error(&|octets| octets[4] = 4), least);
    let most = "DCCP: data offset at octet 4 is 9, should be at most the buffer's length in words of 4 octets";
    assert_eq!(error(&|octets| octets[4] = 9), most);
}

#[test]
fn an_option_that_cannot_be_ends_the_list_and_says_where() {
    let mut octets = ACK;
    octets[29..33].copy_from_slice(&[41, 5, 0, 43]);
    let packet = Packet::new_checked(&octets).unwrap();
    let options: Vec<_> = packet.options().iter().collect();
    let [Ok(OptionRepr::ConfirmR(Feature::AckRatio, [2])), Err(error)] = options[..] else { panic!("{options:?}") };
    assert_eq!(error.kind, OptionKind::Timestamp);
    assert_eq!(error.error.to_string(), "DCCP: length of timestamp at octet 30 is 5, should be 6");
    for wrong in [&[41][..], &[41, 1], &[41, 7, 0, 0, 0, 0], &[32, 2], &[37, 2], &[37, 9, 0, 0, 0, 0, 0, 0, 0]] {
        let options = Options::new(wrong, 16);
        let read: Vec<_> = options.iter().collect();
        assert!(matches!(read[..], [Err(_)]), "{wrong:?}: {read:?}");
    }
}

#[test]
fn what_does_not_fit_is_not_added() {
    let mut list = OptionList::new();
    assert!(!list.push(&OptionRepr::Other(OptionKind::Unknown(130), &[0; 254])));
    assert!(list.push(&OptionRepr::Other(OptionKind::Unknown(130), &[0; 187])));
    assert!(!list.push(&OptionRepr::ElapsedTime(1)));
    assert!(list.push(&OptionRepr::NdpCount(1)));
    assert!(!list.push(&OptionRepr::Mandatory));
    assert_eq!(list.as_options().iter().filter(Result::is_ok).count(), 2);
}

fn options() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
    prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..12)), 0..8)
}

proptest! {
    #[test]
    fn survives_the_wire(
        ports in any::<(u16, u16)>(),
        (ccval, coverage) in (0_u8..16, 0_u8..16),
        extended in any::<bool>(),
        (sequence, acknowledgement) in any::<(u64, u64)>(),
        (kind, word) in (0_u8..10, any::<u32>()),
        list in options(),
        payload in prop::collection::vec(any::<u8>(), 64..128),
        zeros in 0_u16..64,
    ) {
        let mut options = OptionList::new();
        for (kind, value) in &list {
            // Of the kinds whose value may be anything.
            let kind = match *kind {
                0 => OptionKind::Mandatory,
                kind @ (3..=31 | 45..=191) => kind.into(),
                kind => OptionKind::from(kind | 0xc8),
            };
            if kind != OptionKind::NetworkState {
                options.push(&OptionRepr::Other(kind, if u8::from(kind) < 32 { &[] } else { value }));
            }
        }
        let mask = if extended || !matches!(kind, 2..=4) { SEQUENCE_MASK } else { SHORT_MASK };
        let repr = Repr {
            source_port: ports.0,
            destination_port: ports.1,
            ccval,
            checksum_coverage: coverage,
            extended: extended || !matches!(kind, 2..=4),
            sequence: sequence & mask,
            body: body(kind, acknowledgement & mask, word),
            options: options.as_options(),
            payload_len: payload.len() as u16 + zeros,
        };
        let octets = emit(&repr, &payload);
        let packet = Packet::new_checked(&octets).unwrap();
        let read = Repr::parse(&packet, CLIENT, SERVER, Policy::Verify).unwrap();
        prop_assert!(read.options.iter().eq(repr.options.iter()));
        prop_assert_eq!(read, Repr { options: read.options, ..repr });
        prop_assert_eq!(&packet.payload()[..payload.len()], &payload[..]);
        // Emitted again, padding and all, it is the same.
        prop_assert_eq!(emit(&read, packet.payload()), octets);
    }

    #[test]
    fn arbitrary_octets_never_panic(
        (kind, offset) in (0_u8..16, 0_u8..24),
        shaped in any::<bool>(),
        mut octets in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        if shaped && octets.len() > 8 {
            octets[4] = offset;
            octets[8] = kind << 1 | octets[8] & 1;
        }
        if let Ok(packet) = Packet::new_checked(&octets) {
            let repr = Repr::parse(&packet, CLIENT, SERVER, Policy::Ignore).unwrap();
            let _ = packet.verify_checksum(CLIENT, SERVER);
            let _ = packet.payload();
            for option in repr.options.iter().flatten() {
                let _ = option.may_be_in_data();
                if let OptionRepr::LossIntervals(intervals) = option {
                    prop_assert!(intervals.iter().all(|interval| interval.lossy < 1 << 23));
                }
            }
            // What was read is emitted as it was, the reserved bits apart.
            let emitted = emit(&repr, packet.payload());
            prop_assert_eq!(emitted.len(), octets.len());
            let again = Packet::new_checked(&emitted).unwrap();
            prop_assert_eq!(Repr::parse(&again, CLIENT, SERVER, Policy::Ignore).unwrap(), repr);
        }
    }
}
