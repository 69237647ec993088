//! Which path a stream takes while it is under way: a shorter one when there is one, and the longer one again when that fails.
//!
//! Bararia, Ghandeharizadeh and Kapadia (2004, section VI) ask for this: people leave their desks, and a stream over k hops could take
//! fewer; if obstacles come and go quickly, the longer path is to be kept while the shorter one is used.
//!
//! Two machines do it. Each member of a path has [`Shortcuts`]: it watches its links to the members that are two or more hops nearer to the
//! display, and tells the display once one has been fast enough for [`Config::after`]. The display has [`Paths`]: it reserves the shorter path
//! before it leaves the longer one, keeps that reserved for [`Config::hold`], and returns to it once the media in its buffer have fallen to
//! half of what they were. Without media that is after half of the time that the buffer lasts. A path that is no shorter one is given up for a search if
//! also nothing has come for half of that time. After more than [`Config::flaps`] returns within
//! a minute both paths are kept and used: what the shorter one does not bring by the time that half of the buffer is empty comes over the longer one.
//!
//! The paths of one request are separate streams with separate bookings ([`StreamId::on_path`]). Only one of them carries a
//! packet at a time, so at each node the one with the most airtime counts.

use std::collections::{BTreeMap, VecDeque};

use hopcast_wire::cloud::StreamId;

use super::delivery::EXPANSION;
use super::profile::{Horizon, Profile};
use crate::time::{Duration, Instant};

/// When a path is shortened, and for how long the longer one is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Time for which a shortcut must have been fast enough. Zero: its last second decides.
    pub after: Duration,
    /// Rate of a shortcut that is fast enough, as a multiple of the stream's.
    pub margin: f64,
    /// Time for which the longer path stays reserved.
    pub hold: Duration,
    /// Returns to the longer path within a minute, above which both are kept and used.
    pub flaps: u32,
}

/// The least time between two words about one shortcut, and after a refusal: a word may be lost.
const AGAIN: Duration = Duration::from_secs(5);
/// The time in which returns to the longer path are counted, and without need of it after which it is only held.
const MINUTE: Duration = Duration::from_secs(60);

/// Whether a link is fast enough for `rate` b/s of media: nine of ten periods of ten seconds are, or the last second is if nothing is to be waited for.
pub fn is_fast(config: &Config, profile: &Profile, rate: u32) -> bool {
    let wanted = config.margin * f64::from(rate) * EXPANSION;
    let found = match config.after {
        Duration::ZERO => profile.series().last().copied(),
        _ => profile.quantile(0.1, Horizon::TenSeconds),
    };
    found.is_some_and(|found| found >= wanted)
}

/// Links of a member of paths that would make these shorter.
#[derive(Clone, Debug)]
pub struct Shortcuts {
    after: Duration,
    /// By stream, and by the place on its path of the member at the other end.
    fast: BTreeMap<(StreamId, usize), Fast>,
}

#[derive(Clone, Copy, Debug)]
struct Fast {
    since: Instant,
    told: Option<Instant>,
}

impl Shortcuts {
    /// Knows no link yet.
    pub fn new(after: Duration) -> Self {
        Self { after, fast: BTreeMap::new() }
    }

    /// The link to the member at `place` of a stream's path is fast enough now, or not. Whether the display is to be told.
    pub fn handle_link(&mut self, stream: StreamId, place: usize, is_fast: bool, now: Instant) -> bool {
        if !is_fast {
            self.fast.remove(&(stream, place));
            return false;
        }
        let link = self.fast.entry((stream, place)).or_insert(Fast { since: now, told: None });
        let is_due = link.since + self.after <= now && link.told.is_none_or(|told| told + AGAIN <= now);
        if is_due {
            link.told = Some(now);
        }
        is_due
    }

    /// Forgets streams that have ended.
    pub fn retain(&mut self, is_booked: impl Fn(StreamId) -> bool) {
        self.fast.retain(|&(stream, _), _| is_booked(stream));
    }
}

/// What the display has to do with one of its paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// This path is not wanted any longer.
    Release(u8),
    /// Media are to come over [`Paths::used`] from now on, and over [`Paths::spare`].
    Switch,
    /// No path is left: look for one.
    Search,
}

/// What became of the paths of one display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times that a shorter path was taken.
    pub shortened: u32,
    /// Times that it failed.
    pub returned: u32,
    /// Time for which a second path was reserved.
    pub held: Duration,
}

/// The paths of one display.
#[derive(Clone, Debug)]
pub struct Paths {
    config: Config,
    used: u8,
    /// Whether that is a shorter one.
    is_shorter: bool,
    /// Since when it has been used, and the most media in the buffer since then.
    since: Instant,
    most: Duration,
    /// When a packet came last.
    heard: Instant,
    held: Option<Held>,
    /// The path that is being reserved.
    tried: Option<u8>,
    /// Number of the latest path.
    latest: u8,
    /// No other path is tried before.
    quiet_until: Instant,
    /// Returns within the last minute.
    returns: VecDeque<Instant>,
    counts: Counts,
    outputs: VecDeque<Output>,
}

/// The longer path, while it is reserved.
#[derive(Clone, Copy, Debug)]
struct Held {
    path: u8,
    since: Instant,
    until: Instant,
    /// If both paths are used: when the longer one was needed last.
    needed: Option<Instant>,
}

impl Paths {
    /// One path, number 0.
    pub fn new(config: Config, now: Instant) -> Self {
        Self {
            config,
            used: 0,
            is_shorter: false,
            since: now,
            most: Duration::ZERO,
            heard: now,
            held: None,
            tried: None,
            latest: 0,
            quiet_until: now,
            returns: VecDeque::new(),
            counts: Counts::default(),
            outputs: VecDeque::new(),
        }
    }

    /// Number of the path over which media come.
    pub fn used(&self) -> u8 {
        self.used
    }

    /// Number of the path that is also asked for what the first one has not brought in time.
    pub fn spare(&self) -> Option<u8> {
        self.held.filter(|held| held.needed.is_some()).map(|held| held.path)
    }

    /// Number of the path that is reserved and not used.
    pub fn idle(&self) -> Option<u8> {
        self.held.filter(|held| held.needed.is_none()).map(|held| held.path)
    }

    /// Numbers of all paths that are reserved or being reserved.
    pub fn all(&self) -> impl Iterator<Item = u8> + use<> {
        [Some(self.used), self.held.map(|held| held.path), self.tried].into_iter().flatten()
    }

    /// What became of them up to `now`.
    pub fn counts(&self, now: Instant) -> Counts {
        let held = self.held.map_or(Duration::ZERO, |held| now.saturating_since(held.since));
        Counts { held: self.counts.held + held, ..self.counts }
    }

    /// A member tells of a shorter path. The number by which it is to be reserved, if it is wanted.
    pub fn handle_offer(&mut self, now: Instant) -> Option<u8> {
        if self.tried.is_some() || now < self.quiet_until || self.spare().is_some() {
            return None;
        }
        let is_free = |path: u8| self.all().all(|other| other != path);
        let path = (1..=u8::MAX).map(|step| self.latest.wrapping_add(step)).find(|&path| is_free(path))?;
        self.latest = path;
        self.tried = Some(path);
        self.tried
    }

    /// The path with this number is reserved.
    pub fn handle_confirmed(&mut self, path: u8, now: Instant) {
        if self.tried != Some(path) {
            return;
        }
        self.tried = None;
        self.drop_held(now);
        let longer = core::mem::replace(&mut self.used, path);
        self.held = Some(Held { path: longer, since: now, until: now + self.config.hold, needed: None });
        self.is_shorter = true;
        self.handle_start(now);
        self.counts.shortened += 1;
        self.outputs.push_back(Output::Switch);
        self.handle_timeout(now);
    }

    /// The path with this number was refused, or its reservation has ended. Whether it was one of these.
    pub fn handle_ended(&mut self, path: u8, now: Instant) -> bool {
        if self.tried == Some(path) {
            self.tried = None;
            self.quiet_until = now + self.config.after.max(AGAIN);
            true
        } else if self.held.is_some_and(|held| held.path == path) {
            self.forget_held(now);
            true
        } else if self.used == path && self.is_shorter {
            self.counts.returned += 1;
            self.fail(now);
            true
        } else {
            false
        }
    }

    /// The buffer has this much of the media that it can have.
    pub fn handle_level(&mut self, level: Duration, full: Duration, now: Instant) {
        self.most = self.most.max(level.min(full));
        let is_new = now < self.since + full / 2 && self.most == Duration::ZERO;
        let is_low = level <= self.most / 2 && !is_new && self.spare().is_none();
        if is_low && self.is_shorter {
            self.return_to_longer(now);
        } else if is_low && self.heard + full / 2 <= now {
            self.fail(now);
        }
    }

    /// Media begin to come over the path that is used.
    pub fn handle_start(&mut self, now: Instant) {
        (self.since, self.most, self.heard) = (now, Duration::ZERO, now);
    }

    /// A packet has come over the path with this number.
    pub fn handle_packet(&mut self, path: u8, now: Instant) {
        self.heard = now;
        if let Some(Held { path: held, needed: Some(needed), .. }) = &mut self.held
            && *held == path
        {
            *needed = now;
        }
    }

    /// The time of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        match &mut self.held {
            Some(Held { needed: None, until, .. }) if *until <= now => self.drop_held(now),
            Some(Held { needed: Some(needed), .. }) if *needed + MINUTE <= now => {
                let held = self.held.as_mut().expect("it is held");
                (held.needed, held.until) = (None, now + self.config.hold);
                self.handle_timeout(now);
            }
            _ => {}
        }
    }

    /// The time of the next [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.held.map(|held| held.needed.map_or(held.until, |needed| needed + MINUTE))
    }

    /// Takes out the next output.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// All paths are gone; one is looked for, which will have the number of the one that was used.
    pub fn handle_lost(&mut self, now: Instant) {
        self.forget_held(now);
        (self.is_shorter, self.tried) = (false, None);
        self.handle_start(now);
    }

    /// The shorter path does not bring enough.
    fn return_to_longer(&mut self, now: Instant) {
        self.counts.returned += 1;
        self.returns.push_back(now);
        while self.returns.front().is_some_and(|&at| at + MINUTE <= now) {
            self.returns.pop_front();
        }
        let is_flapping = self.returns.len() > self.config.flaps as usize;
        if let Some(held) = &mut self.held
            && is_flapping
        {
            held.needed = Some(now);
            self.outputs.push_back(Output::Switch);
            return;
        }
        self.fail(now);
    }

    /// The path that is used is given up.
    fn fail(&mut self, now: Instant) {
        self.quiet_until = now + self.config.after;
        self.is_shorter = false;
        self.handle_start(now);
        match self.held {
            Some(held) => {
                self.outputs.push_back(Output::Release(self.used));
                self.used = held.path;
                self.forget_held(now);
                self.outputs.push_back(Output::Switch);
            }
            None => self.outputs.push_back(Output::Search),
        }
    }

    fn drop_held(&mut self, now: Instant) {
        if let Some(held) = self.held {
            self.outputs.push_back(Output::Release(held.path));
            self.forget_held(now);
        }
    }

    fn forget_held(&mut self, now: Instant) {
        if let Some(held) = self.held.take() {
            self.counts.held += now.saturating_since(held.since);
        }
    }
}

#[cfg(test)]
mod tests;
