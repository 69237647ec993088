//! The clips that a host offers: files, their rates, lengths and digests.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use hopcast_protocols::streaming::delivery::{Layout, PACKET};
use hopcast_protocols::time::Duration;
use hopcast_sim::io_error::cause;
use hopcast_sim::scenario::quantity::Dimension;
use hopcast_wire::cloud::{MAX_NAME, Offer, is_name};
use hopcast_wire::mpegts;
use sha2::{Digest as _, Sha256};

use crate::stream::transport_stream::{ProgramClock, Reader};

/// Rates and lengths of clips are within these, as those of `cloud.clips` in scenarios.
const RATES: core::ops::RangeInclusive<f64> = 1e3..=1e9;
/// See [`RATES`].
pub(super) const LONGEST: Duration = Duration::from_secs(86_400);
/// Ending of the files of a folder that are offered.
const ENDING: &str = "ts";
/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// A clip, and the file that it is read from.
#[derive(Debug)]
pub(super) struct Clip {
    /// What others are told.
    pub(super) offer: Offer,
    /// Where it is.
    path: PathBuf,
    file: File,
    /// When the file was changed last, by its seconds and nanoseconds.
    changed: (i64, i64),
    /// How much later than its time in the media a byte may come at the constant rate.
    pub(super) lateness: Duration,
}

/// What `--offer` names: a file or a folder, and a rate if one is stated.
#[derive(Clone, Debug, PartialEq)]
struct Named {
    path: PathBuf,
    rate: Option<f64>,
}

impl Named {
    /// Reads `FILE`, `FOLDER` or `RATE=FILE`. What stands before `=` is a rate if it can be one: a name may contain the sign.
    fn parse(text: &str) -> Self {
        let rate = text.split_once('=').and_then(|(rate, path)| Some((Dimension::Rate.parse(rate).ok()?, path)));
        match rate {
            Some((rate, path)) => Self { path: path.into(), rate: Some(rate) },
            None => Self { path: text.into(), rate: None },
        }
    }
}

/// The clips that these arguments of `--offer` name. Reading them may take minutes, and ends early once `stops` says so.
///
/// # Errors
///
/// What is wrong with one of them, or that it was stopped.
pub(super) fn open_all(arguments: &[String], stops: &dyn Fn() -> bool) -> Result<Vec<Clip>, String> {
    let mut clips: Vec<Clip> = Vec::new();
    for argument in arguments {
        let Named { path, rate } = Named::parse(argument);
        for path in files(&path).map_err(|wrong| format!("--offer {argument}: {wrong}"))? {
            let clip =
                Clip::open(&path, rate, stops).map_err(|wrong| format!("--offer {}: {wrong}", path.display()))?;
            if let Some(other) = clips.iter().find(|other| other.offer.name == clip.offer.name) {
                let (path, name) = (path.display(), &clip.offer.name);
                return Err(format!("--offer {path}: {} is called {name} too; rename one", other.path.display()));
            }
            // The same bytes under two names are one clip: the first name stands.
            if clips.iter().all(|other| other.offer.digest != clip.offer.digest) {
                clips.push(clip);
            }
        }
    }
    Ok(clips)
}

/// A file, or the transport streams in a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let metadata = fs::metadata(path).map_err(|error| cause(&error))?;
    if metadata.is_file() {
        return Ok(vec![path.into()]);
    }
    if !metadata.is_dir() {
        return Err("it is neither a file nor a folder".into());
    }
    let entries =
        fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(|error| cause(&error))?;
    let is_clip = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING) && path.is_file();
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(is_clip).collect();
    files.sort();
    if files.is_empty() { Err(format!("the folder has no file that ends in .{ENDING}")) } else { Ok(files) }
}

impl Clip {
    /// Reads a file once: its digest, and without a stated rate its length by the program clock.
    fn open(path: &Path, rate: Option<f64>, stops: &dyn Fn() -> bool) -> Result<Self, String> {
        let name = path.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name));
        let name = name.ok_or_else(|| {
            format!("a clip's name has at most {MAX_NAME} bytes of UTF-8 without control characters; rename the file")
        })?;
        let mut file = File::open(path).map_err(|error| cause(&error))?;
        let scan = Scan::read(&mut file, stops).map_err(|error| cause(&error))?;
        if scan.size == 0 {
            return Err("it is empty".into());
        }
        let bits = scan.size as f64 * 8.0;
        let seconds = match rate {
            Some(rate) if RATES.contains(&rate) => bits / rate,
            Some(_) => return Err("a rate is between 1 kb/s and 1 Gb/s".into()),
            None => scan.length()?,
        };
        if seconds > LONGEST.as_secs_f64() {
            return Err(format!("it lasts {:.1} h; a clip may last a day", seconds / 3_600.0));
        }
        let (rate, length) = whole(scan.size, seconds);
        if !RATES.contains(&f64::from(rate)) {
            return Err(format!("its rate is {rate} b/s; a clip has between 1 kb/s and 1 Gb/s"));
        }
        let lateness = scan.lateness(bits / seconds);
        let changed = file.metadata().map(|now| (now.mtime(), now.mtime_nsec())).map_err(|error| cause(&error))?;
        let offer =
            Offer { digest: scan.digest, size: scan.size, rate, length, hops: 0, age: 0, name: name.to_owned() };
        Ok(Self { offer, path: path.into(), file, changed, lateness: Duration::from_secs_f64(lateness) })
    }

    /// The media in packet `sequence`; nothing behind the end.
    ///
    /// # Errors
    ///
    /// The platform's; the file is no longer as it was.
    pub(super) fn read(&self, sequence: u32, octets: &mut Vec<u8>) -> io::Result<()> {
        let start = octets.len();
        octets.resize(start + media_len(self.offer.size, sequence), 0);
        self.file.read_exact_at(&mut octets[start..], u64::from(sequence) * u64::from(PACKET))
    }

    /// Whether the file has been written to since its digest was taken.
    pub(super) fn has_changed(&self) -> bool {
        self.file.metadata().is_ok_and(|now| (now.mtime(), now.mtime_nsec()) != self.changed)
    }
}

/// Bytes of media in packet `sequence` of a clip of `size` bytes.
pub(super) fn media_len(size: u64, sequence: u32) -> usize {
    let left = size.saturating_sub(u64::from(sequence) * u64::from(PACKET));
    // At most a packet.
    left.min(u64::from(PACKET)) as usize
}

/// The packets of a clip with media in them.
pub(super) fn packets(size: u64) -> u64 {
    size.div_ceil(u64::from(PACKET))
}

/// Rate in b/s and length in milliseconds, both whole, of `size` bytes that last `seconds`. They make at least as many packets as
/// the media take; the few that may be too many carry nothing.
fn whole(size: u64, seconds: f64) -> (u32, u32) {
    // Float to integer casts saturate.
    let length = (seconds * 1e3).ceil().max(1.0) as u32;
    let bits = packets(size) * u64::from(PACKET) * 8;
    let rate = (bits * 1_000).div_ceil(length.into());
    (u32::try_from(rate).unwrap_or(u32::MAX), length)
}

/// How a display counts the packets of a clip.
pub(super) fn layout(offer: &Offer) -> Layout {
    Layout::new(offer.rate, Duration::from_millis(offer.length.into()))
}

/// What a file is, from its first byte to its last.
#[derive(Debug)]
struct Scan {
    digest: [u8; 32],
    size: u64,
    /// Bytes before, and time in the media, of clock references that are [`MARK`] or more apart; the last one of all.
    marks: Vec<(u64, f64)>,
    last: Option<(u64, f64)>,
    /// Bytes outside transport packets.
    skipped: u64,
}

/// Time between two references that are kept, in seconds: as far apart as they may be (ISO/IEC 13818-1, 2.7.2).
const MARK: f64 = 0.1;

impl Scan {
    fn read(file: &mut File, stops: &dyn Fn() -> bool) -> io::Result<Self> {
        let (mut hash, mut size) = (Sha256::new(), 0);
        let mut search = Search::default();
        let mut chunk = vec![0; CHUNK];
        loop {
            if stops() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = match file.read(&mut chunk) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hash.update(&chunk[..count]);
            // A file of something else is not searched for packets.
            if size == 0 || search.packets > 0 {
                search.handle_octets(&chunk[..count]);
            }
            size += count as u64;
            if count == 0 {
                let Search { marks, last, reader, .. } = search;
                let skipped = if search.packets > 0 { reader.skipped() } else { size };
                return Ok(Self { digest: hash.finalize().into(), size, marks, last, skipped });
            }
        }
    }

    /// Its length in seconds by its program clock: what is before and after its references has their mean rate.
    fn length(&self) -> Result<f64, String> {
        let is_stream = self.skipped * 10 < self.size;
        let ends =
            self.marks.first().zip(self.last).filter(|((_, first), (_, last))| is_stream && last - first >= MARK);
        let Some((&(from, start), (to, end))) = ends else {
            let wrong = "it is no MPEG transport stream with a program clock: state its rate, as in \"4 Mb/s=FILE\"";
            return Err(wrong.into());
        };
        Ok((end - start) * self.size as f64 / (to - from) as f64)
    }

    /// How many seconds behind its time in the media a byte comes at most, at `rate` b/s.
    fn lateness(&self, rate: f64) -> f64 {
        self.marks.iter().map(|&(position, time)| position as f64 * 8.0 / rate - time).fold(0.0, f64::max)
    }
}

/// The references of the first program clock in a file.
struct Search {
    reader: Reader,
    clock: ProgramClock,
    /// Whose references count.
    identifier: Option<u16>,
    packets: u64,
    marks: Vec<(u64, f64)>,
    last: Option<(u64, f64)>,
}

impl Default for Search {
    fn default() -> Self {
        let (reader, clock) = (Reader::new(), ProgramClock::default());
        Self { reader, clock, identifier: None, packets: 0, marks: Vec::new(), last: None }
    }
}

impl Search {
    /// The next bytes of the file; none at its end.
    fn handle_octets(&mut self, octets: &[u8]) {
        let mut left = octets;
        loop {
            let read = self.reader.fill(|buffer| {
                let (now, later) = left.split_at(left.len().min(buffer.len()));
                buffer[..now.len()].copy_from_slice(now);
                left = later;
                Ok::<_, core::convert::Infallible>(now.len())
            });
            let Ok(_) = read;
            self.handle_packets();
            if left.is_empty() {
                return;
            }
        }
    }

    fn handle_packets(&mut self) {
        let Self { reader, clock, identifier, packets, marks, last } = self;
        loop {
            let skipped = reader.skipped();
            let Some(packet) = reader.next() else { return };
            let Ok(packet) = mpegts::Packet::new_checked(&packet[..]) else { continue };
            let time = clock.time_of(&packet).as_secs_f64();
            let position = *packets * mpegts::PACKET_LEN as u64 + skipped;
            *packets += 1;
            if packet.clock().is_some() && *identifier.get_or_insert(packet.identifier()) == packet.identifier() {
                *last = Some((position, time));
                if marks.last().is_none_or(|(_, before)| time >= before + MARK) {
                    marks.push((position, time));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::stream::transport_stream::tests::transport_packet;

    fn write(name: &str, octets: &[u8]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join(name);
        fs::write(&path, octets).expect("there is room");
        (folder, path)
    }

    /// A stream of 188 kb in each 0.1 s, and so of 15.04 Mb/s, that lasts `tenths`.
    fn stream(tenths: u64) -> Vec<u8> {
        let packet = |n: u64| {
            let ticks = n.is_multiple_of(1_000).then_some(n / 1_000 * mpegts::CLOCK_RATE / 10);
            transport_packet(0x100, ticks, false, n as u8)
        };
        (0..=tenths * 1_000).flat_map(packet).collect()
    }

    #[test]
    fn the_rate_of_a_transport_stream_is_that_of_its_clock() {
        let octets = stream(20);
        let (_folder, path) = write("film.ts", &octets);
        let clip = Clip::open(&path, None, &|| false).expect("a stream");
        let Offer { rate, length, size, ref name, digest, .. } = clip.offer;
        // 20 001 packets, 10 000 a second: 2000.1 ms, rounded up. That are 2858 packets of 1316 bytes.
        assert_eq!((length, size, &name[..]), (2_001, 20_001 * 188, "film.ts"));
        assert_eq!(rate, (2_858_u64 * 1_316 * 8 * 1_000).div_ceil(2_001) as u32);
        assert_eq!(digest, <[u8; 32]>::from(Sha256::digest(&octets)));
        assert!(clip.lateness < Duration::from_millis(1), "its rate is constant");
        let mut read = Vec::new();
        for sequence in 0..layout(&clip.offer).packets {
            clip.read(sequence, &mut read).expect("it is there");
        }
        assert!(read == octets, "all packets together are the file");
        assert!(!clip.has_changed());
    }

    #[test]
    fn a_rate_that_varies_is_told() {
        // Two thirds of the bytes in the first tenth of a second.
        let mut octets = Vec::new();
        for (count, tenth) in [(10_000, 0), (1, 1), (5_000, 10), (1, 19)] {
            for n in 0..count {
                let ticks = (n == 0).then_some(tenth * mpegts::CLOCK_RATE / 10);
                octets.extend(transport_packet(0x100, ticks, false, 0));
            }
        }
        let (_folder, path) = write("varies.ts", &octets);
        let clip = Clip::open(&path, None, &|| false).expect("a stream");
        // The first 10 000 packets of 15 001 in 1.9 s take 1.267 s at the constant rate; the last of them is due at 0.1 s.
        assert!((clip.lateness.as_secs_f64() - 1.167).abs() < 0.001, "{:?}", clip.lateness);
    }

    #[test]
    fn other_files_need_a_rate() {
        let (_folder, path) = write("film.mkv", &[7; 100_000]);
        let error = Clip::open(&path, None, &|| false).expect_err("no clock");
        assert!(error.contains("4 Mb/s=FILE"), "{error}");
        let clip = Clip::open(&path, Some(1e6), &|| false).expect("a rate");
        assert_eq!(clip.offer.length, 800);
        assert!(Clip::open(&path, Some(1e6), &|| true).is_err(), "it is stopped");
        assert!(Clip::open(&path, Some(1.0), &|| false).is_err_and(|error| error.contains("1 kb/s")));
        let error = open_all(&[format!("1 Mb/s={}", path.display()), path.display().to_string()], &|| false);
        assert!(error.is_err(), "the second has no rate");
        let error = open_all(&["/nowhere/film.ts".into()], &|| false).expect_err("it is not there");
        assert_eq!(error, "--offer /nowhere/film.ts: No such file or directory");
    }

    #[test]
    fn a_name_may_contain_the_sign_of_a_rate() {
        let named = |text| Named::parse(text);
        assert_eq!(named("2 Mb/s=a=b.mkv"), Named { path: "a=b.mkv".into(), rate: Some(2e6) });
        assert_eq!(named("a=b.ts"), Named { path: "a=b.ts".into(), rate: None });
    }

    proptest! {
        /// Whatever its size and length, the packets of the layout hold all of a clip.
        #[test]
        fn a_layout_has_room_for_all(size in 1_u64..50_000_000_000, seconds in 1.0_f64..80_000.0) {
            let (rate, length) = whole(size, seconds);
            prop_assume!(RATES.contains(&f64::from(rate)));
            let layout = Layout::new(rate, Duration::from_millis(length.into()));
            let media = packets(size);
            prop_assert!(u64::from(layout.packets) >= media);
            // The rate was rounded up by less than 1 b/s, and the time of a packet down by less than 1 ns.
            let rounded = media as f64 * (1.0 / f64::from(rate) + 1.0 / layout.time.as_nanos() as f64);
            prop_assert!(f64::from(layout.packets) <= media as f64 + rounded + 2.0);
        }
    }
}
