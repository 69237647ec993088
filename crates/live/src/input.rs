//! Files that a user names: scenarios and plans.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use hopcast_sim::io_error::cause;

/// As large as a scenario may be, in bytes, as in Python (`MAX_BYTES` in `python/hopcast/scenario.py`).
const MAX_BYTES: u64 = 8 << 20;

/// The text of a file, or of a pipe such as `/dev/stdin`.
///
/// # Errors
///
/// The name of the file, what is wrong with it, and what would be right.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let wrong = |problem: String| format!("{}: {problem}", path.display());
    let unreadable = |error| wrong(format!("can't be read: {}", cause(&error)));
    let kind = fs::metadata(path).map_err(unreadable)?.file_type();
    if kind.is_dir() {
        return Err(wrong("is a folder; expected a file".into()));
    }
    // Others may have no end, or keep us waiting for their beginning. A pipe that we already have has begun.
    let is_ours = kind.is_fifo() && path.starts_with("/dev");
    if !kind.is_file() && !is_ours {
        return Err(wrong("is a pipe, a device or a socket; expected a file".into()));
    }
    let mut octets = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut octets).map_err(unreadable)?;
    if octets.len() as u64 > MAX_BYTES {
        return Err(wrong(format!("is too large; expected at most {} MiB", MAX_BYTES >> 20)));
    }
    String::from_utf8(octets).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|&&octet| octet == b'\n').count() + 1;
        wrong(format!("is not UTF-8 text: byte {at}, in line {line}, is wrong"))
    })
}

#[cfg(test)]
mod tests {
    use tempfile::NamedTempFile;

    use super::*;

    fn written(octets: &[u8]) -> NamedTempFile {
        let file = NamedTempFile::new().expect("there is room");
        fs::write(&file, octets).expect("there is room");
        file
    }

    #[test]
    fn what_is_no_text_is_named_with_the_place() {
        let (text, latin) = (written(b"seed = 1\n"), written(b"seed = 1\nname = \"caf\xe9\"\n"));
        assert_eq!(read_text(text.path()), Ok("seed = 1\n".into()));
        let told = read_text(latin.path()).expect_err("it is Latin-1");
        assert_eq!(told, format!("{}: is not UTF-8 text: byte 20, in line 2, is wrong", latin.path().display()));
    }

    #[test]
    fn what_is_no_file_or_has_no_end_is_refused() {
        for (path, told) in [
            ("/nowhere", "/nowhere: can't be read: No such file or directory"),
            ("/dev", "/dev: is a folder; expected a file"),
            ("/dev/zero", "/dev/zero: is a pipe, a device or a socket; expected a file"),
        ] {
            assert_eq!(read_text(Path::new(path)), Err(told.into()));
        }
    }
}
