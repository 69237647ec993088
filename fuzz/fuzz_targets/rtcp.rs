//! Reports of arrivals in both formats, those of senders and receivers, and requests for missed packets, alone and in compounds: what is read
//! is written so that it reads the same.

#![no_main]

use hopcast_wire::rtcp::{ccfb, nack, packets, report, twcc};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    check(octets);
    let mut length = 0;
    for packet in packets(octets) {
        length += packet.len();
        check(packet);
    }
    assert!(length <= octets.len());
});

fn check(octets: &[u8]) {
    if let Ok(feedback) = ccfb::Feedback::parse(octets) {
        let mut emitted = vec![0xee; feedback.buffer_len()];
        feedback.emit(&mut emitted);
        assert_eq!(ccfb::Feedback::parse(&emitted), Ok(feedback));
    }
    if let Ok(feedback) = twcc::Feedback::parse(octets) {
        let mut emitted = vec![0xee; feedback.buffer_len()];
        feedback.emit(&mut emitted);
        assert_eq!(twcc::Feedback::parse(&emitted), Ok(feedback));
    }
    if let Ok(mut missed) = nack::Nack::parse(octets) {
        // In ascending order, as they are written; an entry may name a packet that another has named.
        missed.lost.sort_unstable();
        missed.lost.dedup();
        let mut emitted = vec![0xee; missed.buffer_len()];
        missed.emit(&mut emitted);
        assert_eq!(nack::Nack::parse(&emitted), Ok(missed));
    }
    if let Ok(told) = report::Report::parse(octets) {
        let mut emitted = vec![0xee; told.buffer_len("name")];
        told.emit("name", &mut emitted);
        assert_eq!(report::Report::parse(&emitted), Ok(told));
    }
}
