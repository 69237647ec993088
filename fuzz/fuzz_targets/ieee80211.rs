//! MAC headers of 802.11, and the bodies of Block Acks and A-MSDUs: what is understood is emitted as it was.

#![no_main]

use hopcast_wire::ieee80211::block_ack::{Request, Response};
use hopcast_wire::ieee80211::{Packet, Repr, amsdu};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(packet) = Packet::new_checked(octets) else { return };
    let _ = (packet.address_2(), packet.address_3(), packet.address_4(), packet.payload());
    let _ = (packet.sequence_control(), packet.qos_control(), packet.ht_control());
    for subframe in amsdu::subframes(packet.payload()).flatten() {
        assert!(subframe.buffer_len() <= packet.payload().len());
    }
    if let Ok(request) = Request::parse(packet.payload()) {
        let mut emitted = [0xee; Request::LEN];
        request.emit(&mut emitted);
        assert_eq!(Request::parse(&emitted), Ok(request));
    }
    if let Ok(response) = Response::parse(packet.payload()) {
        let mut emitted = vec![0xee; response.buffer_len()];
        response.emit(&mut emitted);
        assert_eq!(Response::parse(&emitted), Ok(response));
    }
    if let Ok(repr) = Repr::parse(&packet) {
        let mut emitted = octets.to_vec();
        emitted[..repr.buffer_len()].fill(0xee);
        repr.emit(&mut Packet::new_unchecked(&mut emitted));
        assert_eq!(emitted, octets);
    }
});
