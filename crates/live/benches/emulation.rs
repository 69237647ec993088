//! Benchmark of emulation against real time: 30 real hosts on one channel with 20 Mb/s of UDP between them. Before and
//! after it, a bare timer writes the same number of frames into a TAP device. As root:
//! `chrt -R -f 10 cargo bench -p hopcast-live --bench emulation`. Both then run before all other programs on the machine,
//! except that the programs at the hosts do not.

#![allow(clippy::print_stdout, clippy::disallowed_types, reason = "a measurement of the machine's time, for people")]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::fs;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use hdrhistogram::Histogram;
    use hopcast_live::platform::netlink::{LinkChange, Netlink};
    use hopcast_live::platform::netns::Namespace;
    use hopcast_live::platform::tap;
    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

    const NODES: usize = 30;
    const FLOWS: usize = 10;
    /// Of each flow, in Mb/s: 20 in all.
    const RATE: usize = 2;
    const PAYLOAD: usize = 1_448;
    const SECONDS: u64 = 10;

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let before = bare()?;
        let (frames, within, p99) = emulated()?;
        let after = bare()?;
        println!("{:32} {:>9} {:>14} {:>12}", "", "frames", "within 1 ms", "99 % within");
        let row = |name: &str, frames: u64, within: f64, p99: f64| {
            println!("{name:32} {frames:9} {:12.2} % {:9.3} ms", within * 1e2, p99 * 1e3);
        };
        let of = |name: &str, lag: &Histogram<u64>| {
            let within = lag.count_between(0, 1_000_000) as f64 / lag.len() as f64;
            row(name, lag.len(), within, lag.value_at_quantile(0.99) as f64 * 1e-9);
        };
        of("bare timer and TAP, before", &before);
        row("emulation, 30 hosts, 20 Mb/s", frames, within, p99);
        of("bare timer and TAP, after", &after);
        let bound = before.value_at_quantile(0.99).max(after.value_at_quantile(0.99)) as f64 * 2e-9;
        let holds = within >= 0.99 || p99 <= bound;
        println!(
            "99 % within 1 ms, or within twice what the bare timer shows: {}",
            if holds { "holds" } else { "fails" }
        );
        Ok(())
    }

    /// How much later than wanted a frame is written, by a thread that does nothing else, as often as frames are in the emulation.
    fn bare() -> Result<Histogram<u64>, Box<dyn Error>> {
        let namespace = Namespace::create(&format!("hopcast-bench-{}", std::process::id()))?;
        let device = namespace.run(|| -> std::io::Result<_> {
            let device = tap::open("wlan0")?;
            let mut netlink = Netlink::open()?;
            let link = netlink.link("wlan0")?.ok_or_else(|| std::io::Error::other("no interface"))?;
            netlink.set_link(link.index, &LinkChange { up: Some(true), ..LinkChange::default() })?;
            Ok(device)
        })??;
        let bits = (FLOWS * RATE * 1_000_000) as u64;
        let period = Duration::from_nanos(PAYLOAD as u64 * 8 * 1_000_000_000 / bits);
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
        let mut frame = vec![0; PAYLOAD + 42];
        frame[..6].fill(0xff);
        let mut lag = Histogram::new_with_max(3_600_000_000_000, 3)?;
        let start = Instant::now();
        let mut due = start + period;
        while due < start + Duration::from_secs(SECONDS) {
            let left = due.saturating_duration_since(Instant::now());
            if left > Duration::ZERO {
                timer.set(Expiration::OneShot(TimeSpec::from_duration(left)), TimerSetTimeFlags::empty())?;
                timer.wait()?;
            }
            device.send(&frame)?;
            lag.saturating_record(due.elapsed().as_nanos() as u64);
            due += period;
        }
        Ok(lag)
    }

    /// Frames that left, the share of them within 1 ms, and the 99th percentile of the lag in seconds.
    fn emulated() -> Result<(u64, f64, f64), Box<dyn Error>> {
        let scenario = tempfile::Builder::new().suffix(".toml").tempfile()?;
        let text = format!(
            r#"
            duration = "60 s"
            [radio]
            standard = "802.11a"
            [emulation]
            lag_limit = "1 h"
            [[nodes]]
            name = "n"
            count = {NODES}
            real = true
            placement = {{ shape = "circle", radius = "5 m" }}
            "#
        );
        fs::write(&scenario, text)?;
        let mut command = Command::new("chrt");
        command.args(["-R", "-f", "10", env!("CARGO_BIN_EXE_hopcast-live"), "emulate"]);
        command.arg(scenario.path()).arg("--json").stderr(Stdio::null());
        for flow in 0..FLOWS {
            let (from, to) = (format!("n{}", 2 * flow), format!("n{}", 2 * flow + 1));
            let address = format!("10.0.0.{}", 2 * flow + 2);
            let client = format!("sleep 2; exec iperf3 -u -c {address} -b {RATE}M -l {PAYLOAD} -t {SECONDS}");
            command.args(["--exec", &to, "exec iperf3 -s -1"]).args(["--exec", &from, &client]);
        }
        let output = command.output()?;
        let object: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let lag = &object["emulation"]["lag"];
        let number = |key: &str| lag[key].as_f64().ok_or_else(|| format!("no {key} in {lag}"));
        Ok((lag["frames"].as_u64().unwrap_or(0), number("within_1ms")?, number("p99_s")?))
    }
}
