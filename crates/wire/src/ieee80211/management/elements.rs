//! Elements: an identifier, a length, and this number of bytes (IEEE Std 802.11-2020, 9.4.2).

use crate::ParseError;
use crate::bytes::array;

use super::super::LAYER;

/// Identifiers (Table 9-92).
mod id {
    pub(super) const SSID: u8 = 0;
    pub(super) const SUPPORTED_RATES: u8 = 1;
    pub(super) const DSSS_PARAMETER_SET: u8 = 3;
    pub(super) const TRAFFIC_INDICATION_MAP: u8 = 5;
    pub(super) const EDCA_PARAMETER_SET: u8 = 12;
    pub(super) const ERP: u8 = 42;
    pub(super) const EXTENDED_RATES: u8 = 50;
}

/// Identifier and length.
const HEADER_LEN: usize = 2;
/// Most rates in a Supported Rates element; the others go into the extended one (9.4.2.3).
const SUPPORTED_RATES: usize = 8;
const EDCA_LEN: usize = 18;

/// The name of a network (9.4.2.2): up to 32 bytes; none is the wildcard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ssid {
    octets: [u8; Self::MAX_LEN],
    length: u8,
}

impl Ssid {
    /// The most bytes of a name.
    pub(crate) const MAX_LEN: usize = 32;
    /// Any network.
    pub const WILDCARD: Self = Self { octets: [0; Self::MAX_LEN], length: 0 };

    /// The name of these bytes, of which those beyond the 32nd are left out.
    pub fn new(octets: &[u8]) -> Self {
        let length = octets.len().min(Self::MAX_LEN);
        let mut ssid = Self::WILDCARD;
        ssid.octets[..length].copy_from_slice(&octets[..length]);
        ssid.length = length as u8;
        ssid
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}

impl core::fmt::Debug for Ssid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Ssid(\"{}\")", self.as_bytes().escape_ascii())
    }
}

/// Rates that a station understands (9.4.2.3, 9.4.2.13): each in units of 500 kb/s, with the highest bit set if it is a basic
/// rate of the network, up to 16 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rates {
    octets: [u8; Self::MAX_LEN],
    length: u8,
}

impl Rates {
    /// The most rates that are kept.
    pub(crate) const MAX_LEN: usize = 16;
    const BASIC: u8 = 0x80;

    /// Adds a rate in units of 500 kb/s, up to 127 of them, unless there are 16 already.
    pub fn push(&mut self, units: u8, is_basic: bool) {
        self.push_octet(units & !Self::BASIC | if is_basic { Self::BASIC } else { 0 });
    }

    fn push_octet(&mut self, octet: u8) {
        if let Some(place) = self.octets.get_mut(usize::from(self.length)) {
            *place = octet;
            self.length += 1;
        }
    }

    /// In units of 500 kb/s, and whether each is a basic one.
    pub fn iter(&self) -> impl Iterator<Item = (u8, bool)> + '_ {
        self.as_octets().iter().map(|octet| (octet & !Self::BASIC, octet & Self::BASIC != 0))
    }

    /// Whether a station with these rates understands a rate.
    pub fn contains(&self, units: u8) -> bool {
        self.iter().any(|(known, _)| known == units)
    }

    fn as_octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}

/// Effects of stations of 802.11b in or near the network (9.4.2.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ErpInformation {
    /// Whether there are any.
    pub non_erp_present: bool,
    /// Whether OFDM frames must be protected from them.
    pub use_protection: bool,
    /// Whether some of them understand only the long preamble.
    pub barker_preamble: bool,
}

/// A traffic indication map of an access point that holds nothing for stations that sleep (9.4.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficIndication {
    /// Beacons before the next one with delivery of broadcasts (DTIM); zero: this is one.
    pub dtim_count: u8,
    /// Number of beacons from one DTIM to the next.
    pub dtim_period: u8,
}

/// Parameters of the access categories (9.4.2.28), in the order of their indices: best effort, background, video, voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdcaParameterSet {
    /// QoS Info: the number of the set, in bits 0 to 3.
    pub qos_info: u8,
    /// For each category.
    pub categories: [AccessCategoryParameters; 4],
}

/// Parameters of one access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AccessCategoryParameters {
    /// Arbitration interframe space in slots: 0 to 15.
    pub aifsn: u8,
    /// Whether the access point must admit its traffic.
    pub admission: bool,
    /// CWmin is a power of two less one: its exponent, 0 to 15.
    pub ecw_min: u8,
    /// The same of CWmax.
    pub ecw_max: u8,
    /// In units of 32 µs; zero: one frame.
    pub txop_limit: u16,
}

/// The elements about association, each if present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Elements {
    /// The name of the network.
    pub ssid: Option<Ssid>,
    /// All rates; the ninth and those behind it stand in the extended element. None: neither element is there.
    pub rates: Rates,
    /// DSSS Parameter Set: the channel (9.4.2.4).
    pub channel: Option<u8>,
    /// Traffic indication map.
    pub traffic: Option<TrafficIndication>,
    /// ERP information.
    pub erp: Option<ErpInformation>,
    /// EDCA parameter set.
    pub edca: Option<EdcaParameterSet>,
}

impl Elements {
    /// The elements in `body` from byte `start`. Of several with one identifier the first one counts, but the rates of all.
    pub(super) fn parse(body: &[u8], start: usize) -> Result<Self, ParseError> {
        let mut elements = Self::default();
        let (mut supported, mut extended) = (Rates::default(), Rates::default());
        let mut at = start;
        while at < body.len() {
            let rest = &body[at..];
            LAYER.require(rest.len() >= HEADER_LEN, "element", at, rest.len(), "identifier and length")?;
            let (id, length) = (rest[0], usize::from(rest[1]));
            let is_whole = rest.len() >= HEADER_LEN + length;
            LAYER.require(is_whole, "element length", at + 1, length, "no more than is left of the body")?;
            let octets = &rest[HEADER_LEN..HEADER_LEN + length];
            let require = |right, expected| LAYER.require(right, "element length", at + 1, length, expected);
            match id {
                id::SSID => {
                    require(length <= Ssid::MAX_LEN, "at most 32 of an SSID")?;
                    elements.ssid = elements.ssid.or(Some(Ssid::new(octets)));
                }
                id::SUPPORTED_RATES => octets.iter().for_each(|&octet| supported.push_octet(octet)),
                id::EXTENDED_RATES => octets.iter().for_each(|&octet| extended.push_octet(octet)),
                id::DSSS_PARAMETER_SET => {
                    require(length == 1, "1 of a DSSS Parameter Set")?;
                    elements.channel = elements.channel.or(Some(octets[0]));
                }
                id::TRAFFIC_INDICATION_MAP => {
                    require(length >= 2, "at least 2 of a TIM")?;
                    let traffic = TrafficIndication { dtim_count: octets[0], dtim_period: octets[1] };
                    elements.traffic = elements.traffic.or(Some(traffic));
                }
                id::ERP => {
                    require(length == 1, "1 of ERP information")?;
                    elements.erp = elements.erp.or(Some(ErpInformation::from_octet(octets[0])));
                }
                id::EDCA_PARAMETER_SET => {
                    require(length == EDCA_LEN, "18 of an EDCA Parameter Set")?;
                    elements.edca = elements.edca.or(Some(EdcaParameterSet::from_octets(octets)));
                }
                _ => {}
            }
            at += HEADER_LEN + length;
        }
        supported.as_octets().iter().chain(extended.as_octets()).for_each(|&octet| elements.rates.push_octet(octet));
        Ok(elements)
    }

    /// Calls `each` with identifier and bytes of every element, in the order of the standard's tables of frame bodies.
    fn for_each(&self, mut each: impl FnMut(u8, &[u8])) {
        if let Some(ssid) = &self.ssid {
            each(id::SSID, ssid.as_bytes());
        }
        let rates = self.rates.as_octets();
        let (supported, extended) = rates.split_at(rates.len().min(SUPPORTED_RATES));
        if !supported.is_empty() {
            each(id::SUPPORTED_RATES, supported);
        }
        if let Some(channel) = self.channel {
            each(id::DSSS_PARAMETER_SET, &[channel]);
        }
        if let Some(TrafficIndication { dtim_count, dtim_period }) = self.traffic {
            // Bitmap control, and one octet of the map: nothing is held for anybody.
            each(id::TRAFFIC_INDICATION_MAP, &[dtim_count, dtim_period, 0, 0]);
        }
        if let Some(erp) = self.erp {
            each(id::ERP, &[erp.to_octet()]);
        }
        if !extended.is_empty() {
            each(id::EXTENDED_RATES, extended);
        }
        if let Some(edca) = &self.edca {
            each(id::EDCA_PARAMETER_SET, &edca.to_octets());
        }
    }

    pub(super) fn buffer_len(&self) -> usize {
        let mut length = 0;
        self.for_each(|_, octets| length += HEADER_LEN + octets.len());
        length
    }

    pub(super) fn emit(&self, body: &mut [u8]) {
        let mut at = 0;
        self.for_each(|id, octets| {
            // No element is longer than 32 octets.
            body[at..at + HEADER_LEN].copy_from_slice(&[id, octets.len() as u8]);
            body[at + HEADER_LEN..][..octets.len()].copy_from_slice(octets);
            at += HEADER_LEN + octets.len();
        });
    }
}

impl ErpInformation {
    fn from_octet(octet: u8) -> Self {
        let bit = |bit: u8| octet >> bit & 1 != 0;
        Self { non_erp_present: bit(0), use_protection: bit(1), barker_preamble: bit(2) }
    }

    fn to_octet(self) -> u8 {
        u8::from(self.non_erp_present) | u8::from(self.use_protection) << 1 | u8::from(self.barker_preamble) << 2
    }
}

impl EdcaParameterSet {
    fn from_octets(octets: &[u8]) -> Self {
        let category = |nth: usize| {
            let [first, windows, low, high] = array(octets, 2 + 4 * nth);
            AccessCategoryParameters {
                aifsn: first & 0x0f,
                admission: first & 0x10 != 0,
                ecw_min: windows & 0x0f,
                ecw_max: windows >> 4,
                txop_limit: u16::from_le_bytes([low, high]),
            }
        };
        Self { qos_info: octets[0], categories: [0, 1, 2, 3].map(category) }
    }

    fn to_octets(self) -> [u8; EDCA_LEN] {
        let mut octets = [0; EDCA_LEN];
        octets[0] = self.qos_info;
        for (index, category) in (0_u8..).zip(&self.categories) {
            let first = category.aifsn & 0x0f | u8::from(category.admission) << 4 | index << 5;
            let windows = category.ecw_min & 0x0f | category.ecw_max << 4;
            let [low, high] = category.txop_limit.to_le_bytes();
            octets[2 + 4 * usize::from(index)..][..4].copy_from_slice(&[first, windows, low, high]);
        }
        octets
    }
}
