//! Waits for data to read or for a time, whichever comes first.

use std::os::fd::BorrowedFd;

use hopcast_protocols::time::Instant;
use hopcast_sim::io_error::cause;
use nix::poll::{PollFd, PollFlags};
use nix::sys::prctl;

use crate::failure::Failure;
use crate::platform::clock::Clock;
use crate::platform::wait;

/// Lets waits of this thread end when they are due: Linux adds up to 50 µs otherwise, five packets at 1 Gb/s.
pub(super) fn be_punctual() {
    // Where it can't be had, packets leave a little later, and together.
    let _ = prctl::set_timerslack(1);
}

/// Waits until one of `descriptors` is readable or `until` has come. Returns which are readable, or have come to their end.
pub(super) fn wait(
    descriptors: &[BorrowedFd<'_>],
    until: Option<Instant>,
    clock: &Clock,
) -> Result<Vec<bool>, Failure> {
    let polled = |&descriptor| PollFd::new(descriptor, PollFlags::POLLIN);
    let mut polled: Vec<PollFd<'_>> = descriptors.iter().map(polled).collect();
    wait::any(&mut polled, clock.wait(until))
        .map_err(|error| Failure::Run(format!("can't wait: {}", cause(&error))))?;
    Ok(polled.iter().map(|polled| polled.any().unwrap_or(true)).collect())
}
