//! Packets of the FEC scheme.

#![no_main]

use hopcast_wire::fec::{parse_information, parse_repair, parse_source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let _ = (parse_source(octets), parse_repair(octets), parse_information(octets));
});
