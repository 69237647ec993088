//! Routing: who is the next hop towards a destination.

pub mod fixed;
