//! A whole number that a word may replace.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::schema::{WORDS_KEY, inline_schema};

const OFF: &str = "off";

/// A number of things, or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountOrOff(pub Option<u32>);

impl fmt::Display for CountOrOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(count) => count.fmt(f),
            None => f.write_str(OFF),
        }
    }
}

impl Serialize for CountOrOff {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(count) => count.serialize(serializer),
            None => serializer.serialize_str(OFF),
        }
    }
}

impl<'de> Deserialize<'de> for CountOrOff {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        if value == OFF {
            return Ok(Self(None));
        }
        u32::deserialize(value).map(|count| Self(Some(count))).map_err(de::Error::custom)
    }
}

inline_schema!(CountOrOff, {
    schemars::json_schema!({ "type": ["integer", "string"], "pattern": format!("^{OFF}$"), WORDS_KEY: [OFF] })
});
