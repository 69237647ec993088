//! A pipe without a reader.

use std::io::{PipeReader, PipeWriter, Write as _};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// A pipe without room, whose writers wait.
pub(crate) fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("there is room");
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).expect("it can be set");
    for octets in [&[b'x'; 4096][..], b"x"] {
        while writer.write(octets).is_ok() {}
    }
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::empty())).expect("it can be set");
    (reader, writer)
}
