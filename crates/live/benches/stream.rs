//! Rate of `hopcast stream` compared with iperf3's UDP, over the same pair of virtual Ethernet devices between two
//! namespaces: `cargo bench -p hopcast-live --bench stream` as root. It measures each in turn, several times, and the
//! processor time, with all cores and with both ends on one core.
#![expect(clippy::print_stdout, reason = "it prints a table")]

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: emulation and the live commands need Linux");
}

#[cfg(target_os = "linux")]
#[path = "../tests/integration/cores.rs"]
mod cores;
#[cfg(target_os = "linux")]
mod iperf3;
#[cfg(target_os = "linux")]
#[path = "../tests/integration/processes.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod processes;

#[cfg(target_os = "linux")]
fn main() {
    iperf3::bench(linux::run);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use serde_json::Value;

    use super::cores::stay_on_one_core;
    use super::iperf3::{self, ADDRESS};
    use super::processes::{Line, Missing, Place};

    /// Of each program; the median counts.
    const TIMES: usize = 5;
    /// Bytes of a transport packet, and how many of them the film has: 500 MB.
    const PACKET: usize = 188;
    const PACKETS: usize = 2_660_000;
    /// Bytes of what `hopcast stream` writes: seven transport packets behind an RTP header.
    const DATAGRAM: &str = "1328";

    /// What was measured of one transfer.
    #[derive(Clone, Copy)]
    struct Measured {
        /// Bits in a second that arrived.
        rate: f64,
        /// The share that did not.
        loss: f64,
        /// Processor time of both ends for each bit that arrived, in seconds.
        cost: f64,
    }

    pub(super) fn run() -> Result<(), Missing> {
        let line = Line::new(2)?;
        let (near, far) = (line.place(0), line.place(1));
        let film = tempfile::Builder::new().suffix(".ts").tempfile().expect("there is room");
        fs::write(&film, padding()).expect("there is room for 500 MB");
        println!("| cores | | arrived, Gb/s | lost | Gb/s a core | / iperf3 |");
        println!("|---|---|---:|---:|---:|---:|");
        let film_path = film.path().display().to_string();
        compare("all", near, far, &film_path)?;
        stay_on_one_core();
        compare("one", near, far, &film_path)?;
        Ok(())
    }

    /// All kinds in turn, and a row of the table for each.
    fn compare(cores: &str, near: Place<'_>, far: Place<'_>, film: &str) -> Result<(), Missing> {
        let (mut theirs, mut ours) = (Vec::new(), [const { Vec::new() }; 3]);
        let variants = ["adtfrc", "tfrc", "udp"];
        for _ in 0..TIMES {
            theirs.push(self::theirs(near, far)?);
            for (variant, ours) in variants.iter().zip(&mut ours) {
                ours.push(stream(near, far, variant, film));
            }
        }
        let theirs = median(theirs);
        let rows = variants.iter().copied().zip(ours.map(median));
        for (name, Measured { rate, loss, cost }) in [("iperf3, UDP", theirs)].into_iter().chain(rows) {
            let (core, ratio) = (1e-9 / cost, rate / theirs.rate);
            println!("| {cores} | {name} | {:.2} | {:.1} % | {core:.2} | {ratio:.2} |", rate * 1e-9, loss * 1e2);
        }
        Ok(())
    }

    /// A transport stream of null packets (ISO/IEC 13818-1, 2.4.1).
    fn padding() -> Vec<u8> {
        let mut packet = [0xff; PACKET];
        packet[..4].copy_from_slice(&[0x47, 0x1f, 0xff, 0x10]);
        packet.repeat(PACKETS)
    }

    fn theirs(near: Place<'_>, far: Place<'_>) -> Result<Measured, Missing> {
        let before = processor_time();
        let (end, [rate, loss]) = iperf3::udp(near, far, DATAGRAM)?;
        let bits = rate * iperf3::number(&end["sum"]["seconds"]);
        Ok(Measured { rate, loss, cost: (processor_time() - before) / bits })
    }

    fn stream(near: Place<'_>, far: Place<'_>, variant: &str, film: &str) -> Measured {
        let command = |place: Place<'_>, arguments: &[&str]| {
            let mut command: Command = place.command(env!("CARGO_BIN_EXE_hopcast-live"));
            command.arg("stream").args(arguments).args(["--variant", variant, "--json"]).stdin(Stdio::null());
            command
        };
        let before = processor_time();
        let mut receiver = command(far, &["receive", "--listen", ADDRESS, "--output", "/dev/null"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program is there");
        let mut output = BufReader::new(receiver.stdout.take().expect("it is piped"));
        let mut told = String::new();
        output.read_line(&mut told).expect("text");
        let sent = command(near, &["send", "--to", ADDRESS, "--input", film, "--pace", "allowed"]).output();
        assert!(sent.expect("the program is there").status.success(), "all is sent");
        output.read_to_string(&mut told).expect("text");
        assert!(receiver.wait().expect("it ends").success(), "all has arrived");
        let cost = processor_time() - before;
        let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let at = |event: &str| {
            let line = lines.iter().find(|line| line["event"] == event).expect("it has happened");
            line["time_s"].as_f64().expect("it has a time")
        };
        let end = lines.last().expect("it has said how it ended");
        let number = |field: &str| end[field].as_f64().expect("it was counted");
        let bits = 8.0 * number("octets_delivered");
        let datagrams = PACKETS.div_ceil(7) as f64;
        Measured {
            rate: bits / (at("finished") - at("connected")),
            loss: 1.0 - number("packets_delivered") / datagrams,
            cost: cost / bits,
        }
    }

    /// Of all processes that this one has waited for, in seconds (proc(5), `cutime` and `cstime`, in hundredths).
    fn processor_time() -> f64 {
        let text = fs::read_to_string("/proc/self/stat").expect("Linux has it");
        // The name of the program may hold blanks, and is in parentheses.
        let fields: Vec<&str> = text.rsplit(')').next().expect("there is an end").split_whitespace().collect();
        let ticks: f64 = fields[13..15].iter().map(|field| field.parse::<f64>().expect("a number")).sum();
        ticks / 100.0
    }

    /// That of the rates, with its loss and its cost.
    fn median(mut measured: Vec<Measured>) -> Measured {
        measured.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        measured[measured.len() / 2]
    }
}
