//! Tests of the machines as wholes: each end by hand, then both over a link.

mod properties;
mod receiver;
mod sender;
mod throughput;
