//! Both ends of a session of a stream and an attacker that has all their datagrams: what the other end has not sealed is not taken, and nothing twice, altered, or in one session from two addresses.

#![no_main]

use hopcast_live::testkit::sessions;
use hopcast_protocols::testkit::Choices;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sessions(&mut Choices::new(bytes)));
