//! Files with keys.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use hopcast_sim::io_error::cause;
use nix::unistd::geteuid;

use super::identity::{Identity, MAX_MEMBERS, Members, SEED_LEN};
use super::{KEY_LEN, MAX_KEYS, NetworkKey};

/// Bits of a file's mode that open it to others than its owner.
const OTHERS: u32 = 0o077;
/// Bits that let others than its owner change a file.
const OTHERS_WRITE: u32 = 0o022;
/// Longest file of keys that is read, in bytes: the digits of all keys, and room for white space around them.
const MAX_FILE: u64 = 512;
/// Longest list of members that is read: a key, some addresses and a remark for each.
const MAX_LIST: u64 = 256 * MAX_MEMBERS as u64;
/// What stands before the secret of an identity, so that it is no network key.
const IDENTITY: &str = "identity ";
/// What a line of a list of members is.
const MEMBER: &str = "a public key, as `hopcast key --identity` prints it, and the addresses of its host";

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Network keys.
    Key,
    /// The identity of a host.
    Identity,
    /// The list of members.
    Members,
}

impl Content {
    /// How to make the file that is missing.
    fn remedy(self, path: &Path) -> String {
        match self {
            Self::Key => format!("`hopcast key {}` makes one", path.display()),
            Self::Identity => format!("`hopcast key --identity {}` makes one", path.display()),
            Self::Members => format!("each line has {MEMBER}"),
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "key file",
            Self::Identity => "identity",
            Self::Members => "list of members",
        })
    }
}

/// Reason why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file can't be created: it exists already, or its folder does not.
    #[error("{content} {}: {}", .path.display(), unmade(.path, .source))]
    Unmade {
        /// What it is for.
        content: Content,
        /// The file.
        path: PathBuf,
        /// What the platform says.
        source: io::Error,
    },
    /// The system refuses to read or write it.
    #[error("{content} {}: {}", .path.display(), cause(.source))]
    Platform {
        /// What it is for.
        content: Content,
        /// The file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// No file has this name.
    #[error("{content} {}: there is no such file; {}", .path.display(), content.remedy(.path))]
    Missing {
        /// What it is for.
        content: Content,
        /// The file.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("{content} {}: is a folder; expected a file", .path.display())]
    Folder {
        /// What it is for.
        content: Content,
        /// Its path.
        path: PathBuf,
    },
    /// Other users could read it.
    #[error("{content} {}: mode {mode:03o} lets others read it; chmod 600 makes it the owner's alone", .path.display())]
    Open {
        /// What it is for.
        content: Content,
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another user could change it.
    #[error("{content} {}: belongs to user {owner}; expected root or user {user}, who runs hopcast", .path.display())]
    Foreign {
        /// What it is for.
        content: Content,
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
    /// It is no identity.
    #[error("identity {}: it has no identity; `hopcast key --identity FILE` makes one", .path.display())]
    NoIdentity {
        /// The file.
        path: PathBuf,
    },
    /// Other users could change it.
    #[error("list of members {}: mode {mode:03o} lets others change it; chmod 644 makes it the owner's", .path.display())]
    Writable {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It is no list of members.
    #[error("list of members {}: {found}; each line has {MEMBER}", .path.display())]
    NoList {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        found: String,
    },
}

pub(super) fn read(path: &Path) -> Result<Vec<NetworkKey>, KeyError> {
    let contents = read_own(path, Content::Key)?;
    parse(&contents).map_err(|found| KeyError::Malformed { path: path.to_owned(), found })
}

impl Identity {
    /// Reads the one in `path`, a file that is open to its owner alone.
    ///
    /// # Errors
    ///
    /// See [`KeyError`].
    pub(crate) fn read(path: &Path) -> Result<Self, KeyError> {
        read_identity(path).map(Self::new)
    }

    /// Writes it into a new file that is open to its owner alone.
    ///
    /// # Errors
    ///
    /// See [`KeyError`]. A file that was there before is left as it was, and no other is left.
    pub(crate) fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        write_digits(path, Content::Identity, self.seed())
    }
}

impl Members {
    /// Reads the list in `path`: a public key and the addresses of its host on each line.
    ///
    /// # Errors
    ///
    /// See [`KeyError`].
    pub(crate) fn read(path: &Path) -> Result<Self, KeyError> {
        let contents = read_own(path, Content::Members)?;
        parse_members(&contents).map_err(|found| KeyError::NoList { path: path.to_owned(), found })
    }
}

fn read_identity(path: &Path) -> Result<[u8; SEED_LEN], KeyError> {
    let contents = read_own(path, Content::Identity)?;
    let digits = contents.trim_ascii().strip_prefix(IDENTITY.as_bytes()).map(<[u8]>::trim_ascii);
    let seed = digits.and_then(|digits| parse_line(digits).ok());
    seed.map(|seed| seed.0).ok_or_else(|| KeyError::NoIdentity { path: path.to_owned() })
}

/// What is in a file of this user or root: at most one byte more than it may have. Others can't read it, or can't change it if it is a list.
fn read_own(path: &Path, content: Content) -> Result<Vec<u8>, KeyError> {
    let platform = |source| KeyError::Platform { content, path: path.to_owned(), source };
    let file = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => KeyError::Missing { content, path: path.to_owned() },
        _ => platform(source),
    })?;
    // The file that is open, not one that has taken its name since.
    let found = file.metadata().map_err(platform)?;
    if found.is_dir() {
        return Err(KeyError::Folder { content, path: path.to_owned() });
    }
    let (mode, owner, user) = (found.mode() & 0o777, found.uid(), geteuid().as_raw());
    if owner != 0 && owner != user {
        return Err(KeyError::Foreign { content, path: path.to_owned(), owner, user });
    }
    let path_of = || path.to_owned();
    let most = match content {
        Content::Members if mode & OTHERS_WRITE != 0 => return Err(KeyError::Writable { path: path_of(), mode }),
        Content::Members => MAX_LIST,
        _ if mode & OTHERS != 0 => return Err(KeyError::Open { content, path: path_of(), mode }),
        _ => MAX_FILE,
    };
    let mut contents = Vec::new();
    file.take(most + 1).read_to_end(&mut contents).map_err(platform)?;
    Ok(contents)
}

pub(super) fn write_new(path: &Path, key: &NetworkKey) -> Result<(), KeyError> {
    write_digits(path, Content::Key, &key.0)
}

/// Makes a file of its owner's alone, with these bytes in hexadecimal digits.
fn write_digits(path: &Path, content: Content, octets: &[u8]) -> Result<(), KeyError> {
    let platform = |source| KeyError::Platform { content, path: path.to_owned(), source };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.map_err(|source| KeyError::Unmade { content, path: path.to_owned(), source })?;
    let mut digits = String::from(if content == Content::Identity { IDENTITY } else { "" });
    digits.extend(octets.iter().map(|octet| format!("{octet:02x}")));
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

/// The members that these lines list.
fn parse_members(contents: &[u8]) -> Result<Members, String> {
    if contents.len() as u64 > MAX_LIST {
        return Err(format!("it is longer than {MAX_LIST} bytes"));
    }
    let text = std::str::from_utf8(contents).map_err(|error| format!("byte {} is no text", error.valid_up_to()))?;
    let mut members = Members::default();
    for (place, line) in text.lines().enumerate() {
        // What follows the mark is a remark.
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(key) = words.next() else { continue };
        let add = || {
            let key = parse_line(key.as_bytes())?;
            let address = |word: &str| word.parse().map_err(|_| format!("{word:?} is no IPv4 address"));
            let addresses = words.map(address).collect::<Result<Vec<_>, String>>()?;
            if addresses.is_empty() {
                return Err("it has no address".into());
            }
            members.add(&key.0, addresses)
        };
        add().map_err(|found| format!("line {}: {found}", place + 1))?;
    }
    Ok(members)
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

    #[test]
    fn a_key_is_read_as_it_was_written_and_never_overwritten() {
        let folder = tempfile::tempdir().expect("there is room");
        let (path, key) = (folder.path().join("key"), NetworkKey::new(std::array::from_fn(|place| place as u8 * 7)));
        key.write_new(&path).expect("there is room");
        assert_eq!(std::fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
        assert_eq!(read(&path).expect("it is a key"), std::slice::from_ref(&key));
        let error = NetworkKey::new([1; KEY_LEN]).write_new(&path).expect_err("there is a key already");
        assert!(error.to_string().contains("already there"), "{error}");
        assert_eq!(read(&path).expect("it is still the same"), [key]);
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("key");
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
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("key");
        NetworkKey::new([7; KEY_LEN]).write_new(&path).expect("there is room");
        std::os::unix::fs::chown(&path, Some(65534), None).expect("root may");
        let error = read(&path).expect_err("nobody can change it").to_string();
        assert!(error.contains("belongs to user 65534; expected root or user 0"), "{error}");
    }

    #[test]
    fn a_missing_key_is_named() {
        let error = read(Path::new("/nowhere/key")).expect_err("it is not there").to_string();
        assert_eq!(error, "key file /nowhere/key: there is no such file; `hopcast key /nowhere/key` makes one");
        let error = Identity::read(Path::new("/nowhere/me")).expect_err("nor is this").to_string();
        assert_eq!(
            error,
            "identity /nowhere/me: there is no such file; `hopcast key --identity /nowhere/me` makes one"
        );
        let error = Members::read(Path::new("/nowhere/all")).expect_err("nor is this").to_string();
        assert_eq!(error, format!("list of members /nowhere/all: there is no such file; each line has {MEMBER}"));
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

    #[test]
    fn an_identity_is_read_as_it_was_written_and_is_no_network_key() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("identity");
        Identity::new([0xa5; SEED_LEN]).write_new(&path).expect("written");
        assert_eq!(read_identity(&path).expect("read"), [0xa5; SEED_LEN]);
        let error = read(&path).expect_err("no key").to_string();
        assert!(error.contains("it has 73 characters"), "{error}");
        let other = folder.path().join("key");
        write_new(&other, &NetworkKey::new([1; KEY_LEN])).expect("written");
        assert!(matches!(read_identity(&other), Err(KeyError::NoIdentity { .. })));
    }

    /// A public key of Ed25519: that of the secret of zeros.
    const PUBLIC: &str = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29";

    #[test]
    fn a_list_of_members_has_keys_addresses_and_remarks() {
        let text = format!("# all\n\n{PUBLIC} 10.0.0.1 10.0.1.1  # on the roof\n");
        assert_eq!(parse_members(text.as_bytes()).expect("it is one").len(), 1);
        assert_eq!(parse_members(b"").expect("nobody").len(), 0);
        for (text, found) in [
            (format!("{PUBLIC}\n"), "line 1: it has no address"),
            (format!("\n{PUBLIC} 10.0.0\n"), "line 2: \"10.0.0\" is no IPv4 address"),
            ("c0ffee 10.0.0.1".into(), "line 1: it has 6 characters"),
            (format!("{} 10.0.0.1", "0".repeat(64)), "line 1: it is no public key of Ed25519"),
            (
                format!("{PUBLIC} 10.0.0.1\n{PUBLIC} 10.0.0.2"),
                "line 2: an earlier line has this key, or one that begins like it",
            ),
        ] {
            assert_eq!(parse_members(text.as_bytes()).expect_err("it is refused"), found, "{text}");
        }
    }

    #[test]
    fn a_list_of_members_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("members");
        std::fs::write(&path, format!("{PUBLIC} 10.0.0.1\n")).expect("written");
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
        mode(0o644);
        assert_eq!(Members::read(&path).expect("read").len(), 1);
        mode(0o664);
        assert!(matches!(Members::read(&path), Err(KeyError::Writable { mode: 0o664, .. })));
    }

    proptest! {
        #[test]
        fn arbitrary_contents_are_read_or_refused(contents in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&contents);
            let _ = parse_members(&contents);
        }
    }
}
