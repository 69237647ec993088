//! Cores on which programs run.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread, and the programs that it starts from now on, have one core for all of them.
pub(crate) fn stay_on_one_core() {
    let this = Pid::from_raw(0);
    let all = sched_getaffinity(this).expect("each thread has its cores");
    let mut one = CpuSet::new();
    let first = (0..CpuSet::count()).find(|&core| all.is_set(core) == Ok(true)).expect("it runs somewhere");
    one.set(first).expect("it is there");
    sched_setaffinity(this, &one).expect("a thread may choose");
}
