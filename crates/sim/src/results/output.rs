//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{RunResult, flow_table, node_table, series_table};

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct OutputError {
    /// The file that was wanted; there is nothing of it, unless it was there before.
    pub path: PathBuf,
    /// What the system says.
    #[source]
    pub error: io::Error,
}

/// Writes `flows.parquet`, `nodes.parquet` and `series.parquet` with the rows of all `results`, in their order, to
/// `folder`, which must be there. All three are written in full before the first gets its name. Without results there are no
/// tables.
///
/// # Errors
/// The first file that could not be written.
pub fn write_tables(folder: &Path, results: &[RunResult]) -> Result<(), OutputError> {
    type Rows = fn(&RunResult) -> RecordBatch;
    let tables: [(&str, Rows); 3] =
        [("flows.parquet", flow_table), ("nodes.parquet", node_table), ("series.parquet", series_table)];
    let mut written = Vec::new();
    for (name, rows) in tables {
        let mut file = WholeFile::create(&folder.join(name))?;
        let outcome = write_table(&mut file, results.iter().map(rows));
        outcome.map_err(|error| file.error(error))?;
        written.push(file);
    }
    commit_all(written)
}

/// A file that is written under another name in the same folder, and gets its own when it is complete. One that is given up
/// leaves nothing behind.
#[derive(Debug)]
pub(crate) struct WholeFile {
    path: PathBuf,
    part: PathBuf,
    file: File,
    is_committed: bool,
}

impl WholeFile {
    /// Begins the file that will be at `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, OutputError> {
        let part = part_of(path);
        let file = File::create(&part).map_err(|error| OutputError { path: path.into(), error })?;
        Ok(Self { path: path.into(), part, file, is_committed: false })
    }

    /// What went wrong with this file.
    pub(crate) fn error(&self, error: io::Error) -> OutputError {
        OutputError { path: self.path.clone(), error }
    }

    /// Makes sure that what was written is on the disk.
    fn sync(&mut self) -> Result<(), OutputError> {
        self.file.flush().and_then(|()| self.file.sync_all()).map_err(|error| self.error(error))
    }

    /// Gives the file its name.
    fn rename(mut self) -> Result<(), OutputError> {
        fs::rename(&self.part, &self.path).map_err(|error| self.error(error))?;
        self.is_committed = true;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.file.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.is_committed {
            // Nobody is left to be told; the file's own error has been.
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Gives complete files their names, after the octets of all of them are on the disk.
pub(crate) fn commit_all(mut files: Vec<WholeFile>) -> Result<(), OutputError> {
    files.iter_mut().try_for_each(WholeFile::sync)?;
    files.into_iter().try_for_each(WholeFile::rename)
}

/// The name of a file in the making: of this process, so that two that write to one folder don't mix theirs.
fn part_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn write_table(file: &mut WholeFile, batches: impl Iterator<Item = RecordBatch>) -> io::Result<()> {
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
