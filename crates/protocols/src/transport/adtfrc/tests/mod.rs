//! Tests of the machines as wholes.

mod properties;
mod receiver;
mod sender;
