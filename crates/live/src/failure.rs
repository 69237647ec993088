//! Reasons why a command ended before its work was done.

use core::fmt;

/// Reason why a command did not finish, by exit status.
#[derive(Debug)]
pub enum Failure {
    /// The input is wrong; nothing was run (status 2).
    Input(String),
    /// It failed while running (status 1).
    Run(String),
    /// A signal ended it (130 for SIGINT, 143 for SIGTERM), after it had cleaned up.
    Interrupted {
        /// The number of the signal.
        signal: i32,
    },
    /// Another command that ran in its place has ended with this status, and has printed the reason.
    Told {
        /// The exit status.
        status: u8,
    },
}

impl Failure {
    /// The exit status of the program.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Run(_) => 1,
            Self::Input(_) => 2,
            Self::Interrupted { signal } => 128u8.saturating_add(u8::try_from(*signal).unwrap_or(2)),
            Self::Told { status } => *status,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) | Self::Run(message) => formatter.write_str(message),
            Self::Interrupted { .. } => formatter.write_str("interrupted"),
            Self::Told { status } => write!(formatter, "ended with status {status}"),
        }
    }
}

impl std::error::Error for Failure {}
