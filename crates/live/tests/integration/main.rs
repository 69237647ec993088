//! The live commands as their users run them: as programs, over loopback, between network namespaces and on the simulated radio.
//! One program has all of these tests, as most of their time they wait, and can wait at once.
//!
//! Tests are skipped, with a message, where root's rights or a tool are missing; with `HOPCAST_REQUIRE_TOOLS=1` those of
//! the emulation then fail.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "between real stacks time is real, and what was measured or skipped is told"
)]

mod cloud;
mod cores;
mod emulation;
mod keys;
mod node;
mod pipe;
mod probe;
mod processes;
mod stream;
