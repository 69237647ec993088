//! Files with keys.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use hopcast_sim::io_error::cause;
use nix::unistd::geteuid;

use super::{KEY_LEN, MAX_KEYS, NetworkKey};

/// Bits of a file's mode that open it to others than its owner.
const OTHERS: u32 = 0o077;
/// Longest file that is read, in bytes: the digits of all keys, and room for white space around them.
const MAX_FILE: u64 = 512;

/// Reason why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file can't be created: it exists already, or its folder does not.
    #[error("key file {}: {}", .path.display(), unmade(.path, .source))]
    Unmade {
        /// The file.
        path: PathBuf,
        /// What the platform says.
        source: io::Error,
    },
    /// The system refuses to read or write it.
    #[error("key file {}: {}", .path.display(), cause(.source))]
    Platform {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// No file has this name.
    #[error("key file {0}: there is no such file; `hopcast key {0}` makes one", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("key file {}: is a folder; expected a file", .path.display())]
    Folder {
        /// Its path.
        path: PathBuf,
    },
    /// Other users could read it.
    #[error("key file {}: mode {mode:03o} lets others read it; chmod 600 makes it the owner's alone", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another user could change it.
    #[error("key file {}: belongs to user {owner}; expected root or user {user}, who runs hopcast", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// It contains something else.
    #[error("key file {}: {found}; a key is {} hexadecimal digits, as `hopcast key` writes them", .path.display(), KEY_LEN * 2)]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong; nothing of the contents.
        found: String,
    },
}

pub(super) fn read(path: &Path) -> Result<Vec<NetworkKey>, KeyError> {
    let platform = |source| KeyError::Platform { path: path.to_owned(), source };
    let file = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => KeyError::Missing { path: path.to_owned() },
        _ => platform(source),
    })?;
    // The file that is open, not one that has taken its name since.
    let found = file.metadata().map_err(platform)?;
    if found.is_dir() {
        return Err(KeyError::Folder { path: path.to_owned() });
    }
    let (mode, owner, user) = (found.mode() & 0o777, found.uid(), geteuid().as_raw());
    if owner != 0 && owner != user {
        return Err(KeyError::Foreign { path: path.to_owned(), owner, user });
    }
    if mode & OTHERS != 0 {
        return Err(KeyError::Open { path: path.to_owned(), mode });
    }
    let mut contents = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut contents).map_err(platform)?;
    parse(&contents).map_err(|found| KeyError::Malformed { path: path.to_owned(), found })
}

pub(super) fn write_new(path: &Path, key: &NetworkKey) -> Result<(), KeyError> {
    let platform = |source| KeyError::Platform { path: path.to_owned(), source };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.map_err(|source| KeyError::Unmade { path: path.to_owned(), source })?;
    let mut digits: String = key.0.iter().map(|octet| format!("{octet:02x}")).collect();
    digits.push('\n');
    file.write_all(digits.as_bytes()).and_then(|()| file.sync_all()).map_err(|source| {
        // Half a key is of no use. If it can't be removed either, the first error is what matters.
        let _ = std::fs::remove_file(path);
        platform(source)
    })
}

fn unmade(path: &Path, error: &io::Error) -> String {
    match (error.kind(), path.parent()) {
        (io::ErrorKind::AlreadyExists, _) => "is already there; hopcast key overwrites nothing".into(),
        (io::ErrorKind::NotFound, Some(folder)) => format!("there is no folder {}", folder.display()),
        _ => cause(error),
    }
}

/// The keys that these bytes spell, one a line.
fn parse(contents: &[u8]) -> Result<Vec<NetworkKey>, String> {
    if contents.len() as u64 > MAX_FILE {
        return Err(format!("it is longer than {MAX_FILE} bytes"));
    }
    let lines: Vec<_> = contents.split(|&octet| octet == b'\n').map(<[u8]>::trim_ascii).collect();
    let lines: Vec<_> = lines.iter().enumerate().filter(|(_, line)| !line.is_empty()).collect();
    match lines.len() {
        0 => Err("it is empty".into()),
        1 => Ok(vec![parse_line(lines[0].1)?]),
        2..=MAX_KEYS => lines
            .into_iter()
            .map(|(place, line)| parse_line(line).map_err(|found| format!("line {}: {found}", place + 1)))
            .collect(),
        more => Err(format!("it has {more} keys, expected at most {MAX_KEYS}")),
    }
}

/// The key that a line spells.
fn parse_line(digits: &[u8]) -> Result<NetworkKey, String> {
    if digits.len() != KEY_LEN * 2 {
        return Err(format!("it has {} characters", digits.len()));
    }
    let mut key = [0; KEY_LEN];
    for (place, &digit) in digits.iter().enumerate() {
        let value =
            char::from(digit).to_digit(16).ok_or_else(|| format!("character {} is no such digit", place + 1))?;
        // A digit is below 16.
        key[place / 2] = key[place / 2] << 4 | value as u8;
    }
    Ok(NetworkKey(key))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("hopcast-key-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).expect("a folder can be made");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_key_is_read_as_it_was_written_and_never_overwritten() {
        let folder = Folder::new("written");
        let (path, key) = (folder.0.join("key"), NetworkKey::new(std::array::from_fn(|place| place as u8 * 7)));
        key.write_new(&path).expect("there is room");
        assert_eq!(std::fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
        assert_eq!(read(&path).expect("it is a key"), std::slice::from_ref(&key));
        let error = NetworkKey::new([1; KEY_LEN]).write_new(&path).expect_err("there is a key already");
        assert!(error.to_string().contains("already there"), "{error}");
        assert_eq!(read(&path).expect("it is still the same"), [key]);
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = Folder::new("open");
        let path = folder.0.join("key");
        NetworkKey::new([7; KEY_LEN]).write_new(&path).expect("there is room");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("it is ours");
        let error = read(&path).expect_err("the group can read it").to_string();
        assert!(error.contains("mode 640") && error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_key_of_another_user_is_refused() {
        if !geteuid().is_root() {
            return;
        }
        let folder = Folder::new("foreign");
        let path = folder.0.join("key");
        NetworkKey::new([7; KEY_LEN]).write_new(&path).expect("there is room");
        std::os::unix::fs::chown(&path, Some(65534), None).expect("root may");
        let error = read(&path).expect_err("nobody can change it").to_string();
        assert!(error.contains("belongs to user 65534; expected root or user 0"), "{error}");
    }

    #[test]
    fn a_missing_key_is_named() {
        let error = read(Path::new("/nowhere/key")).expect_err("it is not there").to_string();
        assert_eq!(error, "key file /nowhere/key: there is no such file; `hopcast key /nowhere/key` makes one");
        let error = read(Path::new("/")).expect_err("it is a folder").to_string();
        assert_eq!(error, "key file /: is a folder; expected a file");
        let error =
            NetworkKey::new([1; KEY_LEN]).write_new(Path::new("/nowhere/key")).expect_err("no folder").to_string();
        assert_eq!(error, "key file /nowhere/key: there is no folder /nowhere");
    }

    #[test]
    fn what_is_no_key_is_told_without_showing_it() {
        let short = parse(b"c0ffee\n").expect_err("too short");
        assert_eq!(short, "it has 6 characters");
        let wrong = parse(&[b'g'; 64]).expect_err("no digits");
        assert_eq!(wrong, "character 1 is no such digit");
        assert_eq!(parse(&[b'0'; 600]).expect_err("too long"), "it is longer than 512 bytes");
        assert_eq!(parse(&[b'0'; 65]).expect_err("too long"), "it has 65 characters");
        let five = format!("{}\n", "0".repeat(64)).repeat(5);
        assert_eq!(parse(five.as_bytes()).expect_err("too many"), "it has 5 keys, expected at most 4");
        let second = format!("\n{}\nc0ffee\n", "0".repeat(64));
        assert_eq!(parse(second.as_bytes()).expect_err("short"), "line 3: it has 6 characters");
        assert_eq!(parse(b"\n").expect_err("empty"), "it is empty");
    }

    proptest! {
        #[test]
        fn arbitrary_contents_are_read_or_refused(contents in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&contents);
        }
    }
}
