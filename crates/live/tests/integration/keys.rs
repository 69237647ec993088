//! Files with keys, as `hopcast key` makes them.

use std::path::Path;
use std::process::Command;

/// Makes a network key.
pub(crate) fn make_key(path: &Path) -> String {
    run(path, &[]);
    path.display().to_string()
}

/// Makes an identity; its file and its public key.
pub(crate) fn make_identity(path: &Path) -> (String, String) {
    let public = run(path, &["--identity"]);
    (path.display().to_string(), public.trim().to_owned())
}

fn run(path: &Path, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hopcast-live"));
    let output = command.arg("key").args(options).arg(path).output().expect("it can be run");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}
