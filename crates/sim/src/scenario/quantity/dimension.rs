//! What a quantity measures, and the units that it may be written in.

/// What a quantity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Frequency, in hertz.
    Frequency,
    /// Length, in metres.
    Length,
    /// Ratio of two powers, in decibels.
    Level,
    /// Power: kept in dBm; a number without unit is in watts.
    Power,
    /// Data rate, in bits per second.
    Rate,
    /// Amount of data, in bytes.
    Size,
    /// Speed, in metres per second.
    Speed,
    /// Time, in seconds.
    Time,
}

/// One spelling of a unit, and the value of a number in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// As written, case included.
    pub symbol: &'static str,
    pub(super) scale: Scale,
}

/// The value of a number in a unit, in the unit in which hopcast keeps values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// This power of ten of the kept unit.
    Decimal(i32),
    /// This multiple of the kept unit.
    Times(f64),
    /// The kept unit divided by this number.
    Over(f64),
    /// This power of ten of a watt, converted to dBm.
    Watts(i32),
}

impl Dimension {
    /// Every dimension.
    pub const ALL: [Self; 8] =
        [Self::Frequency, Self::Length, Self::Level, Self::Power, Self::Rate, Self::Size, Self::Speed, Self::Time];

    /// The units of this dimension; hopcast keeps values in the first.
    ///
    /// Prefixes of sizes are decimal (kB, MB, GB); the binary ones are KiB, MiB, GiB (IEC 80000-13).
    pub const fn units(self) -> &'static [Unit] {
        use Scale::{Decimal, Over, Times, Watts};
        macro_rules! units {
            ($($symbol:literal = $scale:expr),*) => { &[$(Unit { symbol: $symbol, scale: $scale }),*] };
        }
        match self {
            Self::Frequency => units!["Hz" = Decimal(0), "kHz" = Decimal(3), "MHz" = Decimal(6), "GHz" = Decimal(9)],
            Self::Length => units!["m" = Decimal(0), "mm" = Decimal(-3), "cm" = Decimal(-2), "km" = Decimal(3)],
            Self::Level => units!["dB" = Decimal(0)],
            Self::Power => {
                units!["dBm" = Decimal(0), "W" = Watts(0), "mW" = Watts(-3), "uW" = Watts(-6), "µW" = Watts(-6)]
            }
            Self::Rate => units![
                "b/s" = Decimal(0),
                "kb/s" = Decimal(3),
                "Mb/s" = Decimal(6),
                "Gb/s" = Decimal(9),
                "bit/s" = Decimal(0),
                "kbit/s" = Decimal(3),
                "Mbit/s" = Decimal(6),
                "Gbit/s" = Decimal(9),
                "bps" = Decimal(0),
                "kbps" = Decimal(3),
                "Mbps" = Decimal(6),
                "Gbps" = Decimal(9)
            ],
            Self::Size => units![
                "B" = Decimal(0),
                "kB" = Decimal(3),
                "KB" = Decimal(3),
                "MB" = Decimal(6),
                "GB" = Decimal(9),
                "KiB" = Times(1024.0),
                "MiB" = Times(1_048_576.0),
                "GiB" = Times(1_073_741_824.0)
            ],
            Self::Speed => units!["m/s" = Decimal(0), "km/h" = Over(3.6)],
            Self::Time => units![
                "s" = Decimal(0),
                "ns" = Decimal(-9),
                "us" = Decimal(-6),
                "µs" = Decimal(-6),
                "ms" = Decimal(-3),
                "min" = Times(60.0),
                "h" = Times(3600.0)
            ],
        }
    }

    /// The name in schema and messages, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frequency => "a frequency",
            Self::Length => "a length",
            Self::Level => "a level",
            Self::Power => "a power",
            Self::Rate => "a rate",
            Self::Size => "a size",
            Self::Speed => "a speed",
            Self::Time => "a time",
        }
    }

    /// The unit of a number that has none.
    pub(crate) const fn bare_unit(self) -> &'static str {
        match self {
            Self::Power => "W",
            _ => self.units()[0].symbol,
        }
    }

    /// A well-formed value, for messages.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Frequency => "2.412 GHz",
            Self::Length => "200 m",
            Self::Level => "10 dB",
            Self::Power => "15 dBm",
            Self::Rate => "2 Mb/s",
            Self::Size => "1000 B",
            Self::Speed => "5 m/s",
            Self::Time => "10 ms",
        }
    }
}

/// The micro sign, which hopcast writes, and the Greek letter that looks the same, which keyboards and editors produce.
pub(super) const MICRO: [&str; 2] = ["\u{b5}", "\u{3bc}"];
