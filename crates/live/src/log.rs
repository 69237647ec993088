//! Logs on standard error; lines are lost while it is full or closed, and nothing else changes.

use std::io::{self, IsTerminal as _, Write};

use tracing::Level;

use crate::output;

/// Logs from here on what has this level or a more severe one.
pub(crate) fn start(level: Level) {
    let builder = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .log_internal_errors(false)
        .with_writer(|| Lossy);
    // The journal has the time already (systemd.exec(5), "JOURNAL_STREAM"). A program that logs already goes on as it does.
    let _ = match std::env::var_os("JOURNAL_STREAM") {
        Some(_) => builder.without_time().try_init(),
        None => builder.try_init(),
    };
}

/// Standard error, where what can't be written at once is lost: a command with only one thread waits for no reader of its log.
#[derive(Debug)]
struct Lossy;

impl Write for Lossy {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        output::diagnose(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
