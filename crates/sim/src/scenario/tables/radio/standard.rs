//! The names of physical layers, which the radio crate lists.

use std::borrow::Cow;

use hopcast_radio::phy::Standard;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A physical layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StandardName(pub(super) Standard);

impl Serialize for StandardName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for StandardName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        let unknown = || de::Error::custom(format_args!("there is no physical layer {name:?}"));
        Standard::named(&name).map(Self).ok_or_else(unknown)
    }
}

impl JsonSchema for StandardName {
    fn schema_name() -> Cow<'static, str> {
        "StandardName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = Standard::ALL.iter().map(|standard| {
            serde_json::json!({ "const": standard.name(), "description": standard.summary(), "type": "string" })
        });
        json_schema!({ "description": "A physical layer.", "oneOf": names.collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_physical_layer_is_read_as_it_is_written() {
        for &standard in Standard::ALL {
            let written = serde_json::to_string(&StandardName(standard)).expect("a string");
            assert_eq!(
                serde_json::from_str::<StandardName>(&written).expect("a name of a standard"),
                StandardName(standard)
            );
        }
        assert!(serde_json::from_str::<StandardName>("\"802.11z\"").is_err());
    }
}
