//! Writes events in the order of their times, in bounded memory.

use std::collections::BTreeMap;
use std::io::{self, Write};

use hopcast_protocols::time::Instant;

use super::event::Event;

/// Puts events in order and writes them. An event such as a reception is known only when it ends, after others that began
/// later; it waits here until no earlier one can come.
#[derive(Debug)]
pub(super) struct EventWriter<W> {
    output: W,
    /// By time, then by [`Kind::order`](super::event::Kind::order), then in the order of their arrival.
    waiting: BTreeMap<(Instant, u8, u64), Event>,
    arrived: u64,
    written: u64,
}

impl<W: Write> EventWriter<W> {
    /// One that writes to `output`, which should be buffered.
    pub(super) fn new(output: W) -> Self {
        Self { output, waiting: BTreeMap::new(), arrived: 0, written: 0 }
    }

    /// The output.
    pub(super) fn output_mut(&mut self) -> &mut W {
        &mut self.output
    }

    /// Takes an event, whose time must not be before the last [`Self::release`].
    pub(super) fn push(&mut self, event: Event) {
        self.waiting.insert((event.time, event.kind.order(), self.arrived), event);
        self.arrived += 1;
    }

    /// Writes all events before `time`: none that is to come begins before it.
    ///
    /// # Errors
    /// Errors of the output.
    pub(super) fn release(&mut self, time: Instant) -> io::Result<()> {
        while let Some(first) = self.waiting.first_entry().filter(|entry| entry.key().0 < time) {
            self.output.write_all(&first.remove().to_bytes())?;
            self.written += 1;
        }
        Ok(())
    }

    /// Number of events that wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Writes the `count` earliest events; returns the time of the last of them. None that is to come may begin before it.
    ///
    /// # Errors
    /// Errors of the output.
    pub(super) fn release_first(&mut self, count: usize) -> io::Result<Instant> {
        let mut last = Instant::START;
        for _ in 0..count {
            let Some(((time, ..), event)) = self.waiting.pop_first() else { break };
            last = time;
            self.output.write_all(&event.to_bytes())?;
            self.written += 1;
        }
        Ok(last)
    }

    /// Writes the rest, and returns the output with the number of events.
    ///
    /// # Errors
    /// Errors of the output.
    pub(super) fn finish(mut self) -> io::Result<(W, u64)> {
        for event in core::mem::take(&mut self.waiting).into_values() {
            self.output.write_all(&event.to_bytes())?;
            self.written += 1;
        }
        self.output.flush()?;
        Ok((self.output, self.written))
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::Duration;

    use super::super::event::Kind;
    use super::*;

    fn event(time: u64, value: i32) -> Event {
        Event {
            time: Instant::from_nanos(time),
            duration: Duration::ZERO,
            node: 0,
            peer: Event::NO_INDEX,
            kind: Kind::Send,
            code: 0,
            flow: 0,
            size: 0,
            frame: Event::NO_FRAME,
            value,
        }
    }

    #[test]
    fn a_packet_leaves_its_application_before_it_enters_a_queue() {
        let mut writer = EventWriter::new(Vec::new());
        for kind in [Kind::Transmit, Kind::Enqueue, Kind::Send, Kind::Deliver] {
            writer.push(Event { kind, ..event(5, 0) });
        }
        let (bytes, _) = writer.finish().expect("memory takes it");
        let kinds: Vec<u8> = bytes.chunks(Event::LENGTH).map(|record| record[16]).collect();
        assert_eq!(kinds, [Kind::Deliver, Kind::Send, Kind::Enqueue, Kind::Transmit].map(|kind| kind as u8));
    }

    #[test]
    fn events_are_written_by_time_and_then_as_they_came() {
        let mut writer = EventWriter::new(Vec::new());
        for (time, value) in [(5, 0), (3, 1), (5, 2), (4, 3)] {
            writer.push(event(time, value));
        }
        writer.release(Instant::from_nanos(5)).expect("memory takes it");
        assert_eq!(writer.output.len(), 2 * Event::LENGTH, "only those before the instant");
        let (bytes, count) = writer.finish().expect("memory takes it");
        let values: Vec<u8> = bytes.chunks(Event::LENGTH).map(|record| record[28]).collect();
        assert_eq!((values, count), (vec![1, 3, 0, 2], 4));
    }
}
