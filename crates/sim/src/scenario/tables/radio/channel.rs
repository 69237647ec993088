//! Channels of the bands of the standards.

use hopcast_radio::phy::Standard;

use super::super::Resolver;

impl Resolver<'_> {
    /// Centre frequency in hertz of the channel, if one is given and the standard has it.
    pub(super) fn channel(&mut self, given: Option<u32>, standard: Standard) -> Option<f64> {
        let path = ["radio", "channel"];
        let Some(channel) = given else {
            let is_default = |channel: &u32| channel_frequency(*channel, standard) == Ok(standard.default_frequency());
            let first = (1..=200).find(is_default).expect("the default frequency is that of a channel");
            self.ledger.note(&path, &first.to_string(), &format!("default: the first channel of {standard}"));
            return None;
        };
        self.ledger.note_given(&path);
        let frequency = channel_frequency(channel, standard);
        if let Err(known) = frequency {
            self.report(&path, format!("{standard} has no such channel"), known);
        }
        frequency.ok()
    }
}

/// Centre frequency in hertz of a channel (IEEE 802.11-2020, Table 15-6 and 17.3.8.4.2), or those that there are.
pub(super) fn channel_frequency(channel: u32, standard: Standard) -> Result<f64, &'static str> {
    let megahertz = match (standard, channel) {
        (Standard::Ofdm, 36..=64 | 100..=144) if channel.is_multiple_of(4) => 5000 + 5 * channel,
        (Standard::Ofdm, 149..=177) if channel % 4 == 1 => 5000 + 5 * channel,
        (Standard::Ofdm, _) => return Err("36, 40 … 64, 100, 104 … 144, or 149, 153 … 177"),
        (Standard::OfdmTurbo, 42 | 50 | 58 | 152 | 160) => 5000 + 5 * channel,
        (Standard::OfdmTurbo, _) => return Err("42, 50, 58, 152 or 160"),
        (_, 1..=13) => 2407 + 5 * channel,
        (Standard::Dsss | Standard::HrDsss | Standard::Wavelan, 14) => 2484,
        (Standard::Erp, _) => return Err("1 to 13"),
        _ => return Err("1 to 14"),
    };
    Ok(f64::from(megahertz) * 1e6)
}
