//! Finds traces of video, of movement and of links by name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LinkTrace, Source};
use crate::io_error::cause;
use crate::mobility::{Leg, trace};
use crate::video_trace::VideoTrace;

/// The trace that plays if none is named.
pub(super) const DEFAULT: &str = "big-buck-bunny";

/// File name extension of the video trace libraries.
const ENDING: &str = ".dat";

/// The traces that a scenario names; each video trace is read once.
pub(super) struct Traces<'a> {
    source: &'a Source,
    found: BTreeMap<String, VideoTrace>,
}

impl<'a> Traces<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, found: BTreeMap::new() }
    }

    /// A file next to the scenario, else a bundled trace, else a file in one of the trace directories, there also with
    /// the extension `.dat`.
    ///
    /// # Errors
    /// Problem, and what would be right: no such file, an unreadable file, or a file that is not a trace.
    pub(super) fn find(&mut self, name: &str) -> Result<VideoTrace, (String, String)> {
        if let Some(trace) = self.found.get(name) {
            return Ok(trace.clone());
        }
        let trace = self.read(name)?;
        self.found.insert(name.into(), trace.clone());
        Ok(trace)
    }

    /// The legs of each node of a movement trace: a file next to the scenario, else in one of the trace directories.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(super) fn movements(&self, name: &str) -> Result<Vec<Arc<[Leg]>>, (String, String)> {
        let path = self.file(name, &[""]).ok_or_else(|| self.missing(name, None))?;
        let moved = trace::parse(&read(&path)?, &path.display().to_string());
        moved.map_err(|error| self.told(&path, "movements", &error))
    }

    /// The trace of a link: a file next to the scenario, else in one of the trace directories.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(super) fn link(&self, name: &str) -> Result<LinkTrace, (String, String)> {
        let path = self.file(name, &[""]).ok_or_else(|| self.missing(name, None))?;
        let link = LinkTrace::parse(&read(&path)?, &path.display().to_string());
        link.map_err(|error| self.told(&path, "a link", &error))
    }

    fn read(&self, name: &str) -> Result<VideoTrace, (String, String)> {
        let beside = self.beside(name);
        if !beside.is_file()
            && let Some(trace) = VideoTrace::bundled(name)
        {
            return Ok(trace);
        }
        let path = self.file(name, &["", ENDING]).ok_or_else(|| {
            let bundled = VideoTrace::bundled_names().collect::<Vec<_>>().join(", ");
            self.missing(name, Some(format!("the bundled traces ({bundled})")))
        })?;
        let video = VideoTrace::parse(&read(&path)?, &path.display().to_string());
        video.map_err(|error| self.told(&path, "video", &error))
    }

    /// What is wrong with a file, and what would be right. Errors quote its text, so that of a file elsewhere is not told: the author
    /// of the scenario may not be allowed to read it.
    fn told(&self, path: &Path, of: &str, error: &dyn core::error::Error) -> (String, String) {
        if self.is_near(path) {
            return (error.to_string(), String::new());
        }
        let expected =
            "one; put it into the folder of the scenario or of --traces, and hopcast says what is wrong with it";
        (format!("{} is no trace of {of}", path.display()), expected.into())
    }

    /// Whether a file lies in the folder of the scenario or in a trace directory, or below. Links count as what they lead to.
    fn is_near(&self, path: &Path) -> bool {
        let Ok(path) = path.canonicalize() else { return false };
        let own = match self.source.directory.as_os_str().is_empty() {
            true => Path::new("."),
            false => &self.source.directory,
        };
        let mut folders = core::iter::once(own).chain(self.source.trace_dirs.iter().map(PathBuf::as_path));
        folders.any(|folder| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder)))
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.source.directory.join(name)
    }

    /// A file of this name next to the scenario, else in one of the trace directories, there with any of these
    /// extensions.
    fn file(&self, name: &str, endings: &[&str]) -> Option<PathBuf> {
        let dirs = self.source.trace_dirs.iter();
        let in_directories = dirs.flat_map(|dir| endings.iter().map(move |ending| dir.join(format!("{name}{ending}"))));
        core::iter::once(self.beside(name)).chain(in_directories).find(|path| path.is_file())
    }

    /// The places where a trace was looked for, as text; `bundled` is one of them.
    fn missing(&self, name: &str, bundled: Option<String>) -> (String, String) {
        let mut places = vec![format!("{} (next to the scenario)", self.beside(name).display())];
        places.extend(bundled);
        match self.source.trace_dirs.as_slice() {
            [] => places.push("no trace directories, as --traces and HOPCAST_TRACES name none".into()),
            dirs => places.extend(dirs.iter().map(|dir| dir.display().to_string())),
        }
        if self.beside(name).is_dir() {
            return ("is a folder".into(), "a file".into());
        }
        ("there is no such trace".into(), format!("one in these places: {}", places.join("; ")))
    }
}

/// Size limit of trace files in bytes: a day of video at 25 frames/s takes about 45 MB.
const MAX_BYTES: u64 = 64 << 20;

/// The text of a file.
fn read(path: &Path) -> Result<String, (String, String)> {
    let unreadable = |cause: String| (format!("{} cannot be read: {cause}", path.display()), String::new());
    let mut octets = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(cause(&error)))?;
    // Files of the kernel, such as /proc/kmsg, have no length, and to read them may take for ever.
    if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Ok(String::new());
    }
    // One more than there may be, which tells that there are more.
    file.take(MAX_BYTES + 1).read_to_end(&mut octets).map_err(|error| unreadable(cause(&error)))?;
    if octets.len() as u64 > MAX_BYTES {
        let expected = format!("at most {} MiB", MAX_BYTES >> 20);
        return Err((format!("{} is too large", path.display()), expected));
    }
    String::from_utf8(octets).map_err(|_| unreadable("it is not text".into()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_file_elsewhere_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let near = folder.path().join("near");
        std::fs::create_dir_all(near.join("below")).unwrap();
        let secret = "0 secret 0\n";
        std::fs::write(folder.path().join("far"), secret).unwrap();
        std::fs::write(near.join("own"), secret).unwrap();
        std::fs::write(near.join("below/own"), secret).unwrap();
        std::os::unix::fs::symlink(folder.path().join("far"), near.join("link")).unwrap();
        let source = Source { directory: near, ..Source::default() };
        let mut traces = Traces::new(&source);
        let absolute = folder.path().join("far").display().to_string();
        for (name, is_told) in
            [("own", true), ("below/own", true), ("../far", false), ("link", false), (&absolute, false)]
        {
            let told =
                [traces.find(name).unwrap_err(), traces.movements(name).unwrap_err(), traces.link(name).unwrap_err()];
            let text: Vec<String> = told.map(|(problem, expected)| format!("{problem}; {expected}")).into();
            assert_eq!(text.join(" ").contains("secret"), is_told, "{name}: {text:?}");
            assert!(text.iter().all(|one| one.contains("is no trace of") != is_told), "{name}: {text:?}");
        }
    }
}
