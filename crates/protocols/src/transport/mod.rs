//! Transport protocols.
