//! Traces of links: how capacity, delay and loss change in time.
//!
//! There are two formats. The first line tells which one a file has:
//!
//! * **Mahimahi**: each line is a whole number of milliseconds, at which 1504 bytes can leave ([`Opportunities`]). The trace begins again
//!   at its end.
//! * **Table**: the first line names the columns with their units, as in `time_s,rate_Mb/s,delay_ms,loss` or `time[s] loss[%]`. Each
//!   further line is a row, in force from its time on. Commas, semicolons, tabs or spaces separate the columns.
//!
//! Empty lines and lines that begin with `#` are skipped.

use hopcast_protocols::time::Duration;

use super::quantity::Dimension;
use crate::wired::Opportunities;

/// Contents of a trace of a link.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LinkTrace {
    /// The instants at which packets can leave.
    Mahimahi(Opportunities),
    /// Values that change in time.
    Table(LinkTable),
}

/// Values of a link, each in force from a time on. The first row is at zero, and the times ascend.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LinkTable {
    /// Capacity in bits of IP packets per second.
    pub rate: Option<Vec<(Duration, f64)>>,
    /// Propagation delay.
    pub delay: Option<Vec<(Duration, Duration)>>,
    /// Share of packets that get lost.
    pub loss: Option<Vec<(Duration, f64)>>,
    /// Time of the last row.
    pub end: Duration,
}

/// Why a text is not a trace of a link. `name` is the file as the caller named it. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkTraceError {
    /// A line is wrong.
    #[error("{name}, line {line}: {problem}; expected {expected}")]
    Line {
        /// The file.
        name: String,
        /// The line.
        line: usize,
        /// What is wrong with it.
        problem: String,
        /// What would be right.
        expected: String,
    },
    /// The file as a whole is wrong.
    #[error("{name}: {problem}; expected {expected}")]
    File {
        /// The file.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
        /// What would be right.
        expected: &'static str,
    },
}

/// The latest millisecond that is believed: 46 days.
const MAX_MILLIS: u32 = 4_000_000_000;
/// The latest time of a table, in seconds: ten years, the longest run.
const MAX_TIME: f64 = 315_576_000.0;
/// The largest rate in bit/s, and the longest delay in seconds: those of the scenario's keys.
const MAX_RATE: f64 = 1e12;
const MAX_DELAY: f64 = 86_400.0;

const FORMATS: &str =
    "whole milliseconds (Mahimahi), or first the names of columns, such as time_s,rate_Mb/s,delay_ms,loss";

impl LinkTrace {
    /// Reads a trace from `text`; `name` is what errors call it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str, name: &str) -> Result<Self, LinkTraceError> {
        let lines = text.trim_start_matches('\u{feff}').lines().zip(1..).map(|(line, number)| (number, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
        match lines.peek() {
            None => Err(file(name, "has no line", FORMATS)),
            Some((_, first)) if is_whole(first) => mahimahi(lines, name).map(Self::Mahimahi),
            Some(_) => table(lines, name).map(Self::Table),
        }
    }
}

fn is_whole(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn mahimahi<'t>(lines: impl Iterator<Item = (usize, &'t str)>, name: &str) -> Result<Opportunities, LinkTraceError> {
    let mut times: Vec<u32> = Vec::new();
    for (number, line) in lines {
        let time = line.parse().ok().filter(|time| is_whole(line) && *time <= MAX_MILLIS);
        let time: u32 = time.ok_or_else(|| {
            wrong(name, number, format!("{} is no time", clip(line)), format!("whole milliseconds up to {MAX_MILLIS}"))
        })?;
        if let Some(before) = times.last().filter(|before| time < **before) {
            let problem = format!("{time} ms comes after {before} ms");
            return Err(wrong(name, number, problem, "an equal or later time".into()));
        }
        times.push(time);
    }
    Opportunities::new(times).ok_or_else(|| {
        file(name, "ends at 0 ms, so that the time at which it begins again is unknown", "a last line above 0")
    })
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Time,
    Rate,
    Delay,
    Loss,
}

/// A column: what it holds, and the unit that its header names.
struct Column<'t> {
    quantity: Quantity,
    unit: &'t str,
}

impl<'t> Column<'t> {
    /// Reads a header such as `rate_Mb/s`, `rate[Mb/s]`, `rate(Mb/s)` or `loss`.
    fn parse(header: &'t str) -> Result<Self, String> {
        let end = header.find(['_', '[', '(', ' ']).unwrap_or(header.len());
        let (word, unit) = header.split_at(end);
        let unit = unit.trim_matches(|c: char| c.is_whitespace() || "_[]()".contains(c));
        let quantity = match word.to_ascii_lowercase().as_str() {
            "time" => Quantity::Time,
            "rate" => Quantity::Rate,
            "delay" => Quantity::Delay,
            "loss" => Quantity::Loss,
            _ => return Err(format!("column {} is unknown", clip(header))),
        };
        let column = Self { quantity, unit };
        if column.value("1").is_none() {
            let what = if unit.is_empty() { "has no unit" } else { "has an unknown unit" };
            return Err(format!("column {} {what}", clip(header)));
        }
        Ok(column)
    }

    /// A cell in bit/s, seconds, or as a share.
    fn value(&self, cell: &str) -> Option<f64> {
        let dimension = match (self.quantity, self.unit) {
            (Quantity::Loss, "") => return cell.parse().ok(),
            (Quantity::Loss, "%") => return cell.parse::<f64>().ok().map(|percent| percent / 100.0),
            (Quantity::Loss, _) => return None,
            (Quantity::Rate, _) => Dimension::Rate,
            (Quantity::Time | Quantity::Delay, _) => Dimension::Time,
        };
        // A cell has no unit of its own.
        cell.parse::<f64>().ok()?;
        dimension.parse(&format!("{cell} {}", self.unit)).ok()
    }

    /// The largest value, in bit/s, seconds, or as a share.
    fn limit(&self) -> f64 {
        match self.quantity {
            Quantity::Time => MAX_TIME,
            Quantity::Rate => MAX_RATE,
            Quantity::Delay => MAX_DELAY,
            Quantity::Loss => 1.0,
        }
    }

    fn name(&self) -> &'static str {
        match self.quantity {
            Quantity::Time => "time",
            Quantity::Rate => "rate",
            Quantity::Delay => "delay",
            Quantity::Loss => "loss",
        }
    }

    /// What its cells hold, for messages.
    fn expected(&self) -> String {
        match self.quantity {
            Quantity::Time => "seconds from 0 to 315576000".into(),
            Quantity::Rate => "a rate from 0 to 1000 Gb/s".into(),
            Quantity::Delay => "a time from 0 to 86400 s".into(),
            Quantity::Loss if self.unit == "%" => "a percentage from 0 to 100".into(),
            Quantity::Loss => "a share from 0 to 1".into(),
        }
    }
}

fn table<'t>(mut lines: impl Iterator<Item = (usize, &'t str)>, name: &str) -> Result<LinkTable, LinkTraceError> {
    let (number, header) = lines.next().unwrap_or_default();
    let separator = [',', ';', '\t'].into_iter().find(|separator| header.contains(*separator));
    let columns: Result<Vec<Column<'_>>, String> = cells(header, separator).map(Column::parse).collect();
    let columns = columns.map_err(|problem| wrong(name, number, problem, FORMATS.into()))?;
    let of = |quantity: Quantity| columns.iter().filter(move |column| column.quantity == quantity).count();
    let all = [Quantity::Time, Quantity::Rate, Quantity::Delay, Quantity::Loss].map(of);
    if all[0] != 1 || all.iter().any(|&count| count > 1) || columns.len() < 2 {
        let problem = format!("the columns are {}", columns.iter().map(Column::name).collect::<Vec<_>>().join(", "));
        return Err(wrong(name, number, problem, "time, and one each of rate, delay and loss, or some of them".into()));
    }
    let mut found = LinkTable::default();
    let mut before: Option<Duration> = None;
    for (number, line) in lines {
        let row: Vec<&str> = cells(line, separator).collect();
        if row.len() != columns.len() {
            let problem = format!("{} has {} columns", clip(line), row.len());
            return Err(wrong(name, number, problem, format!("{}, as the first line names", columns.len())));
        }
        let mut values = [0.0; 4];
        for (column, cell) in columns.iter().zip(&row) {
            let value = column.value(cell).filter(|value| (0.0..=column.limit()).contains(value));
            values[column.quantity as usize] = value.ok_or_else(|| {
                let problem = format!("{} is {}", column.name(), clip(cell));
                wrong(name, number, problem, column.expected())
            })?;
        }
        let time = Duration::from_secs_f64(values[Quantity::Time as usize]);
        match before {
            None if time > Duration::ZERO => {
                return Err(wrong(
                    name,
                    number,
                    format!("the first row is at {time}"),
                    "0: it holds from the start".into(),
                ));
            }
            Some(before) if time <= before => {
                let problem = format!("{time} comes after {before}");
                return Err(wrong(name, number, problem, "a later time".into()));
            }
            _ => before = Some(time),
        }
        for column in &columns {
            let value = values[column.quantity as usize];
            match column.quantity {
                Quantity::Time => found.end = time,
                Quantity::Rate => found.rate.get_or_insert_default().push((time, value)),
                Quantity::Delay => {
                    found.delay.get_or_insert_default().push((time, Duration::from_secs_f64(value)));
                }
                Quantity::Loss => found.loss.get_or_insert_default().push((time, value)),
            }
        }
    }
    match &found.rate {
        _ if before.is_none() => Err(file(name, "has no rows", "one or more below the names of the columns")),
        Some(rates) if rates.iter().all(|&(_, rate)| rate == 0.0) => {
            Err(file(name, "has only rates of 0, so that nothing ever passes", "a rate above 0"))
        }
        _ => Ok(found),
    }
}

/// The cells of a line: parted by `separator`, or by white space.
fn cells(line: &str, separator: Option<char>) -> impl Iterator<Item = &str> {
    let parted = separator.into_iter().flat_map(move |separator| line.split(separator).map(str::trim));
    let spaced = separator.is_none().then(|| line.split_whitespace()).into_iter().flatten();
    parted.chain(spaced)
}

fn wrong(name: &str, line: usize, problem: String, expected: String) -> LinkTraceError {
    LinkTraceError::Line { name: name.to_owned(), line, problem, expected }
}

fn file(name: &str, problem: &'static str, expected: &'static str) -> LinkTraceError {
    LinkTraceError::File { name: name.to_owned(), problem, expected }
}

/// The beginning of `text` in quotes, for a message.
fn clip(text: &str) -> String {
    const LONGEST: usize = 40;
    format!("{:?}", text.chars().take(LONGEST).collect::<String>())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> String {
        LinkTrace::parse(text, "t").expect_err("refused").to_string()
    }

    fn rows(text: &str) -> LinkTable {
        match LinkTrace::parse(text, "t").expect("a trace") {
            LinkTrace::Table(table) => table,
            LinkTrace::Mahimahi(_) => panic!("no table"),
        }
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_table_has_the_units_of_its_header() {
        let wanted = LinkTable {
            rate: Some(vec![(ms(0), 10e6), (ms(1500), 0.0)]),
            delay: Some(vec![(ms(0), ms(20)), (ms(1500), ms(300))]),
            loss: Some(vec![(ms(0), 0.0), (ms(1500), 0.25)]),
            end: ms(1500),
        };
        for text in [
            "time_s,rate_Mb/s,delay_ms,loss\n0,10,20,0\n1.5,0,300,0.25\n",
            "# made by hand\n\nTime[ms]; Loss [%]; Rate [kbps]; Delay(s)\r\n0; 0; 1e4; 0.02\r\n1500; 25; 0; .3",
            "time_s rate_b/s delay_us loss\n0   10000000 20000 0\n1.5 0 300000 0.25",
            "time (s)\trate (Gb/s)\tdelay (ms)\tloss (%)\n0\t0.01\t20\t0\n1.5\t0\t300\t25",
        ] {
            assert_eq!(rows(text), wanted, "{text}");
        }
        let loss = rows("time_s,loss\n0,1\n");
        assert_eq!((loss.rate, loss.delay, loss.loss), (None, None, Some(vec![(ms(0), 1.0)])));
    }

    #[test]
    fn a_refusal_names_file_line_value_and_what_would_be_right() {
        for (text, wanted) in [
            ("", format!("t: has no line; expected {FORMATS}")),
            ("# nothing\n\n", format!("t: has no line; expected {FORMATS}")),
            ("1\n2.5\n", "t, line 2: \"2.5\" is no time; expected whole milliseconds up to 4000000000".into()),
            ("1\n-2\n", "t, line 2: \"-2\" is no time; expected whole milliseconds up to 4000000000".into()),
            ("1\n+2\n", "t, line 2: \"+2\" is no time; expected whole milliseconds up to 4000000000".into()),
            ("1\n5000000000\n", "t, line 2: \"5000000000\" is no time; expected whole milliseconds up to 4000000000".into()),
            ("1\n7\n7\n5\n", "t, line 4: 5 ms comes after 7 ms; expected an equal or later time".into()),
            ("0\n0\n", "t: ends at 0 ms, so that the time at which it begins again is unknown; expected a last line above 0".into()),
            ("1.5\n", format!("t, line 1: column \"1.5\" is unknown; expected {FORMATS}")),
            ("time_s,speed\n", format!("t, line 1: column \"speed\" is unknown; expected {FORMATS}")),
            ("time_s,rate\n0,1\n", format!("t, line 1: column \"rate\" has no unit; expected {FORMATS}")),
            ("time_s,rate_MB/s\n", format!("t, line 1: column \"rate_MB/s\" has an unknown unit; expected {FORMATS}")),
            ("time_s,loss_ms\n", format!("t, line 1: column \"loss_ms\" has an unknown unit; expected {FORMATS}")),
            (
                "rate_b/s,loss\n",
                "t, line 1: the columns are rate, loss; expected time, and one each of rate, delay and loss, or some of them"
                    .into(),
            ),
            (
                "time_s,loss,loss\n",
                "t, line 1: the columns are time, loss, loss; expected time, and one each of rate, delay and loss, or some of them"
                    .into(),
            ),
            ("time_s,loss\n", "t: has no rows; expected one or more below the names of the columns".into()),
            ("time_s,loss\n0\n", "t, line 2: \"0\" has 1 columns; expected 2, as the first line names".into()),
            ("time_s,loss\n0,1.5\n", "t, line 2: loss is \"1.5\"; expected a share from 0 to 1".into()),
            ("time_s,loss_%\n0,101\n", "t, line 2: loss is \"101\"; expected a percentage from 0 to 100".into()),
            ("time_s,rate_b/s\n0,-1\n", "t, line 2: rate is \"-1\"; expected a rate from 0 to 1000 Gb/s".into()),
            ("time_s,rate_b/s\n0,nan\n", "t, line 2: rate is \"nan\"; expected a rate from 0 to 1000 Gb/s".into()),
            ("time_s,rate_b/s\n0,1 Mb/s\n", "t, line 2: rate is \"1 Mb/s\"; expected a rate from 0 to 1000 Gb/s".into()),
            ("time_s,delay_s\n0,86401\n", "t, line 2: delay is \"86401\"; expected a time from 0 to 86400 s".into()),
            ("time_s,delay_s\n1,1\n", "t, line 2: the first row is at 1 s; expected 0: it holds from the start".into()),
            ("time_s,delay_s\n0,1\n2,1\n2,3\n", "t, line 4: 2 s comes after 2 s; expected a later time".into()),
            (
                "time_s,rate_b/s\n0,0\n1,0\n",
                "t: has only rates of 0, so that nothing ever passes; expected a rate above 0".into(),
            ),
        ] {
            assert_eq!(refusal(text), wanted, "for {text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = LinkTrace::parse(&text, "t");
        }

        #[test]
        fn text_that_looks_like_a_trace_is_read_or_refused(
            header in "(time_s|rate_Mb/s|delay\\[ms\\]|loss|loss_%)(,(time_s|rate_Mb/s|delay_ms|loss)){0,3}",
            rows in "([-0-9.e]{0,5}[,\n ]){0,60}",
        ) {
            if let Ok(LinkTrace::Table(table)) = LinkTrace::parse(&format!("{header}\n{rows}"), "t") {
                prop_assert!(table.rate.is_some() || table.delay.is_some() || table.loss.is_some());
            }
        }

        #[test]
        fn milliseconds_are_read_or_refused(text in "([0-9]{0,11}\n){0,40}") {
            let _ = LinkTrace::parse(&text, "t");
        }
    }
}
