//! Goodput of `hopcast probe` compared with iperf3, over the same pair of virtual Ethernet devices between two
//! namespaces: `cargo bench -p hopcast-live --bench probe` as root. It measures each in turn, several times.
#![expect(clippy::print_stdout, reason = "it prints a table")]

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: emulation and the live commands need Linux");
}

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
    use super::iperf3::{self, ADDRESS};
    use super::processes::{Line, Missing, Place};

    /// Of each program and case; the median counts.
    const TIMES: usize = 5;

    /// Transport, bytes of a write, and about what goes over in some seconds. iperf3's own writes are of 1460 bytes (UDP,
    /// what fits into a segment) and 128 KiB (TCP).
    const CASES: [(&str, &str, &str); 4] =
        [("udp", "1460", "1.5GB"), ("udp", "8192", "6GB"), ("tcp", "4096", "10GB"), ("tcp", "131072", "10GB")];

    pub(super) fn run() -> Result<(), Missing> {
        let line = Line::new(2)?;
        let (near, far) = (line.place(0), line.place(1));
        let _receiver = far.daemon(&["receive"]);
        println!("| transport | write, B | iperf3, Gb/s | probe, Gb/s | probe / iperf3 | lost by iperf3 | by probe |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        for (transport, size, bytes) in CASES {
            let (mut theirs, mut ours) = (Vec::new(), Vec::new());
            for _ in 0..TIMES {
                theirs.push(self::theirs(near, far, transport, size)?);
                ours.push(probe(near, transport, size, bytes));
            }
            let ([theirs, their_loss], [ours, our_loss]) = (median(theirs), median(ours));
            println!(
                "| {transport} | {size} | {:.2} | {:.2} | {:.2} | {:.1} % | {:.1} % |",
                theirs * 1e-9,
                ours * 1e-9,
                ours / theirs,
                their_loss * 1e2,
                our_loss * 1e2
            );
        }
        Ok(())
    }

    /// Rate and loss at the receiver.
    fn theirs(near: Place<'_>, far: Place<'_>, transport: &str, size: &str) -> Result<[f64; 2], Missing> {
        if transport == "udp" {
            return Ok(iperf3::udp(near, far, size)?.1);
        }
        let end = iperf3::run(near, far, &["-l", size])?;
        Ok([iperf3::number(&end["sum_received"]["bits_per_second"]), 0.0])
    }

    fn probe(near: Place<'_>, transport: &str, size: &str, bytes: &str) -> [f64; 2] {
        let flow = ["--to", ADDRESS, "--transport", transport, "--size", size, "--bytes", bytes];
        let document = near.measure(&flow);
        let flow = &document["flows"][0];
        ["goodput_bps", "loss_ratio"].map(|field| flow[field].as_f64().expect("it was measured"))
    }

    /// That of the rates, with its loss.
    fn median(mut measured: Vec<[f64; 2]>) -> [f64; 2] {
        measured.sort_by(|a, b| a[0].total_cmp(&b[0]));
        measured[measured.len() / 2]
    }
}
