//! Two ends of a TCP connection under any operations, losses and orders, and forged segments.

#![no_main]

use hopcast_protocols::testkit::{Choices, Disorder};
use hopcast_protocols::transport::tcp::{Config, Connection, Elfn, Variant};
use libfuzzer_sys::fuzz_target;

const BUFFER: u32 = 20_000;

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let config = Config {
        segment: choices.u16().into(),
        variant: choices.pick(&[Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Cubic]),
        timestamps: choices.bool(),
        elfn: choices.option(|_| Elfn::default()),
        send_buffer: BUFFER,
        receive_buffer: BUFFER,
        ..Config::default()
    };
    let client = Connection::connect(config.clone(), u32::MAX - 50);
    Disorder::new(client, Connection::listen(config, 9)).run(&mut choices, |ends| {
        for (end, peer) in [(&ends.client, &ends.server), (&ends.server, &ends.client)] {
            let (received, written) = (end.statistics().bytes_received, peer.bytes_written());
            assert!(!ends.is_honest() || received <= written, "{received} bytes of {written} that were written");
        }
    });
});
