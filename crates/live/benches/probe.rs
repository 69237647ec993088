//! Goodput of `hopcast probe` beside that of iperf3, over the same pair of virtual Ethernet devices between two namespaces:
//! `cargo bench -p hopcast-live --bench probe` as root. Each is measured in turn, several times.
#![expect(clippy::print_stdout, reason = "it prints a table")]

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: emulation and the live commands need Linux");
}

#[cfg(target_os = "linux")]
#[path = "../tests/probe/processes.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod processes;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::process::Stdio;

    use serde_json::Value;

    use super::processes::{Line, Missing, Place};

    /// Of each program and case; the median counts.
    const TIMES: usize = 5;
    /// The far end.
    const ADDRESS: &str = "10.88.0.2";

    /// Transport, octets of a write, and about what goes over in some seconds. iperf3's own writes are of 1460 octets (UDP,
    /// what fits into a segment) and 128 KiB (TCP).
    const CASES: [(&str, &str, &str); 4] =
        [("udp", "1460", "1.5GB"), ("udp", "8192", "6GB"), ("tcp", "4096", "10GB"), ("tcp", "131072", "10GB")];

    pub(super) fn main() {
        // `cargo test` runs it too, to see that it starts.
        if !std::env::args().any(|argument| argument == "--bench") {
            return;
        }
        if let Err(missing) = run() {
            println!("skipped: {}", missing.what);
        }
    }

    fn run() -> Result<(), Missing> {
        let line = Line::new(2)?;
        let (near, far) = (line.place(0), line.place(1));
        let _receiver = far.daemon(&["receive"]);
        println!("| transport | write, B | iperf3, Gb/s | probe, Gb/s | probe / iperf3 | lost by iperf3 | by probe |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        for (transport, size, bytes) in CASES {
            let (mut theirs, mut ours) = (Vec::new(), Vec::new());
            for _ in 0..TIMES {
                theirs.push(iperf3(near, far, transport, size)?);
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
    fn iperf3(near: Place<'_>, far: Place<'_>, transport: &str, size: &str) -> Result<[f64; 2], Missing> {
        let missing = |error| Missing { is_program: true, what: format!("iperf3: {error}") };
        let mut server = far.command("iperf3");
        let mut server = server.args(["-s", "-1"]).stdout(Stdio::null()).spawn().map_err(missing)?;
        // It says nothing of being ready.
        std::thread::park_timeout(std::time::Duration::from_millis(500));
        let mut client = near.command("iperf3");
        client.args(["-c", ADDRESS, "-l", size, "-t", "4", "-J"]);
        if transport == "udp" {
            client.args(["-u", "-b", "0"]);
        }
        let done = client.output().map_err(missing)?;
        let _ = server.wait();
        let document: Value = serde_json::from_slice(&done.stdout).expect("iperf3 -J prints an object");
        let end = &document["end"];
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        Ok(if transport == "udp" {
            let loss = number(&end["sum"]["lost_percent"]) / 100.0;
            // Of UDP it tells what was sent.
            [number(&end["sum"]["bits_per_second"]) * (1.0 - loss), loss]
        } else {
            [number(&end["sum_received"]["bits_per_second"]), 0.0]
        })
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
