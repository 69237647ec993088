//! Files that other users can't have planted, and hopcast's folder below `/run` for locks and records.
//!
//! A user who can plant a file or a link where root writes could make root write elsewhere, or remove what isn't hopcast's.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::unistd::geteuid;

/// The folder of the locks of emulations and the records of routers. The next boot clears it.
pub(crate) const FOLDER: &str = "/run/hopcast";

/// Bits of a mode that let others than the owner write.
const WRITABLE: u32 = 0o022;

/// Makes the folder, unless it is there.
///
/// # Errors
/// Errors of the platform; `PermissionDenied` if other users can write in the folder.
pub(crate) fn make_folder() -> io::Result<()> {
    make_at(Path::new(FOLDER))
}

fn make_at(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    check_folder(folder)
}

fn check_folder(folder: &Path) -> io::Result<()> {
    // The name itself, not what a link leads to.
    let found = fs::symlink_metadata(folder)?;
    let problem = if !found.is_dir() {
        "is no folder".to_owned()
    } else if found.uid() != 0 && found.uid() != geteuid().as_raw() {
        format!("belongs to user {}; expected root", found.uid())
    } else if found.mode() & WRITABLE != 0 {
        format!("mode {:03o} lets others write; chmod 755 makes it the owner's alone", found.mode() & 0o777)
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{}: {problem}", folder.display())))
}

/// Opens a file for reading and writing, or makes it.
///
/// # Errors
/// Errors of the platform, `ELOOP` for a link; `PermissionDenied` if the file is another user's, has a second name, or is
/// no regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).custom_flags(OFlag::O_NOFOLLOW.bits());
    let file = options.open(path)?;
    let found = file.metadata()?;
    if found.is_file() && found.uid() == geteuid().as_raw() && found.nlink() <= 1 {
        return Ok(file);
    }
    let message = "is not a file of this user with one name alone; remove it";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// Reads a file in the folder [`FOLDER`].
///
/// # Errors
/// Errors of the platform, `ELOOP` for a link; `PermissionDenied` if other users can write in the folder.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    check_folder(path.parent().unwrap_or(Path::new(FOLDER)))?;
    let mut octets = Vec::new();
    OpenOptions::new().read(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(path)?.read_to_end(&mut octets)?;
    Ok(octets)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_folder_in_which_others_can_write_is_refused() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("run");
        make_at(&path).expect("it can be made");
        make_at(&path).expect("it is there");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert!(make_at(&path).expect_err("others can write").to_string().contains("mode 777 lets others write"));
        fs::write(path.join("planted"), "").expect("there is room");
        assert_eq!(read(&path.join("planted")).expect_err("others can write").kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(
            read(&folder.path().join("none/file")).expect_err("it is not there").kind(),
            io::ErrorKind::NotFound
        );
        let link = folder.path().join("link");
        symlink(&folder, &link).expect("there is room");
        assert!(make_at(&link).expect_err("it is a link").to_string().contains("is no folder"));
        if geteuid().is_root() {
            let planted = folder.path().join("planted");
            fs::create_dir(&planted).expect("there is room");
            std::os::unix::fs::chown(&planted, Some(65534), None).expect("root may");
            assert!(make_at(&planted).expect_err("it is another's").to_string().contains("belongs to user 65534"));
        }
    }

    #[test]
    fn planted_links_are_not_opened() {
        let folder = tempfile::tempdir().expect("there is room");
        let [precious, link, second] = ["precious", "link", "second"].map(|name| folder.path().join(name));
        fs::write(&precious, "precious").expect("there is room");
        symlink(&precious, &link).expect("there is room");
        fs::hard_link(&precious, &second).expect("there is room");
        for path in [&link, &second] {
            open(path).expect_err("it leads to another file");
        }
        open(&folder.path().join("new")).expect("nothing is in the way");
        assert_eq!(fs::read(&precious).expect("it is there"), b"precious");
    }
}
