//! Messages between devices of a streaming cloud: what is one means the same after it has been written again.

#![no_main]

use hopcast_wire::cloud::Message;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Ok(message) = Message::parse(octets) {
        assert_eq!(Message::parse(&message.emit()), Ok(message));
    }
});
