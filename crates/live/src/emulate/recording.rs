//! Recordings: all frames that real hosts sent into a run, with their times, so that the run can be replayed without the
//! hosts.
//!
//! A recording is text. Its first line is a JSON object that describes the run. Each further line is a frame: the time in
//! nanoseconds, the index of the node, the index of the interface, and the bytes of the Ethernet frame in hexadecimal.
//! The last line has the end of the run, the number of frames delivered to real hosts, and the SHA-256 of those frames.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use hopcast_protocols::time::Instant;
use hopcast_sim::id::NodeId;
use hopcast_sim::io_error::cause;
use nix::fcntl::Flock;
use serde::{Deserialize, Serialize};

use super::hosts;
use super::session::{Input, Outputs};
use crate::platform::private;

/// The first line is not longer: two names and a number.
const HEADER_OCTETS: u64 = 4096;

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// Version of hopcast.
    pub(super) hopcast: String,
    pub(super) scenario_sha256: String,
    pub(super) seed: u64,
}

/// Writes a recording. When it is complete, it replaces an earlier one; the partial recording of a run that fails or is
/// killed stays in a separate file.
pub(super) struct Recorder {
    file: BufWriter<File>,
    /// What the file is called, for errors.
    name: PathBuf,
    /// Where it is written, and where it belongs; `None`: it is written where it belongs.
    draft: Option<[PathBuf; 2]>,
    /// Of the draft. After the file: it is held until all is written.
    _lock: Option<Flock<File>>,
}

impl Recorder {
    /// Begins a recording. Fails where another one with this name is being written.
    pub(super) fn create(path: &Path, header: &Header) -> io::Result<Self> {
        // A pipe or a device is no file that another could take the place of; a link goes on leading where it led.
        let is_replaced = fs::metadata(path).map_or(true, |known| known.is_file());
        let draft = is_replaced.then(|| {
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let mut draft = path.clone().into_os_string();
            draft.push(".draft");
            [draft.into(), path]
        });
        let (file, lock) = match &draft {
            Some([draft, _]) => {
                let lock = lock(draft)?;
                (lock.try_clone()?, Some(lock))
            }
            None => (File::create(path)?, None),
        };
        let name = draft.as_ref().map_or(path, |[draft, _]| draft).to_owned();
        let mut recorder = Self { file: BufWriter::new(file), name, draft, _lock: lock };
        writeln!(recorder.file, "{}", serde_json::to_string(header)?)?;
        recorder.file.flush()?;
        Ok(recorder)
    }

    /// Writes a frame down. An error names the file.
    pub(super) fn record(&mut self, at: Instant, node: NodeId, interface: u32, octets: &[u8]) -> io::Result<()> {
        self.write(at, node, interface, octets).map_err(|error| self.unwritten(&error))
    }

    fn write(&mut self, at: Instant, node: NodeId, interface: u32, octets: &[u8]) -> io::Result<()> {
        write!(self.file, "{} {} {interface} ", at.as_nanos(), node.0)?;
        octets.iter().try_for_each(|octet| write!(self.file, "{octet:02x}"))?;
        writeln!(self.file)
    }

    /// Gives what was recorded to the system, which keeps it whatever becomes of this process. An error names the file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| self.unwritten(&error))
    }

    /// The same error, with the name of the file.
    fn unwritten(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: can't be written: {}", self.name.display(), cause(error)))
    }

    /// The run has ended.
    pub(super) fn finish(mut self, end: Instant, outputs: &Outputs) -> io::Result<()> {
        writeln!(self.file, "end {} {} {}", end.as_nanos(), outputs.frames, outputs.digest)?;
        self.file.flush()?;
        let Some([draft, path]) = self.draft else { return Ok(()) };
        self.file.get_ref().sync_all()?;
        fs::rename(draft, path)
    }
}

/// Opens a draft for this process alone, empty.
fn lock(draft: &Path) -> io::Result<Flock<File>> {
    let unopened = |error: io::Error| io::Error::new(error.kind(), format!("{}: {}", draft.display(), cause(&error)));
    let file = hosts::lock(draft, private::open).map_err(unopened)?.ok_or_else(|| {
        let message = format!("another emulation is writing {}", draft.display());
        io::Error::new(io::ErrorKind::WouldBlock, message)
    })?;
    file.set_len(0)?;
    Ok(file)
}

/// A recording, read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recording {
    pub(super) header: Header,
    /// In their order.
    pub(super) inputs: Vec<Input>,
    pub(super) end: Instant,
    pub(super) outputs: Outputs,
}

impl Recording {
    /// Reads a file; what is wrong with it is told with its line.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let (first, reader) = Self::open(path)?;
        let lines = std::iter::once(Ok(first)).chain(reader.lines()).collect::<Result<Vec<_>, _>>();
        let lines = lines.map_err(|error| format!("{}: can't be read: {}", path.display(), cause(&error)))?;
        Self::parse(&lines).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Whether a file begins as a recording does.
    pub(super) fn check(path: &Path) -> Result<(), String> {
        Self::open(path).map(drop)
    }

    /// The first line of a recording, and the rest: what is none is read no further.
    fn open(path: &Path) -> Result<(String, BufReader<File>), String> {
        let unread = |error: io::Error| format!("{}: can't be read: {}", path.display(), cause(&error));
        let mut reader = BufReader::new(File::open(path).map_err(unread)?);
        let mut first = Vec::new();
        reader.by_ref().take(HEADER_OCTETS).read_until(b'\n', &mut first).map_err(unread)?;
        serde_json::from_slice::<Header>(&first)
            .map_err(|error| format!("{}: is no recording: line 1: {error}", path.display()))?;
        Ok((String::from_utf8_lossy(&first).trim_end().to_owned(), reader))
    }

    pub(super) fn parse(lines: &[String]) -> Result<Self, String> {
        let [first, frames @ .., last] = lines else {
            return Err(
                "is no recording: a first line that says what was run, and a last one that begins with \"end\", \
                        are there at least"
                    .into(),
            );
        };
        let header = serde_json::from_str(first).map_err(|error| format!("line 1: {error}"))?;
        let mut inputs = Vec::with_capacity(frames.len());
        let mut before = Instant::START;
        for (line, number) in frames.iter().zip(2..) {
            let wrong = |field: &str, expected: &str| format!("line {number}: {field} is wrong: {expected}");
            let mut fields = line.split(' ');
            let mut next = || fields.next().unwrap_or_default();
            let at = next().parse().map(Instant::from_nanos);
            let at = at.ok().filter(|at| *at >= before).ok_or_else(|| wrong("the instant", "nanoseconds, in order"))?;
            let node = next().parse().map(NodeId).map_err(|_| wrong("the node", "its index"))?;
            let interface = next().parse().map_err(|_| wrong("the interface", "its place at the node"))?;
            let octets = octets(next()).ok_or_else(|| wrong("the frame", "octets in hexadecimal"))?;
            if fields.next().is_some() {
                return Err(wrong("the end of the line", "four fields"));
            }
            before = at;
            inputs.push(Input { at, node, interface, octets });
        }
        let number = lines.len();
        let wrong = || {
            format!(
                "line {number}: should be \"end\", the instant, the number of frames and their SHA-256; without it a recording is \
                 incomplete, as where its emulation failed"
            )
        };
        let fields: Vec<&str> = last.split(' ').collect();
        let ["end", end, frames, digest] = fields[..] else { return Err(wrong()) };
        let end = end.parse().map(Instant::from_nanos).ok().filter(|end| *end >= before).ok_or_else(wrong)?;
        let frames = frames.parse().map_err(|_| wrong())?;
        Ok(Self { header, inputs, end, outputs: Outputs { frames, digest: digest.to_owned() } })
    }
}

fn octets(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> Header {
        Header { hopcast: "0".into(), scenario_sha256: "ab".into(), seed: u64::MAX }
    }

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let first = serde_json::to_string(&header()).unwrap();
        let parse = |rest: &str| Recording::parse(&lines(&format!("{first}\n{rest}")));
        assert!(parse("end 5 0 ff").is_ok());
        for (rest, problem) in [
            ("5 0 0 ab\n4 0 0 ab\nend 9 0 ff", "line 3: the instant is wrong: nanoseconds, in order"),
            ("5 x 0 ab\nend 9 0 ff", "line 2: the node is wrong: its index"),
            ("5 0 -1 ab\nend 9 0 ff", "line 2: the interface is wrong: its place at the node"),
            ("5 0 0 abc\nend 9 0 ff", "line 2: the frame is wrong: octets in hexadecimal"),
            ("5 0 0 ab cd\nend 9 0 ff", "line 2: the end of the line is wrong: four fields"),
            (
                "5 0 0 ab\nend 4 0 ff",
                "line 3: should be \"end\", the instant, the number of frames and their SHA-256; without it a recording is \
                 incomplete, as where its emulation failed",
            ),
        ] {
            assert_eq!(parse(rest), Err(problem.to_owned()));
        }
        assert!(Recording::parse(&[]).is_err() && Recording::parse(&lines("{}\nend 1 0 ff")).is_err());
    }

    #[test]
    fn a_recording_takes_the_place_of_an_earlier_one_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["earlier", "link"].map(|name| folder.path().join(name));
        fs::write(&path, "earlier").unwrap();
        let no_recording = Recording::check(&path).unwrap_err();
        assert!(no_recording.contains("earlier: is no recording: line 1: "), "{no_recording}");
        assert!(Recording::read(Path::new("/dev/zero")).unwrap_err().contains("is no recording"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let outputs = Outputs { frames: 0, digest: "0f".into() };
        for name in [&path, &link] {
            drop(Recorder::create(name, &header()).unwrap());
            assert_eq!(fs::read_to_string(&path).unwrap(), "earlier");
        }
        Recorder::create(&link, &header()).unwrap().finish(Instant::START, &outputs).unwrap();
        assert!(Recording::read(&path).is_ok() && link.is_symlink());
        assert_eq!((Recording::check(&link), Recording::read(&link).unwrap().header), (Ok(()), header()));
        // From a pipe, too, which is read once.
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let writer = std::thread::spawn({
            let (from, to) = (path.clone(), pipe.clone());
            move || fs::write(to, fs::read(from).unwrap()).unwrap()
        });
        assert_eq!(Recording::read(&pipe), Recording::read(&path));
        writer.join().unwrap();
        let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["earlier", "link", "pipe"]);
        // What is no file is written to.
        Recorder::create(Path::new("/dev/null"), &header()).unwrap().finish(Instant::START, &outputs).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_full_disk_is_told_with_the_name_of_the_file() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let name = PathBuf::from("there/recording.draft");
        let mut recorder = Recorder { file: BufWriter::new(full), name, draft: None, _lock: None };
        recorder.record(Instant::START, NodeId(0), 0, &[0xab]).unwrap();
        let problem = "there/recording.draft: can't be written: No space left on device";
        assert_eq!(recorder.flush().unwrap_err().to_string(), problem);
        // More than the buffer holds.
        let written = recorder.record(Instant::START, NodeId(0), 0, &[0xab; 10_000]);
        assert_eq!(written.unwrap_err().to_string(), problem);
    }

    #[test]
    fn one_at_a_time_writes_a_recording_and_what_it_has_flushed_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let [path, draft] = ["r", "r.draft"].map(|name| folder.path().join(name));
        let mut recorder = Recorder::create(&path, &header()).unwrap();
        recorder.record(Instant::START, NodeId(0), 0, &[0xab]).unwrap();
        recorder.flush().unwrap();
        let second = Recorder::create(&path, &header()).map(|_| ()).unwrap_err();
        assert_eq!(second.to_string(), format!("another emulation is writing {}", draft.display()));
        assert!(fs::read_to_string(&draft).unwrap().ends_with("\n0 0 0 ab\n"), "the second has left it as it is");
        drop(recorder);
        // What a run has left that failed is in nobody's way, and not in the next recording.
        let outputs = Outputs { frames: 0, digest: "0f".into() };
        Recorder::create(&path, &header()).unwrap().finish(Instant::START, &outputs).unwrap();
        assert_eq!(Recording::read(&path).unwrap().inputs, []);
        assert!(!draft.exists());
    }

    #[test]
    fn a_link_in_place_of_the_draft_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let [precious, path, draft] = ["precious", "r", "r.draft"].map(|name| folder.path().join(name));
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, &draft).unwrap();
        let error = Recorder::create(&path, &header()).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with(&draft.display().to_string()), "{error}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    }

    proptest! {
        #[test]
        fn what_was_recorded_is_read(
            frames in prop::collection::vec((0_u64..1_000, 0_u32..9, 0_u32..3, prop::collection::vec(any::<u8>(), 0..40)), 0..8),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("r");
            let mut recorder = Recorder::create(&path, &header()).unwrap();
            let mut at = Instant::START;
            let mut inputs = Vec::new();
            for (later, node, interface, octets) in frames {
                at = Instant::from_nanos(at.as_nanos() + later);
                recorder.record(at, NodeId(node), interface, &octets).unwrap();
                inputs.push(Input { at, node: NodeId(node), interface, octets });
            }
            let outputs = Outputs { frames: 3, digest: "0f".into() };
            recorder.finish(at, &outputs).unwrap();
            prop_assert_eq!(Recording::read(&path), Ok(Recording { header: header(), inputs, end: at, outputs }));
        }

        #[test]
        fn arbitrary_text_never_panics(text in "[ -~\n]{0,200}") {
            let _ = Recording::parse(&lines(&text));
        }
    }
}
