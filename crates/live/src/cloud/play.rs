//! `hopcast cloud play`: asks the device of this host for a clip, and gives its media to a file, a program or a player's port.
//!
//! The media go through a file first, so that a program that pauses delays nothing: into the one that is asked for, which gets its name
//! once its SHA-256 is the one that was offered, or into one without a name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hopcast_protocols::streaming::delivery::PACKET;
use hopcast_protocols::time::Duration;
use hopcast_sim::io_error::cause;
use hopcast_sim::scenario::nearest;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::poll::{PollFd, PollFlags};
use sha2::{Digest as _, Sha256};

use super::record::PlayRecording;
use super::status::{self, KnownClip, OutcomeName, PlayRecord, Played, Reason};
use super::{no_device, players, unanswered};
use crate::failure::Failure;
use crate::platform::clock::Clock;
use crate::platform::signals::Signals;
use crate::platform::wait;
use crate::{address, output};

/// A device that started less than this time ago may not have heard of all clips.
const WARM_UP: f64 = 5.0;
/// For how long a stream is asked for again whose links are not known well enough, or that no device answers for: from its start a device
/// needs some fifteen seconds.
const ASK_LIMIT: Duration = Duration::from_secs(40);
/// Time between two tries.
const RETRY: Duration = Duration::from_secs(2);
/// Digits of a digest that name a clip.
const LEAST_DIGITS: usize = 8;
/// Bytes that are read or written at once.
const CHUNK: usize = 1 << 16;
/// Media that were written give their room in the spool back in pieces of this many bytes.
const FREED: u64 = 1 << 20;
/// The longest frame: a packet of media, or a record.
const MAX_FRAME: usize = 1 << 16;
/// What stands before the address of a player's port.
const UDP_SCHEME: &str = "udp://";

/// Play a clip that a device near by offers.
///
/// Asks the `hopcast cloud serve` of this host. The media come at the pace of the clip, and are written to standard output from the
/// moment when the display starts: hopcast cloud play film.ts | ffplay -. A file gets its name when all of the clip is there.
#[derive(Debug, clap::Args)]
#[command(after_help = output::HELP)]
pub(super) struct Play {
    /// The clip: its name, its name without the ending, or at least eight digits of its SHA-256
    #[arg(value_name = "CLIP")]
    clip: String,
    /// Where the media go: a file, - for standard output, or udp://HOST:PORT at the pace of the display
    #[arg(short, long, value_name = "FILE|-|udp://HOST:PORT", default_value = "-")]
    output: String,
    /// What became of the request, as one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Write a recording to this folder, for `hopcast view`: media, the buffer of the display, and stalls
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

/// Where media go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    File(PathBuf),
    Standard,
    Udp(SocketAddr),
}

impl Target {
    fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix(UDP_SCHEME) {
            Some(address) => Ok(Self::Udp(address::resolve(address, None)?[0])),
            None if text == "-" => Ok(Self::Standard),
            None if text.is_empty() => Err("a path, `-` or udp://HOST:PORT is missing".into()),
            None => Ok(Self::File(text.into())),
        }
    }
}

impl Play {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub(super) fn run(&self) -> Result<(), Failure> {
        let target = Target::parse(&self.output).map_err(|wrong| Failure::Input(format!("--output: {wrong}")))?;
        if target == Target::Standard && self.json {
            return Err(Failure::Input("--json needs --output: both would be on standard output".into()));
        }
        if target == Target::Standard && io::stdout().is_terminal() {
            let wrong = "standard output is a terminal; --output FILE, or a player behind a pipe as | ffplay -";
            return Err(Failure::Input(wrong.into()));
        }
        let signals = Signals::listen().map_err(|error| failed("listen to signals", &error))?;
        let clock = Clock::new();
        let mut record = self.record.as_deref().map(PlayRecording::create).transpose()?;
        let played = self.play(&target, &signals, &clock, record.as_mut());
        let recorded = record.map_or(Ok(()), |record| record.finish(clock.now()));
        played.and(recorded)
    }

    fn play(
        &self,
        target: &Target,
        signals: &Signals,
        clock: &Clock,
        mut recording: Option<&mut PlayRecording>,
    ) -> Result<(), Failure> {
        let clip = self.find(signals, clock)?;
        let spool = Spool::open(target).map_err(|error| {
            let wrong = format!("{}: {}", self.output, cause(&error));
            if matches!(target, Target::File(_)) {
                Failure::Input(format!("--output {wrong}"))
            } else {
                Failure::Run(wrong)
            }
        })?;
        let until = clock.now() + ASK_LIMIT;
        let mut has_told = false;
        loop {
            if let Some(recording) = &mut recording {
                recording.begin(&clip.name, clip.size_bytes, clip.length_s, clock.now());
            }
            let session = Session::begin(&clip, target, &spool, *clock, recording.as_deref_mut())?;
            let (record, is_whole) = session.work(signals)?;
            let passing = match (record.outcome, record.reason) {
                (OutcomeName::Refused, Some(Reason::Unknown)) => "a link on the way is not known well enough yet",
                // It has been heard of, so messages were lost, or the way to it is new.
                (OutcomeName::NotFound, _) => "no device that stores it answers yet",
                _ => return self.finish(record, is_whole, &clip, &spool),
            };
            if clock.now() >= until {
                return self.finish(record, is_whole, &clip, &spool);
            }
            if !has_told {
                output::say(&format!("{passing}; asking again"));
                has_told = true;
            }
            pause(RETRY, signals)?;
        }
    }

    /// The clip that is meant.
    fn find(&self, signals: &Signals, clock: &Clock) -> Result<KnownClip, Failure> {
        let until = clock.now() + Duration::from_secs_f64(WARM_UP);
        loop {
            let state = status::ask().map_err(|error| unanswered(&error))?.ok_or_else(no_device)?;
            let clips: Vec<KnownClip> = serde_json::from_value(state["clips"].clone()).unwrap_or_default();
            match choose(&self.clip, &clips) {
                Err(_) if state["uptime_s"].as_f64().is_some_and(|time| time < WARM_UP) && clock.now() < until => {
                    pause(Duration::from_millis(200), signals)?;
                }
                chosen => return chosen.cloned().map_err(Failure::Input),
            }
        }
    }

    /// Gives the file its name, tells what became of it, and how the command ends.
    fn finish(&self, record: PlayRecord, is_whole: bool, clip: &KnownClip, spool: &Spool) -> Result<(), Failure> {
        let outcome = record.outcome;
        let reason = record.reason.map(Reason::sentence).unwrap_or_default();
        if is_whole {
            spool.keep().map_err(|error| failed(&format!("write {}", self.output), &error))?;
        }
        if self.json {
            let played = Played { output: self.output.clone(), verified: is_whole, record };
            let json = serde_json::to_string(&played).expect("a record is plain data");
            output::print(&format!("{json}\n"))?;
        }
        let name = &clip.name;
        match outcome {
            OutcomeName::Completed if is_whole => Ok(()),
            OutcomeName::Completed => {
                Err(Failure::Run(format!("{name}: what came is not what was offered: its SHA-256 is another")))
            }
            OutcomeName::Stopped => Ok(()),
            OutcomeName::NotFound => Err(Failure::Run(format!("{name}: no device that stores it answers"))),
            OutcomeName::Refused => Err(Failure::Run(format!("{name} is refused: {reason}"))),
            OutcomeName::Broken | OutcomeName::Searching | OutcomeName::Playing => {
                Err(Failure::Run(format!("{name}: the path to it was lost, and there is no other one")))
            }
        }
    }
}

/// The one of `clips` that `wanted` names.
fn choose<'a>(wanted: &str, clips: &'a [KnownClip]) -> Result<&'a KnownClip, String> {
    let stem = |clip: &KnownClip| Path::new(&clip.name).file_stem().is_some_and(|stem| stem == wanted);
    let is_digest = wanted.len() >= LEAST_DIGITS && wanted.bytes().all(|digit| digit.is_ascii_hexdigit());
    let digits = wanted.to_ascii_lowercase();
    let ways: [&dyn Fn(&KnownClip) -> bool; 3] =
        [&|clip| clip.name == wanted, &stem, &|clip| is_digest && clip.digest.starts_with(&digits)];
    for way in ways {
        let found: Vec<&KnownClip> = clips.iter().filter(|clip| way(clip)).collect();
        match found[..] {
            [] => {}
            [one] => return Ok(one),
            _ => {
                let digests: Vec<&str> = found.iter().filter_map(|clip| clip.digest.get(..16)).collect();
                let count = digests.len();
                return Err(format!(
                    "{count} clips are called {wanted}; name one by its SHA-256: {}",
                    digests.join(", ")
                ));
            }
        }
    }
    if clips.is_empty() {
        return Err(format!(
            "there is no clip {wanted:?} near by, and no other; `hopcast cloud status` shows which devices are heard"
        ));
    }
    let names: Vec<&str> = clips.iter().map(|clip| &clip.name[..]).collect();
    let hint = nearest::hint(wanted, &names);
    Err(format!(
        "there is no clip {wanted:?} near by{hint}{}",
        if hint.is_empty() { "; `hopcast cloud list` lists all" } else { "" }
    ))
}

/// Waits, unless a signal comes.
fn pause(time: Duration, signals: &Signals) -> Result<(), Failure> {
    wait::readable(signals, std::time::Duration::from_nanos(time.as_nanos()));
    match signals.received() {
        Some(signal) => Err(Failure::Interrupted { signal }),
        None => Ok(()),
    }
}

fn failed(what: &str, error: &io::Error) -> Failure {
    Failure::Run(format!("can't {what}: {}", cause(error)))
}

/// The file that the media go through.
#[derive(Debug)]
struct Spool {
    file: File,
    /// Its name as long as it is not whole, and the one that it gets then.
    names: Option<[PathBuf; 2]>,
}

impl Spool {
    fn open(target: &Target) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let draw = || getrandom::u64().map_err(|error| io::Error::other(error.to_string()));
        if let Target::File(path) = target {
            // What gets the name takes the place of what has it: of a device, say.
            match fs::metadata(path) {
                Ok(metadata) if metadata.is_dir() => return Err(io::Error::other("it is a folder")),
                Ok(metadata) if !metadata.is_file() => {
                    return Err(io::Error::other("it is no file; - and a pipe give the media to anything else"));
                }
                _ => {}
            }
            let name = path.file_name().ok_or_else(|| io::Error::other("it is no name of a file"))?;
            let mut part = std::ffi::OsString::from(".");
            part.push(name);
            part.push(format!(".{:016x}.part", draw()?));
            let part = path.with_file_name(part);
            let file = options.open(&part)?;
            return Ok(Self { file, names: Some([part, path.clone()]) });
        }
        let path = std::env::temp_dir().join(format!("hopcast-cloud-{:016x}", draw()?));
        let file = options.mode(0o600).open(&path)?;
        // It goes with the last who has it open.
        fs::remove_file(&path)?;
        Ok(Self { file, names: None })
    }

    /// Whole, it gets its name.
    fn keep(&self) -> io::Result<()> {
        let Some([part, name]) = &self.names else { return Ok(()) };
        self.file.sync_all()?;
        fs::rename(part, name)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Some([part, _]) = &self.names {
            // A file that has its name is no longer there under this one.
            let _ = fs::remove_file(part);
        }
    }
}

/// One request to the device of this host.
struct Session<'a> {
    stream: UnixStream,
    frames: Frames,
    spool: File,
    spooled: u64,
    hash: Sha256,
    digest: String,
    size: u64,
    /// Whether it ends when all has come, without waiting for the display.
    is_file: bool,
    writer: Option<Writer>,
    record: Option<PlayRecord>,
    clock: Clock,
    recording: Option<&'a mut PlayRecording>,
}

impl<'a> Session<'a> {
    fn begin(
        clip: &KnownClip,
        target: &Target,
        spool: &Spool,
        clock: Clock,
        recording: Option<&'a mut PlayRecording>,
    ) -> Result<Self, Failure> {
        let mut stream = match UnixStream::connect_addr(&status::play_socket()) {
            Ok(stream) => stream,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Err(no_device()),
            Err(error) => return Err(unanswered(&error)),
        };
        let begun = stream.write_all(format!("{}\n", clip.digest).as_bytes());
        begun.and_then(|()| stream.set_nonblocking(true)).map_err(|error| unanswered(&error))?;
        let clone = || spool.file.try_clone().map_err(|error| failed("keep the media", &error));
        let file = clone()?;
        let packet = Duration::from_secs_f64(f64::from(PACKET) * 8.0 / (clip.rate_bps.max(1) as f64));
        let writer = match target {
            Target::File(_) => None,
            Target::Standard => Some(Writer::start(clone()?, Sink::Standard)),
            Target::Udp(to) => Some(Writer::start(clone()?, Sink::Udp { to: *to, packet })),
        };
        let writer = writer.transpose().map_err(|error| failed("write the media", &error))?;
        let (digest, size) = (clip.digest.clone(), clip.size_bytes);
        let frames = Frames::default();
        let is_file = writer.is_none();
        Ok(Self {
            stream,
            frames,
            spool: file,
            spooled: 0,
            hash: Sha256::new(),
            digest,
            size,
            is_file,
            writer,
            record: None,
            clock,
            recording,
        })
    }

    /// Works until the clip has ended; how, and whether all of its bytes are those that were offered.
    fn work(mut self, signals: &Signals) -> Result<(PlayRecord, bool), Failure> {
        let mut octets = vec![0; CHUNK];
        let mut has_ended = false;
        while !has_ended {
            let mut fds = vec![
                PollFd::new(signals.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.stream.as_fd(), PollFlags::POLLIN),
            ];
            fds.extend(self.writer.iter().map(|writer| PollFd::new(writer.ended.as_fd(), PollFlags::POLLIN)));
            wait::any(&mut fds, None).map_err(|error| failed("wait", &error))?;
            if let Some(signal) = signals.received() {
                return Err(Failure::Interrupted { signal });
            }
            if self.writer.as_ref().is_some_and(Writer::has_ended) {
                return self.stop();
            }
            match self.stream.read(&mut octets) {
                Ok(0) => return Err(Failure::Run("the device of this host has ended".into())),
                Ok(count) => self.frames.handle_octets(&octets[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(unanswered(&error)),
            }
            while let Some((kind, rest)) = self.frames.poll().map_err(Failure::Run)? {
                has_ended |= self.handle_frame(kind, &rest)?;
            }
            has_ended |= self.is_file && self.spooled == self.size;
        }
        let mut record = self.record.take().ok_or_else(|| Failure::Run("the device told nothing".into()))?;
        if self.is_file && self.spooled == self.size {
            (record.outcome, record.received_bytes) = (OutcomeName::Completed, self.size);
        }
        if let Some(writer) = self.writer.take() {
            writer.finish(signals)?;
        }
        let is_whole = self.spooled == self.size && status::hex(&self.hash.finalize()) == self.digest;
        Ok((record, is_whole))
    }

    /// The player takes no more media.
    fn stop(mut self) -> Result<(PlayRecord, bool), Failure> {
        let record = self.record.take();
        let problem = self.writer.take().and_then(Writer::join);
        match problem {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed("write the media", &error)),
            _ => {
                let record = record.ok_or_else(|| Failure::Run("the player ended before anything came".into()))?;
                Ok((PlayRecord { outcome: OutcomeName::Stopped, ..record }, false))
            }
        }
    }

    /// Whether it was the last one.
    fn handle_frame(&mut self, kind: u8, rest: &[u8]) -> Result<bool, Failure> {
        match kind {
            players::MEDIA => {
                self.spool.write_all_at(rest, self.spooled).map_err(|error| failed("keep the media", &error))?;
                self.hash.update(rest);
                self.spooled += rest.len() as u64;
                if let Some(recording) = &mut self.recording {
                    recording.handle_media(rest.len(), self.clock.now());
                }
                self.share(|shared| shared.spooled += rest.len() as u64);
            }
            players::POSITION => {
                let nanos = rest.try_into().map(u64::from_be_bytes).unwrap_or_default();
                if let Some(recording) = &mut self.recording {
                    recording.handle_position(Duration::from_nanos(nanos), self.clock.now());
                }
                self.share(|shared| {
                    shared.position = Duration::from_nanos(nanos);
                    shared.has_begun |= nanos > 0;
                });
            }
            players::STATE | players::END => {
                let record: PlayRecord =
                    serde_json::from_slice(rest).map_err(|error| Failure::Run(format!("the device says: {error}")))?;
                if let Some(line) = told(self.record.as_ref(), &record) {
                    output::say(&line);
                }
                if let Some(recording) = &mut self.recording {
                    recording.handle_record(&record, self.clock.now());
                }
                if record.start_up_s.is_some() {
                    self.share(|shared| shared.has_begun = true);
                }
                self.record = Some(record);
                return Ok(kind == players::END);
            }
            players::FAILURE => return Err(Failure::Run(String::from_utf8_lossy(rest).into_owned())),
            _ => {}
        }
        Ok(false)
    }

    fn share(&self, change: impl FnOnce(&mut Shared)) {
        if let Some(writer) = &self.writer {
            change(&mut writer.shared.lock());
            writer.shared.changed.notify_one();
        }
    }
}

/// What has happened since the last record, in a line.
fn told(before: Option<&PlayRecord>, now: &PlayRecord) -> Option<String> {
    let name = &now.clip;
    let (reroutes, stalls) = before.map_or((0, 0), |before| (before.reroutes, before.stalls));
    let was_playing = before.is_some_and(|before| before.outcome == OutcomeName::Playing);
    if now.stalls > stalls {
        return Some(format!("{name} stalls at {:.1} s", now.played_s));
    }
    if now.outcome == OutcomeName::Playing && !was_playing {
        let source = now.source.map(|source| source.to_string()).unwrap_or_default();
        return Some(match now.hops {
            0 => format!("{name} is stored here"),
            hops => {
                let hops = status::hops_text(&hops.to_string());
                format!("{name} comes from {source} over {hops}; {:.1} s are buffered first", now.prefetch_s)
            }
        });
    }
    (now.reroutes > reroutes).then(|| format!("{name}: the path was lost; looking for another one"))
}

/// Frames in bytes as they come.
#[derive(Debug, Default)]
struct Frames {
    octets: Vec<u8>,
    start: usize,
}

impl Frames {
    fn handle_octets(&mut self, octets: &[u8]) {
        self.octets.drain(..self.start);
        self.start = 0;
        self.octets.extend_from_slice(octets);
    }

    /// The next whole frame: its kind, and the rest.
    fn poll(&mut self) -> Result<Option<(u8, Vec<u8>)>, String> {
        let octets = &self.octets[self.start..];
        let Some((header, rest)) = octets.split_at_checked(players::FRAME_HEADER_LEN) else { return Ok(None) };
        let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
        if length > MAX_FRAME {
            return Err(format!("the device sends a frame of {length} bytes"));
        }
        let Some(rest) = rest.get(..length) else { return Ok(None) };
        let frame = (header[0], rest.to_vec());
        self.start += players::FRAME_HEADER_LEN + length;
        Ok(Some(frame))
    }
}

/// A thread that takes media out of the spool: a player that pauses holds up nothing else.
#[derive(Debug)]
struct Writer {
    shared: Arc<Sharing>,
    /// Closed by the thread as it ends.
    ended: UnixStream,
    thread: JoinHandle<io::Result<()>>,
}

#[derive(Debug)]
enum Sink {
    Standard,
    Udp {
        to: SocketAddr,
        /// Media in a packet.
        packet: Duration,
    },
}

#[derive(Debug, Default)]
struct Sharing {
    shared: Mutex<Shared>,
    changed: Condvar,
}

/// What the writer goes by.
#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    /// Bytes in the spool.
    spooled: u64,
    /// The display has started.
    has_begun: bool,
    /// Media shown.
    position: Duration,
    /// Nothing follows.
    is_over: bool,
}

impl Sharing {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        // Numbers, which no panic leaves half changed.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    fn start(spool: File, sink: Sink) -> io::Result<Self> {
        let shared = Arc::new(Sharing::default());
        let (ended, ending) = UnixStream::pair()?;
        let theirs = Arc::clone(&shared);
        let socket = match &sink {
            Sink::Standard => None,
            Sink::Udp { to, .. } => {
                let socket = UdpSocket::bind(if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
                socket.connect(to)?;
                Some(socket)
            }
        };
        let write = move || {
            let _ending = ending;
            let (mut written, mut freed) = (0, 0);
            let mut octets = vec![0; CHUNK];
            loop {
                let upto = {
                    let ready = |shared: &Shared| (sink.upto(shared), shared.is_over);
                    let mut shared = theirs.lock();
                    while ready(&shared) == (written, false) || ready(&shared).0 < written && !shared.is_over {
                        shared = theirs.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
                    }
                    ready(&shared).0
                };
                if upto <= written {
                    return Ok(());
                }
                let most = if socket.is_some() { PACKET as usize } else { CHUNK };
                // At most that.
                let count = (upto - written).min(most as u64) as usize;
                spool.read_exact_at(&mut octets[..count], written)?;
                match &socket {
                    // A player that is not there yet misses the beginning, as of any broadcast.
                    Some(socket) => drop(socket.send(&octets[..count])),
                    None => io::stdout().lock().write_all(&octets[..count]).and_then(|()| io::stdout().flush())?,
                }
                written += count as u64;
                if written - freed >= FREED {
                    free(&spool, freed, written - freed);
                    freed = written;
                }
            }
        };
        let thread = std::thread::Builder::new().name("output".into()).spawn(write)?;
        Ok(Self { shared, ended, thread })
    }

    fn has_ended(&self) -> bool {
        self.thread.is_finished() || wait::readable(&self.ended, std::time::Duration::ZERO)
    }

    /// Waits until all is written, unless a signal comes.
    fn finish(self, signals: &Signals) -> Result<(), Failure> {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_one();
        let mut fds =
            [PollFd::new(signals.as_fd(), PollFlags::POLLIN), PollFd::new(self.ended.as_fd(), PollFlags::POLLIN)];
        while !wait::any(&mut fds, None).map_err(|error| failed("wait", &error))? {}
        if let Some(signal) = signals.received() {
            return Err(Failure::Interrupted { signal });
        }
        match self.join() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed("write the media", &error)),
            _ => Ok(()),
        }
    }

    fn join(self) -> Option<io::Error> {
        match self.thread.join() {
            Ok(result) => result.err(),
            Err(_) => Some(io::Error::other("the thread that writes has panicked")),
        }
    }
}

/// Gives the room of `count` bytes from `start` on back to the disk, if its file system can.
fn free(spool: &File, start: u64, count: u64) {
    let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    // Files have fewer bytes than that.
    let (start, count) = (i64::try_from(start).unwrap_or(i64::MAX), i64::try_from(count).unwrap_or(i64::MAX));
    let _ = fallocate(spool, flags, start, count);
}

impl Sink {
    /// Bytes that may be written.
    fn upto(&self, shared: &Shared) -> u64 {
        match self {
            _ if shared.is_over => shared.spooled,
            Self::Standard if shared.has_begun => shared.spooled,
            Self::Udp { packet, .. } if shared.has_begun => {
                let packets = shared.position.as_nanos() / packet.as_nanos().max(1) + 1;
                shared.spooled.min(packets.saturating_mul(PACKET.into()))
            }
            Self::Standard | Self::Udp { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn clip(name: &str, digest: &str) -> KnownClip {
        let digest = digest.repeat(64 / digest.len());
        KnownClip { name: name.into(), digest, size_bytes: 1, rate_bps: 1, length_s: 1.0, hops: 1, age_s: 0 }
    }

    #[test]
    fn a_clip_is_named_by_name_stem_or_digest() {
        let clips = [clip("film.ts", "0123abcd"), clip("other film.ts", "4567"), clip("other film.mkv", "89ab")];
        let chosen = |wanted| choose(wanted, &clips).map(|clip| clip.name.clone());
        assert_eq!(chosen("film.ts").as_deref(), Ok("film.ts"));
        assert_eq!(chosen("film").as_deref(), Ok("film.ts"));
        assert_eq!(chosen("0123ABCD01").as_deref(), Ok("film.ts"));
        assert_eq!(chosen("flim.ts"), Err("there is no clip \"flim.ts\" near by; did you mean \"film.ts\"?".into()));
        let error = chosen("other film").expect_err("two");
        assert!(error.contains("2 clips are called other film") && error.contains("4567456745674567"), "{error}");
        assert!(chosen("0123").is_err(), "too few digits");
        assert!(chosen("xyzzy").is_err_and(|error| error.contains("hopcast cloud list")));
        assert!(choose("film", &[]).is_err_and(|error| error.contains("hopcast cloud status")));
    }

    #[test]
    fn targets_are_told_by_their_spelling() {
        assert_eq!(Target::parse("-"), Ok(Target::Standard));
        assert_eq!(Target::parse("a.ts"), Ok(Target::File("a.ts".into())));
        assert_eq!(Target::parse("udp://127.0.0.1:1234"), Ok(Target::Udp(([127, 0, 0, 1], 1234).into())));
        assert!(Target::parse("").is_err() && Target::parse("udp://127.0.0.1").is_err());
    }

    #[test]
    fn nothing_is_written_before_the_display_starts() {
        let packet = Duration::from_millis(10);
        let udp = Sink::Udp { to: ([127, 0, 0, 1], 1).into(), packet };
        let mut shared = Shared { spooled: 10_000, ..Shared::default() };
        assert_eq!((Sink::Standard.upto(&shared), udp.upto(&shared)), (0, 0));
        (shared.has_begun, shared.position) = (true, Duration::from_millis(15));
        assert_eq!((Sink::Standard.upto(&shared), udp.upto(&shared)), (10_000, 2 * 1_316));
        shared.is_over = true;
        assert_eq!(udp.upto(&shared), 10_000);
    }

    #[test]
    fn a_file_gets_its_name_when_it_is_whole_and_leaves_nothing_otherwise() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("film.ts");
        let spool = Spool::open(&Target::File(path.clone())).expect("it can be made");
        assert!(!path.exists());
        drop(spool);
        assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 0);
        let spool = Spool::open(&Target::File(path.clone())).expect("it can be made");
        spool.file.write_all_at(b"film", 0).expect("there is room");
        spool.keep().expect("it is whole");
        drop(spool);
        assert_eq!(fs::read(&path).expect("it is there"), b"film");
        assert!(
            Spool::open(&Target::File(folder.path().into())).is_err_and(|error| error.to_string() == "it is a folder")
        );
        let error = Spool::open(&Target::File("/dev/null".into())).expect_err("a device would be replaced");
        assert!(error.to_string().starts_with("it is no file"), "{error}");
    }

    #[test]
    fn media_that_were_written_take_no_room() {
        let spool = Spool::open(&Target::Standard).expect("it can be made");
        spool.file.write_all_at(&vec![7; 8 << 20], 0).expect("there is room");
        let before = spool.file.metadata().expect("it is open").blocks();
        free(&spool.file, 0, 7 << 20);
        let after = spool.file.metadata().expect("it is open");
        assert_eq!(after.len(), 8 << 20);
        // File systems that can't do it keep all.
        assert!(after.blocks() == before || after.blocks() <= before / 4, "{before} {}", after.blocks());
        let mut last = [0; 10];
        spool.file.read_exact_at(&mut last, (8 << 20) - 10).expect("it is there");
        assert_eq!(last, [7; 10]);
    }

    #[test]
    fn frames_are_found_however_they_are_cut() {
        let whole = [&b"D\0\0\0\x03abc"[..], b"X\0\0\0\0"].concat();
        for cut in 0..whole.len() {
            let mut frames = Frames::default();
            let mut found = Vec::new();
            for part in [&whole[..cut], &whole[cut..]] {
                frames.handle_octets(part);
                while let Some(frame) = frames.poll().expect("they are short") {
                    found.push(frame);
                }
            }
            assert_eq!(found, [(b'D', b"abc".to_vec()), (b'X', Vec::new())]);
        }
        let mut frames = Frames::default();
        frames.handle_octets(b"D\xff\0\0\0");
        assert!(frames.poll().is_err());
    }
}
