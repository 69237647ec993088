//! The length of frames that RTS and CTS precede: in bytes, or as a time.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::schema::{OTHER_KEY, inline_schema, schema_with_words};
use super::{Dimension, Size, Time};

const OFF: &str = "off";

/// A length of frames, or `off`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RtsThreshold {
    /// In bytes.
    Length(Size),
    /// On the air.
    Duration(Time),
    /// Longer than any frame.
    Off,
}

impl fmt::Display for RtsThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(size) => size.fmt(f),
            Self::Duration(time) => time.fmt(f),
            Self::Off => f.write_str(OFF),
        }
    }
}

impl Serialize for RtsThreshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Length(size) => size.serialize(serializer),
            Self::Duration(time) => time.serialize(serializer),
            Self::Off => serializer.serialize_str(OFF),
        }
    }
}

impl<'de> Deserialize<'de> for RtsThreshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        if value == OFF {
            return Ok(Self::Off);
        }
        if let Ok(size) = Size::deserialize(&value) {
            return Ok(Self::Length(size));
        }
        Time::deserialize(value).map(Self::Duration).map_err(de::Error::custom)
    }
}

inline_schema!(RtsThreshold, {
    let mut schema = schema_with_words(Dimension::Size, &[OFF]);
    let pattern = |schema: &schemars::Schema| {
        schema.get("pattern").and_then(|pattern| pattern.as_str()).unwrap_or_default().to_owned()
    };
    let either = format!("{}|{}", pattern(&schema), pattern(&super::schema::schema_of(Dimension::Time)));
    schema.insert("pattern".into(), either.into());
    schema.insert(OTHER_KEY.into(), Dimension::Time.name()[2..].into());
    schema
});
