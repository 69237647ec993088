//! What is wrong with a scenario.

use core::fmt;

/// One thing that is wrong with a scenario, said in terms of what the user wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// The file, `--set` for an override, or a name for a scenario that never was a file.
    pub file: String,
    /// Line in `file`, counted from 1, where it is known.
    pub line: Option<usize>,
    /// Path of the key, with names in place of numbers: `flows.bulk.transport.window`. Empty for the file as a whole.
    pub field: String,
    /// The value as written; `None` where it is missing or a whole table.
    pub value: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// What would be right, where that is not clear from the problem.
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
            write!(f, "; expected {expected}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a scenario, as far as one pass can tell; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioErrors(Vec<ScenarioError>);

impl ScenarioErrors {
    /// In the order of the file, what has no line last.
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
