//! The ends of a stream: files, pipes, and RTP ports on this host.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use hopcast_protocols::application::JitterBufferConfig;
use hopcast_protocols::time::Duration as Span;
use hopcast_sim::io_error::cause;
use hopcast_sim::scenario::quantity::Dimension;
use hopcast_wire::mpegts::{PACKET_LEN, SYNC};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags};

use crate::address;
use crate::failure::Failure;
use crate::platform::wait;

/// Bytes that may wait for a slow reader: what a player that pauses for a minute leaves of a stream of 8 Mb/s.
const WAITING: usize = 60 << 20;
/// Buffers that are kept for what comes next.
const SPARE: usize = 64;
/// Between two looks whether somebody reads a pipe; its writer has no other way to learn of it.
const READER_INTERVAL: Duration = Duration::from_millis(50);
/// Delay of a fixed jitter buffer, and limits of an adaptive one, unless named: those of a simulated player.
const FIXED: Span = Span::from_millis(100);
const ADAPTIVE: [Span; 2] = [Span::ZERO, Span::from_secs(2)];
/// What stands before the address of a port of RTP.
const RTP_SCHEME: &str = "rtp://";

/// Where media comes from or goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A file, or a pipe with a name.
    File(PathBuf),
    /// Standard input or output.
    Standard,
    /// RTP over UDP, at or to this address.
    Rtp(SocketAddr),
}

impl Endpoint {
    /// Reads `-`, `rtp://ADDRESS:PORT`, or the path of a file.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix(RTP_SCHEME) {
            Some(address) => Ok(Self::Rtp(resolve(address, None)?)),
            None if text == "-" => Ok(Self::Standard),
            None if text.is_empty() => Err("a path, `-` or rtp://ADDRESS:PORT is missing".into()),
            None => Ok(Self::File(text.into())),
        }
    }
}

/// The first address of `HOST:PORT`, or of `HOST` if there is a usual port, which one listens at.
pub(super) fn resolve(text: &str, usual_port: Option<u16>) -> Result<SocketAddr, String> {
    Ok(address::resolve(text, usual_port)?[0])
}

/// A time with its unit, in seconds.
pub(super) fn parse_time(text: &str) -> Result<f64, String> {
    let seconds = Dimension::Time.parse(text)?;
    if seconds >= 0.0 { Ok(seconds) } else { Err("a time is not negative".into()) }
}

/// How long packets may be sent again.
pub(super) fn parse_retransmission(text: &str) -> Result<Span, Failure> {
    let seconds = parse_time(text).and_then(|seconds| match seconds {
        0.001..=60.0 => Ok(seconds),
        _ => Err("at least 1 ms and at most 60 s are wanted".into()),
    });
    let seconds = seconds.map_err(|wrong| Failure::Input(format!("--retransmission {text}: {wrong}")))?;
    Ok(Span::from_secs_f64(seconds))
}

/// A rung of a ladder: `RATE=FILE`.
pub(super) fn parse_rung(text: &str) -> Result<(f64, PathBuf), String> {
    let (rate, path) = text.split_once('=').ok_or("RATE=FILE is wanted, such as 2Mb/s=high.ts")?;
    let rate = Dimension::Rate.parse(rate).map_err(|wrong| format!("rate {rate}: {wrong}"))?;
    if rate > 0.0 && !path.is_empty() {
        Ok((rate, path.into()))
    } else {
        Err("a rate above 0 and a file are wanted".into())
    }
}

/// A rate with its unit, in bit/s.
pub(super) fn parse_rate(text: &str) -> Result<u64, String> {
    let rate = Dimension::Rate.parse(text)?;
    // A float becomes the nearest number there is.
    if rate >= 1.0 { Ok(rate as u64) } else { Err("a rate above 0 is wanted".into()) }
}

/// A jitter buffer: `fixed`, `fixed:DELAY`, `adaptive` or `adaptive:LEAST..GREATEST`. The defaults are those of a simulated player.
pub(super) fn parse_jitter_buffer(text: &str) -> Result<JitterBufferConfig, String> {
    let time = |text: &str| {
        Ok::<_, String>(Span::from_secs_f64(parse_time(text).map_err(|wrong| format!("{text}: {wrong}"))?))
    };
    let (kind, value) = text.split_once(':').map_or((text, None), |(kind, value)| (kind, Some(value)));
    match (kind, value) {
        ("fixed", value) => Ok(JitterBufferConfig::Fixed { delay: value.map_or(Ok(FIXED), time)? }),
        ("adaptive", None) => Ok(JitterBufferConfig::Adaptive { min_delay: ADAPTIVE[0], max_delay: ADAPTIVE[1] }),
        ("adaptive", Some(value)) => {
            let (least, greatest) = value.split_once("..").ok_or("LEAST..GREATEST is wanted, such as 20ms..500ms")?;
            let [min_delay, max_delay] = [time(least)?, time(greatest)?];
            if max_delay < min_delay {
                return Err("the greatest delay is less than the least".into());
            }
            Ok(JitterBufferConfig::Adaptive { min_delay, max_delay })
        }
        _ => Err("fixed:100ms, adaptive or adaptive:20ms..500ms is wanted".into()),
    }
}

/// Bytes to read: a file or a pipe.
#[derive(Debug)]
pub(super) struct Input {
    file: File,
    /// A file has all of it at once; a pipe has what was written to it so far.
    pub(super) is_file: bool,
    pub(super) name: String,
    is_fresh: bool,
}

impl Input {
    /// Opens it. A pipe need have no writer yet.
    pub(super) fn open(endpoint: &Endpoint) -> io::Result<Self> {
        let (file, name) = match endpoint {
            Endpoint::File(path) => (open_at_once(path, OpenOptions::new().read(true))?, path.display().to_string()),
            Endpoint::Standard => (File::from(io::stdin().as_fd().try_clone_to_owned()?), "standard input".to_owned()),
            Endpoint::Rtp(address) => return Err(io::Error::other(format!("{address} is no file"))),
        };
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::other("it is a folder"));
        }
        if metadata.is_file() && metadata.len() < PACKET_LEN as u64 {
            let problem =
                format!("it is no MPEG transport stream: {} bytes, a packet has {PACKET_LEN}", metadata.len());
            return Err(io::Error::other(problem));
        }
        Ok(Self { is_file: metadata.is_file(), file, name, is_fresh: true })
    }

    /// Reads once. Of a pipe, when it is known to be readable.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        let count = loop {
            match self.file.read(buffer) {
                Ok(count) => break count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Run(format!("{}: {}", self.name, cause(&error)))),
            }
        };
        if std::mem::take(&mut self.is_fresh) && count > 0 && buffer[0] != SYNC {
            let (name, found) = (&self.name, buffer[0]);
            return Err(Failure::Input(format!(
                "{name} is no MPEG transport stream: byte 0 is {found:#04x}, should be {SYNC:#04x}"
            )));
        }
        Ok(count)
    }
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A file or a pipe, written by a separate thread: a slow disk or a player that pauses must not delay packets.
#[derive(Debug)]
pub(super) struct Output {
    full: Option<Sender<Vec<u8>>>,
    empty: Receiver<Vec<u8>>,
    /// Closed by the writer as it ends.
    ended: UnixStream,
    /// Bytes that have been handed over and not been written.
    waiting: Arc<AtomicUsize>,
    writer: Option<JoinHandle<io::Result<()>>>,
    pub(super) name: String,
}

impl Output {
    /// Opens it. A pipe is waited for until it has a reader, or `stop` is readable, which is an error.
    pub(super) fn open(endpoint: &Endpoint, stop: &impl AsFd) -> io::Result<Self> {
        let (file, name) = match endpoint {
            Endpoint::File(path) => (create(path, stop)?, path.display().to_string()),
            Endpoint::Standard => {
                (File::from(io::stdout().as_fd().try_clone_to_owned()?), "standard output".to_owned())
            }
            Endpoint::Rtp(address) => return Err(io::Error::other(format!("{address} is no file"))),
        };
        let (full, batches) = channel::<Vec<u8>>();
        let (give_back, empty) = sync_channel(SPARE);
        let waiting = Arc::new(AtomicUsize::new(0));
        let written = Arc::clone(&waiting);
        let (ended, ending) = UnixStream::pair()?;
        let mut file = file;
        let write = move || {
            let _ending = ending;
            while let Ok(mut batch) = batches.recv() {
                file.write_all(&batch)?;
                written.fetch_sub(batch.len(), Ordering::Relaxed);
                batch.clear();
                // Where there are enough, it goes.
                let _ = give_back.try_send(batch);
            }
            Ok(())
        };
        let writer = Builder::new().name("output".into()).spawn(write)?;
        Ok(Self { full: Some(full), empty, ended, waiting, writer: Some(writer), name })
    }

    /// Hands `octets` over and leaves an empty buffer. `false` if there is no room: they are lost then.
    pub(super) fn write(&mut self, octets: &mut Vec<u8>) -> bool {
        if self.waiting.load(Ordering::Relaxed) + octets.len() > WAITING {
            octets.clear();
            return false;
        }
        self.waiting.fetch_add(octets.len(), Ordering::Relaxed);
        let batch = std::mem::replace(octets, self.empty.try_recv().unwrap_or_default());
        if let Some(full) = &self.full {
            // Why nobody takes it any more, `poll_end` tells.
            let _ = full.send(batch);
        }
        true
    }

    /// Why nothing more can be written, if that is so.
    pub(super) fn poll_end(&mut self) -> Option<io::Error> {
        if self.writer.as_ref().is_none_or(|writer| !writer.is_finished()) {
            return None;
        }
        Some(self.join().err().unwrap_or_else(|| io::Error::other("it ended")))
    }

    /// Waits until all is written, or `stop` is readable, which is an error: a reader that has stopped reading must not hold up
    /// the end.
    pub(super) fn finish(&mut self, stop: &impl AsFd) -> io::Result<()> {
        self.full = None;
        let either = [self.ended.as_fd(), stop.as_fd()];
        let mut either = either.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN));
        while !wait::any(&mut either, None)? {}
        if either[0].any() == Some(false) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the thread that writes has panicked")),
            None => Ok(()),
        }
    }
}

/// Opens a file or a pipe without waiting for the other end of the pipe. Reads and writes wait as usual.
fn open_at_once(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

/// Opens a file or a pipe to write to. A pipe is waited for until it has a reader, or `stop` is readable.
fn create(path: &Path, stop: &impl AsFd) -> io::Result<File> {
    loop {
        match open_at_once(path, OpenOptions::new().write(true).create(true).truncate(true)) {
            Err(error) if lacks_reader(&error, path) => {}
            outcome => return outcome,
        }
        if wait::readable(stop, READER_INTERVAL) {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
}

/// Whether a file could not be opened as it is a pipe without a reader; devices and sockets have the same error.
fn lacks_reader(error: &io::Error, path: &Path) -> bool {
    error.raw_os_error() == Some(Errno::ENXIO as i32)
        && fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(test)]
mod tests {
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn endpoints_are_told_by_their_spelling() {
        assert_eq!(Endpoint::parse("-"), Ok(Endpoint::Standard));
        assert_eq!(Endpoint::parse("film.ts"), Ok(Endpoint::File("film.ts".into())));
        assert_eq!(
            Endpoint::parse("rtp://127.0.0.1:5004"),
            Ok(Endpoint::Rtp(SocketAddr::from(([127, 0, 0, 1], 5004))))
        );
        let error = Endpoint::parse("rtp://127.0.0.1").expect_err("no port");
        assert!(error.contains("expected HOST:PORT"), "{error}");
        assert!(Endpoint::parse("").is_err());
    }

    #[test]
    fn rungs_and_times_have_units() {
        assert_eq!(parse_rung("2 Mb/s=high.ts"), Ok((2e6, "high.ts".into())));
        assert!(parse_rung("high.ts").is_err() && parse_rung("2 m=high.ts").is_err() && parse_rung("0 b/s=x").is_err());
        assert_eq!(parse_time("300 ms"), Ok(0.3));
        assert!(parse_time("-1 s").is_err() && parse_time("soon").is_err());
    }

    #[test]
    fn jitter_buffers_are_fixed_or_adaptive() {
        let ms = Span::from_millis;
        let fixed = |delay| Ok(JitterBufferConfig::Fixed { delay });
        let adaptive = |min_delay, max_delay| Ok(JitterBufferConfig::Adaptive { min_delay, max_delay });
        assert_eq!(parse_jitter_buffer("fixed"), fixed(ms(100)));
        assert_eq!(parse_jitter_buffer("fixed:60ms"), fixed(ms(60)));
        assert_eq!(parse_jitter_buffer("adaptive"), adaptive(ms(0), ms(2000)));
        assert_eq!(parse_jitter_buffer("adaptive:20ms..0.5s"), adaptive(ms(20), ms(500)));
        for wrong in ["", "none", "fixed:soon", "adaptive:20ms", "adaptive:2s..1s", "fixed:-1s"] {
            assert!(parse_jitter_buffer(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_rate("2 Mb/s"), Ok(2_000_000));
        assert!(parse_rate("0 b/s").is_err() && parse_rate("2 m").is_err());
    }

    #[test]
    fn what_is_written_is_in_the_file_at_the_end() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("output");
        let (stop, _never) = UnixStream::pair().expect("there is room");
        let mut output = Output::open(&Endpoint::File(path.clone()), &stop).expect("it can be made");
        let mut batch = b"one".to_vec();
        assert!(output.write(&mut batch) && batch.is_empty());
        batch.extend_from_slice(b"two");
        assert!(output.write(&mut batch));
        assert!(output.poll_end().is_none());
        output.finish(&stop).expect("written");
        assert_eq!(fs::read(&path).expect("it is there"), b"onetwo");
    }

    #[test]
    fn a_full_disk_is_told() {
        let (stop, _never) = UnixStream::pair().expect("there is room");
        let mut output = Output::open(&Endpoint::File("/dev/full".into()), &stop).expect("it is always there");
        output.write(&mut vec![0; 10]);
        let error = loop {
            if let Some(error) = output.poll_end() {
                break error;
            }
            std::thread::yield_now();
        };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn neither_a_pipe_without_reader_nor_one_that_is_full_outlasts_a_stop() {
        let folder = tempfile::tempdir().expect("there is room");
        let [path, alone] = ["pipe", "alone"].map(|name| folder.path().join(name));
        mkfifo(&path, Mode::S_IRWXU).expect("it can be made");
        let endpoint = Endpoint::File(path.clone());
        let (stop, now) = UnixStream::pair().expect("there is room");
        let _reader = open_at_once(&path, OpenOptions::new().read(true)).expect("it needs no writer");
        let mut output = Output::open(&endpoint, &stop).expect("it has a reader");
        output.write(&mut vec![0; 1 << 20]);
        drop(now);
        assert_eq!(output.finish(&stop).expect_err("nobody reads").kind(), io::ErrorKind::Interrupted);
        mkfifo(&alone, Mode::S_IRWXU).expect("it can be made");
        let error = Output::open(&Endpoint::File(alone.clone()), &stop).expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }
}
