//! Tests of the machine as a whole: a bench for one end with hand-made packets, and a pair over a virtual link.

mod adaptive;
mod bench;
mod closing;
mod congestion;
mod handshake;
mod pair;
mod validity;
