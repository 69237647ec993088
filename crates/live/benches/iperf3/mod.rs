//! iperf3 between two namespaces, for comparison with hopcast's own programs.

use std::process::Stdio;

use serde_json::Value;

use crate::processes::{Missing, Place};

/// The far end.
pub(crate) const ADDRESS: &str = "10.88.0.2";

/// Runs a benchmark, or says what it lacks.
pub(crate) fn bench(measure: impl FnOnce() -> Result<(), Missing>) {
    // `cargo test` runs it too, to see that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    if let Err(missing) = measure() {
        println!("skipped: {}", missing.what);
    }
}

/// Output of iperf3 after four seconds with these additional arguments.
pub(crate) fn run(near: Place<'_>, far: Place<'_>, arguments: &[&str]) -> Result<Value, Missing> {
    let missing = |error| Missing { is_program: true, what: format!("iperf3: {error}") };
    let mut server = far.command("iperf3");
    let mut server = server.args(["-s", "-1"]).stdout(Stdio::null()).spawn().map_err(missing)?;
    // It says nothing of being ready.
    std::thread::park_timeout(std::time::Duration::from_millis(500));
    let mut client = near.command("iperf3");
    let done = client.args(["-c", ADDRESS, "-t", "4", "-J"]).args(arguments).output().map_err(missing)?;
    let _ = server.wait();
    let mut document: Value = serde_json::from_slice(&done.stdout).expect("iperf3 -J prints an object");
    Ok(document["end"].take())
}

/// UDP at full speed in datagrams of this many bytes: the final output, bits per second that arrived, and the share that
/// did not.
pub(crate) fn udp(near: Place<'_>, far: Place<'_>, size: &str) -> Result<(Value, [f64; 2]), Missing> {
    let end = run(near, far, &["-u", "-b", "0", "-l", size])?;
    let loss = number(&end["sum"]["lost_percent"]) / 100.0;
    // Of UDP it tells what was sent.
    let rate = number(&end["sum"]["bits_per_second"]) * (1.0 - loss);
    Ok((end, [rate, loss]))
}

/// A number that iperf3 says.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
