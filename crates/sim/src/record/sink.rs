//! Where events go.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::rc::Rc;

/// Events that a feed has not taken yet.
pub(super) type Copied = Rc<RefCell<Vec<u8>>>;

/// A file, a copy in memory, or both.
#[derive(Debug, Default)]
pub(super) struct Sink {
    file: Option<BufWriter<File>>,
    copied: Option<Copied>,
}

impl Sink {
    /// Writes to a file.
    pub(super) fn file(file: BufWriter<File>) -> Self {
        Self { file: Some(file), copied: None }
    }

    /// Writes to memory too, from now on.
    pub(super) fn set_copied(&mut self, copied: Copied) {
        self.copied = Some(copied);
    }

    /// Ends the file.
    ///
    /// # Errors
    /// This or an earlier error of the file.
    pub(super) fn close(self) -> io::Result<()> {
        let file = self.file.ok_or_else(|| io::Error::other("an earlier part could not be written"))?;
        file.into_inner().map_err(io::IntoInnerError::into_error).map(drop)
    }
}

impl Write for Sink {
    /// Takes all of it. A file that fails takes no more, and the copy goes on.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(copied) = &self.copied {
            copied.borrow_mut().extend_from_slice(bytes);
        }
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(bytes)
        {
            self.file = None;
            return Err(error);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}
