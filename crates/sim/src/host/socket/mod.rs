//! Sockets: one end of a UDP association, or of a connection.

pub(in crate::host) mod dccp;
pub(in crate::host) mod tcp;
pub(in crate::host) mod udp;
