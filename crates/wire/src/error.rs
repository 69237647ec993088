/// Bytes that do not follow their format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{layer}: {field} at octet {offset} is {value}, should be {expected}")]
pub struct ParseError {
    /// The format, for example `IPv4`.
    pub layer: &'static str,
    /// The field, by the name that the format's standard gives it.
    pub field: &'static str,
    /// Offset of the field, in bytes from the start of the layer's header.
    pub offset: usize,
    /// Value of the field.
    pub value: u64,
    /// Values that would be right.
    pub expected: &'static str,
}

/// Makes the errors of one layer.
pub(crate) struct Layer(pub(crate) &'static str);

impl Layer {
    /// `Ok` if `right`, else the error that says so.
    pub(crate) fn require(
        &self,
        right: bool,
        field: &'static str,
        offset: usize,
        value: impl TryInto<u64>,
        expected: &'static str,
    ) -> Result<(), ParseError> {
        if right { Ok(()) } else { Err(self.error(field, offset, value, expected)) }
    }

    /// The error that says so of a field.
    pub(crate) fn error(
        &self,
        field: &'static str,
        offset: usize,
        value: impl TryInto<u64>,
        expected: &'static str,
    ) -> ParseError {
        // Every caller's value is unsigned and no wider than 64 bits: nothing is lost.
        let value = value.try_into().unwrap_or(u64::MAX);
        ParseError { layer: self.0, field, offset, value, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_layer_field_place_value_and_what_would_be_right() {
        let error = Layer("IPv4").require(false, "version", 0, 6_u8, "4").unwrap_err();
        assert_eq!(error.to_string(), "IPv4: version at octet 0 is 6, should be 4");
        assert_eq!(Layer("IPv4").require(true, "version", 0, 4_u8, "4"), Ok(()));
    }
}
