//! Video frame traces: the size in bytes of each frame of an encoded video, in sending order.
//!
//! The format is that of the MPEG-4 library of TU Berlin and Arizona State University (Fitzek & Reisslein, "MPEG-4
//! and H.263 video traces for network performance evaluation", IEEE Network 15(6), 2001), which other simulators read
//! too. A line is a frame, in four columns: number, type (`I`, `P`, `B`, or `PB` for two that H.263 codes as one),
//! display time in milliseconds, size in bytes. Lines are in coding order: a B frame follows the later frame that it
//! refers to, so display times go back and forth. An encoder of H.263 may leave frames out, so that display times are
//! uneven. `docs/traces.md` is the user's page.

use std::str::FromStr;
use std::sync::Arc;

use hopcast_protocols::application::MediaSource;
use hopcast_protocols::time::{Duration, Instant};

/// A parsed trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VideoTrace {
    /// Sizes of the frames in bytes, each from 1 to `VideoTrace::MAX_FRAME_BYTES`, in coding order; never empty.
    pub frames: Arc<[u32]>,
    /// Time from one frame to the next: the mean step of the display times, to the nanosecond. The mean, because times
    /// in whole milliseconds round a step of 41.67 ms (24 frames/s) to 41 or 42 ms.
    pub interval: Duration,
    /// Sending time of each frame, from zero, ascending, if the times are uneven: the display times in ascending order,
    /// since an encoder outputs one frame for each displayed one. `None` if rounding to milliseconds explains the
    /// unevenness.
    pub times: Option<Arc<[Duration]>>,
}

/// Load of a trace on a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Number of frames.
    pub frames: usize,
    /// Mean size of a frame in bytes.
    pub mean_bytes: f64,
    /// Largest frame in bytes.
    pub max_bytes: u32,
    /// Coefficient of variation of the sizes: standard deviation over mean.
    pub variation: f64,
    /// Mean rate in bits per second: the mean frame over the interval.
    pub mean_bps: f64,
    /// Peak rate in bits per second: the largest frame over the (mean) interval.
    pub peak_bps: f64,
}

/// Reason why a text is not a trace. `name` is the file as the caller named it; lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line does not have four columns: cut short, or of another format.
    #[error(
        "{name}, line {line}: {found} column(s) in {value:?}, where a frame has 4: number, type, display time in ms, size in bytes"
    )]
    Columns {
        /// The file.
        name: String,
        /// The line.
        line: usize,
        /// How many columns the line has.
        found: usize,
        /// The line's text, at most 40 characters of it.
        value: String,
    },
    /// A column has an invalid value.
    #[error("{name}, line {line}, column {column}: {field} is {value:?}, expected {expected}")]
    Value {
        /// The file.
        name: String,
        /// The line.
        line: usize,
        /// The column, 1 to 4.
        column: usize,
        /// What the column means.
        field: &'static str,
        /// The text found, at most 40 characters of it.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
    /// The file has no frame.
    #[error("{name}: no frames; expected lines of number, type, display time in ms, size in bytes")]
    Empty {
        /// The file.
        name: String,
    },
    /// All frames have the same display time (or there is only one), so the time between frames is unknown.
    #[error("{name}: all {frames} frame(s) are displayed at {time_ms} ms, so the frame rate is unknown")]
    NoFrameRate {
        /// The file.
        name: String,
        /// Number of frames.
        frames: usize,
        /// Their display time in milliseconds.
        time_ms: u64,
    },
}

/// The traces that hopcast contains: name and text.
const BUNDLED: [(&str, &str); 2] = [
    ("big-buck-bunny", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/big-buck-bunny.dat"))),
    ("big-buck-bunny-h263", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/big-buck-bunny-h263.dat"))),
];

impl VideoTrace {
    /// The application that plays the trace from `start`, repeated without end, in packets of at most `packet` bytes.
    pub fn source(&self, start: Instant, packet: u32) -> MediaSource {
        let frames = Arc::clone(&self.frames);
        match &self.times {
            None => MediaSource::new(start, frames, self.interval, packet),
            Some(times) => MediaSource::with_times(start, frames, Arc::clone(times), self.period(), packet),
        }
    }

    /// Largest accepted size of a frame, in bytes: 16 MiB is more than an 8K frame at 3 Gb/s.
    pub(crate) const MAX_FRAME_BYTES: u32 = 16 << 20;

    /// Latest accepted display time, in milliseconds: 115 days.
    pub(crate) const MAX_TIME_MS: u64 = 10_000_000_000;

    /// Reads a trace from `text`; `name` is the file's name in errors. Skips blank lines, lines that begin with `#`, and
    /// the (up to two) header lines without a number at the beginning of the library's files.
    pub fn parse(text: &str, name: &str) -> Result<Self, TraceError> {
        let mut frames = Vec::new();
        let mut times = Vec::new();
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let mut header_lines = 2;
        for (line, content) in lines.filter(|(_, content)| !content.is_empty() && !content.starts_with('#')) {
            if header_lines > 0 && is_header(content) {
                header_lines -= 1;
                continue;
            }
            header_lines = 0;
            let frame = Frame::parse(content, line, name)?;
            frames.push(frame.bytes);
            times.push(frame.time_ms);
        }
        let interval = mean_step(&times, name)?;
        Ok(Self { frames: frames.into(), interval, times: uneven_times(times, interval) })
    }

    /// Rate in b/s of each second of the trace, which repeats up to `length`; of the last one up to there. Frames belong to the second in which they are sent.
    pub(crate) fn rates(&self, length: Duration) -> Vec<f64> {
        const SECOND: Duration = Duration::from_secs(1);
        let seconds = length.as_nanos().div_ceil(SECOND.as_nanos()) as usize;
        let mut bits = vec![0.0; seconds];
        let mut start = Duration::ZERO;
        while start < length {
            for (place, &octets) in self.frames.iter().enumerate() {
                let within = self.times.as_ref().map_or_else(|| self.interval * place as u64, |times| times[place]);
                let second = (start + within).as_nanos() / SECOND.as_nanos();
                if start + within < length {
                    bits[second as usize] += 8.0 * f64::from(octets);
                }
            }
            start += self.period();
        }
        let end = |second: usize| (SECOND * (second as u64 + 1)).min(length);
        let lasts = |second: usize| end(second).as_secs_f64() - second as f64;
        bits.into_iter().enumerate().map(|(second, bits)| bits / lasts(second)).collect()
    }

    /// Time after which the trace repeats: a mean step after its last frame.
    pub fn period(&self) -> Duration {
        match self.times.as_deref() {
            Some(&[.., last]) => last + self.interval,
            _ => self.interval * self.frames.len() as u64,
        }
    }

    /// A trace that hopcast contains, by its name, with or without `.dat`.
    pub fn bundled(name: &str) -> Option<Self> {
        let name = name.strip_suffix(".dat").unwrap_or(name);
        let (_, text) = BUNDLED.iter().find(|(bundled, _)| *bundled == name)?;
        Some(Self::parse(text, name).expect("the bundled traces parse: a test reads each"))
    }

    /// Names of the traces that hopcast contains.
    pub(crate) fn bundled_names() -> impl Iterator<Item = &'static str> {
        BUNDLED.iter().map(|(name, _)| *name)
    }

    /// Sizes and rates over the whole trace.
    pub fn statistics(&self) -> Statistics {
        let count = self.frames.len() as f64;
        let mean = self.frames.iter().map(|&bytes| f64::from(bytes)).sum::<f64>() / count;
        let variance =
            self.frames.iter().map(|&bytes| (f64::from(bytes) - mean) * (f64::from(bytes) - mean)).sum::<f64>() / count;
        let max = self.frames.iter().copied().max().unwrap_or(0);
        let bits_per_second = |bytes: f64| bytes * 8.0 / self.interval.as_secs_f64();
        Statistics {
            frames: self.frames.len(),
            mean_bytes: mean,
            max_bytes: max,
            variation: libm::sqrt(variance) / mean,
            mean_bps: bits_per_second(mean),
            peak_bps: bits_per_second(f64::from(max)),
        }
    }
}

/// One line of a trace.
struct Frame {
    time_ms: u64,
    bytes: u32,
}

impl Frame {
    fn parse(content: &str, line: usize, name: &str) -> Result<Self, TraceError> {
        let mut columns = content.split_whitespace();
        let (Some(number), Some(kind), Some(time), Some(size), None) =
            (columns.next(), columns.next(), columns.next(), columns.next(), columns.next())
        else {
            let found = content.split_whitespace().count();
            return Err(TraceError::Columns { name: name.to_owned(), line, found, value: clip(content) });
        };
        let refuse = |column, field, value, expected| TraceError::Value {
            name: name.to_owned(),
            line,
            column,
            field,
            value: clip(value),
            expected,
        };
        let in_range = |text: &str, range: core::ops::RangeInclusive<u64>| {
            whole_number::<u64>(text).filter(|value| range.contains(value))
        };

        if whole_number::<u64>(number).is_none() {
            return Err(refuse(1, "frame number", number, "a whole number"));
        }
        if !matches!(kind, "I" | "P" | "B" | "PB") {
            return Err(refuse(2, "frame type", kind, "I, P, B or PB"));
        }
        let time_ms = in_range(time, 0..=VideoTrace::MAX_TIME_MS)
            .ok_or_else(|| refuse(3, "display time", time, "whole milliseconds from 0 to 10000000000"))?;
        let bytes = in_range(size, 1..=u64::from(VideoTrace::MAX_FRAME_BYTES))
            .and_then(|bytes| u32::try_from(bytes).ok())
            .ok_or_else(|| refuse(4, "frame size", size, "whole bytes from 1 to 16777216"))?;
        Ok(Self { time_ms, bytes })
    }
}

/// Decimal digits alone: unlike `FromStr`, without a sign.
fn whole_number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// A line without any number in it, such as the names of the columns.
fn is_header(content: &str) -> bool {
    content.split_whitespace().all(|word| word.parse::<f64>().is_err())
}

/// The mean step between display times in milliseconds, whatever their order.
fn mean_step(times: &[u64], name: &str) -> Result<Duration, TraceError> {
    let (Some(&first), Some(&last)) = (times.iter().min(), times.iter().max()) else {
        return Err(TraceError::Empty { name: name.to_owned() });
    };
    if first == last {
        return Err(TraceError::NoFrameRate { name: name.to_owned(), frames: times.len(), time_ms: first });
    }
    let steps = times.len() as u64 - 1;
    // At most MAX_TIME_MS × 10⁶ = 10¹⁶ ns. Half the divisor rounds to nearest; a step below 1 ns would be no time at all.
    let nanos = ((last - first) * 1_000_000 + steps / 2) / steps;
    Ok(Duration::from_nanos(nanos.max(1)))
}

/// The display times in ascending order from zero, unless each is within a millisecond of an even step.
fn uneven_times(mut times: Vec<u64>, interval: Duration) -> Option<Arc<[Duration]>> {
    times.sort_unstable();
    let first = *times.first()?;
    let times = times.into_iter().map(|time| Duration::from_millis(time - first));
    let rounding = Duration::from_millis(1);
    let is_even = |(step, time): (u64, Duration)| {
        let even = interval * step;
        time <= even + rounding && even <= time + rounding
    };
    if (0..).zip(times.clone()).all(is_even) { None } else { Some(times.collect()) }
}

/// The beginning of `text`, for a message.
fn clip(text: &str) -> String {
    const LONGEST: usize = 40;
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> String {
        VideoTrace::parse(text, "film.dat").expect_err("refused").to_string()
    }

    #[test]
    fn frames_keep_coding_order_and_the_display_times_give_the_interval() {
        let trace =
            VideoTrace::parse("1\tI\t0\t919\n2 P 120 1161\n3 B 40 302\n4  B  80  432\n", "film.dat").expect("valid");
        assert_eq!(*trace.frames, [919, 1161, 302, 432]);
        assert_eq!(trace.interval, Duration::from_millis(40));
    }

    /// Frames of 1000, 2000 and 3000 bytes each half second, which repeat after 1.5 s.
    #[test]
    fn each_second_has_the_rate_of_its_frames() {
        let trace = VideoTrace::parse("1 I 0 1000\n2 P 500 2000\n3 P 1000 3000\n", "film.dat").expect("valid");
        assert_eq!(trace.rates(Duration::from_millis(3_250)), [24_000.0, 32_000.0, 40_000.0, 32_000.0]);
        assert_eq!(trace.rates(Duration::from_millis(500)), [16_000.0]);
        // The third frame comes late, in the second after.
        let uneven = VideoTrace::parse("1 I 0 1000\n2 P 500 2000\n3 P 1900 3000\n", "film.dat").expect("valid");
        assert_eq!(uneven.rates(Duration::from_secs(2)), [24_000.0, 24_000.0]);
    }

    #[test]
    fn the_interval_is_that_of_the_film_where_milliseconds_round_it() {
        // 24 frames/s: 0, 41.67, 83.33, 125, … ms.
        let text: String =
            (0..=24_u32).map(|i| format!("{i} P {} 100\n", (f64::from(i) * 1000.0 / 24.0).round())).collect();
        let trace = VideoTrace::parse(&text, "film.dat").expect("valid");
        assert_eq!((trace.interval, trace.times), (Duration::from_nanos(41_666_667), None));
    }

    #[test]
    fn frames_that_were_left_out_make_times_uneven() {
        // An H.263 encoder at 25 frames/s that left some out, with a pair coded as one.
        let trace = VideoTrace::parse("1 I 0 900\n2 PB 120 300\n3 P 160 80\n4 P 440 250\n", "chat.dat").expect("valid");
        let times = [0, 120, 160, 440].map(Duration::from_millis);
        assert_eq!(trace.times.as_deref(), Some(&times[..]));
        assert_eq!((trace.interval, trace.period()), (Duration::from_nanos(146_666_667), times[3] + trace.interval));
        assert_eq!(trace.statistics().mean_bps.round(), 20_864.0);
    }

    #[test]
    fn a_gap_in_coding_order_is_found_among_the_display_times() {
        // I0 P3 B1 B2, then P6 without its B frames, then P7: frames 4 and 5 were left out.
        let text = "1 I 0 9\n2 P 120 8\n3 B 40 3\n4 B 80 3\n5 P 240 7\n6 P 280 7\n";
        let trace = VideoTrace::parse(text, "film.dat").expect("valid");
        let times = [0, 40, 80, 120, 240, 280].map(Duration::from_millis);
        assert_eq!(trace.times.as_deref(), Some(&times[..]));
        assert_eq!(*trace.frames, [9, 8, 3, 3, 7, 7]);
    }

    #[test]
    fn headers_comments_blank_lines_and_dos_line_ends_are_accepted() {
        let text = "Frame Type Time[ms] Length[byte]\r\n\r\n# by hand\r\n1 I 0 10\r\n2 P 40 20\r\n";
        assert_eq!(*VideoTrace::parse(text, "film.dat").expect("valid").frames, [10, 20]);
        let two = "Frame No. Frametype Time Length\n----- ---- ---- -----\n1 I 0 10\n2 P 40 20";
        assert_eq!(*VideoTrace::parse(two, "film.dat").expect("valid").frames, [10, 20]);
    }

    #[test]
    fn a_header_is_accepted_at_the_beginning_only() {
        assert_eq!(
            refusal("1 I 0 10\nFrame Type Time Length\n2 P 40 20\n"),
            "film.dat, line 2, column 1: frame number is \"Frame\", expected a whole number"
        );
        assert!(refusal("a a a a\nb b b b\nc c c c\n").starts_with("film.dat, line 3, column 1"));
    }

    #[test]
    fn a_refusal_names_line_column_value_and_what_would_be_right() {
        let cases = [
            (
                "1 I 0 10\n2 P 4",
                "film.dat, line 2: 3 column(s) in \"2 P 4\", where a frame has 4: number, type, display time in ms, size in bytes",
            ),
            (
                "1 I 0 10 7",
                "film.dat, line 1: 5 column(s) in \"1 I 0 10 7\", where a frame has 4: number, type, display time in ms, size in bytes",
            ),
            ("one I 0 10", "film.dat, line 1, column 1: frame number is \"one\", expected a whole number"),
            ("1 i 0 10", "film.dat, line 1, column 2: frame type is \"i\", expected I, P, B or PB"),
            (
                "1 I -40 10",
                "film.dat, line 1, column 3: display time is \"-40\", expected whole milliseconds from 0 to 10000000000",
            ),
            (
                "1 I inf 10",
                "film.dat, line 1, column 3: display time is \"inf\", expected whole milliseconds from 0 to 10000000000",
            ),
            (
                "1 I 10000000001 10",
                "film.dat, line 1, column 3: display time is \"10000000001\", expected whole milliseconds from 0 to 10000000000",
            ),
            ("1 I 0 0", "film.dat, line 1, column 4: frame size is \"0\", expected whole bytes from 1 to 16777216"),
            ("1 I 0 -5", "film.dat, line 1, column 4: frame size is \"-5\", expected whole bytes from 1 to 16777216"),
            ("1 I 0 NaN", "film.dat, line 1, column 4: frame size is \"NaN\", expected whole bytes from 1 to 16777216"),
            (
                "1 I 0 16777217",
                "film.dat, line 1, column 4: frame size is \"16777217\", expected whole bytes from 1 to 16777216",
            ),
            (
                "1 I 0 99999999999999999999",
                "film.dat, line 1, column 4: frame size is \"99999999999999999999\", expected whole bytes from 1 to 16777216",
            ),
            ("", "film.dat: no frames; expected lines of number, type, display time in ms, size in bytes"),
            ("# nothing\n", "film.dat: no frames; expected lines of number, type, display time in ms, size in bytes"),
            ("1 I 0 10", "film.dat: all 1 frame(s) are displayed at 0 ms, so the frame rate is unknown"),
            ("1 I 80 10\n2 P 80 10", "film.dat: all 2 frame(s) are displayed at 80 ms, so the frame rate is unknown"),
        ];
        for (text, message) in cases {
            assert_eq!(refusal(text), message, "for {text:?}");
        }
    }

    #[test]
    fn the_largest_frame_and_the_latest_time_are_accepted() {
        let text = format!("1 I 0 {}\n2 P {} 1\n", VideoTrace::MAX_FRAME_BYTES, VideoTrace::MAX_TIME_MS);
        let trace = VideoTrace::parse(&text, "film.dat").expect("valid");
        assert_eq!((trace.frames[0], trace.interval), (16_777_216, Duration::from_millis(10_000_000_000)));
    }

    #[test]
    fn statistics_of_a_trace_worked_by_hand() {
        let trace = VideoTrace::parse("1 I 0 100\n2 P 40 300\n", "film.dat").expect("valid");
        let expected = Statistics {
            frames: 2,
            mean_bytes: 200.0,
            max_bytes: 300,
            variation: 0.5,
            mean_bps: 40_000.0,
            peak_bps: 60_000.0,
        };
        assert_eq!(trace.statistics(), expected);
    }

    #[test]
    fn bundled_traces_are_found_by_name() {
        for name in VideoTrace::bundled_names() {
            let trace = VideoTrace::bundled(name).expect("bundled");
            assert_eq!(VideoTrace::bundled(&format!("{name}.dat")), Some(trace));
        }
        assert_eq!(VideoTrace::bundled("Verbose_StarWarsIV"), None);
    }

    /// Rows of the table of statistics in a Markdown text: the cells after the name.
    fn documented_statistics(markdown: &str, name: &str) -> Vec<String> {
        let row = markdown.lines().find(|line| line.starts_with(&format!("| {name} |"))).expect("a row for the trace");
        row.split('|').map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).skip(1).collect()
    }

    fn as_cells(statistics: &Statistics) -> Vec<String> {
        vec![
            statistics.frames.to_string(),
            format!("{:.1}", statistics.mean_bytes),
            statistics.max_bytes.to_string(),
            format!("{:.3}", statistics.variation),
            format!("{:.3}", statistics.mean_bps / 1e6),
            format!("{:.3}", statistics.peak_bps / 1e6),
        ]
    }

    #[test]
    fn the_readme_of_the_traces_states_the_statistics_of_the_file() {
        let readme = include_str!("../../../traces/README.md");
        for name in VideoTrace::bundled_names() {
            let trace = VideoTrace::bundled(name).expect("bundled");
            assert_eq!(
                documented_statistics(readme, name),
                as_cells(&trace.statistics()),
                "{name} in traces/README.md"
            );
        }
    }

    #[test]
    fn big_buck_bunny_is_a_film_in_groups_of_twelve_at_25_frames_per_second() {
        let (_, text) = BUNDLED[0];
        assert_eq!(VideoTrace::bundled("big-buck-bunny").expect("bundled").interval, Duration::from_millis(40));
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let mut by_display: Vec<(u64, &str)> =
            rows.iter().map(|row| (row[2].parse().expect("a number"), row[1])).collect();
        by_display.sort_unstable();
        for (position, (time_ms, kind)) in by_display.into_iter().enumerate() {
            assert_eq!(time_ms, 40 * position as u64);
            assert_eq!(kind, &"IBBPBBPBBPBB"[position % 12..][..1], "frame displayed at {time_ms} ms");
        }
        // A reference comes before the B frames on either side of it.
        assert_eq!(rows[..7].iter().map(|row| row[1]).collect::<String>(), "IPBBPBB");
        for (index, row) in rows.iter().enumerate() {
            assert_eq!(row[0], (index + 1).to_string());
        }
    }

    /// The recommendation wants each macroblock coded again at least once in 132 times (H.263, 4.4).
    #[test]
    fn the_h_263_trace_has_no_b_frames_and_a_key_frame_each_eleven_seconds() {
        let (_, text) = BUNDLED[1];
        for (index, line) in text.lines().enumerate() {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let kind = if index % 132 == 0 { "I" } else { "P" };
            let time = (index * 1000 + 6) / 12;
            assert_eq!(columns[..3], [(index + 1).to_string().as_str(), kind, time.to_string().as_str()]);
        }
        let trace = VideoTrace::bundled("big-buck-bunny-h263").expect("bundled");
        assert_eq!((trace.frames.len(), trace.times), (360, None));
        assert!((trace.interval.as_secs_f64() - 1.0 / 12.0).abs() < 2e-6);
    }

    /// The traces of the library, which may not be passed on. The library's own page for the high-quality Star Wars IV
    /// states 89998 frames, CoV 0.66, largest frame 9370 bytes, peak over mean 6.81.
    #[test]
    fn the_library_traces_have_the_published_statistics() {
        let Some(folder) = std::env::var_os("HOPCAST_TRACES").filter(|value| !value.is_empty()).map(PathBuf::from)
        else {
            skip("HOPCAST_TRACES is not set; docs/traces.md says where the traces are to be had");
            return;
        };
        let published = [
            ("Verbose_StarWarsIV", ["89998", "1376.4", "9370", "0.656", "0.275", "1.874"]),
            ("Verbose_Jurassic", ["89998", "3831.5", "16745", "0.590", "0.766", "3.349"]),
            ("Verbose_silence", ["89998", "2876.3", "22239", "0.797", "0.575", "4.448"]),
            ("Verbose_ARDTalk", ["67498", "2724.3", "15579", "0.631", "0.545", "3.116"]),
        ];
        for (name, expected) in published {
            let path = folder.join(name).with_extension("dat");
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let trace = VideoTrace::parse(&text, name).expect("a trace of the library");
            assert_eq!(trace.interval, Duration::from_millis(40), "{name}");
            assert_eq!(trace.times, None, "{name}: all frames are there, each 40 ms");
            assert_eq!(as_cells(&trace.statistics()), expected, "{name}");
        }
        let star_wars = std::fs::read_to_string(folder.join("Verbose_StarWarsIV.dat")).expect("read above");
        let statistics = VideoTrace::parse(&star_wars, "Verbose_StarWarsIV").expect("parsed above").statistics();
        assert_eq!(format!("{:.2}", statistics.peak_bps / statistics.mean_bps), "6.81");
    }

    #[expect(clippy::print_stderr, reason = "a test that skips says so")]
    fn skip(why: &str) {
        eprintln!("skipped: {why}");
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_read_or_refused(text in "\\PC*") {
            let _ = VideoTrace::parse(&text, "any");
        }

        #[test]
        fn text_that_looks_like_a_trace_is_read_or_refused(
            text in "([0-9]{0,21}[ \t\n]|[IPBX-][ \t]|#|\r|-1 |NaN ){0,200}",
        ) {
            if let Ok(trace) = VideoTrace::parse(&text, "any") {
                prop_assert!(!trace.frames.is_empty() && trace.interval > Duration::ZERO);
            }
        }

        #[test]
        fn what_was_written_is_read(sizes in prop::collection::vec(1..=VideoTrace::MAX_FRAME_BYTES, 2..60), step in 1..1000_u64) {
            let text: String = sizes.iter().enumerate().map(|(i, size)| format!("{i} B {} {size}\n", i as u64 * step)).collect();
            let trace = VideoTrace::parse(&text, "any").expect("valid");
            prop_assert_eq!(&*trace.frames, &sizes[..]);
            prop_assert_eq!(trace.interval, Duration::from_millis(step));
        }
    }
}
