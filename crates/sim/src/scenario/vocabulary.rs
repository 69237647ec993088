//! Words of the scenario language that this version knows of but cannot do: refused by name, never ignored or misread.
//!
//! Paths are those of keys, without names or numbers of list elements.

/// Whether `path` is a key that this version does not have yet.
pub(super) fn is_later_key(path: &str) -> bool {
    LATER_KEYS.contains(&path)
}

/// Whether `value` of the key `path` is one that this version does not have yet.
pub(super) fn is_later_value(path: &str, value: &str) -> bool {
    LATER_VALUES.iter().any(|(key, values)| *key == path && values.contains(&value))
}

const LATER_KEYS: &[&str] = &[];

const LATER_VALUES: &[(&str, &[&str])] = &[];
