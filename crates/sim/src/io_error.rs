//! Text of an input or output error for messages.

use std::io;

/// The system's description of the error, without its number.
pub fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.find(" (os error ").map_or(text.as_str(), |end| &text[..end]).to_owned()
}
