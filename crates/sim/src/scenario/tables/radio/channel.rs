//! Channels of the bands of the standards.

use hopcast_radio::phy::Standard;

use super::super::Resolver;

impl Resolver<'_> {
    /// Centre frequency in hertz of the channel, if one is given and the standard has it.
    pub(super) fn channel(&mut self, given: Option<u32>, standard: Standard) -> Option<f64> {
        let path = ["radio", "channel"];
        let Some(channel) = given else {
            let first = standard.default_channel().number;
            self.ledger.note(&path, &first.to_string(), &format!("default: the first channel of {standard}"));
            return None;
        };
        self.ledger.note_given(&path);
        let channels = standard.channels();
        let channel = channels.channel(channel);
        if channel.is_none() {
            self.report(&path, format!("{standard} has no such channel"), channels.described());
        }
        channel.map(|channel| channel.frequency)
    }
}
