//! The options of a DCCP header (RFC 4340, 5.8 and 13; RFC 4342, 8; ADTFRC's network state).

use super::LAYER;
use crate::ParseError;
use crate::bit_set::bit_set;
use crate::bytes::array;
use crate::code_point::code_points;

code_points! {
    /// What an option is (IANA, "DCCP Option Types"; from 192 on those that a receiver under CCID 3 sends, RFC 4342, 8).
    OptionKind(u8) {
        /// Fills the header up to a multiple of 4 bytes.
        Padding = 0,
        /// The next option must be understood (RFC 4340, 5.8.2).
        Mandatory = 1,
        /// The receiver can't take more (RFC 4340, 11.6).
        SlowReceiver = 2,
        /// Wants to change a feature of the sender of this option (RFC 4340, 6.1).
        ChangeL = 32,
        /// Answers Change R.
        ConfirmL = 33,
        /// Wants to change a feature of the other side.
        ChangeR = 34,
        /// Answers Change L.
        ConfirmR = 35,
        /// State of a server that keeps none (RFC 4340, 8.1.4).
        InitCookie = 36,
        /// How many packets without data preceded this one (RFC 4340, 7.7).
        NdpCount = 37,
        /// What was received, run by run (RFC 4340, 11.4), with ECN nonce echo 0.
        AckVector0 = 38,
        /// The same with nonce echo 1.
        AckVector1 = 39,
        /// Which packets were received but not delivered (RFC 4340, 11.7).
        DataDropped = 40,
        /// The sender's clock (RFC 4340, 13.1).
        Timestamp = 41,
        /// The other side's clock, as it sent it (RFC 4340, 13.3).
        TimestampEcho = 42,
        /// How long ago the acknowledged packet arrived (RFC 4340, 13.2).
        ElapsedTime = 43,
        /// A CRC of the payload (RFC 4340, 9.3).
        DataChecksum = 44,
        /// The inverse of the loss event rate (RFC 4342, 8.5).
        LossEventRate = 192,
        /// The latest loss intervals (RFC 4342, 8.6).
        LossIntervals = 193,
        /// Bytes per second received (RFC 4342, 8.3).
        ReceiveRate = 194,
        /// ADTFRC's state of the network. 248 to 254 are for experiments (RFC 4342, 12.2).
        NetworkState = 248,
    }
}

code_points! {
    /// What can be negotiated (IANA, "DCCP Feature Numbers"; RFC 4342, 8.4 and 10.3).
    Feature(u8) {
        /// Identifier of the congestion control.
        Ccid = 1,
        /// Whether numbers of 24 bits may be used.
        AllowShortSequenceNumbers = 2,
        /// How many numbers the window of valid ones spans.
        SequenceWindow = 3,
        /// Whether ECN isn't understood.
        EcnIncapable = 4,
        /// Packets for each acknowledgement, under CCID 2.
        AckRatio = 5,
        /// Whether Ack Vectors are sent.
        SendAckVector = 6,
        /// Whether NDP counts are sent.
        SendNdpCount = 7,
        /// The least part of a packet that the checksum must cover.
        MinimumChecksumCoverage = 8,
        /// Whether data checksums are looked at.
        CheckDataChecksum = 9,
        /// Whether the receiver sends loss event rates (CCID 3).
        SendLossEventRate = 192,
    }
}

/// ADTFRC's state of the network, as the receiver of data sees it. No bit: normal.
///
/// Paper of Fu, Meng and Lu, section III-A; the bits are ours, since the paper gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NetworkState(pub u8);

impl NetworkState {
    /// The load exceeds the capacity of the network.
    pub const CONGESTION: Self = Self(0x01);
    /// The path has changed.
    pub const ROUTE_CHANGE: Self = Self(0x02);
    /// Packets are lost at random.
    pub const CHANNEL_ERROR: Self = Self(0x04);
    /// Sent at once, for a loss in congestion.
    pub const URGENT: Self = Self(0x80);
}

bit_set!(NetworkState);

/// The echo of a timestamp (RFC 4340, 13.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimestampEcho {
    /// The timestamp as it came, in units of 10 µs.
    pub timestamp: u32,
    /// Time between its arrival and this packet, in units of 10 µs, if told.
    pub elapsed: Option<u32>,
}

/// One loss interval (RFC 4342, 8.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LossInterval {
    /// Packets from the end of the lossy part to the next interval. 24 bits.
    pub lossless: u32,
    /// The sum of the ECN nonces of the lossless part.
    pub nonce_echo: bool,
    /// Packets from the first lost one to the last within a round trip of it. 23 bits.
    pub lossy: u32,
    /// Packets with data in the interval. 24 bits.
    pub data: u32,
}

/// Bytes of a loss interval in its option.
const INTERVAL_LEN: usize = 9;

/// The value of a Loss Intervals option: the most recent interval first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossIntervals<'a> {
    /// Number of latest packets, up to the acknowledged one, that are not in an interval yet.
    pub skip: u8,
    octets: &'a [u8],
}

impl<'a> LossIntervals<'a> {
    /// The intervals.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = LossInterval> + use<'a> {
        self.octets.chunks_exact(INTERVAL_LEN).map(|octets| {
            let number = |at: usize| u32::from_be_bytes([0, octets[at], octets[at + 1], octets[at + 2]]);
            LossInterval {
                lossless: number(0),
                nonce_echo: octets[3] & 0x80 != 0,
                lossy: number(3) & 0x007f_ffff,
                data: number(6),
            }
        })
    }
}

/// What one option says. Values of up to 253 bytes are borrowed from the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionRepr<'a> {
    /// The next option must be understood.
    Mandatory,
    /// The receiver can't accept more.
    SlowReceiver,
    /// Change L: the sender of this option wants its own feature to have the first of these values that the other side
    /// can live with; for a feature that isn't negotiated by preference, this one.
    ChangeL(Feature, &'a [u8]),
    /// Confirm L: the value now in force, then this side's preferences.
    ConfirmL(Feature, &'a [u8]),
    /// Change R: as Change L, for a feature of the other side.
    ChangeR(Feature, &'a [u8]),
    /// Confirm R.
    ConfirmR(Feature, &'a [u8]),
    /// Number of packets without data immediately before this one. 48 bits.
    NdpCount(u64),
    /// The sender's clock, in units of 10 µs.
    Timestamp(u32),
    /// The other side's clock.
    TimestampEcho(TimestampEcho),
    /// Time since the acknowledged packet arrived, in units of 10 µs.
    ElapsedTime(u32),
    /// Inverse of the loss event rate, rounded up; `u32::MAX`: no loss yet.
    LossEventRate(u32),
    /// The latest loss intervals.
    LossIntervals(LossIntervals<'a>),
    /// Bytes per second received.
    ReceiveRate(u32),
    /// ADTFRC's state of the network.
    NetworkState(NetworkState),
    /// An unparsed option of another kind.
    Other(OptionKind, &'a [u8]),
}

impl OptionRepr<'_> {
    /// Whether the option may be in a Data packet; otherwise receivers ignore it there (RFC 4340, 5.8).
    pub fn may_be_in_data(&self) -> bool {
        match self {
            Self::SlowReceiver | Self::NdpCount(_) | Self::Timestamp(_) | Self::TimestampEcho(_) => true,
            // Options of an HC-Sender, and those that are unknown, which change nothing.
            Self::Other(kind, _) => !matches!(
                kind,
                OptionKind::AckVector0 | OptionKind::AckVector1 | OptionKind::DataDropped | OptionKind::InitCookie
            ),
            _ => false,
        }
    }
}

/// An invalid option; nothing after it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionError {
    /// Its kind.
    pub kind: OptionKind,
    /// The error.
    pub error: ParseError,
}

/// Encoded options one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    octets: &'a [u8],
    /// Of the first one, in bytes from the start of the header; for errors alone.
    offset: usize,
}

impl PartialEq for Options<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.octets == other.octets
    }
}

impl Eq for Options<'_> {}

impl<'a> Options<'a> {
    /// No option.
    pub const NONE: Options<'static> = Options { octets: &[], offset: 0 };

    pub(super) fn new(octets: &'a [u8], offset: usize) -> Self {
        Self { octets, offset }
    }

    /// The bytes.
    pub fn as_octets(&self) -> &'a [u8] {
        self.octets
    }

    /// The options, padding left out. Ends with the first error.
    pub fn iter(&self) -> Iter<'a> {
        Iter { octets: self.octets, at: 0, offset: self.offset }
    }
}

/// Iterator over options.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    octets: &'a [u8],
    at: usize,
    offset: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Result<OptionRepr<'a>, OptionError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let code = *self.octets.get(self.at)?;
            let kind = OptionKind::from(code);
            let (start, rest) = (self.at, &self.octets[self.at..]);
            // Options below 32 have no length (RFC 4340, 5.8).
            if code < 32 {
                self.at += 1;
                match kind {
                    OptionKind::Padding => continue,
                    OptionKind::Mandatory => return Some(Ok(OptionRepr::Mandatory)),
                    OptionKind::SlowReceiver => return Some(Ok(OptionRepr::SlowReceiver)),
                    kind => return Some(Ok(OptionRepr::Other(kind, &[]))),
                }
            }
            self.at = self.octets.len();
            let value = length(rest, self.offset + start).and_then(|length| {
                self.at = start + length;
                value(kind, &rest[2..length], self.offset + start)
            });
            if value.is_err() {
                self.at = self.octets.len();
            }
            return Some(value.map_err(|error| OptionError { kind, error }));
        }
    }
}

/// The length of the option that begins `rest`, its two bytes of kind and length included.
fn length(rest: &[u8], offset: usize) -> Result<usize, ParseError> {
    LAYER.require(rest.len() >= 2, "option kind", offset, rest[0], "followed by a length")?;
    let length = usize::from(rest[1]);
    LAYER.require(length >= 2, "option length", offset + 1, length, "at least 2")?;
    LAYER.require(length <= rest.len(), "option length", offset + 1, length, "at most what is left of the header")?;
    Ok(length)
}

fn value(kind: OptionKind, value: &[u8], offset: usize) -> Result<OptionRepr<'_>, ParseError> {
    let require = |right, field, expected| LAYER.require(right, field, offset + 1, value.len() + 2, expected);
    let word = || u32::from_be_bytes(array(value, 0));
    // Times have 2 or 4 octets.
    let time = |octets: &[u8]| octets.iter().fold(0_u32, |time, &octet| time << 8 | u32::from(octet));
    Ok(match kind {
        OptionKind::ChangeL | OptionKind::ConfirmL | OptionKind::ChangeR | OptionKind::ConfirmR => {
            require(!value.is_empty(), "length of a feature option", "at least 3")?;
            let (feature, values) = (Feature::from(value[0]), &value[1..]);
            match kind {
                OptionKind::ChangeL => OptionRepr::ChangeL(feature, values),
                OptionKind::ConfirmL => OptionRepr::ConfirmL(feature, values),
                OptionKind::ChangeR => OptionRepr::ChangeR(feature, values),
                _ => OptionRepr::ConfirmR(feature, values),
            }
        }
        OptionKind::NdpCount => {
            require((1..=6).contains(&value.len()), "length of NDP count", "3 to 8")?;
            OptionRepr::NdpCount(value.iter().fold(0, |count, &octet| count << 8 | u64::from(octet)))
        }
        OptionKind::Timestamp => {
            require(value.len() == 4, "length of timestamp", "6")?;
            OptionRepr::Timestamp(word())
        }
        OptionKind::TimestampEcho => {
            require(matches!(value.len(), 4 | 6 | 8), "length of timestamp echo", "6, 8 or 10")?;
            let elapsed = (value.len() > 4).then(|| time(&value[4..]));
            OptionRepr::TimestampEcho(TimestampEcho { timestamp: word(), elapsed })
        }
        OptionKind::ElapsedTime => {
            require(matches!(value.len(), 2 | 4), "length of elapsed time", "4 or 6")?;
            OptionRepr::ElapsedTime(time(value))
        }
        OptionKind::LossEventRate => {
            require(value.len() == 4, "length of loss event rate", "6")?;
            OptionRepr::LossEventRate(word())
        }
        OptionKind::LossIntervals => {
            let whole = value.len() % INTERVAL_LEN == 1;
            require(whole, "length of loss intervals", "3 and a multiple of 9")?;
            OptionRepr::LossIntervals(LossIntervals { skip: value[0], octets: &value[1..] })
        }
        OptionKind::ReceiveRate => {
            require(value.len() == 4, "length of receive rate", "6")?;
            OptionRepr::ReceiveRate(word())
        }
        OptionKind::NetworkState => {
            require(value.len() == 1, "length of network state", "3")?;
            OptionRepr::NetworkState(NetworkState(value[0]))
        }
        kind => OptionRepr::Other(kind, value),
    })
}

/// Room for options on their way to the wire, in bytes: what the options of one packet of ours can need.
const LIST_LEN: usize = 192;

/// A list of options under construction.
#[derive(Debug, Clone, Copy)]
pub struct OptionList {
    octets: [u8; LIST_LEN],
    length: usize,
}

impl OptionList {
    /// No option yet.
    pub const fn new() -> Self {
        Self { octets: [0; LIST_LEN], length: 0 }
    }

    /// Adds an option after the others. Returns `false`, and adds nothing, if there is no room for it in 192 bytes, or
    /// its value is longer than the 253 bytes of an option.
    pub fn push(&mut self, option: &OptionRepr) -> bool {
        match *option {
            OptionRepr::Mandatory => self.single(OptionKind::Mandatory),
            OptionRepr::SlowReceiver => self.single(OptionKind::SlowReceiver),
            OptionRepr::ChangeL(feature, values) => self.add(OptionKind::ChangeL, &[&[feature.into()], values]),
            OptionRepr::ConfirmL(feature, values) => self.add(OptionKind::ConfirmL, &[&[feature.into()], values]),
            OptionRepr::ChangeR(feature, values) => self.add(OptionKind::ChangeR, &[&[feature.into()], values]),
            OptionRepr::ConfirmR(feature, values) => self.add(OptionKind::ConfirmR, &[&[feature.into()], values]),
            OptionRepr::NdpCount(count) => {
                let octets = count.to_be_bytes();
                // As few octets as hold it, at least one and at most six.
                let leading = (count.leading_zeros() as usize / 8).clamp(2, 7);
                self.add(OptionKind::NdpCount, &[&octets[leading..]])
            }
            OptionRepr::Timestamp(time) => self.add(OptionKind::Timestamp, &[&time.to_be_bytes()]),
            OptionRepr::TimestampEcho(TimestampEcho { timestamp, elapsed }) => {
                let (octets, skip) = elapsed.map_or(([0; 4], 4), time);
                self.add(OptionKind::TimestampEcho, &[&timestamp.to_be_bytes(), &octets[skip..]])
            }
            OptionRepr::ElapsedTime(elapsed) => {
                let (octets, skip) = time(elapsed);
                self.add(OptionKind::ElapsedTime, &[&octets[skip..]])
            }
            OptionRepr::LossEventRate(inverse) => self.add(OptionKind::LossEventRate, &[&inverse.to_be_bytes()]),
            OptionRepr::LossIntervals(intervals) => {
                self.add(OptionKind::LossIntervals, &[&[intervals.skip], intervals.octets])
            }
            OptionRepr::ReceiveRate(rate) => self.add(OptionKind::ReceiveRate, &[&rate.to_be_bytes()]),
            OptionRepr::NetworkState(state) => self.add(OptionKind::NetworkState, &[&[state.0]]),
            OptionRepr::Other(kind, _) if u8::from(kind) < 32 => self.single(kind),
            OptionRepr::Other(kind, value) => self.add(kind, &[value]),
        }
    }

    /// Adds a Loss Intervals option, the most recent interval first.
    pub fn push_loss_intervals(&mut self, skip: u8, intervals: impl ExactSizeIterator<Item = LossInterval>) -> bool {
        let mut octets = [0; LIST_LEN];
        let mut length = 0;
        for interval in intervals {
            if length + INTERVAL_LEN > octets.len() {
                return false;
            }
            let lossy = interval.lossy & 0x007f_ffff | u32::from(interval.nonce_echo) << 23;
            for (nth, number) in [interval.lossless, lossy, interval.data].into_iter().enumerate() {
                let [_, low @ ..] = number.to_be_bytes();
                octets[length + 3 * nth..][..3].copy_from_slice(&low);
            }
            length += INTERVAL_LEN;
        }
        self.push(&OptionRepr::LossIntervals(LossIntervals { skip, octets: &octets[..length] }))
    }

    /// The options.
    pub fn as_options(&self) -> Options<'_> {
        Options { octets: &self.octets[..self.length], offset: 0 }
    }

    /// Adds all of `other` after the others; returns `false`, and adds nothing, if there is no room.
    pub fn extend(&mut self, other: &Self) -> bool {
        let end = self.length + other.length;
        if end > LIST_LEN {
            return false;
        }
        self.octets[self.length..end].copy_from_slice(&other.octets[..other.length]);
        self.length = end;
        true
    }

    fn single(&mut self, kind: OptionKind) -> bool {
        let room = self.length < LIST_LEN;
        if room {
            self.octets[self.length] = kind.into();
            self.length += 1;
        }
        room
    }

    fn add(&mut self, kind: OptionKind, value: &[&[u8]]) -> bool {
        let length = 2 + value.iter().map(|part| part.len()).sum::<usize>();
        if self.length + length > LIST_LEN || length > usize::from(u8::MAX) {
            return false;
        }
        self.octets[self.length] = kind.into();
        self.octets[self.length + 1] = length as u8;
        self.length += 2;
        for part in value {
            self.octets[self.length..][..part.len()].copy_from_slice(part);
            self.length += part.len();
        }
        true
    }
}

impl Default for OptionList {
    fn default() -> Self {
        Self::new()
    }
}

/// A time in two bytes if it fits, else in four: the bytes, and how many to leave out.
fn time(elapsed: u32) -> ([u8; 4], usize) {
    (elapsed.to_be_bytes(), if elapsed <= u32::from(u16::MAX) { 2 } else { 0 })
}
