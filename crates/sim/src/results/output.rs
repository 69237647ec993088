//! Files that are written completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{
    RunResult, conversation_series_table, conversation_table, flow_table, node_table, rtp_table, series_table,
    stream_table,
};
use crate::io_error::cause;

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", path.display(), self.problem())]
pub struct OutputError {
    /// The file; it does not exist, unless it existed before.
    pub path: PathBuf,
    /// Error of the system.
    #[source]
    pub error: io::Error,
}

impl OutputError {
    /// Description of the problem.
    pub fn problem(&self) -> String {
        format!("can't be written: {}", cause(&self.error))
    }
}

/// How the rows that a replication adds to a table are made.
type Rows = fn(&RunResult) -> RecordBatch;

/// The tables of a run.
const TABLES: [(&str, Rows); 3] =
    [("flows.parquet", flow_table), ("nodes.parquet", node_table), ("series.parquet", series_table)];

/// Additional tables of a run with real hosts.
const TABLES_OF_REAL_HOSTS: [(&str, Rows); 3] = [
    ("conversations.parquet", conversation_table),
    ("conversation_series.parquet", conversation_series_table),
    ("rtp.parquet", rtp_table),
];

/// Additional table of a run with a streaming cloud.
const TABLES_OF_CLOUDS: [(&str, Rows); 1] = [("streams.parquet", stream_table)];

/// The object of a run, next to the tables.
const OBJECT: &str = "run.json";
/// Names and places of nodes, for drawings.
pub(super) const LAYOUT: &str = "layout.json";

/// Prepares `folder`, which must exist, for a run's files: the tables, the object, and further names that `is_written`
/// accepts. Unfinished files that killed processes have left under these names are removed.
///
/// # Errors
/// The first subfolder with one of these names, or an unreadable `folder`.
pub fn prepare_folder(folder: &Path, is_written: impl Fn(&str) -> bool) -> Result<(), OutputError> {
    let unreadable = |error| OutputError { path: folder.into(), error };
    let mut in_the_way = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_ours = |name: &str| {
            let mut tables = TABLES.iter().chain(&TABLES_OF_REAL_HOSTS).chain(&TABLES_OF_CLOUDS);
            name == OBJECT || name == LAYOUT || tables.any(|(table, _)| name == *table) || is_written(name)
        };
        if let Some((written, process)) = unfinished(name)
            && is_ours(written)
            && is_abandoned(process, &entry)
        {
            // A file that can't be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
        if is_ours(name) && entry.file_type().map_err(unreadable)?.is_dir() {
            in_the_way.push(entry.path());
        }
    }
    match in_the_way.into_iter().min() {
        Some(path) => {
            Err(OutputError { path, error: io::Error::new(io::ErrorKind::IsADirectory, "a folder is there") })
        }
        None => Ok(()),
    }
}

/// The name that an unfinished file will get, and the number of the process that writes it: see [`Part::create`].
fn unfinished(name: &str) -> Option<(&str, u32)> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(".part")?.rsplit_once('.')?;
    Some((name, process.parse().ok()?))
}

/// Whether the process that was writing an unfinished file is gone. Its number may be that of a process on another
/// machine, or in another container, so a file that was written lately is not abandoned.
fn is_abandoned(process: u32, entry: &fs::DirEntry) -> bool {
    const LATELY: std::time::Duration = std::time::Duration::from_secs(60);
    let is_gone = cfg!(target_os = "linux") && !Path::new(&format!("/proc/{process}")).exists();
    let written = entry
        .metadata()
        .and_then(|found| if found.is_file() { found.modified() } else { Err(io::ErrorKind::Other.into()) });
    is_gone && written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LATELY))
}

/// Writes `flows.parquet`, `nodes.parquet` and `series.parquet` with the rows of all `results`, in their order, to
/// `folder`, which must exist; for real hosts also `conversations.parquet`, `conversation_series.parquet` and
/// `rtp.parquet`; for a streaming cloud also `streams.parquet`. It renames the files when all of them are complete, and removes
/// the layout of an earlier run. Without results it writes nothing.
///
/// # Errors
/// The first file that could not be written.
pub fn write_tables(folder: &Path, results: &[RunResult]) -> Result<(), OutputError> {
    if results.is_empty() {
        return Ok(());
    }
    let mut parts = Vec::new();
    let has_real_hosts = results.iter().any(|result| result.conversations.is_some());
    let has_cloud = results.iter().any(|result| result.cloud.is_some());
    let further = [(has_real_hosts, &TABLES_OF_REAL_HOSTS[..]), (has_cloud, &TABLES_OF_CLOUDS[..])];
    let written = further.iter().filter(|(is_there, _)| *is_there).flat_map(|(_, tables)| *tables);
    for &(name, rows) in TABLES.iter().chain(written) {
        let (part, file) = Part::create(&folder.join(name))?;
        let outcome = write_table(file, results.iter().map(rows));
        outcome.map_err(|error| part.error(error))?;
        parts.push(part);
    }
    commit_all(parts)?;
    let missing = further.iter().filter(|(is_there, _)| !is_there);
    let missing = missing.into_iter().flat_map(|(_, tables)| *tables).map(|(name, _)| *name);
    remove(missing.chain([LAYOUT]), folder)
}

/// Removes what an earlier run of another kind has left in `folder`.
fn remove(names: impl Iterator<Item = &'static str>, folder: &Path) -> Result<(), OutputError> {
    names.map(|name| folder.join(name)).try_for_each(|path| match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(OutputError { path, error }),
        _ => Ok(()),
    })
}

/// Writes `text` to the file at `path`, which is renamed to its name when it is complete on the disk.
///
/// # Errors
/// A write error; an existing file stays.
pub fn write_text(path: &Path, text: &str) -> Result<(), OutputError> {
    let (part, mut file) = Part::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| part.error(error))?;
    commit_all(vec![part])
}

/// A file in the making: it has another name in the same folder, and gets its own when it is complete. One that is given up
/// leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    part: PathBuf,
    /// What identifies the file on its disk.
    identity: Identity,
    is_committed: bool,
}

/// What tells a file from another one that takes its name later; nothing where the system doesn't say.
type Identity = Option<(u64, u64)>;

#[cfg(unix)]
fn identity(file: &File) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().map(|found| Some((found.dev(), found.ino())))
}

#[cfg(not(unix))]
fn identity(_: &File) -> io::Result<Identity> {
    Ok(None)
}

impl Part {
    /// Begins the file that will be at `path`.
    pub(crate) fn create(path: &Path) -> Result<(Self, File), OutputError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // The number of this process, so that two that write to one folder don't mix theirs.
        let part = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        // What is there is of a killed process that had this number, or a link that somebody has planted: it goes, and
        // what it leads to stays.
        let _ = fs::remove_file(&part);
        let created = OpenOptions::new().write(true).create_new(true).open(&part);
        let created = created.and_then(|file| Ok((identity(&file)?, file)));
        let (identity, file) = created.map_err(|error| OutputError { path: path.into(), error })?;
        Ok((Self { path: path.into(), part, identity, is_committed: false }, file))
    }

    /// Opens it again, to write on at its end.
    ///
    /// # Errors
    /// Errors of the system; `PermissionDenied` if another file has taken its name.
    pub(crate) fn append(&self) -> io::Result<File> {
        self.open(OpenOptions::new().append(true))
    }

    /// Opens it again, to read what was written.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub(crate) fn read(&self) -> io::Result<File> {
        self.open(OpenOptions::new().read(true))
    }

    /// Opens it again, unless another file has taken its name.
    fn open(&self, options: &OpenOptions) -> io::Result<File> {
        let file = options.open(&self.part)?;
        if identity(&file)? == self.identity {
            return Ok(file);
        }
        let message = format!("another file has taken the place of {}", self.part.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    }

    /// What went wrong with this file.
    pub(crate) fn error(&self, error: io::Error) -> OutputError {
        OutputError { path: self.path.clone(), error }
    }

    /// Makes sure that what was written is on the disk.
    fn sync(&self) -> Result<(), OutputError> {
        self.append().and_then(|file| file.sync_all()).map_err(|error| self.error(error))
    }

    /// Gives the file its name.
    fn rename(mut self) -> Result<(), OutputError> {
        fs::rename(&self.part, &self.path).map_err(|error| self.error(error))?;
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_committed {
            // Nobody is left to be told; the file's own error has been.
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Gives complete files their names, after the bytes of all of them are on the disk.
pub(crate) fn commit_all(parts: Vec<Part>) -> Result<(), OutputError> {
    parts.iter().try_for_each(Part::sync)?;
    parts.into_iter().try_for_each(Part::rename)
}

fn write_table(file: File, batches: impl Iterator<Item = RecordBatch>) -> io::Result<()> {
    let mut batches = batches.peekable();
    let Some(first) = batches.peek() else { return Ok(()) };
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(file, first.schema(), Some(properties)).map_err(into_io)?;
    for batch in batches {
        writer.write(&batch).map_err(into_io)?;
    }
    writer.close().map(drop).map_err(into_io)
}

fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A folder of this test's own, gone with it.
    struct Folder(TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_complete() {
        let folder = Folder::new();
        let (part, mut file) = Part::create(&folder.path("a")).unwrap();
        file.write_all(b"one").unwrap();
        assert!(!folder.names().contains(&"a".to_owned()));
        commit_all(vec![part]).unwrap();
        assert_eq!(folder.names(), ["a"]);
        assert_eq!(fs::read(folder.path("a")).unwrap(), b"one");
    }

    #[test]
    fn what_is_given_up_leaves_the_old_file_alone_and_nothing_behind() {
        let folder = Folder::new();
        fs::write(folder.path("a"), "old").unwrap();
        let (part, mut file) = Part::create(&folder.path("a")).unwrap();
        file.write_all(b"half").unwrap();
        drop(part);
        assert_eq!(folder.names(), ["a"]);
        assert_eq!(fs::read(folder.path("a")).unwrap(), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn planted_links_lead_nowhere() {
        let folder = Folder::new();
        let [precious, part] =
            ["precious".to_owned(), format!(".a.{}.part", std::process::id())].map(|name| folder.path(&name));
        fs::write(&precious, "precious").unwrap();
        let plant = || std::os::unix::fs::symlink(&precious, &part).unwrap();
        plant();
        write_text(&folder.path("a"), "new").unwrap();
        assert_eq!(fs::read(folder.path("a")).unwrap(), b"new");
        // In place of one that is being written.
        let (file, _) = Part::create(&folder.path("a")).unwrap();
        fs::remove_file(&part).unwrap();
        plant();
        assert_eq!(file.append().unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        drop(file);
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_killed_processes_have_left_is_removed_and_nothing_else() {
        let folder = Folder::new();
        // Above the highest number of a process on Linux, 2^22.
        let gone = 4_194_305;
        let own = std::process::id();
        let left = [format!(".run.json.{gone}.part"), format!(".n0.pcapng.{gone}.part")];
        let stays = [
            format!(".flows.parquet.{gone}.part"),
            format!(".mine.{gone}.part"),
            format!(".series.parquet.{own}.part"),
            format!("run.json.{gone}.part"),
            ".run.json.part".to_owned(),
        ];
        let now = fs::metadata(&folder.0).unwrap().modified().unwrap();
        for name in left.iter().chain(&stays) {
            let file = File::create(folder.path(name)).unwrap();
            // The first of those that stay was written just now.
            let age = std::time::Duration::from_secs(if *name == stays[0] { 0 } else { 120 });
            file.set_modified(now - age).unwrap();
        }
        prepare_folder(folder.0.path(), |name| name == "n0.pcapng").unwrap();
        let mut expected = stays.to_vec();
        expected.sort();
        assert_eq!(folder.names(), expected);
    }

    #[test]
    fn folders_in_the_way_are_found() {
        let folder = Folder::new();
        for name in ["mine", "n0.pcapng"] {
            fs::create_dir_all(folder.path(name)).unwrap();
        }
        fs::write(folder.path("flows.parquet"), "").unwrap();
        prepare_folder(folder.0.path(), |_| false).unwrap();
        assert_eq!(
            prepare_folder(folder.0.path(), |name| name == "n0.pcapng").unwrap_err().path,
            folder.path("n0.pcapng")
        );
        for name in ["series.parquet", "run.json"] {
            fs::create_dir_all(folder.path(name)).unwrap();
            let error = prepare_folder(folder.0.path(), |_| false).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("{}: can't be written: a folder is there", folder.path(name).display())
            );
        }
        assert_eq!(prepare_folder(&folder.path("nowhere"), |_| false).unwrap_err().path, folder.path("nowhere"));
    }

    #[test]
    fn an_error_names_the_file_that_was_wanted() {
        let folder = Folder::new();
        // What is in the way is a folder with something in it.
        fs::create_dir_all(folder.path("a/b")).unwrap();
        let (part, _) = Part::create(&folder.path("a")).unwrap();
        let error = commit_all(vec![part]).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: can't be written: Is a directory", folder.path("a").display()));
        assert_eq!(folder.names(), ["a"]);
        let missing = folder.path("nowhere/a");
        assert_eq!(Part::create(&missing).unwrap_err().path, missing);
    }
}
