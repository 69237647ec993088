//! How large the captures of an emulation get: before it runs, what the simulated flows fill; while it runs, what is there.

use std::io;
use std::path::{Path, PathBuf};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::capture::{Meter, Selection};
use hopcast_sim::execute::capture_size;
use hopcast_sim::scenario::Scenario;

use crate::failure::Failure;
use crate::platform::clock::Clock;

/// Captures of fewer bytes surprise no one.
const WORTH_TELLING: u64 = 10_000_000;
/// How long the beginning of the run is tried.
const PATIENCE: Duration = Duration::from_secs(1);
/// Free space below which a disk counts as full.
const SPARE: u64 = 10_000_000;

/// What to say before the emulation: the size that captures of the simulated flows will have, which is what the simulator alone
/// tells. `None` below 10 MB, or if the run could not be prepared in a second.
///
/// # Errors
///
/// [`Failure::Input`], if the disk has less room.
pub(super) fn forecast(
    scenario: &Scenario,
    selection: &Selection,
    seed: u64,
    folder: &Path,
) -> Result<Option<String>, Failure> {
    let clock = Clock::new();
    let goes_on = || clock.now() < Instant::START + PATIENCE;
    // What can't be prepared, the emulation itself will tell.
    let Ok(Some(size)) = capture_size(scenario, selection, seed, &goes_on) else { return Ok(None) };
    let about = format!("captures of simulated flows take about {} in {}", of_bytes(size.bytes), files(selection));
    match free_bytes(folder) {
        Some(free) if free < size.bytes => Err(Failure::Input(format!(
            "{about}, but only {} are free in {}; choose nodes with --pcap-node, or another --out",
            of_bytes(free),
            folder.display()
        ))),
        _ => Ok((size.bytes >= WORTH_TELLING).then(|| format!("{about}; what programs send comes on top"))),
    }
}

/// The captures of a running emulation.
#[derive(Debug)]
pub(super) struct Captured {
    meter: Meter,
    files: String,
    folder: PathBuf,
    /// `None` if the emulation runs until it is interrupted.
    duration: Option<Duration>,
    last: (Instant, u64),
    is_warned: bool,
}

impl Captured {
    /// At the start.
    pub(super) fn new(meter: Meter, selection: &Selection, folder: &Path, duration: Option<Duration>) -> Self {
        let last = (Instant::START, meter.size());
        Self { meter, files: files(selection), folder: folder.into(), duration, last, is_warned: false }
    }

    /// The end of a line of progress: the size at `now`, and the size at the end if captures grow on as since the last call.
    /// With a warning, once, if the disk has less room.
    pub(super) fn progress(&mut self, now: Instant) -> (String, Option<String>) {
        let size = self.meter.size();
        let (since, before) = std::mem::replace(&mut self.last, (now, size));
        let rate = size.saturating_sub(before) as f64 / now.saturating_since(since).as_secs_f64().max(1e-9);
        let line = format!("captures {}{}", of_bytes(size), self.outlook(now, size, rate));
        let rest = self.duration.map(|duration| (rate * left(duration, now)) as u64);
        let warning = free_bytes(&self.folder).filter(|&free| !self.is_warned && is_short(free, rest)).map(|free| {
            self.is_warned = true;
            format!(
                "captures grow by {} a second, and {} are free in {}",
                of_bytes(rate as u64),
                of_bytes(free),
                self.folder.display()
            )
        });
        (line, warning)
    }

    fn outlook(&self, now: Instant, size: u64, rate: f64) -> String {
        match self.duration {
            Some(duration) => format!(", about {} at the end", of_bytes(size + (rate * left(duration, now)) as u64)),
            None => format!(", {} an hour", of_bytes((rate * 3600.0) as u64)),
        }
    }

    /// What to say at the end; `None` below 10 MB.
    pub(super) fn summary(&self) -> Option<String> {
        let size = self.meter.size();
        (size >= WORTH_TELLING).then(|| format!("captures take {} in {}", of_bytes(size), self.files))
    }
}

fn left(duration: Duration, now: Instant) -> f64 {
    duration.saturating_sub(now.saturating_since(Instant::START)).as_secs_f64()
}

/// Whether a disk with `free` bytes has no room for the `rest` of the captures.
fn is_short(free: u64, rest: Option<u64>) -> bool {
    free < SPARE || rest.is_some_and(|rest| free < rest)
}

fn files(selection: &Selection) -> String {
    match selection.files() {
        1 => "1 file".into(),
        files => format!("{files} files"),
    }
}

/// What is free for this user where `folder` is; `None` if the system does not say.
fn free_bytes(folder: &Path) -> Option<u64> {
    let space = nix::sys::statvfs::statvfs(folder).map_err(io::Error::from).ok()?;
    space.blocks_available().checked_mul(space.fragment_size())
}

/// A size for people: 1.6 GB, with three digits as `hopcast run` has them.
fn of_bytes(size: u64) -> String {
    let (mut number, mut units) = (size as f64, ["B", "kB", "MB", "GB", "TB"].iter());
    let mut unit = units.next().expect("there are units");
    while number >= 999.5 {
        let Some(next) = units.next() else { break };
        (number, unit) = (number / 1000.0, next);
    }
    let digits = match number {
        _ if *unit == "B" || number >= 99.95 => 0,
        _ if number >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        for (size, shown) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1 kB"),
            (6_450_000, "6.45 MB"),
            (36_040_000, "36 MB"),
            (184_400_000, "184 MB"),
            (999_600_000, "1 GB"),
            (1_600_000_000, "1.6 GB"),
            (5_000_000_000_000_000, "5000 TB"),
        ] {
            assert_eq!(of_bytes(size), shown);
        }
    }

    #[test]
    fn a_disk_is_short_of_room_for_the_rest_or_nearly_full() {
        assert!(!is_short(1_000_000_000, Some(999_999_999)));
        assert!(is_short(1_000_000_000, Some(1_000_000_001)));
        assert!(!is_short(1_000_000_000, None));
        assert!(is_short(9_999_999, None));
    }
}
