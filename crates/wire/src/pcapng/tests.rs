use std::io::{self, ErrorKind};

use proptest::prelude::*;

use super::{LinkType, Reader, Record, Writer};

fn capture(packets: &[(u64, &[u8])]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "node0").unwrap();
    for &(at, octets) in packets {
        writer.write(at, octets).unwrap();
    }
    writer.into_inner()
}

/// What reading ends with.
fn error(octets: &[u8]) -> io::Error {
    Reader::new(octets).and_then(|reader| reader.last().expect("something is read").map(|_| ())).unwrap_err()
}

#[test]
fn octets_and_meaning() {
    let written = capture(&[(0x1_0203_0405, &[0xaa, 0xbb, 0xcc, 0xdd, 0xee])]);
    #[rustfmt::skip]
    let expected = [
        // Section header: little-endian, version 1.0, of unknown length; shb_userappl, end of options.
        0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        4, 0, 7, 0, b'h', b'o', b'p', b'c', b'a', b's', b't', 0, 0, 0, 0, 0, 44, 0, 0, 0,
        // Interface: link type 127, no limit; if_name, if_tsresol, end of options.
        1, 0, 0, 0, 44, 0, 0, 0, 127, 0, 0, 0, 0, 0, 0, 0,
        2, 0, 5, 0, b'n', b'o', b'd', b'e', b'0', 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
        // Packet: interface 0, upper and lower half of the time, length as captured and as sent, octets, padding.
        6, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x05, 0x04, 0x03, 0x02, 5, 0, 0, 0, 5, 0, 0, 0,
        0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0, 0, 0, 40, 0, 0, 0,
    ];
    assert_eq!(written, expected);
    let read: Vec<_> = Reader::new(&expected[..]).unwrap().map(Result::unwrap).collect();
    let record = Record { at: 0x1_0203_0405, interface: 0, link_type: 127, octets: vec![0xaa, 0xbb, 0xcc, 0xdd, 0xee] };
    assert_eq!(read, [record]);
}

#[test]
fn sections_of_the_other_byte_order_follow() {
    let mut octets = capture(&[(7, &[1])]);
    #[rustfmt::skip]
    octets.extend([
        // Section header without options: big-endian, version 1.2.
        0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 28, 0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 2,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 28,
        // Interface: link type 1; a comment, and no end of options.
        0, 0, 0, 1, 0, 0, 0, 28, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3, b'a', b'b', b'c', 0, 0, 0, 0, 28,
        // Interface statistics, which are passed over.
        0, 0, 0, 5, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24,
        // Packet: 5 µs; more was sent than captured.
        0, 0, 0, 6, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 9,
        0xaa, 0xbb, 0, 0, 0, 0, 0, 36,
    ]);
    let read: Vec<_> = Reader::new(&octets[..]).unwrap().map(Result::unwrap).collect();
    let first = Record { at: 7, interface: 0, link_type: 127, octets: vec![1] };
    let second = Record { at: 5000, interface: 0, link_type: 1, octets: vec![0xaa, 0xbb] };
    assert_eq!(read, [first, second]);
}

#[test]
fn packets_belong_to_their_interfaces() {
    let mut writer = Writer::new(Vec::new(), "node0").unwrap();
    assert_eq!(writer.add_interface("node0.wire0", LinkType::Ipv4).unwrap(), 1);
    writer.write_on(1, 5, &[0x45]).unwrap();
    writer.write(6, &[0]).unwrap();
    let written = writer.into_inner();
    let records = Reader::new(&written[..]).unwrap().map(Result::unwrap);
    let interfaces: Vec<_> = records.map(|record| (record.interface, record.link_type)).collect();
    assert_eq!(interfaces, [(1, 228), (0, 127)]);
}

#[test]
fn a_truncated_capture_is_an_error_after_what_is_whole() {
    let written = capture(&[(1, &[1; 30]), (2, &[2; 30])]);
    let records: Vec<_> = Reader::new(&written[..written.len() - 1]).unwrap().collect();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].as_ref().unwrap().at, 1);
    assert_eq!(records[1].as_ref().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    for length in [0, 7, 8, 11] {
        assert_eq!(Reader::new(&written[..length]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}

#[test]
fn errors_name_the_field() {
    let whole = capture(&[(1, &[1; 4])]);
    let packet = whole.len() - 36;
    let interface = packet - 44;
    let changes: [(usize, &[u8], &str); 9] = [
        (0, &[0], "block type at octet 0 is 168627456, should be that of a section header"),
        (8, &[0], "byte-order magic at octet 8 is 3943194, should be 0x1a2b3c4d in either order"),
        (12, &[2], "major version at octet 12 is 2, should be 1"),
        (packet + 4, &[37], "block total length at octet 4 is 37, should be whole words, with room for the block"),
        (packet + 4, &[8], "block total length at octet 4 is 8, should be whole words, with room for the block"),
        (packet + 32, &[35], "block total length at octet 32 is 35, should be the same as at the start"),
        (packet + 8, &[1], "interface ID at octet 8 is 1, should be that of an interface described before"),
        (packet + 20, &[5], "captured packet length at octet 20 is 5, should be no more than is left of the block"),
        (interface + 18, &[21], "option length at octet 18 is 21, should be no more than is left of the block"),
    ];
    for (at, change, said) in changes {
        let mut octets = whole.clone();
        octets[at..at + change.len()].copy_from_slice(change);
        let error = error(&octets);
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidData, format!("pcapng: {said}")));
    }
}

#[test]
fn a_block_without_room_for_its_fields_is_an_error() {
    let section = &capture(&[])[..44];
    for (kind, length) in [(1, 16), (6, 28)] {
        let mut octets = section.to_vec();
        let at = octets.len();
        octets.resize(at + length, 0);
        octets[at] = kind;
        octets[at + 4] = length as u8;
        octets[at + length - 4] = length as u8;
        let said =
            format!("pcapng: block total length at octet 4 is {length}, should be room for the fields of the block");
        assert_eq!(error(&octets).to_string(), said);
    }
}

#[test]
fn a_time_beyond_64_bits_of_nanoseconds_is_an_error() {
    let mut octets = capture(&[(u64::MAX, &[])]);
    // if_tsresol of seconds.
    octets[44 + 32] = 0;
    let said = "pcapng: timestamp at octet 12 is 18446744073709551615, \
                should be 64 bits of nanoseconds at the most, by if_tsresol";
    assert_eq!(error(&octets).to_string(), said);
}

#[test]
fn a_declared_length_takes_no_memory() {
    let mut octets = capture(&[]);
    octets.extend([6, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff]);
    let mut reader = Reader::new(&octets[..]).unwrap();
    assert_eq!(reader.next().unwrap().unwrap_err().kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn a_full_sink_is_an_error() {
    let mut room = [0; 100];
    let mut writer = Writer::new(&mut room[..], "node0").unwrap();
    assert_eq!(writer.write(0, &[0; 60]).unwrap_err().kind(), ErrorKind::WriteZero);
}

#[test]
fn a_name_too_long_for_its_option_is_refused() {
    let refused = Writer::new(Vec::new(), &"n".repeat(65_536)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
}

proptest! {
    #[test]
    fn survives_the_file(packets in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..40)), 0..5)) {
        let written = capture(&packets.iter().map(|(at, octets)| (*at, &octets[..])).collect::<Vec<_>>());
        let read: Vec<_> =
            Reader::new(&written[..]).unwrap().map(Result::unwrap).map(|record| (record.at, record.octets)).collect();
        prop_assert_eq!(read, packets);
    }

    #[test]
    fn changed_octets_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
        let mut written = capture(&[(1, &[1; 13]), (2, &[2; 30])]);
        for (index, value) in changes {
            let at = index.index(written.len());
            written[at] = value;
        }
        if let Ok(reader) = Reader::new(&written[..]) {
            let _ = reader.count();
        }
    }

    #[test]
    fn arbitrary_octets_never_panic(tail in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut octets = capture(&[]);
        octets.extend(tail);
        let _ = Reader::new(&octets[..]).unwrap().count();
    }
}
