//! Output of commands. Parts of it may come from other hosts and programs, so hopcast removes control characters that
//! could affect the terminal.

#[cfg(target_os = "linux")]
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write as _};
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd as _, BorrowedFd};
#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
use std::time::Duration;

use hopcast_sim::io_error::cause;

use crate::failure::Failure;
#[cfg(target_os = "linux")]
use crate::platform::wait;

/// The end of the help of commands that print results.
#[cfg(target_os = "linux")]
pub(crate) const HELP: &str = "What each field of --json means: docs/results.md, or `hopcast schema --results`.";

/// How long a command waits, at most, for room for a message.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most that a pipe with room takes at once, whole, in bytes (`PIPE_BUF` of pipe(7)).
#[cfg(target_os = "linux")]
const AT_ONCE: usize = nix::libc::PIPE_BUF;

/// Folders that hopcast made. Those that are still empty in the end are removed again.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct Made(Vec<PathBuf>);

#[cfg(target_os = "linux")]
impl Drop for Made {
    fn drop(&mut self) {
        for folder in &self.0 {
            // One that is in use is not empty.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes a folder for results, with those above it.
///
/// # Errors
///
/// [`Failure::Input`], with what is in the way.
#[cfg(target_os = "linux")]
pub(crate) fn make_folder(folder: &Path) -> Result<Made, Failure> {
    let missing =
        folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && path.symlink_metadata().is_err());
    let made = Made(missing.map(Path::to_owned).collect());
    match fs::create_dir_all(folder) {
        Ok(()) => Ok(made),
        Err(error) => {
            let file = folder.ancestors().find(|path| path.exists() && !path.is_dir());
            let problem = match file {
                Some(file) if file == folder => "is a file; expected a folder".into(),
                Some(file) => format!("{} is a file; expected a folder", file.display()),
                None => cause(&error),
            };
            Err(Failure::Input(format!("{}: can't write results there: {problem}", folder.display())))
        }
    }
}

/// Holds a folder, which must exist, while one run writes there: until the returned file is closed, at the latest when the
/// process ends. File systems without locks hold nothing.
///
/// # Errors
///
/// [`Failure::Input`], if another process holds it.
#[cfg(target_os = "linux")]
pub(crate) fn hold(folder: &Path) -> Result<Option<File>, Failure> {
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Failure::Input(format!(
            "{}: another run is writing results there; wait for it, or name another folder",
            folder.display()
        ))),
        Err(TryLockError::Error(_)) => Ok(None),
        Ok(()) => Ok(Some(file)),
    }
}

/// Writes `text` to standard output. A closed pipe is not an error.
///
/// # Errors
///
/// [`Failure::Run`], where it can't be written: the disk is full, say.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(shown(text).as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("can't write the output: {}", cause(&error))))
        }
        _ => Ok(()),
    }
}

/// Puts a message, which may have several lines, to standard error. Where that stays full or is closed, it is lost.
pub(crate) fn complain(message: &str) {
    put_to_stderr(format!("hopcast: {}\n", shown(message)).as_bytes(), PATIENCE);
}

/// Writes complete lines to standard error without ever blocking; what does not fit is lost.
pub(crate) fn diagnose(octets: &[u8]) {
    put_to_stderr(octets, Duration::ZERO);
}

/// Puts a line of a program's input to standard output, if there is room for it now; otherwise it is lost, as a whole.
#[cfg(target_os = "linux")]
pub(crate) fn offer(line: &str) {
    let output = io::stdout();
    let to = output.as_fd();
    let _ = put(to, format!("{line}\n").as_bytes(), || wait::writable(&to, Duration::ZERO));
}

/// Writes the last line to standard output, and waits until it is written, or until `stop` is readable. A closed pipe is
/// not an error.
#[cfg(target_os = "linux")]
pub(crate) fn finish(line: &str, stop: BorrowedFd<'_>) {
    let output = io::stdout();
    let to = output.as_fd();
    let _ = put(to, format!("{line}\n").as_bytes(), || wait::writable_unless(to, stop));
}

#[cfg(target_os = "linux")]
fn put_to_stderr(octets: &[u8], patience: Duration) {
    let output = io::stderr().lock();
    let to = output.as_fd();
    let _ = put(to, octets, || wait::writable(&to, patience));
}

#[cfg(not(target_os = "linux"))]
fn put_to_stderr(octets: &[u8], _patience: Duration) {
    let _ = io::stderr().lock().write_all(octets);
}

/// Writes `octets` in parts that don't block where `has_room` says so before each: signals that are caught don't end a write that
/// does.
#[cfg(target_os = "linux")]
fn put(to: BorrowedFd<'_>, octets: &[u8], mut has_room: impl FnMut() -> bool) -> io::Result<()> {
    let mut rest = octets;
    while !rest.is_empty() {
        if !has_room() {
            return Err(ErrorKind::WouldBlock.into());
        }
        match nix::unistd::write(to, &rest[..rest.len().min(AT_ONCE)]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes one line to standard error, also without blocking.
pub(crate) fn say(line: &str) {
    complain(&one_line(line));
}

/// The same, but never waits: a line for which there is no room is lost.
#[cfg(target_os = "linux")]
pub(crate) fn log(line: &str) {
    diagnose(format!("hopcast: {}\n", shown(&one_line(line))).as_bytes());
}

/// `text` in one line.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// `text` without characters that control a terminal.
fn shown(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t'), "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_tell_steers_no_terminal() {
        assert_eq!(shown("10.0.0.2: \u{1b}[2J→\u{9b}2J\ta\nb\r"), "10.0.0.2: \u{fffd}[2J→\u{fffd}2J\ta\nb\u{fffd}");
        assert_eq!(one_line("refused\r\nhopcast: done"), "refused  hopcast: done");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_there_is_no_room_for_is_lost_and_waited_for_only_until_a_stop() {
        let (mut reader, writer) = io::pipe().expect("there is room");
        let to = writer.as_fd();
        let mut has_room = || wait::writable(&to, Duration::ZERO);
        let mut lines = 0;
        while put(to, &[b'x'; AT_ONCE], &mut has_room).is_ok() {
            lines += 1;
        }
        assert!(lines > 0);
        let (stop, stopping) = io::pipe().expect("there is room");
        drop(stopping);
        assert!(put(to, b"last", || wait::writable_unless(to, stop.as_fd())).is_err());
        io::Read::read_exact(&mut reader, &mut [0; AT_ONCE]).expect("it is full");
        assert!(
            put(to, b"last", || wait::writable_unless(to, stop.as_fd())).is_ok(),
            "what fits is written all the same"
        );
        drop(reader);
        let error = put(to, b"line", has_room).expect_err("nobody reads");
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
}
