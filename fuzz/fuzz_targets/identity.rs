//! The network key with identities between two members, a third host, and an attacker that has all their datagrams: what no member has signed is not taken, and nothing twice.

#![no_main]

use hopcast_live::testkit::identities;
use hopcast_protocols::testkit::Choices;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| identities(&mut Choices::new(bytes)));
