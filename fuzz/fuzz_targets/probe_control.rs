//! Lines of a control connection of `hopcast probe`: a message is written so that it is one again.

#![no_main]

use hopcast_live::testkit::control_line;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    for line in octets.split(|&octet| octet == b'\n') {
        control_line(line);
    }
});
