//! Instructions, counted by valgrind's callgrind.

use std::process::{Command, Stdio};

use crate::workload::{self, Work, Workload};

/// A valgrind that is installed.
pub(crate) struct Callgrind;

impl Callgrind {
    /// `None`: it is not installed.
    pub(crate) fn find() -> Option<Self> {
        let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success()).then_some(Self)
    }

    /// Work and instructions of the counted part; `None`, with a word about it, if valgrind fails.
    pub(crate) fn measure(&self, workload: &Workload) -> Option<(Work, u64)> {
        let [warm, long] = [workload.warm, workload.warm + workload.counted];
        let [few, many] = [warm, long].map(|seconds| count(workload.name, seconds));
        let work = workload::run(workload.name, long) - workload::run(workload.name, warm);
        Some((work, many?.checked_sub(few?)?))
    }
}

/// Instructions of this program as it runs the scenario once.
fn count(name: &str, seconds: u64) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([name, &seconds.to_string()])
        .output()
        .ok()?;
    let report = String::from_utf8_lossy(&output.stderr);
    let instructions = report.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    if instructions.is_none() {
        eprintln!("valgrind counted nothing in {name}:\n{report}");
    }
    instructions
}
