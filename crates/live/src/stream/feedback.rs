//! Reports the allowed rate to encoders over a local socket.
//!
//! Each connected program gets a line of JSON ten times a second: `{"allowed_rate_bps": …, "network": …}`. hopcast does
//! not read what it writes.

use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use hopcast_protocols::time::{Duration, Instant};

use super::statistics::SendLine;

/// Between two lines: shorter than the interval of key frames, at which encoders can change most, and longer than usual round
/// trips, at which the rate does.
const INTERVAL: Duration = Duration::from_millis(100);
/// Most encoders that are told.
const MOST: usize = 16;

/// A local socket at which encoders ask.
#[derive(Debug)]
pub(super) struct RateFeedback {
    listener: UnixListener,
    path: PathBuf,
    encoders: Vec<UnixStream>,
    due: Instant,
}

impl RateFeedback {
    /// Listens at `path`. A socket that a process which was killed has left there gives way; any other file doesn't.
    pub(super) fn listen(path: &Path, now: Instant) -> io::Result<Self> {
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket());
        if is_socket && UnixStream::connect(path).is_err() {
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path: path.to_owned(), encoders: Vec::new(), due: now })
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Tells all encoders. One that does not read, or has gone, is told no more.
    pub(super) fn handle_timeout(&mut self, line: &SendLine, now: Instant) {
        self.due = now + INTERVAL;
        while self.encoders.len() < MOST
            && let Ok((encoder, _)) = self.listener.accept()
            && encoder.set_nonblocking(true).is_ok()
        {
            self.encoders.push(encoder);
        }
        let text = line.feedback();
        self.encoders.retain_mut(|encoder| encoder.write_all(text.as_bytes()).is_ok());
    }
}

impl Drop for RateFeedback {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
