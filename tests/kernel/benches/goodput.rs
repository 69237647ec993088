//! Prints the tables of docs/validation.md on Linux's TCP: `cargo bench -p kernel-peer` as root.
#![expect(clippy::print_stdout, reason = "it prints tables")]

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: the peer is Linux");
}

#[cfg(target_os = "linux")]
fn main() {
    use hopcast_protocols::time::Duration;
    use kernel_peer::goodput::{Case, Law, Sender, goodputs};

    if let Err(error) = kernel_peer::available() {
        println!("skipped: {error}");
        return;
    }
    let second = Duration::from_secs(1);
    let mut rows = Vec::new();
    let mut cases = Vec::new();
    for law in [Law::Reno, Law::Cubic] {
        for loss in [0.0, 0.001, 0.01, 0.05] {
            let case = |sender| Case::new(law, sender, loss);
            let without_sack = |sender| Case { sack: false, ..case(sender) };
            let slow_timer = |sender| Case { min_rto: second, ..case(sender) };
            rows.push((law, loss));
            cases.extend([case(Sender::Own), without_sack(Sender::Own), slow_timer(Sender::Own)].map(Some));
            // The kernel's counting is Reno's.
            let counting = [case(Sender::Counting), without_sack(Sender::Counting)];
            cases.extend(counting.map(|case| (law == Law::Reno).then_some(case)));
            cases.extend([case(Sender::Kernel), case(Sender::WithoutProbes)].map(Some));
            cases.extend([without_sack(Sender::Kernel), slow_timer(Sender::Kernel)].map(Some));
        }
    }
    let columns = cases.len() / rows.len();
    let measured: Vec<_> = cases.iter().flatten().cloned().collect();
    let mut goodputs = goodputs(&measured, 3, Duration::from_secs(15), 8).expect("the runs go on").into_iter();
    let found: Vec<_> = cases.iter().map(|case| case.as_ref().and_then(|_| goodputs.next())).collect();
    println!("| law | loss | hopcast | kernel | kernel / hopcast |\n|---|---:|---:|---:|---:|");
    for ((law, loss), found) in rows.iter().zip(found.chunks_exact(columns)) {
        let [own, kernel] = [0, 5].map(|column| found[column].expect("it was measured") / 1e6);
        println!("| {law:?} | {} % | {own:.2} | {kernel:.2} | {:.3} |", loss * 100.0, kernel / own);
    }
    println!();
    println!(
        "| law | loss | hopcast | no SACK | RTO ≥ 1 s | counting | counting, no SACK | kernel | no TLP | no SACK | RTO ≥ 1 s |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for ((law, loss), found) in rows.iter().zip(found.chunks_exact(columns)) {
        let cell = |rate: &Option<f64>| rate.map_or("–".to_owned(), |rate| format!("{:.2}", rate / 1e6));
        let cells: Vec<_> = found.iter().map(cell).collect();
        println!("| {law:?} | {} % | {} |", loss * 100.0, cells.join(" | "));
    }
}
