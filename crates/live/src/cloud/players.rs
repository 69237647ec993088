//! Users of the host who play clips, over a local socket.
//!
//! A program asks with a line, the digest of the clip in hexadecimal digits. What it gets are frames: a byte for the kind, the
//! length of the rest in four bytes, and the rest. A program that closes its end stops the clip.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use hopcast_protocols::time::{Duration, Instant};
use nix::poll::PollFlags;

use super::engine::{Engine, MAX_PLAYS};
use super::status::{self, OutcomeName, PlayRecord};

/// Media of the clip, in order.
pub(super) const MEDIA: u8 = b'D';
/// Media shown so far, in nanoseconds.
pub(super) const POSITION: u8 = b'P';
/// How the request stands, as JSON: [`PlayRecord`].
pub(super) const STATE: u8 = b'E';
/// How it has ended, the same way. Nothing follows.
pub(super) const END: u8 = b'X';
/// Why there is nothing to play, as text. Nothing follows.
pub(super) const FAILURE: u8 = b'F';
/// Bytes before the rest of a frame.
pub(super) const FRAME_HEADER_LEN: usize = 5;

/// Time between two positions: that of a picture at 50 a second.
const STEP: Duration = Duration::from_millis(20);
/// A program asks within this time.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest line: a digest, and its end.
const MAX_REQUEST: usize = 65;
/// Bytes that may wait for a program before it gets more.
const WAITING: usize = 1 << 20;
/// Bytes of media that may wait in all. A program that reads puts them into a file, whatever its player does.
const BACKLOG: u64 = 64 << 20;

/// The listener and the programs that have come.
#[derive(Debug)]
pub(super) struct Players {
    listener: UnixListener,
    players: Vec<Player>,
}

#[derive(Debug)]
struct Player {
    stream: UnixStream,
    request: Vec<u8>,
    /// Number of the request; `None`: it was not read yet, or has ended.
    number: Option<u32>,
    /// What is left to be sent.
    waiting: Vec<u8>,
    sent: usize,
    told: Option<PlayRecord>,
    position: Duration,
    next_position: Instant,
    until: Option<Instant>,
    is_ending: bool,
    is_gone: bool,
}

impl Players {
    /// Answers on this socket.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(super) fn new(listener: UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener, players: Vec::new() })
    }

    /// What is to be waited for.
    pub(super) fn fds(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let listener = (self.players.len() < MAX_PLAYS).then(|| (self.listener.as_fd(), PollFlags::POLLIN));
        let players = self.players.iter().map(|player| {
            let flags = if player.has_waiting() { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
            (player.stream.as_fd(), flags)
        });
        listener.into_iter().chain(players)
    }

    /// When [`Self::serve`] has something to do that no socket tells.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let due = |player: &Player| player.number.map(|_| player.next_position).or(player.until);
        self.players.iter().filter_map(due).min()
    }

    /// Does what can be done without waiting.
    pub(super) fn serve(&mut self, engine: &mut Engine, now: Instant) {
        while self.players.len() < MAX_PLAYS
            && let Ok((stream, _)) = self.listener.accept()
        {
            if stream.set_nonblocking(true).is_ok() {
                self.players.push(Player::new(stream, now));
            }
        }
        for player in &mut self.players {
            player.read(engine, now);
            player.feed(engine, now);
            player.write();
            let is_late = player.until.is_some_and(|until| until <= now);
            player.is_gone |= is_late || player.is_ending && !player.has_waiting();
            if player.is_gone
                && let Some(number) = player.number.take()
            {
                engine.handle_stop(number, now);
            }
        }
        self.players.retain(|player| !player.is_gone);
    }
}

impl Player {
    fn new(stream: UnixStream, now: Instant) -> Self {
        Self {
            stream,
            request: Vec::new(),
            number: None,
            waiting: Vec::new(),
            sent: 0,
            told: None,
            position: Duration::ZERO,
            next_position: now,
            until: Some(now + PATIENCE),
            is_ending: false,
            is_gone: false,
        }
    }

    fn has_waiting(&self) -> bool {
        self.sent < self.waiting.len()
    }

    /// Reads the request, or learns that the program has gone.
    fn read(&mut self, engine: &mut Engine, now: Instant) {
        let mut octets = [0; 128];
        loop {
            match self.stream.read(&mut octets) {
                Ok(0) => return self.is_gone = true,
                // Nothing is expected after the request.
                Ok(_) if self.number.is_some() || self.is_ending => {}
                Ok(count) => self.request.extend_from_slice(&octets[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => return self.is_gone = true,
            }
            let end = self.request.iter().position(|&octet| octet == b'\n');
            if self.number.is_none() && !self.is_ending && (end.is_some() || self.request.len() > MAX_REQUEST) {
                let digest = end.and_then(|end| core::str::from_utf8(&self.request[..end]).ok());
                let number = digest.and_then(status::digest).ok_or_else(|| "this is no digest of a clip".to_owned());
                match number.and_then(|digest| engine.handle_request(&digest, now)) {
                    Ok(number) => self.number = Some(number),
                    Err(problem) => {
                        self.frame(FAILURE, problem.as_bytes());
                        self.is_ending = true;
                    }
                }
                self.until = self.is_ending.then_some(now + PATIENCE);
            }
        }
    }

    /// Puts what there is of the request into frames.
    fn feed(&mut self, engine: &mut Engine, now: Instant) {
        let Some(number) = self.number else { return };
        while self.waiting.len() - self.sent < WAITING
            && let Some(media) = engine.poll_media(number, now)
        {
            self.frame(MEDIA, &media);
        }
        let Some(record) = engine.play(number, now) else { return };
        if self.next_position <= now {
            self.next_position = now + STEP;
            let position = Duration::from_secs_f64(record.played_s);
            if position > self.position {
                self.position = position;
                self.frame(POSITION, &position.as_nanos().to_be_bytes());
            }
        }
        if engine.backlog(number) > BACKLOG {
            self.frame(FAILURE, b"the media were not read");
            return self.end(engine, now);
        }
        let is_over = !matches!(record.outcome, OutcomeName::Searching | OutcomeName::Playing);
        if is_over && engine.backlog(number) == 0 {
            self.frame(POSITION, &Duration::MAX.as_nanos().to_be_bytes());
            self.tell(END, &record);
            return self.end(engine, now);
        }
        if self.told.as_ref().is_none_or(|told| differs(told, &record)) {
            self.tell(STATE, &record);
            self.told = Some(record);
        }
    }

    fn end(&mut self, engine: &mut Engine, now: Instant) {
        if let Some(number) = self.number.take() {
            engine.handle_stop(number, now);
        }
        self.is_ending = true;
        self.until = Some(now + PATIENCE);
    }

    fn tell(&mut self, kind: u8, record: &PlayRecord) {
        let json = serde_json::to_vec(record).expect("a record is plain data");
        self.frame(kind, &json);
    }

    fn frame(&mut self, kind: u8, rest: &[u8]) {
        self.waiting.push(kind);
        // A record or a packet: far shorter.
        self.waiting.extend((rest.len() as u32).to_be_bytes());
        self.waiting.extend_from_slice(rest);
    }

    fn write(&mut self) {
        while self.has_waiting() {
            match self.stream.write(&self.waiting[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.is_gone = true,
            }
        }
        if self.sent == self.waiting.len() || self.sent > WAITING {
            self.waiting.drain(..self.sent);
            self.sent = 0;
        }
    }
}

/// Whether a request has come to another step.
fn differs(one: &PlayRecord, other: &PlayRecord) -> bool {
    let step = |record: &PlayRecord| {
        let PlayRecord { outcome, source, hops, refused_paths, reroutes, stalls, received_bytes, size_bytes, .. } =
            *record;
        (outcome, source, hops, refused_paths, reroutes, stalls, received_bytes == size_bytes)
    };
    step(one) != step(other) || one.start_up_s.is_some() != other.start_up_s.is_some()
}
