//! What applications send, and when.

pub mod video_trace;
