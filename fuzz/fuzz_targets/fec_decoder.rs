//! The decoder of the FEC scheme: any packets, in any order, fill no memory.

#![no_main]

use hopcast_protocols::fec::{Config, Decoder, Octets};
use hopcast_protocols::time::{Duration, Instant};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Arrival {
    Source(Vec<u8>),
    Repair(Vec<u8>),
    Wait(u32),
}

fuzz_target!(|input: (u8, Vec<Arrival>)| {
    let (blocks, arrivals) = input;
    let blocks = usize::from(blocks % 8);
    let mut decoder = Decoder::new(&Config { blocks, ..Config::default() }, Octets);
    let mut now = Instant::START;
    for arrival in arrivals {
        match arrival {
            Arrival::Source(octets) => drop(decoder.handle_source_octets(&octets, now)),
            Arrival::Repair(octets) => drop(decoder.handle_repair_octets(&octets, now)),
            Arrival::Wait(nanos) => now += Duration::from_nanos(nanos.into()),
        }
        while decoder.poll_output().is_some() {}
        assert!(decoder.blocks() <= blocks.max(1));
    }
});
