//! Errors in a scenario.

use core::fmt;

/// One error in a scenario, described in the user's terms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// The file, `--set` for an override, or a description of a scenario that is not from a file.
    pub file: String,
    /// Line in `file`, counted from 1, if known.
    pub line: Option<usize>,
    /// Path of the key, with names instead of indices: `flows.bulk.transport.window`. Empty for errors of the file as a
    /// whole.
    pub field: String,
    /// The value as written; `None` if it is missing, a table, or a list of tables.
    pub value: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// What would be right, where the problem does not make this clear.
    pub expected: Option<String>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if !self.field.is_empty() {
            f.write_str(&self.field)?;
            if let Some(value) = &self.value {
                write!(f, " = {value}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.problem)?;
        if let Some(expected) = &self.expected {
            let lead = if self.problem.ends_with('?') { " Expected" } else { "; expected" };
            write!(f, "{lead} {expected}")?;
        }
        Ok(())
    }
}

/// All errors of a scenario that one pass can find; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioErrors(Vec<ScenarioError>);

impl ScenarioErrors {
    /// Sorted by line; errors without a line come last.
    pub(super) fn new(mut errors: Vec<ScenarioError>) -> Self {
        errors.sort_by_key(|error| error.line.unwrap_or(usize::MAX));
        Self(errors)
    }

    /// The errors, in the order of the file.
    pub fn errors(&self) -> &[ScenarioError] {
        &self.0
    }
}

impl fmt::Display for ScenarioErrors {
    /// One line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl core::error::Error for ScenarioErrors {}

impl From<ScenarioError> for ScenarioErrors {
    fn from(error: ScenarioError) -> Self {
        Self(vec![error])
    }
}
