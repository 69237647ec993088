use super::*;
use proptest::prelude::*;
use std::path::PathBuf;

/// From tcpdump's capture ieee802.11_exthdr: a probe response. A second present word, without meaning, and much else.
const PROBE_RESPONSE: [u8; 83] = [
    0x00, 0x00, 0x53, 0x00, 0x45, 0x84, 0x02, 0x80, 0x77, 0x7f, 0x76, 0x10, 0x00, 0x00, 0x00, 0x00, 0xdd, 0xd9, 0x98,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xaa, 0x1b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x6c, 0x09, 0xa0, 0x00,
    0x03, 0x1b, 0xfc, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x43, 0x36,
    0x43, 0x80, 0xaa, 0x00, 0x9f, 0xff, 0x01, 0x9c, 0xff, 0xe1, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
];

#[test]
fn octets_and_meaning() {
    let repr = Repr {
        tsft: Some(0x0098_d668),
        flags: Some(Flags::FCS_AT_END),
        rate: Some(2),
        channel: Some(Channel { frequency: 2412, flags: ChannelFlags::CCK | ChannelFlags::SPECTRUM_2_GHZ }),
        antenna_signal: Some(-22),
        modulation: None,
        ampdu: None,
    };
    // The same fields as in the first frame of tcpdump's capture ieee802.11_exthdr, there among others.
    let octets =
        [0, 0, 23, 0, 0x2f, 0, 0, 0, 0x68, 0xd6, 0x98, 0, 0, 0, 0, 0, 0x10, 0x02, 0x6c, 0x09, 0xa0, 0x00, 0xea];
    assert_eq!(Repr::parse(&Packet::new_checked(octets).unwrap()), Ok(repr));
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut Packet::new_unchecked(&mut emitted));
    assert_eq!(emitted, octets);
}

#[test]
fn a_header_off_the_air() {
    let packet = Packet::new_checked(PROBE_RESPONSE).unwrap();
    let repr = Repr::parse(&packet).unwrap();
    let expected = Repr { tsft: Some(0x0098_d9dd), rate: Some(2), ..Repr::default() };
    assert_eq!(repr, expected);
    let bits: Vec<_> = packet
        .fields()
        .map(|field| match field.unwrap() {
            Field::Standard { bit, data, .. } => (bit, data.len()),
            Field::Rest { bit, data, .. } => (bit, data.len()),
            Field::Vendor { .. } => unreachable!("the header has none"),
        })
        .collect();
    // TSFT, rate, antenna noise, TX power, TX flags, data retries; then one whose length nobody knows.
    assert_eq!(bits, [(0, 8), (2, 1), (6, 1), (10, 1), (15, 2), (17, 1), (32, 52)]);
}

#[test]
fn fields_stand_at_multiples_of_their_alignment() {
    let channel = Channel { frequency: 5180, flags: ChannelFlags::OFDM | ChannelFlags::SPECTRUM_5_GHZ };
    let repr = Repr { flags: Some(Flags::SHORT_PREAMBLE), channel: Some(channel), ..Repr::default() };
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut Packet::new_unchecked(&mut emitted));
    assert_eq!(emitted, [0, 0, 14, 0, 0x0a, 0, 0, 0, 0x02, 0, 0x3c, 0x14, 0x40, 0x01]);
    assert_eq!(Repr::parse(&Packet::new_checked(&emitted).unwrap()), Ok(repr));
}

#[test]
fn headers_that_cannot_be_are_named() {
    let wrong = |octets: &[u8]| Packet::new_checked(octets).unwrap_err().to_string();
    assert_eq!(wrong(&[0; 7]), "radiotap: length of the buffer at octet 0 is 7, should be at least 8");
    assert_eq!(wrong(&[1, 0, 8, 0, 0, 0, 0, 0]), "radiotap: version at octet 0 is 1, should be 0");
    assert_eq!(wrong(&[0, 0, 7, 0, 0, 0, 0, 0]), "radiotap: length at octet 2 is 7, should be at least 8");
    assert_eq!(
        wrong(&[0, 0, 9, 0, 0, 0, 0, 0]),
        "radiotap: length at octet 2 is 9, should be at most the buffer's length"
    );
    assert_eq!(
        wrong(&[0, 0, 8, 0, 0, 0, 0, 0x80]),
        "radiotap: length at octet 2 is 8, should be beyond the last present word"
    );
    let short = Packet::new_checked([0, 0, 9, 0, 0x01, 0, 0, 0, 0]).unwrap();
    assert_eq!(
        Repr::parse(&short).unwrap_err().to_string(),
        "radiotap: length of a field at octet 8 is 8, should be at most what is left of the header"
    );
}

/// The vectors of the radiotap library's own check, by name and by what it expects of each.
///
/// `HOPCAST_CAPTURES` is the directory that holds `radiotap/*.bin` (project radiotap-library, directory `check`).
#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn the_vectors_of_the_radiotap_library() {
    let Some(captures) = std::env::var_os("HOPCAST_CAPTURES") else {
        println!("skipped: HOPCAST_CAPTURES doesn't name a directory with captures");
        return;
    };
    let read = |name: &str| std::fs::read(PathBuf::from(&captures).join("radiotap").join(name)).expect(name);
    let fields = |octets: &[u8]| {
        let packet = Packet::new_checked(octets).expect("the present words are whole");
        let mut seen = Vec::new();
        for field in packet.fields() {
            seen.push(match field {
                Ok(Field::Standard { bit, data, .. }) => (format!("{bit}"), data.to_vec()),
                Ok(Field::Vendor { vendor: Vendor { organisation: [a, b, c], namespace }, data, .. }) => {
                    (format!("{a:02x}-{b:02x}-{c:02x}:{namespace}"), data.to_vec())
                }
                Ok(Field::Rest { bit, data, .. }) => (format!("{bit}…"), data.to_vec()),
                Err(error) => (error.field.to_owned(), vec![]),
            });
        }
        seen
    };
    let is = |name: &str, data: &[u8]| (name.to_owned(), data.to_vec());
    let first = is("0", &9833440827789222417_u64.to_le_bytes());
    let second = is("0", &1225260500033256362_u64.to_le_bytes());
    let vendor = |name| is(name, &[0xff, 0xee, 0xdd, 0xcc]);
    let radio = [
        is("1", &[0x10]),
        is("2", &[2]),
        is("3", &[0x9e, 0x09, 0xa0, 0x00]),
        is("5", &[0xe3]),
        is("11", &[5]),
        is("14", &[0, 0]),
    ];
    let expected = [
        ("0.bin", vec![first.clone()]),
        ("00.bin", vec![first.clone(), second.clone()]),
        // Bit 14 is a frame check sequence only for a BSD of old; for everyone else, RX flags.
        ("0fcs.bin", vec![first.clone(), is("14", &[0xaa, 0xbb])]),
        ("0v0.bin", vec![first.clone(), vendor("00-00-00:0"), second.clone()]),
        ("0v0-2.bin", vec![first.clone(), vendor("00-00-00:0"), second.clone()]),
        ("0v0-3.bin", vec![first.clone(), vendor("00-00-00:1"), second.clone()]),
        ("0v0-4.bin", vec![first, vendor("00-00-00:0"), second]),
        ("1.bin", vec![is("1", &[0x33])]),
        ("malformed-vendor.bin", [&radio[..], &[is("length of a vendor namespace's head", &[])]].concat()),
        ("unparsed-vendor.bin", [&radio[..], &[is("ff-ff-ff:255", &[0xde, 0xad]), is("2", &[4])]].concat()),
    ];
    for (name, expected) in expected {
        assert_eq!(fields(&read(name)), expected, "{name}");
    }
}

fn any_modulation() -> impl Strategy<Value = Modulation> {
    let bandwidth =
        prop::sample::select(&[Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160][..]);
    let interval =
        prop::sample::select(&[HeGuardInterval::Ns800, HeGuardInterval::Ns1600, HeGuardInterval::Ns3200][..]);
    let chosen = (0_u8..3, 0_u8..12, 1_u8..=8, bandwidth, interval, any::<[bool; 3]>());
    chosen.prop_map(|(format, index, streams, bandwidth, guard_interval, [is_40_mhz, short_guard_interval, ldpc])| {
        match format {
            0 => Modulation::Ht(Mcs { index, is_40_mhz, short_guard_interval, ldpc }),
            1 => Modulation::Vht(Vht { index, streams, bandwidth, short_guard_interval, ldpc }),
            _ => Modulation::He(He { index, streams, bandwidth, guard_interval, ldpc }),
        }
    })
}

prop_compose! {
    fn any_repr()(
        tsft: Option<u64>,
        flags in prop::option::of(any::<u8>().prop_map(Flags)),
        rate: Option<u8>,
        channel in prop::option::of(any::<(u16, u16)>()),
        antenna_signal: Option<i8>,
        modulation in prop::option::of(any_modulation()),
        ampdu in prop::option::of(any::<(u32, bool)>()),
    ) -> Repr {
        let channel = channel.map(|(frequency, flags)| Channel { frequency, flags: ChannelFlags(flags) });
        let ampdu = ampdu.map(|(reference, is_last)| AmpduStatus { reference, is_last });
        Repr { tsft, flags, rate, channel, antenna_signal, modulation, ampdu }
    }
}

proptest! {
    #[test]
    fn survives_the_wire(repr in any_repr()) {
        let mut octets = vec![0xee; repr.buffer_len()];
        repr.emit(&mut Packet::new_unchecked(&mut octets));
        let packet = Packet::new_checked(&octets).unwrap();
        prop_assert_eq!(packet.header_len(), repr.buffer_len());
        prop_assert_eq!(Repr::parse(&packet), Ok(repr));
    }

    #[test]
    fn arbitrary_octets_never_panic(
        length in 0_u8..96, present in prop::collection::vec(any::<u32>(), 1..4),
        mut octets in prop::collection::vec(any::<u8>(), 0..96),
    ) {
        if octets.len() > 20 && octets[0] & 1 == 0 {
            octets[..4].copy_from_slice(&[0, 0, length, 0]);
            for (nth, word) in present.iter().enumerate() {
                put(&mut octets, 4 + 4 * nth, word.to_le_bytes());
            }
        }
        if let Ok(packet) = Packet::new_checked(&octets) {
            let _ = Repr::parse(&packet);
            let _ = packet.payload();
            prop_assert!(packet.fields().count() <= octets.len() * 8);
        }
    }
}
