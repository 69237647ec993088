//! Prints the tables of docs/validation.md on Linux's TCP: `cargo bench -p kernel-peer` as root.
#![expect(clippy::print_stdout, reason = "it prints tables")]

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: the peer is Linux");
}

#[cfg(target_os = "linux")]
fn main() {
    use hopcast_protocols::time::Duration;
    use kernel_peer::goodput::{Algorithm, Case, Sender, goodputs};

    if let Err(error) = kernel_peer::available() {
        println!("skipped: {error}");
        return;
    }
    let second = Duration::from_secs(1);
    let mut rows = Vec::new();
    let mut cases = Vec::new();
    for algorithm in [Algorithm::Reno, Algorithm::Cubic] {
        for loss in [0.0, 0.001, 0.01, 0.05] {
            let case = |sender| Case::new(algorithm, sender, loss);
            let without_sack = |sender| Case { sack: false, ..case(sender) };
            let slow_timer = |sender| Case { min_rto: second, ..case(sender) };
            rows.push((algorithm, loss));
            cases.extend([case(Sender::Own), without_sack(Sender::Own), slow_timer(Sender::Own)].map(Some));
            // The kernel's counting is Reno's.
            let counting = [case(Sender::Counting), without_sack(Sender::Counting)];
            cases.extend(counting.map(|case| (algorithm == Algorithm::Reno).then_some(case)));
            cases.extend([case(Sender::Kernel), case(Sender::WithoutProbes)].map(Some));
            cases.extend([without_sack(Sender::Kernel), slow_timer(Sender::Kernel)].map(Some));
        }
    }
    let columns = cases.len() / rows.len();
    let measured: Vec<_> = cases.iter().flatten().cloned().collect();
    let mut goodputs = goodputs(&measured, 3, Duration::from_secs(15), 8).expect("the runs go on").into_iter();
    let found: Vec<_> = cases.iter().map(|case| case.as_ref().and_then(|_| goodputs.next())).collect();
    println!("| algorithm | loss | hopcast | kernel | kernel / hopcast |\n|---|---:|---:|---:|---:|");
    for ((algorithm, loss), found) in rows.iter().zip(found.chunks_exact(columns)) {
        let [own, kernel] = [0, 5].map(|column| found[column].expect("it was measured") / 1e6);
        println!("| {algorithm:?} | {} % | {own:.2} | {kernel:.2} | {:.3} |", loss * 100.0, kernel / own);
    }
    println!();
    println!(
        "| algorithm | loss | hopcast | no SACK | RTO ≥ 1 s | counting | counting, no SACK | kernel | no TLP | no SACK | RTO ≥ 1 s |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for ((algorithm, loss), found) in rows.iter().zip(found.chunks_exact(columns)) {
        let cell = |rate: &Option<f64>| rate.map_or("–".to_owned(), |rate| format!("{:.2}", rate / 1e6));
        let cells: Vec<_> = found.iter().map(cell).collect();
        println!("| {algorithm:?} | {} % | {} |", loss * 100.0, cells.join(" | "));
    }
}
