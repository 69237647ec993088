//! The program of the crate, in an emulation. Skipped, and said so, without root.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A simulated node that talks to a real one.
const SCENARIO: &str = r#"
duration = "3 s"
emulation = { lag_limit = "2 s" }
[[nodes]]
name = "r"
real = true
placement = { shape = "points", at = [["0 m", "0 m"]] }
[[nodes]]
name = "s"
placement = { shape = "points", at = [["10 m", "0 m"]] }
[[flows]]
name = "voice"
from = "s"
to = "r"
transport = { protocol = "udp" }
application = { kind = "custom", name = "talkspurts", parameters = { packet = 80, interval = 0.01, pause = 0 } }
"#;

fn emulate(scenario: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talkspurts"));
    command.arg("emulate").arg(scenario).args(arguments).stdin(Stdio::null());
    command.output().expect("the program is there")
}

#[test]
fn the_application_runs_in_an_emulation() {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root || !Path::new("/dev/net/tun").exists() {
        assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "root's rights or /dev/net/tun are missing");
        println!("skipped: root's rights or /dev/net/tun are missing");
        return;
    }
    let scenario = std::env::temp_dir().join(format!("talkspurts-{}.toml", std::process::id()));
    fs::write(&scenario, SCENARIO).expect("there is room for a file");
    let done = emulate(&scenario, &["--json"]);
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{stderr}");
    let result: serde_json::Value = serde_json::from_slice(&done.stdout).expect("it prints JSON");
    let flow = &result["flows"][0];
    // A hundred packets a second.
    let received = flow["received_packets"].as_u64().expect("it is counted");
    assert!((250..=301).contains(&received), "{flow}");
    assert_eq!(flow["received_bytes"], 80 * received);

    let extension = emulate(&scenario, &["--extension", "models.py"]);
    assert_eq!(extension.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&extension.stderr).contains("--extension models.py: this program has no Python"));
    fs::remove_file(&scenario).expect("it is there");
}
