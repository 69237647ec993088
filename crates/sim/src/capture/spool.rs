//! Buffers for files that are opened only now and then: a run may have more nodes than a process may have open files.

use std::io::{self, Write};
use std::path::Path;

use crate::results::OutputError;
use crate::results::output::Part;

/// A file in the making and what it does not have yet.
pub(super) struct Spool {
    part: Part,
    waiting: Vec<u8>,
}

/// Bytes that wait for the file to be opened.
const LOT: usize = 1 << 16;

impl Spool {
    /// Begins the file that will be at `path`.
    pub(super) fn create(path: &Path) -> Result<Self, OutputError> {
        let (part, _) = Part::create(path)?;
        Ok(Self { part, waiting: Vec::new() })
    }

    /// Writes what waits; the file is complete.
    pub(super) fn finish(mut self) -> Result<Part, OutputError> {
        self.flush().map_err(|error| self.part.error(error))?;
        Ok(self.part)
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
        self.part.append()?.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }
}
