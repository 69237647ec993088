//! What commands print. Parts of it may come from other hosts and programs, so no text steers the terminal that shows it.

use std::io::{self, ErrorKind, Write as _};

use crate::failure::Failure;

/// Puts `text` to standard output. Whoever reads no further has seen enough.
///
/// # Errors
///
/// [`Failure::Run`], where it can't be written: the disk is full, say.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(shown(text).as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("can't write the output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Puts a message, which may have several lines, to standard error. Where that is full or closed, it is lost.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr().lock(), "hopcast: {}", shown(message));
}

/// Puts one line to standard error, for whoever looks on; the same otherwise.
pub fn say(line: &str) {
    complain(&one_line(line));
}

/// `text` in one line.
pub fn one_line(text: &str) -> String {
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
}
