//! Packets of OLSR, and bodies of each of its messages.

#![no_main]

use hopcast_wire::olsr::{Packet, Repr, hello, hna, mid, tc};
use libfuzzer_sys::fuzz_target;

/// As the body of a message of any type.
fn read(body: &[u8]) {
    let _ = hello::View::new_checked(body).map(|view| hello::Repr::parse(&view));
    let _ = tc::View::new_checked(body).map(|view| tc::Repr::parse(&view));
    let _ = mid::View::new_checked(body).map(|view| mid::Repr::parse(&view));
    let _ = hna::View::new_checked(body).map(|view| hna::Repr::parse(&view));
}

fuzz_target!(|octets: &[u8]| {
    if let Ok(packet) = Packet::new_checked(octets) {
        let _ = Repr::parse(&packet);
        for message in packet.messages().flatten() {
            let _ = message.header();
            read(message.body());
        }
    }
    read(octets);
});
