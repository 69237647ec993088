//! The network key between three hosts and an attacker that has all their datagrams: what no host has sealed is not taken, and nothing twice.

#![no_main]

use hopcast_live::testkit::guards;
use hopcast_protocols::testkit::Choices;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| guards(&mut Choices::new(bytes)));
