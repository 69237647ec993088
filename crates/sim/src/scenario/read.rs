//! Reads the tables of a checked scenario as types: the given value, else that of the profile, else the declared default.
//! It notes each value in force, in the order of the type's fields.
//!
//! A field `T` is the value in force. A field `Option<T>` is the given value. Without one, this module notes the meaning
//! that [`super::declare::nothing`] declares; for values that the resolver computes ([`super::declare::computed`]) or
//! decides on, the resolver notes them.

use core::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::declare::told_source;
use super::document::Path;
use super::explain::Ledger;
use super::forms::{Form, form, is_table};

impl Ledger<'_> {
    /// The value in force at `path`, a key or a table. Notes it.
    ///
    /// # Panics
    /// If the vocabulary declares no such key, or one of another type.
    pub(super) fn read<T: DeserializeOwned>(&mut self, path: &[&str]) -> T {
        let path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        let schema = self.declaration(&path).schema;
        T::deserialize(Key { ledger: self, path: path.clone(), schema })
            .unwrap_or_else(|error| panic!("{path:?} has passed the check, but {error}"))
    }
}

/// A table, or a list of tables, that the resolver reads later.
pub(super) struct Later<T>(PhantomData<T>);

impl<T: DeserializeOwned> Later<T> {
    /// The table, which is at `path`.
    pub(super) fn read(&self, ledger: &mut Ledger<'_>, path: &[&str]) -> T {
        ledger.read(path)
    }
}

impl<T: DeserializeOwned> Later<Vec<T>> {
    /// An element of the list, which is at `path`.
    pub(super) fn element(&self, ledger: &mut Ledger<'_>, path: &[&str]) -> T {
        ledger.read(path)
    }
}

impl<T: JsonSchema> JsonSchema for Later<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<'de, T> Deserialize<'de> for Later<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(PhantomData))
    }
}

/// A key of the scenario that is being read.
struct Key<'l, 'a> {
    ledger: &'l mut Ledger<'a>,
    path: Path,
    schema: &'static Value,
}

impl<'a> Key<'_, 'a> {
    /// A key of this table, or an element of this list.
    fn below(&mut self, step: &str) -> Key<'_, 'a> {
        let path: Path = self.path.iter().cloned().chain([step.to_owned()]).collect();
        let schema = self.ledger.declaration(&path).schema;
        Key { ledger: self.ledger, path, schema }
    }

    /// A copy.
    fn again(&mut self) -> Key<'_, 'a> {
        Key { ledger: self.ledger, path: self.path.clone(), schema: self.schema }
    }

    /// The value in force, noted.
    fn value(self) -> Result<Value, serde_json::Error> {
        let missing = || serde_json::Error::custom(format!("there is no {:?} and no default", self.path));
        let (value, source) = self.ledger.in_force(&self.path).ok_or_else(missing)?;
        self.ledger.push(&self.path, &value, source);
        Ok(value)
    }
}

impl<'de> Deserializer<'de> for Key<'_, '_> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.value()?.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let declared = self.ledger.declaration(&self.path);
        match (self.ledger.given_or_of_profile(&self.path), declared.absence()) {
            (Some(_), _) if is_table(self.schema) || is_table(&self.schema["items"]) => visitor.visit_some(self),
            (Some((value, source)), Some(_)) => {
                self.ledger.push(&self.path, &value, source);
                visitor.visit_some(value)
            }
            (Some(_), None) => match self.ledger.given(&self.path) {
                Some(value) => visitor.visit_some(value.clone()),
                None => visitor.visit_none(),
            },
            (None, Some((told, source))) => {
                self.ledger.push_told(&self.path, told, told_source(source));
                visitor.visit_none()
            }
            (None, None) => visitor.visit_none(),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_map(Fields { table: self, fields: fields.iter(), next: None })
    }

    /// Several views of one table.
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_seq(Views { table: self, left: len })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match form(self.schema) {
            Form::Tagged(tag, _) => visitor.visit_enum(Kind { tag, table: self }),
            _ => self.value()?.deserialize_enum(name, variants, visitor),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if !is_table(&self.schema["items"]) {
            return self.value()?.deserialize_seq(visitor);
        }
        let len = self.ledger.given(&self.path).and_then(Value::as_array).map_or(0, Vec::len);
        visitor.visit_seq(Items { list: self, places: 0..len })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct tuple
        map identifier
    }
}

/// The keys of a table that a type has.
struct Fields<'l, 'a> {
    table: Key<'l, 'a>,
    fields: core::slice::Iter<'static, &'static str>,
    next: Option<&'static str>,
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        self.next = self.fields.next().copied();
        self.next.map(|field| seed.deserialize(field.into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        seed.deserialize(self.table.below(self.next.take().expect("a key comes before its value")))
    }
}

struct Views<'l, 'a> {
    table: Key<'l, 'a>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Views<'_, '_> {
    type Error = serde_json::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Self::Error> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(self.table.again()).map(Some)
    }
}

struct Items<'l, 'a> {
    list: Key<'l, 'a>,
    places: core::ops::Range<usize>,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = serde_json::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Self::Error> {
        self.places.next().map(|place| seed.deserialize(self.list.below(&place.to_string()))).transpose()
    }
}

/// A table of several kinds.
struct Kind<'l, 'a> {
    tag: &'static str,
    table: Key<'l, 'a>,
}

impl<'de> EnumAccess<'de> for Kind<'_, '_> {
    type Error = serde_json::Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), Self::Error> {
        let kind = self.table.below(self.tag).value()?;
        Ok((seed.deserialize(kind)?, self))
    }
}

impl<'de> VariantAccess<'de> for Kind<'_, '_> {
    type Error = serde_json::Error;

    fn unit_variant(self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Self::Error> {
        seed.deserialize(self.table)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Self::Error> {
        self.table.deserialize_tuple_struct("", len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.table.deserialize_struct("", fields, visitor)
    }
}
