//! Randomness: one stream for each purpose and each thing that it is for.
//!
//! A stream's key is derived from the run's seed, the [`Purpose`] and two identifiers, so that adding a node or a flow
//! moves no other draw. The generators are a few lines of our own: a result never moves with a dependency.

use crate::time::Duration;

/// What a draw is for. The numbers are part of the results: never reorder, only append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
#[non_exhaustive]
pub enum Purpose {
    /// Backoff slots of a station's MAC; for: node, radio.
    Backoff = 1,
    /// Positions of a group's nodes; for: group, node.
    Placement = 2,
    /// An application's own choices, such as its start; for: flow, host.
    Application = 3,
    /// Initial sequence numbers of a transport connection; for: flow, hop.
    InitialSequence = 4,
    /// Shadowing that belongs to places; one field a run.
    LinkShadowing = 5,
    /// Shadowing that is drawn for each frame; for: transmission, receiver.
    FrameShadowing = 6,
    /// Fading that is drawn for each frame; for: transmission, receiver.
    BlockFading = 7,
    /// Fading that is a function of time; for: the two ends of a path.
    DopplerFading = 8,
    /// Whether a frame is decoded at its signal-to-interference ratio, or, where thresholds decide that, is lost to errors of its
    /// channel; for: transmission, receiver.
    Decoding = 9,
    /// Whether a packet is lost at a given rate; for: transmission, receiver.
    PacketError = 10,
    /// The states of a Gilbert–Elliott chain; for: node.
    GilbertElliott = 11,
    /// Whether a wire loses a packet; for: link, direction.
    LinkLoss = 12,
    /// Where a node goes, and how fast; for: group, node.
    Mobility = 13,
    /// Jitter and choices of a routing protocol; for: node.
    Routing = 14,
    /// The hash that sorts flows into queues; for: node, radio.
    FlowQueue = 20,
    /// The order in which a rate control samples rates; for: transmitter, receiver.
    RateSampling = 21,
    /// When an access point or station that associates over the air begins; for: node, radio.
    Association = 22,
    /// Whether a frame that was decoded is lost to errors of its channel; for: transmission, receiver.
    ChannelError = 23,
    /// Jitter of address resolution; for: node, radio.
    AddressResolution = 24,
    /// The states of an error model that was added to hopcast; for: 0, what the model names.
    ErrorModel = 25,
    /// Whether the access of a node loses a packet; for: node, direction.
    AccessLoss = 26,
    /// Whether a queue drops a packet; for: 0, 0, with a seed of the interface.
    QueueDrop = 27,
    /// The hash and the draws of the queue of a wire; for: link, direction.
    WireQueue = 28,
    /// The same of an access; for: node, direction.
    AccessQueue = 29,
    /// Obstacles that pass through a link; for: its two ends.
    Blockage = 30,
    /// Slow changes of a link; for: its two ends.
    Drift = 31,
    /// Jitter and resamples of a streaming device; for: device, or the two parts of a stream's identity.
    Cloud = 32,
    /// When users of a streaming cloud ask, and for which clip; for: entry of the scenario, device.
    CloudRequest = 33,
    /// Which devices of a streaming cloud store copies; one stream a run.
    CloudPlacement = 34,
    /// Backoff slots on a half-duplex wire; for: link, direction.
    WireBackoff = 35,
    /// Names of both ends of a session of RTP, and when they report; for: flow, end.
    SessionReports = 36,
}

/// A stream of random numbers: xoshiro256++ (Blackman and Vigna, ACM TOMS 47(4), 2021), seeded through SplitMix64.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

/// The streams of one purpose and one first identifier: where many second ones are asked for, what they share is worked out once.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    key: u64,
}

impl Streams {
    /// Those of `purpose` for the things named by `a` and anything else, in the run with `seed`.
    pub fn new(seed: u64, purpose: Purpose, a: u64) -> Self {
        let key = [purpose as u64, a].iter().fold(mix(seed ^ GOLDEN_GAMMA), |key, &part| combine(key, part));
        Self { key }
    }

    /// The stream for the thing named by `b` besides.
    #[inline]
    pub fn stream(self, b: u64) -> Stream {
        Stream::of_key(self.hash(b))
    }

    /// What [`hash`] gives for `b` besides.
    #[inline]
    fn hash(self, b: u64) -> u64 {
        combine(self.key, b)
    }
}

impl Stream {
    /// The stream of `purpose` for the thing named by `a` and `b`, in the run with `seed`.
    pub fn new(seed: u64, purpose: Purpose, a: u64, b: u64) -> Self {
        Streams::new(seed, purpose, a).stream(b)
    }

    #[inline]
    fn of_key(mut key: u64) -> Self {
        let mut next = || {
            key = key.wrapping_add(GOLDEN_GAMMA);
            mix(key)
        };
        Self { state: [next(), next(), next(), next()] }
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in 0 ≤ x < `bound`, without bias (Lemire, ACM TOMACS 29(1), 2019). A bound of zero gives zero.
    pub fn below(&mut self, bound: u32) -> u32 {
        let mut product = u64::from(self.next_u64() as u32) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next_u64() as u32) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// Uniform in 0 ≤ x < `bound`. A bound of zero gives zero.
    pub(crate) fn duration_below(&mut self, bound: Duration) -> Duration {
        let product = u128::from(self.next_u64()) * u128::from(bound.as_nanos());
        // The upper half of the product is below the bound.
        Duration::from_nanos((product >> 64) as u64)
    }

    /// Uniform in 0 ≤ x < 1, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

/// 64 bits that depend on the seed, the purpose and two identifiers: for draws whose order must not matter.
#[inline]
pub fn hash(seed: u64, purpose: Purpose, a: u64, b: u64) -> u64 {
    Streams::new(seed, purpose, a).hash(b)
}

/// A key that depends on another one and on a further part.
#[inline]
fn combine(key: u64, part: u64) -> u64 {
    mix(key ^ mix(part.wrapping_add(GOLDEN_GAMMA)))
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#[inline]
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_matches_its_published_sequence() {
        // First outputs of SplitMix64 seeded with 0, as its reference implementation prints them.
        let outputs: Vec<u64> = (1..=3_u64).map(|n| mix(GOLDEN_GAMMA.wrapping_mul(n))).collect();
        assert_eq!(outputs, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn xoshiro_matches_its_published_sequence() {
        // The reference implementation's first outputs from the state 1, 2, 3, 4.
        let mut stream = Stream { state: [1, 2, 3, 4] };
        let outputs: Vec<u64> = (0..4).map(|_| stream.next_u64()).collect();
        assert_eq!(outputs, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn bounded_draws_are_uniform() {
        let mut stream = Stream::new(1, Purpose::Backoff, 0, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        let chi_square: f64 = counts.iter().map(|&n| f64::from(n) - 1e4).map(|excess| excess * excess / 1e4).sum();
        assert!(chi_square < 22.46, "chi-square {chi_square} with 6 degrees of freedom exceeds its 99.9 % quantile");
    }

    #[test]
    fn a_key_names_a_stream_of_its_own() {
        let first = |seed, purpose, a, b| Stream::new(seed, purpose, a, b).next_u64();
        let reference = first(1, Purpose::Backoff, 2, 3);
        assert_eq!(reference, first(1, Purpose::Backoff, 2, 3));
        for other in [
            first(2, Purpose::Backoff, 2, 3),
            first(1, Purpose::Placement, 2, 3),
            first(1, Purpose::Backoff, 3, 2),
            first(1, Purpose::Backoff, 2, 4),
        ] {
            assert_ne!(reference, other);
        }
    }
}
