//! Buffers for files that are opened only now and then: a run may have more nodes than a process may have open files.
//! Without a file, bytes are only counted.

use std::io::{self, Write};
use std::path::Path;

use crate::results::OutputError;
use crate::results::output::Part;

/// A file in the making and what it does not have yet.
pub(super) struct Spool {
    /// `None` where bytes are only counted.
    part: Option<Part>,
    waiting: Vec<u8>,
    written: u64,
}

/// Bytes that wait for the file to be opened.
const LOT: usize = 1 << 16;

impl Spool {
    /// Begins the file that will be at `path`.
    pub(super) fn create(path: &Path) -> Result<Self, OutputError> {
        let (part, _) = Part::create(path)?;
        Ok(Self { part: Some(part), waiting: Vec::new(), written: 0 })
    }

    /// Counts bytes, and keeps none.
    pub(super) fn counting() -> Self {
        Self { part: None, waiting: Vec::new(), written: 0 }
    }

    /// Number of bytes that were written, including those that wait.
    pub(super) fn written(&self) -> u64 {
        self.written + self.waiting.len() as u64
    }

    /// Writes what waits; the file is complete. `None` where bytes were only counted.
    pub(super) fn finish(mut self) -> Result<Option<Part>, OutputError> {
        let flushed = self.flush();
        let Some(part) = self.part else { return Ok(None) };
        flushed.map_err(|error| part.error(error))?;
        Ok(Some(part))
    }
}

impl Write for Spool {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(octets);
        if self.waiting.len() >= LOT {
            self.flush()?;
        }
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(part) = &mut self.part {
            part.append()?.write_all(&self.waiting)?;
        }
        self.written += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }
}
