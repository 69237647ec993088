//! What is present in each part of a channel: in the primary channel, and in the secondary ones.

use hopcast_protocols::time::{Duration, Instant};

use crate::phy::{ChannelWidth, PARTS, energy_thresholds};
use crate::units::Power;

/// A signal in the parts of a receiver's channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Presence {
    /// Its power in each part.
    pub(crate) parts: [Power; PARTS],
    /// The least power with which it makes each secondary part busy.
    pub(crate) busy: [Power; PARTS],
    /// Whether it only leaks into the primary channel.
    pub(crate) is_apart: bool,
}

/// Widths of which all secondary channels were idle for PIFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleWidths {
    /// Up to now.
    pub now: ChannelWidth,
    /// Up to the start of the frame that the station has synchronised to last.
    pub before: ChannelWidth,
}

/// See the module. The primary channel is the first part, the secondary channel of 20 MHz the next one.
#[derive(Clone, Debug)]
pub(crate) struct Bands {
    /// Of the whole channel.
    width: ChannelWidth,
    pifs: Duration,
    thresholds: [Power; PARTS],
    energy: [Power; PARTS],
    /// That of signals on the primary channel, in that.
    on_primary: Power,
    /// Frames that are present with enough power to make the part busy.
    frames: [u32; PARTS],
    /// `None`: it is busy.
    idle_since: [Option<Instant>; PARTS],
    /// What was idle as the latest frame began, and as the one did to which the receiver synchronised.
    latest: ChannelWidth,
    before: ChannelWidth,
}

impl Bands {
    /// A silent channel of this width, at a station with this PIFS.
    pub(crate) fn new(width: ChannelWidth, pifs: Duration) -> Self {
        Self {
            width,
            pifs,
            thresholds: energy_thresholds(),
            energy: [Power::ZERO; PARTS],
            on_primary: Power::ZERO,
            frames: [0; PARTS],
            idle_since: [Some(Instant::START); PARTS],
            latest: width,
            before: width,
        }
    }

    /// The energy in the primary channel and in this number of secondary ones.
    pub(super) fn energy(&self, secondaries: u8) -> Power {
        self.energy[..=usize::from(secondaries)].iter().fold(Power::ZERO, |sum, &part| sum + part)
    }

    /// Whether the primary channel is busy, of which `threshold` is the least power of signals on it that make it so. What leaks into it
    /// takes more.
    pub(super) fn is_primary_busy(&self, threshold: Power) -> bool {
        self.on_primary >= threshold || self.energy[0] >= self.thresholds[0]
    }

    /// A signal begins.
    pub(super) fn begin(&mut self, Presence { parts, busy, is_apart }: &Presence, now: Instant) {
        self.latest = self.idle_width(now);
        if !is_apart {
            self.on_primary += parts[0];
        }
        for place in 0..PARTS {
            self.energy[place] += parts[place];
            self.frames[place] += u32::from(parts[place] >= busy[place]);
        }
        self.judge(now);
    }

    /// A signal ends.
    pub(super) fn end(&mut self, Presence { parts, busy, is_apart }: &Presence, now: Instant) {
        if !is_apart {
            self.on_primary -= parts[0];
        }
        for place in 0..PARTS {
            self.energy[place] -= parts[place];
            self.frames[place] -= u32::from(parts[place] >= busy[place]);
        }
        self.judge(now);
    }

    /// The receiver synchronises to the signal that has begun last.
    pub(super) fn note_frame(&mut self) {
        self.before = self.latest;
    }

    pub(crate) fn idle_widths(&self, now: Instant) -> IdleWidths {
        IdleWidths { now: self.idle_width(now), before: self.before }
    }

    /// The widest part around the primary channel whose secondary channels have been idle for PIFS (IEEE 802.11-2020, 10.23.2.5).
    fn idle_width(&self, now: Instant) -> ChannelWidth {
        let is_idle = |place: &usize| self.idle_since[*place].is_some_and(|since| since + self.pifs <= now);
        let idle = (1..=self.width as usize).take_while(is_idle).count();
        ChannelWidth::ALL[idle]
    }

    fn judge(&mut self, now: Instant) {
        for place in 1..PARTS {
            let is_busy = self.frames[place] > 0 || self.energy[place] >= self.thresholds[place];
            let idle_since = &mut self.idle_since[place];
            *idle_since = if is_busy { None } else { idle_since.or(Some(now)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Band, Fit, Overlap, Standard, WideChannel};
    use ChannelWidth::{Mhz20, Mhz40, Mhz80};

    fn us(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    fn wide(number: u32, width: ChannelWidth) -> WideChannel {
        Standard::Vht.channels_in(Band::High).wide(number, width).expect("a channel of Annex E")
    }

    /// Channel 36 of 80 MHz, PIFS 25 us.
    fn bands() -> Bands {
        Bands::new(Mhz80, Duration::from_micros(25))
    }

    /// A frame that fills a channel, of this power.
    fn frame(number: u32, width: ChannelWidth, dbm: f64) -> Presence {
        let overlap = Overlap::new(&wide(number, width), width, &wide(36, Mhz80), None);
        Presence { parts: overlap.parts(Power::from_dbm(dbm)), busy: overlap.busy, is_apart: overlap.fit == Fit::Apart }
    }

    #[test]
    fn a_secondary_channel_is_idle_pifs_after_a_frame() {
        for (number, width, idle) in [(40, Mhz20, Mhz20), (44, Mhz20, Mhz40), (48, Mhz20, Mhz40), (44, Mhz40, Mhz40)] {
            let mut bands = bands();
            let frame = frame(number, width, -72.0 + 1e-6);
            assert_eq!(bands.idle_width(us(100)), Mhz80);
            bands.begin(&frame, us(100));
            assert_eq!(bands.idle_width(us(150)), idle);
            bands.end(&frame, us(200));
            assert_eq!(bands.idle_width(us(225) - Duration::from_nanos(1)), idle);
            assert_eq!(bands.idle_width(us(225)), Mhz80);
        }
    }

    /// 21.3.18.5.4: frames from -72 dBm on, and what is no frame, or weaker, from -62 or -59 dBm on.
    #[test]
    fn weak_frames_leave_a_secondary_channel_idle() {
        let idle = |present: &[Presence]| {
            let mut bands = bands();
            present.iter().for_each(|presence| bands.begin(presence, us(100)));
            bands.idle_width(us(200))
        };
        assert_eq!(idle(&[frame(44, Mhz20, -72.1)]), Mhz80);
        assert_eq!(idle(&[frame(44, Mhz20, -72.1); 19]), Mhz80);
        // 10 log10(21) = 13.2 dB.
        assert_eq!(idle(&[frame(44, Mhz20, -72.1); 21]), Mhz40);
        let no_frame = |number, dbm| Presence { busy: [Power::MAX; PARTS], ..frame(number, Mhz20, dbm) };
        assert_eq!([-62.1, -61.9].map(|dbm| idle(&[no_frame(40, dbm)])), [Mhz80, Mhz20]);
        assert_eq!([-59.1, -58.9].map(|dbm| idle(&[no_frame(44, dbm)])), [Mhz80, Mhz40]);
    }

    /// 17.3.10.6, 21.3.18.5.3: a frame on the primary channel makes it busy from -82 dBm on, what leaks into it from -62 dBm on.
    #[test]
    fn what_leaks_into_the_primary_channel_takes_more_to_make_it_busy() {
        let is_busy = |number, dbm: f64| {
            let overlap = Overlap::new(&wide(number, Mhz20), Mhz20, &wide(36, Mhz80), Some(28.0));
            let mut bands = bands();
            let is_apart = overlap.fit == Fit::Apart;
            let parts = overlap.parts(Power::from_dbm(dbm));
            bands.begin(&Presence { parts, busy: overlap.busy, is_apart }, us(100));
            bands.is_primary_busy(Power::from_dbm(-82.0))
        };
        assert_eq!([-82.1, -81.9].map(|dbm| is_busy(36, dbm)), [false, true]);
        assert_eq!([-34.1, -33.9].map(|dbm| is_busy(40, dbm)), [false, true]);
        assert_eq!([-18.1, -17.9].map(|dbm| is_busy(44, dbm)), [false, true]);
    }

    #[test]
    fn what_was_idle_before_a_frame_is_kept() {
        let mut bands = bands();
        let (neighbour, own) = (frame(44, Mhz20, -60.0), frame(36, Mhz80, -50.0));
        bands.begin(&neighbour, us(10));
        bands.end(&neighbour, us(80));
        bands.begin(&own, us(100));
        bands.note_frame();
        bands.end(&own, us(140));
        assert_eq!(bands.idle_widths(us(150)), IdleWidths { now: Mhz20, before: Mhz40 });
        bands.begin(&own, us(200));
        bands.note_frame();
        assert_eq!(bands.idle_widths(us(210)), IdleWidths { now: Mhz20, before: Mhz80 });
    }
}
