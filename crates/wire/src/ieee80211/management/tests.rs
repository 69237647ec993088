use super::*;
use proptest::prelude::*;

fn rates(units: &[(u8, bool)]) -> Rates {
    let mut rates = Rates::default();
    units.iter().for_each(|&(units, is_basic)| rates.push(units, is_basic));
    rates
}

fn assert_pair(subtype: ManagementSubtype, octets: &[u8], repr: Repr) {
    assert_eq!(Repr::parse(subtype, octets), Ok(repr));
    assert_eq!(repr.subtype(), subtype);
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut emitted);
    assert_eq!(emitted, octets);
}

/// By 9.6.4: TID 5, 64 MPDUs, A-MSDUs, immediate, from sequence number 0x123 on.
#[test]
fn block_ack_actions_octet_by_octet() {
    let agreement = Agreement { amsdu: true, tid: 5, buffer_size: 64, timeout: 0x0102 };
    for (octets, action) in [
        (
            &[3, 0, 7, 0x17, 0x10, 0x02, 0x01, 0x30, 0x12][..],
            BlockAckAction::AddRequest { dialog_token: 7, agreement, start: 0x123 },
        ),
        (
            &[3, 1, 7, 0x00, 0x00, 0x17, 0x10, 0x02, 0x01],
            BlockAckAction::AddResponse { dialog_token: 7, status: Status::Success, agreement },
        ),
        (
            &[3, 2, 0x00, 0x58, 0x01, 0x00],
            BlockAckAction::Delete { by_originator: true, tid: 5, reason: Reason::Unspecified },
        ),
    ] {
        assert_pair(ManagementSubtype::Action, octets, Repr::BlockAck(action));
        assert!(Repr::parse(ManagementSubtype::Action, &octets[..octets.len() - 1]).is_err());
    }
    assert!(Repr::parse(ManagementSubtype::Action, &[0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err(), "spectrum management");
    assert!(Repr::parse(ManagementSubtype::Action, &[3, 0, 7, 0x15, 0x10, 0, 0, 0, 0]).is_err(), "delayed");
}

#[test]
fn beacon_octet_by_octet() {
    #[rustfmt::skip]
    let octets = [
        0xfa, 0x05, 0x98, 0x43, 0x25, 0, 0, 0, // Timestamp.
        0x64, 0x00, // 100 time units.
        0x21, 0x04, // Access point, short preamble, short slot time.
        0, 7, b'l', b'i', b'n', b'k', b's', b'y', b's',
        1, 8, 0x82, 0x84, 0x8b, 0x96, 0x0c, 0x12, 0x18, 0x24, // 1, 2, 5.5, 11 basic; 6, 9, 12, 18.
        3, 1, 6, // Channel 6.
        5, 4, 0, 1, 0, 0, // Each beacon is a DTIM; nothing is held.
        42, 1, 0x03, // There are stations of 802.11b: protect.
        50, 4, 0x30, 0x48, 0x60, 0x6c, // 24, 36, 48, 54.
    ];
    let capability = Capability::ESS | Capability::SHORT_PREAMBLE | Capability::SHORT_SLOT_TIME;
    let elements = Elements {
        ssid: Some(Ssid::new(b"linksys")),
        rates: rates(&[
            (2, true),
            (4, true),
            (11, true),
            (22, true),
            (12, false),
            (18, false),
            (24, false),
            (36, false),
            (48, false),
            (72, false),
            (96, false),
            (108, false),
        ]),
        channel: Some(6),
        traffic: Some(TrafficIndication { dtim_count: 0, dtim_period: 1 }),
        erp: Some(ErpInformation { non_erp_present: true, use_protection: true, barker_preamble: false }),
        edca: None,
    };
    let repr = Repr::Beacon(Bss { timestamp: 0x25_4398_05fa, beacon_interval: 100, capability, elements });
    assert_pair(ManagementSubtype::Beacon, &octets, repr);
    // An element that is unknown is passed over, whatever it holds.
    let mut longer = octets.to_vec();
    longer.extend([221, 3, 1, 2, 3]);
    assert_eq!(Repr::parse(ManagementSubtype::Beacon, &longer), Ok(repr));
}

#[test]
fn association_octet_by_octet() {
    let elements =
        Elements { ssid: Some(Ssid::new(b"a")), rates: rates(&[(2, true), (4, true)]), ..Elements::default() };
    let capability = Capability::ESS;
    #[rustfmt::skip]
    let again = [
        0x01, 0x00, 0x0a, 0x00, // Capability, listen interval.
        2, 0, 0, 0, 0, 1, // The access point that it comes from.
        0, 1, b'a', 1, 2, 0x82, 0x84,
    ];
    let request = |current_access_point| Repr::AssociationRequest {
        capability,
        listen_interval: 10,
        current_access_point,
        elements,
    };
    let current = Some(MacAddress([2, 0, 0, 0, 0, 1]));
    assert_pair(ManagementSubtype::ReassociationRequest, &again, request(current));
    let first = [&again[..4], &again[10..]].concat();
    assert_pair(ManagementSubtype::AssociationRequest, &first, request(None));
    let response = [0x01, 0x00, 18, 0, 0x01, 0xc0, 1, 2, 0x82, 0x84];
    let repr = Repr::AssociationResponse {
        reassociation: false,
        capability,
        status: Status::UnsupportedRates,
        aid: 1,
        elements: Elements { ssid: None, ..elements },
    };
    assert_pair(ManagementSubtype::AssociationResponse, &response, repr);
    let open = Repr::Authentication { algorithm: 0, transaction: 2, status: Status::Success };
    assert_pair(ManagementSubtype::Authentication, &[0, 0, 2, 0, 0, 0], open);
    assert_pair(ManagementSubtype::Disassociation, &[8, 0], Repr::Disassociation(Reason::LeavingCell));
    assert_pair(ManagementSubtype::Deauthentication, &[7, 0], Repr::Deauthentication(Reason::ClassThreeFrame));
}

#[test]
fn edca_parameters_octet_by_octet() {
    // The defaults of 802.11-2012 for OFDM (Table 8-105).
    let category = |aifsn, ecw_min, ecw_max, txop_limit| AccessCategoryParameters {
        aifsn,
        admission: false,
        ecw_min,
        ecw_max,
        txop_limit,
    };
    let categories = [category(3, 4, 10, 0), category(7, 4, 10, 0), category(2, 3, 4, 94), category(2, 2, 3, 47)];
    let elements = Elements { edca: Some(EdcaParameterSet { qos_info: 5, categories }), ..Elements::default() };
    #[rustfmt::skip]
    let octets = [
        12, 18, 5, 0,
        0x03, 0xa4, 0, 0, // ACI 0, AIFSN 3; CW 15 to 1023.
        0x27, 0xa4, 0, 0, // ACI 1.
        0x42, 0x43, 94, 0, // ACI 2; 3.008 ms.
        0x62, 0x32, 47, 0, // ACI 3; 1.504 ms.
    ];
    assert_pair(ManagementSubtype::ProbeRequest, &octets, Repr::ProbeRequest(elements));
}

#[test]
fn bodies_that_cannot_be_are_named() {
    let wrong = |subtype, octets: &[u8]| Repr::parse(subtype, octets).unwrap_err().to_string();
    let text = wrong(ManagementSubtype::Authentication, &[0; 5]);
    assert_eq!(text, "IEEE 802.11: body length at octet 0 is 5, should be at least that of the fixed fields");
    let text = wrong(ManagementSubtype::ProbeRequest, &[0, 1, b'a', 3]);
    assert_eq!(text, "IEEE 802.11: element at octet 3 is 1, should be identifier and length");
    let text = wrong(ManagementSubtype::ProbeRequest, &[0, 9, b'a']);
    assert_eq!(text, "IEEE 802.11: element length at octet 1 is 9, should be no more than is left of the body");
    let text = wrong(ManagementSubtype::ProbeRequest, &[42, 2, 0, 0]);
    assert_eq!(text, "IEEE 802.11: element length at octet 1 is 2, should be 1 of ERP information");
    assert!(Repr::parse(ManagementSubtype::Action, &[0; 20]).is_err());
}

prop_compose! {
    fn any_elements()(
        name in prop::option::of(prop::collection::vec(any::<u8>(), 0..33)),
        units in prop::collection::vec((0_u8..128, any::<bool>()), 0..17),
        (channel, traffic) in (any::<Option<u8>>(), any::<Option<(u8, u8)>>()),
        erp in any::<Option<(bool, bool, bool)>>(),
        edca in any::<Option<(u8, [(u8, bool, u8, u8, u16); 4])>>(),
    ) -> Elements {
        Elements {
            ssid: name.map(|name| Ssid::new(&name)),
            rates: rates(&units),
            channel,
            traffic: traffic.map(|(dtim_count, dtim_period)| TrafficIndication { dtim_count, dtim_period }),
            erp: erp.map(|(non_erp_present, use_protection, barker_preamble)| {
                ErpInformation { non_erp_present, use_protection, barker_preamble }
            }),
            edca: edca.map(|(qos_info, categories)| EdcaParameterSet {
                qos_info,
                categories: categories.map(|(aifsn, admission, low, high, txop_limit)| AccessCategoryParameters {
                    aifsn: aifsn & 0x0f,
                    admission,
                    ecw_min: low & 0x0f,
                    ecw_max: high & 0x0f,
                    txop_limit,
                }),
            }),
        }
    }
}

fn any_repr() -> impl Strategy<Value = Repr> {
    let numbers = (any::<u64>(), any::<u16>(), any::<u16>(), any::<u16>(), any::<bool>());
    (0..8, any_elements(), numbers, any::<Option<[u8; 6]>>()).prop_map(|(case, elements, numbers, address)| {
        let (timestamp, first, second, third, reassociation) = numbers;
        let bss = Bss { timestamp, beacon_interval: first, capability: Capability(second), elements };
        match case {
            0 => Repr::Beacon(bss),
            1 => Repr::ProbeRequest(elements),
            2 => Repr::ProbeResponse(bss),
            3 => Repr::AssociationRequest {
                capability: Capability(first),
                listen_interval: second,
                current_access_point: address.map(MacAddress),
                elements,
            },
            4 => Repr::AssociationResponse {
                reassociation,
                capability: Capability(first),
                status: second.into(),
                aid: third & 0x3fff,
                elements,
            },
            5 => Repr::Authentication { algorithm: first, transaction: second, status: third.into() },
            6 => Repr::Disassociation(first.into()),
            _ => Repr::Deauthentication(first.into()),
        }
    })
}

proptest! {
    #[test]
    fn survives_the_wire(repr in any_repr()) {
        let mut octets = vec![0xee; repr.buffer_len()];
        repr.emit(&mut octets);
        prop_assert_eq!(Repr::parse(repr.subtype(), &octets), Ok(repr));
    }

    /// And what was understood of them survives.
    #[test]
    fn arbitrary_octets_never_panic(subtype in 0_u8..16, octets in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(repr) = Repr::parse(subtype.into(), &octets) {
            let mut emitted = vec![0xee; repr.buffer_len()];
            repr.emit(&mut emitted);
            prop_assert_eq!(Repr::parse(repr.subtype(), &emitted), Ok(repr));
        }
    }
}
