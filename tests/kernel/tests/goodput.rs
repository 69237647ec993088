//! The goodput of both over the same bottleneck, in real time.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

use std::io::ErrorKind;

use hopcast_protocols::time::Duration;
use kernel_peer::available;
use kernel_peer::goodput::{Algorithm, Case, Sender, goodputs};

#[test]
#[ignore = "slow"]
fn the_kernels_goodput_is_that_of_hopcast() {
    if let Err(error) = available() {
        let required = std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_some();
        assert!(!(required && error.program), "{error}");
        println!("skipped: {error}");
        return;
    }
    // Algorithm, loss, SACK, and the most by which the kernel's goodput may be above or below hopcast's. Reno at 5 % is compared
    // without SACK: RACK finds retransmissions that were lost, which RFC 6675 leaves to the timer, and that is a fifth of the
    // kernel's goodput (docs/validation.md).
    let bounds = [
        (Algorithm::Reno, 0.0, true, 0.05),
        (Algorithm::Reno, 0.001, true, 0.05),
        (Algorithm::Reno, 0.01, true, 0.2),
        (Algorithm::Reno, 0.05, false, 0.2),
        (Algorithm::Cubic, 0.0, true, 0.05),
        (Algorithm::Cubic, 0.001, true, 0.05),
        (Algorithm::Cubic, 0.01, true, 0.2),
        (Algorithm::Cubic, 0.05, true, 0.2),
    ];
    let case = |&(algorithm, loss, sack, _), sender| Case { sack, ..Case::new(algorithm, sender, loss) };
    let cases: Vec<_> =
        bounds.iter().flat_map(|bound| [Sender::Own, Sender::Kernel].map(|sender| case(bound, sender))).collect();
    let found = match goodputs(&cases, 3, Duration::from_secs(15), 8) {
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            println!("skipped: {error}");
            return;
        }
        found => found.expect("the runs go on"),
    };
    for ((algorithm, loss, _, bound), found) in bounds.iter().zip(found.chunks_exact(2)) {
        let ratio = found[1] / found[0];
        assert!((ratio - 1.0).abs() < *bound, "{algorithm:?} at {loss}: {ratio} of {}", found[0]);
    }
}
