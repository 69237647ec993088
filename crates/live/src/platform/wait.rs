//! Waiting: for a socket, and for an instant.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

/// Waits until `socket` can be read from, has failed, or `most` has passed; whether it was one of the former.
pub fn readable(socket: &impl AsFd, most: Duration) -> bool {
    wait(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], most)
}

/// Waits until `socket` can be written to, has failed, or `most` has passed; whether it was one of the former.
pub fn writable(socket: &impl AsFd, most: Duration) -> bool {
    wait(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)], most)
}

/// Waits for `time`; a signal cuts it short.
pub fn sleep(time: Duration) {
    wait(&mut [], time);
}

fn wait(sockets: &mut [PollFd<'_>], most: Duration) -> bool {
    match ppoll(sockets, Some(TimeSpec::from_duration(most)), None) {
        Ok(ready) => ready > 0,
        // Whoever waits looks again, at its clock too.
        Err(Errno::EINTR) => false,
        Err(_) => true,
    }
}
