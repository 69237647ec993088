//! Two ends of a DCCP connection, with TFRC or ADTFRC, under any operations, losses and orders, and forged packets.

#![no_main]

use hopcast_protocols::testkit::{Choices, Disorder};
use hopcast_protocols::transport::dccp::{Config, Congestion, Connection};
use hopcast_protocols::transport::tfrc::Edition;
use hopcast_protocols::transport::{adtfrc, tfrc};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let edition = choices.pick(&[Edition::Rfc5348, Edition::Rfc3448]);
    let tfrc = tfrc::Config { edition, small_packets: choices.bool(), ..tfrc::Config::default() };
    let congestion = if choices.bool() {
        Congestion::Adtfrc(adtfrc::Config { tfrc, ..adtfrc::Config::default() })
    } else {
        Congestion::Tfrc(tfrc)
    };
    let config = Config { congestion, queue: choices.byte().into(), ..Config::default() };
    let client = Connection::connect(config.clone(), 7);
    // What must hold is checked after each operation.
    Disorder::new(client, Connection::listen(config, 9)).run(&mut choices, |_| {});
});
