use super::*;
use proptest::prelude::*;

const ACCESS_POINT: MacAddress = MacAddress([0x00, 0x0b, 0x86, 0xc2, 0xa4, 0x85]);
const STATION: MacAddress = MacAddress([0x00, 0x13, 0xce, 0x55, 0x98, 0xef]);

fn sequence(sequence: u16) -> SequenceControl {
    SequenceControl { sequence, fragment: 0 }
}

/// `octets` says what `repr` means, and `repr` becomes these bytes.
fn assert_pair(octets: &[u8], repr: Repr) {
    assert_eq!(Repr::parse(&Packet::new_checked(octets).unwrap()), Ok(repr));
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut Packet::new_unchecked(&mut emitted));
    assert_eq!(emitted, octets);
}

/// From aircrack-ng's capture capture_wds-01.
#[test]
fn rts_octet_by_octet() {
    #[rustfmt::skip]
    let octets = [
        0xb4, 0x00, // Subtype 1011, type 01, version 00; no flag.
        0xf8, 0x00, // 248 µs, least significant octet first.
        0x00, 0x11, 0x22, 0x00, 0x00, 0x01, // Receiver, as it is written.
        0x00, 0x11, 0x22, 0x00, 0x00, 0x00, // Transmitter.
    ];
    let repr = Repr::Rts {
        flags: Flags::NONE,
        duration: 248,
        receiver: MacAddress([0x00, 0x11, 0x22, 0x00, 0x00, 0x01]),
        transmitter: MacAddress([0x00, 0x11, 0x22, 0x00, 0x00, 0x00]),
    };
    assert_pair(&octets, repr);
}

/// From aircrack-ng's capture capture_wds-01.
#[test]
fn cts_octet_by_octet() {
    #[rustfmt::skip]
    let octets = [
        0xc4, 0x00, // Subtype 1100, type 01, version 00; no flag.
        0xbc, 0x00, // 188 µs.
        0x00, 0x11, 0x22, 0x00, 0x00, 0x00, // Receiver.
    ];
    let receiver = MacAddress([0x00, 0x11, 0x22, 0x00, 0x00, 0x00]);
    assert_pair(&octets, Repr::Cts { flags: Flags::NONE, duration: 188, receiver });
}

/// From aircrack-ng's capture wpa2-psk-linksys.
#[test]
fn ack_octet_by_octet() {
    #[rustfmt::skip]
    let octets = [
        0xd4, 0x00, // Subtype 1101, type 01, version 00; no flag.
        0x00, 0x00, // 0 µs: the exchange is over.
        0x00, 0x13, 0xce, 0x55, 0x98, 0xef, // Receiver.
    ];
    assert_pair(&octets, Repr::Ack { flags: Flags::NONE, duration: 0, receiver: STATION });
}

/// From ns-3's own check of AODV, the capture aodv-chain-regression-test-1-0: made by a simulator, not off the air.
#[test]
fn ad_hoc_data_octet_by_octet() {
    #[rustfmt::skip]
    let octets = [
        0x08, 0x00, // Subtype 0000, type 10, version 00; neither to nor from a distribution system.
        0x3c, 0x00, // 60 µs.
        0x00, 0x00, 0x00, 0x00, 0x00, 0x02, // Destination.
        0x00, 0x00, 0x00, 0x00, 0x00, 0x01, // Source.
        0x00, 0x00, 0x00, 0x00, 0x00, 0x01, // BSSID.
        0x50, 0x00, // Sequence number 5, fragment 0.
    ];
    let repr = Repr::Data {
        flags: Flags::NONE,
        duration: 60,
        subtype: DataSubtype::Data,
        addressing: Addressing::AdHoc {
            destination: MacAddress([0, 0, 0, 0, 0, 2]),
            source: MacAddress([0, 0, 0, 0, 0, 1]),
            bssid: MacAddress([0, 0, 0, 0, 0, 1]),
        },
        sequence_control: sequence(5),
        qos_control: 0,
        ht_control: None,
    };
    assert_pair(&octets, repr);
}

/// From aircrack-ng's capture wpa-psk-linksys.
#[test]
fn data_from_and_to_an_access_point_octet_by_octet() {
    #[rustfmt::skip]
    let from = [
        0x08, 0x02, // Data; from the distribution system.
        0x3a, 0x01, // 314 µs.
        0x00, 0x13, 0xce, 0x55, 0x98, 0xef, // Destination.
        0x00, 0x0b, 0x86, 0xc2, 0xa4, 0x85, // BSSID.
        0x00, 0x0b, 0x86, 0xc2, 0xa4, 0x85, // Source.
        0xb0, 0xfa, // Sequence number 0xfab.
    ];
    #[rustfmt::skip]
    let to = [
        0x08, 0x01, // Data; to the distribution system.
        0x02, 0x01, // 258 µs.
        0x00, 0x0b, 0x86, 0xc2, 0xa4, 0x85, // BSSID.
        0x00, 0x13, 0xce, 0x55, 0x98, 0xef, // Source.
        0x00, 0x0b, 0x86, 0xc2, 0xa4, 0x85, // Destination.
        0x70, 0x03, // Sequence number 0x037.
    ];
    let data = |duration, addressing, number| Repr::Data {
        flags: Flags::NONE,
        duration,
        subtype: DataSubtype::Data,
        addressing,
        sequence_control: sequence(number),
        qos_control: 0,
        ht_control: None,
    };
    let (bssid, source) = (ACCESS_POINT, ACCESS_POINT);
    assert_pair(&from, data(314, Addressing::FromAccessPoint { destination: STATION, bssid, source }, 0xfab));
    assert_pair(&to, data(258, Addressing::ToAccessPoint { bssid, source: STATION, destination: ACCESS_POINT }, 0x037));
}

/// From aircrack-ng's capture capture_wds-01.
#[test]
fn relayed_qos_data_octet_by_octet() {
    #[rustfmt::skip]
    let octets = [
        0x88, 0x43, // Subtype 1000, type 10, version 00; to and from the distribution system, protected.
        0x2c, 0x00, // 44 µs.
        0x00, 0x11, 0x22, 0x00, 0x00, 0x01, // Receiver.
        0x00, 0x11, 0x22, 0x00, 0x00, 0x00, // Transmitter.
        0x33, 0x33, 0x00, 0x00, 0x00, 0x16, // Destination.
        0x00, 0x00, // Sequence number 0, fragment 0.
        0x00, 0x11, 0x22, 0x00, 0x00, 0x00, // Source.
        0x00, 0x00, // QoS control.
    ];
    let (receiver, transmitter) = (MacAddress([0, 0x11, 0x22, 0, 0, 1]), MacAddress([0, 0x11, 0x22, 0, 0, 0]));
    let destination = MacAddress([0x33, 0x33, 0, 0, 0, 0x16]);
    let repr = Repr::Data {
        flags: Flags { protected: true, ..Flags::NONE },
        duration: 44,
        subtype: DataSubtype::QosData,
        addressing: Addressing::Relayed { receiver, transmitter, destination, source: transmitter },
        sequence_control: sequence(0),
        qos_control: 0,
        ht_control: None,
    };
    assert_pair(&octets, repr);
}

/// From tcpdump's capture ieee802.11_htc.
#[test]
fn qos_data_with_ht_control_octet_by_octet() {
    #[rustfmt::skip]
    let octets = [
        0x88, 0x81, // Subtype 1000, type 10, version 00; to the distribution system, order.
        0x30, 0x00, // 48 µs.
        0x36, 0x80, 0x94, 0xc0, 0x22, 0x8b, // BSSID.
        0xb0, 0xbe, 0x83, 0x5b, 0x4b, 0x40, // Source.
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // Destination.
        0x70, 0x05, // Sequence number 0x057.
        0x16, 0x1b, // QoS control.
        0xff, 0xff, 0xff, 0xff, // HT control.
    ];
    let repr = Repr::Data {
        flags: Flags::NONE,
        duration: 48,
        subtype: DataSubtype::QosData,
        addressing: Addressing::ToAccessPoint {
            bssid: MacAddress([0x36, 0x80, 0x94, 0xc0, 0x22, 0x8b]),
            source: MacAddress([0xb0, 0xbe, 0x83, 0x5b, 0x4b, 0x40]),
            destination: MacAddress::BROADCAST,
        },
        sequence_control: sequence(0x057),
        qos_control: 0x1b16,
        ht_control: Some(0xffff_ffff),
    };
    assert_pair(&octets, repr);
}

/// From aircrack-ng's capture wpa-psk-linksys: the header and the first elements of the body.
#[test]
fn beacon_octet_by_octet() {
    #[rustfmt::skip]
    let octets = [
        0x80, 0x00, // Subtype 1000, type 00, version 00; no flag.
        0x00, 0x00, // 0 µs.
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // Destination.
        0x00, 0x0b, 0x86, 0xc2, 0xa4, 0x85, // Source.
        0x00, 0x0b, 0x86, 0xc2, 0xa4, 0x85, // BSSID.
        0x70, 0xfa, // Sequence number 0xfa7.
        // The body: timestamp, interval of 100 time units, capabilities, SSID "linksys".
        0xfa, 0x05, 0x98, 0x43, 0x25, 0x00, 0x00, 0x00, 0x64, 0x00, 0x31, 0x04,
        0x00, 0x07, b'l', b'i', b'n', b'k', b's', b'y', b's',
    ];
    let repr = Repr::Management {
        flags: Flags::NONE,
        duration: 0,
        subtype: ManagementSubtype::Beacon,
        destination: MacAddress::BROADCAST,
        source: ACCESS_POINT,
        bssid: ACCESS_POINT,
        sequence_control: sequence(0xfa7),
        ht_control: None,
    };
    assert_pair(&octets[..24], repr);
    let packet = Packet::new_checked(octets).unwrap();
    assert_eq!(Repr::parse(&packet), Ok(repr));
    assert_eq!(&packet.payload()[14..], b"linksys");
}

#[test]
fn frames_of_other_types_keep_their_octets() {
    // A power save poll, with the association identifier 1 and a retry bit: address 2 is left to the body.
    let octets = [0xa4, 0x08, 0x01, 0xc0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let packet = Packet::new_checked(octets).unwrap();
    let repr = Repr::Unknown {
        frame_control: FrameControl::new(
            FrameType::Control(ControlSubtype::PsPoll),
            Flags { retry: true, ..Flags::NONE },
        ),
        duration: 0xc001,
        receiver: MacAddress([0, 1, 2, 3, 4, 5]),
    };
    assert_eq!(Repr::parse(&packet), Ok(repr));
    assert_eq!(packet.payload(), [6, 7, 8, 9, 10, 11]);
    assert_eq!(packet.address_2(), None);
    assert_pair(&octets[..10], repr);
}

#[test]
fn a_fragment_is_the_low_half_octet() {
    let control = SequenceControl { sequence: 0x123, fragment: 4 };
    assert_eq!(u16::from(control), 0x1234);
    assert_eq!(SequenceControl::from(0x1234), control);
}

#[test]
fn frames_that_cannot_be_are_named() {
    let wrong = |octets: &[u8]| Packet::new_checked(octets).unwrap_err().to_string();
    assert_eq!(wrong(&[0; 9]), "IEEE 802.11: length at octet 0 is 9, should be at least 10");
    assert_eq!(wrong(&[0x09; 30]), "IEEE 802.11: protocol version at octet 0 is 1, should be 0");
    let truncated = "IEEE 802.11: length at octet 0 is 15, should be at least that of the frame type's header";
    assert_eq!(wrong(&[0xb4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), truncated);
}

prop_compose! {
    fn any_flags()(
        (more_fragments, retry, power_management) in any::<(bool, bool, bool)>(),
        (more_data, protected, order) in any::<(bool, bool, bool)>(),
    ) -> Flags {
        Flags { more_fragments, retry, power_management, more_data, protected, order }
    }
}

fn any_address() -> impl Strategy<Value = MacAddress> {
    any::<[u8; 6]>().prop_map(MacAddress)
}

fn any_addressing() -> impl Strategy<Value = Addressing> {
    (0..4, any_address(), any_address(), any_address(), any_address()).prop_map(|(case, a, b, c, d)| match case {
        0 => Addressing::AdHoc { destination: a, source: b, bssid: c },
        1 => Addressing::FromAccessPoint { destination: a, bssid: b, source: c },
        2 => Addressing::ToAccessPoint { bssid: a, source: b, destination: c },
        _ => Addressing::Relayed { receiver: a, transmitter: b, destination: c, source: d },
    })
}

fn any_repr() -> impl Strategy<Value = Repr> {
    let control = (0..3, any_flags(), any::<u16>(), any_address(), any_address());
    let control = control.prop_map(|(case, flags, duration, receiver, transmitter)| match case {
        0 => Repr::Rts { flags, duration, receiver, transmitter },
        1 => Repr::Cts { flags, duration, receiver },
        _ => Repr::Ack { flags, duration, receiver },
    });
    let numbers = (any::<u16>(), 0_u8..16, any::<u16>(), any::<u16>(), any::<Option<u32>>());
    let data = (any_flags(), any_addressing(), numbers.clone());
    let data = data.prop_map(|(flags, addressing, (duration, subtype, control, qos_control, ht_control))| {
        let subtype = DataSubtype::from(subtype);
        let qos = subtype.is_qos();
        Repr::Data {
            flags: Flags { order: flags.order && !qos, ..flags },
            duration,
            subtype,
            addressing,
            sequence_control: control.into(),
            qos_control: if qos { qos_control } else { 0 },
            ht_control: ht_control.filter(|_| qos),
        }
    });
    let addresses = (any_address(), any_address(), any_address());
    let management = (any_flags(), addresses, numbers);
    let management =
        management.prop_map(|(flags, (destination, source, bssid), (duration, subtype, control, _, ht_control))| {
            Repr::Management {
                flags: Flags { order: false, ..flags },
                duration,
                subtype: subtype.into(),
                destination,
                source,
                bssid,
                sequence_control: control.into(),
                ht_control,
            }
        });
    prop_oneof![control, data, management]
}

proptest! {
    #[test]
    fn survives_the_wire(repr in any_repr(), body in prop::collection::vec(any::<u8>(), 0..32)) {
        let header = repr.buffer_len();
        let mut octets = vec![0xee; header + body.len() + fcs::LEN];
        repr.emit(&mut Packet::new_unchecked(&mut octets));
        octets[header..header + body.len()].copy_from_slice(&body);
        fcs::fill(&mut octets);
        let packet = Packet::new_checked(fcs::strip(&octets).unwrap()).unwrap();
        prop_assert_eq!(packet.payload(), &body[..]);
        prop_assert_eq!(Repr::parse(&packet), Ok(repr));
    }

    /// And what was parsed becomes the same bytes again.
    #[test]
    fn arbitrary_octets_never_panic_and_survive(mut octets in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Some(first) = octets.first_mut() {
            *first &= !0x03;
        }
        if let Ok(packet) = Packet::new_checked(&octets) {
            let _ = (packet.address_2(), packet.address_3(), packet.address_4(), packet.payload());
            let _ = (packet.sequence_control(), packet.qos_control(), packet.ht_control());
            let repr = Repr::parse(&packet).unwrap();
            let mut emitted = octets.clone();
            emitted[..repr.buffer_len()].fill(0xee);
            repr.emit(&mut Packet::new_unchecked(&mut emitted));
            prop_assert_eq!(emitted, octets);
        }
    }
}
