//! The status socket: requests for metrics over HTTP, and what `hopcast node status` makes of an answer of any program.

#![no_main]

use hopcast_live::testkit::{http_reply, status_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Some(reply) = http_reply(octets) {
        assert!(reply.starts_with(b"HTTP/1.1 ") && reply.len() < 300);
    }
    if let Some(text) = status_text(octets) {
        // Of an answer that is no state as much is shown as can be.
        assert!(text.len() <= 400 + 40 * octets.len(), "{text}");
    }
});
