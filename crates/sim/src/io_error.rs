//! What messages say of an input or output error.

use std::io;

/// What the system says is wrong, without the number that it has for it.
pub fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.find(" (os error ").map_or(text.as_str(), |end| &text[..end]).to_owned()
}
