//! `hopcast probe` as its users run it: as programs, over loopback and between network namespaces.

mod loopback;
mod namespaces;
mod wire;
