//! What went by.

use std::fmt::Write;

use hopcast_protocols::time::{Duration, Instant};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It went on.
    Delivered,
    /// The pattern of losses hit it.
    Lost,
    /// The queue was full.
    Overflowed,
}

/// A segment with payload that the sender sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When it reached the bottleneck.
    pub at: Instant,
    /// Of its first byte, from the start of the stream.
    pub offset: u32,
    /// Bytes of payload.
    pub len: u16,
    /// What became of it.
    pub fate: Fate,
}

/// What went over the bottleneck.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The sender's segments with payload, in order.
    pub sent: Vec<Sent>,
    /// The receiver's acknowledgements as they reached the sender: when, and of how many bytes of the stream.
    pub acknowledged: Vec<(Instant, u32)>,
    /// The most by which the path delivered a packet too late, because the machine had other things to do.
    pub lateness: Duration,
    /// The same summed over all packets delivered, and how many these were.
    pub total_lateness: Duration,
    /// See `total_lateness`.
    pub delivered: u64,
}

impl Trace {
    /// Offset and length of each segment, in the order in which they were sent.
    pub fn order(&self) -> Vec<(u32, u16)> {
        self.sent.iter().map(|sent| (sent.offset, sent.len)).collect()
    }

    /// Bytes of the stream that the sender knew to have arrived at `by`.
    pub fn acknowledged_by(&self, by: Instant) -> u32 {
        let in_time = self.acknowledged.iter().take_while(|&&(at, _)| at <= by);
        in_time.map(|&(_, bytes)| bytes).max().unwrap_or(0)
    }

    /// By how much the path delivered packets too late, on average.
    pub fn mean_lateness(&self) -> Duration {
        self.total_lateness / self.delivered.max(1)
    }

    /// Segments that were sent at least once before.
    pub fn retransmissions(&self) -> usize {
        let mut reach = 0;
        let is_again = |sent: &&Sent| {
            let again = sent.offset < reach;
            reach = reach.max(sent.offset + u32::from(sent.len));
            again
        };
        self.sent.iter().filter(is_again).count()
    }

    /// The order in numbers of segments of `segment` bytes: runs of new ones as first–last, what was sent before with r, what
    /// was lost in parentheses.
    pub fn describe(&self, segment: u32) -> String {
        let mut text = String::new();
        let (mut reach, mut run) = (0, None::<(u32, u32)>);
        let flush = |run: &mut Option<(u32, u32)>, text: &mut String| {
            if let Some((first, last)) = run.take() {
                let _ = if first == last { write!(text, " {first}") } else { write!(text, " {first}–{last}") };
            }
        };
        for sent in &self.sent {
            let number = sent.offset / segment;
            let (again, lost) = (sent.offset < reach, sent.fate != Fate::Delivered);
            reach = reach.max(sent.offset + u32::from(sent.len));
            if !again && !lost {
                run = Some((run.map_or(number, |(first, _)| first), number));
                continue;
            }
            flush(&mut run, &mut text);
            let mark = if again { "r" } else { "" };
            let _ = if lost { write!(text, " ({mark}{number})") } else { write!(text, " {mark}{number}") };
        }
        flush(&mut run, &mut text);
        text
    }
}
