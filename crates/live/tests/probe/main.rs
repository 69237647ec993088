//! `hopcast probe` as its users run it: as programs, over loopback and between network namespaces.
#![cfg(target_os = "linux")]

mod loopback;
mod namespaces;
mod processes;
mod wire;
