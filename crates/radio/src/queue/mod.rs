//! Interface queues: what waits for the medium.

mod drop_tail;

pub use drop_tail::DropTail;
