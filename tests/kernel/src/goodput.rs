//! Goodput of one sender or the other over the same bottleneck, to the same receiver.

use std::io::{self, ErrorKind};
use std::sync::Mutex;
use std::thread;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::{Config, Variant};

use crate::{Bottleneck, Kernel, Losses, Own, Role, Settings, Trace, Until, WholeSegments, carry};

/// A run is no measurement of the path if the path delivered packets later than this on average: a twentieth of its round
/// trip.
const LATE: Duration = Duration::from_millis(1);

/// A congestion control that both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
}

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// hopcast.
    Own,
    /// hopcast, with Reno's window counted as the kernel counts it.
    Counting,
    /// The kernel.
    Kernel,
    /// The kernel without tail loss probes.
    WithoutProbes,
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Case {
    /// The congestion control; of no meaning for [`Sender::Counting`].
    pub algorithm: Algorithm,
    /// Who sends.
    pub sender: Sender,
    /// Whether the receiver knows SACK. Without it, neither RACK nor TLP is used, and both recover as RFC 6582 has it.
    pub sack: bool,
    /// The least retransmission timeout.
    pub min_rto: Duration,
    /// Share of packets that is lost at random.
    pub loss: f64,
}

impl Case {
    /// Both as they are, as far as both have it: ten segments at first, a least timeout of 200 ms, SACK, no timestamps, buffers
    /// that limit nothing. What only one has is on.
    pub fn new(algorithm: Algorithm, sender: Sender, loss: f64) -> Self {
        Self { algorithm, sender, sack: true, min_rto: Settings::default().min_rto, loss }
    }

    /// Sends for `duration` to a socket of the kernel's over 20 Mb/s, 20 ms there and back (34 packets of 1500 B) and a queue of
    /// 50 packets. `seed` is that of the losses.
    pub fn run(&self, seed: u64, duration: Duration) -> io::Result<Trace> {
        let losses = Losses::Random { rate: self.loss, seed };
        let path = Bottleneck { rate: 20_000_000, delay: Duration::from_millis(10), queue: 50, losses };
        let mut receiver = Kernel::open(&Settings { sack: self.sack, ..Settings::default() }, Role::Receives)?;
        let until = Until::Elapsed(duration);
        let role = Role::Sends(u64::MAX);
        match self.sender {
            Sender::Own => carry(&mut Own::new(self.config(), role), &mut receiver, &path, until),
            Sender::Counting => {
                let mut own = Own::sender_with(self.config(), u64::MAX, Box::new(WholeSegments::new()));
                carry(&mut own, &mut receiver, &path, until)
            }
            Sender::Kernel | Sender::WithoutProbes => {
                carry(&mut Kernel::open(&self.settings(), role)?, &mut receiver, &path, until)
            }
        }
    }

    fn config(&self) -> Config {
        Config {
            variant: match self.algorithm {
                Algorithm::Reno => Variant::Sack,
                Algorithm::Cubic => Variant::Cubic,
            },
            initial_window: Some(Settings::default().initial_window),
            min_rto: self.min_rto,
            send_buffer: 1 << 22,
            ..Config::default()
        }
    }

    fn settings(&self) -> Settings {
        let default = Settings::default();
        Settings {
            congestion: match self.algorithm {
                Algorithm::Reno => "reno",
                Algorithm::Cubic => "cubic",
            },
            early_retransmit: if self.sender == Sender::WithoutProbes { 0 } else { default.early_retransmit },
            min_rto: self.min_rto,
            ..default
        }
    }
}

/// Goodput of each case in bit/s, the mean over `seeds` runs of `duration`. `at_once` runs share the machine. If it has so
/// much else to do that packets are late, the error is [`ErrorKind::TimedOut`].
pub fn goodputs(cases: &[Case], seeds: u64, duration: Duration, at_once: usize) -> io::Result<Vec<f64>> {
    let jobs: Vec<_> = (0..cases.len()).flat_map(|case| (1..=seeds).map(move |seed| (case, seed))).collect();
    let next = Mutex::new(jobs.iter());
    let sums = Mutex::new(vec![0.0; cases.len()]);
    let work = || -> io::Result<()> {
        loop {
            let job = next.lock().expect("no worker panics").next();
            let Some(&(case, seed)) = job else { return Ok(()) };
            let trace = cases[case].run(seed, duration)?;
            let late = trace.mean_lateness();
            if late > LATE {
                let reason = format!("the machine is too busy: packets were late by {late} on average");
                return Err(io::Error::new(ErrorKind::TimedOut, reason));
            }
            let bytes = trace.acknowledged_by(Instant::START + duration);
            let rate = f64::from(bytes) * 8.0 / duration.as_secs_f64();
            sums.lock().expect("no worker panics")[case] += rate / seeds as f64;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker returns its error"))
    })?;
    Ok(sums.into_inner().expect("no worker panics"))
}
