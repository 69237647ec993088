//! Waiting for a socket and for a time.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

/// Waits until `socket` is readable or has failed, or until `most` has passed; returns whether the socket was the reason.
pub fn readable(socket: &impl AsFd, most: Duration) -> bool {
    any(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], Some(most)).unwrap_or(true)
}

/// Waits until `socket` can be written to, has failed, or `most` has passed; whether it was one of the former.
pub(crate) fn writable(socket: &impl AsFd, most: Duration) -> bool {
    any(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)], Some(most)).unwrap_or(true)
}

/// Waits until `to` can be written to, or has failed; `false` if it can't, and `stop` can be read from.
pub(crate) fn writable_unless(to: BorrowedFd<'_>, stop: BorrowedFd<'_>) -> bool {
    let mut either = [PollFd::new(to, PollFlags::POLLOUT), PollFd::new(stop, PollFlags::POLLIN)];
    loop {
        match any(&mut either, None) {
            Ok(false) => {}
            Ok(true) => return either[0].any().unwrap_or(true),
            Err(_) => return true,
        }
    }
}

/// Waits for `time`; a signal cuts it short.
pub(crate) fn sleep(time: Duration) {
    // With nothing to poll there is nothing to fail.
    let _ = any(&mut [], Some(time));
}

/// Waits until one of `descriptors` is ready or has failed, or `most` has passed; `None` waits without end, and a signal cuts it
/// short. Returns whether one of them is, which they tell themselves then.
///
/// # Errors
///
/// The platform's, where it can't wait for these.
pub(crate) fn any(descriptors: &mut [PollFd<'_>], most: Option<Duration>) -> io::Result<bool> {
    match ppoll(descriptors, most.map(TimeSpec::from_duration), None) {
        Ok(ready) => Ok(ready > 0),
        // Whoever waits looks again, at its clock too.
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
