//! What str0m's GCC answers to the feedbacks of a log.

/// str0m after a feedback. Rates in b/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// When, in nanoseconds.
    pub(crate) at: u64,
    /// Its target rate.
    pub(crate) target: f64,
    /// What delay alone allows.
    pub(crate) by_delay: f64,
    /// Its rate control alone, from hopcast's acknowledged rate and detector.
    pub(crate) control: f64,
    pub(crate) acknowledged: Option<f64>,
    /// What a probe found by this feedback.
    pub(crate) probed: Option<f64>,
    /// 1 overuse, 0 normal, -1 underuse.
    pub(crate) usage: f64,
    /// Its smoothed round trip in seconds.
    pub(crate) rtt: f64,
}

impl Answer {
    /// Reads the answers to a log, one a line.
    pub(crate) fn read(text: &str) -> Vec<Self> {
        text.lines().filter(|line| !line.starts_with('#')).map(Self::read_one).collect()
    }

    fn read_one(line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let known = |place: usize| (words[place] != "-").then(|| words[place].parse::<f64>().expect("a number"));
        let number = |place: usize| known(place).expect("a number");
        Self {
            at: words[0].parse().expect("a time"),
            target: number(1),
            by_delay: number(2),
            control: number(3),
            acknowledged: known(4),
            probed: known(5),
            usage: number(6),
            rtt: number(7),
        }
    }
}

impl core::fmt::Display for Answer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { at, target, by_delay, control, acknowledged, probed, usage, rtt } = self;
        let known = |rate: &Option<f64>| rate.map_or("-".into(), |rate| rate.to_string());
        write!(f, "{at} {target} {by_delay} {control} {} {} {usage} {rtt}", known(acknowledged), known(probed))
    }
}
