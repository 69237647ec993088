//! Feature negotiation (RFC 4340, section 6), as far as the handshake and a peer's later wishes need it.
//!
//! Each end asks once, in its Request or Response, for all it wants, and repeats that until it is confirmed; the peer's
//! answer comes with the next packet of the handshake. What this end does not ask for it can only confirm as it is.

use hopcast_wire::dccp::{Feature, OptionKind, OptionList, OptionRepr, ResetCode};

/// Why the connection must be reset: the code, and Data 1 to 3.
pub(super) type Refusal = (ResetCode, [u8; 3]);

/// A value that this end wants.
#[derive(Clone, Copy, Debug)]
struct Wish {
    feature: Feature,
    /// Whether the feature is this end's own (Change L) or the peer's (Change R).
    own: bool,
    /// Without it the connection makes no sense.
    mandatory: bool,
    agreed: bool,
}

/// The values in force, and what is still to be said about them.
#[derive(Clone, Debug)]
pub(super) struct Features {
    server: bool,
    ccid: u8,
    sequence_window: [u8; 6],
    wishes: [Wish; 6],
    /// Whether this end tells how many packets without data precede one.
    pub(super) sends_ndp_count: bool,
    /// Whether this end, as receiver of data, sends loss event rates.
    pub(super) sends_loss_event_rate: bool,
    /// The peer's sequence window, once told.
    pub(super) peer_window: Option<u64>,
    /// The peer has confirmed this end's sequence window.
    pub(super) window_confirmed: bool,
    /// Both halves have the congestion control of this end's configuration.
    agreed_ccids: [bool; 2],
    /// Answers to the peer's latest wishes.
    confirms: OptionList,
    /// No wish of the packet being read was answered yet.
    reading: bool,
    /// They haven't been sent yet.
    pub(super) unsent: bool,
}

impl Features {
    pub(super) fn new(server: bool, ccid: u8, sequence_window: u64) -> Self {
        let [_, _, window @ ..] = sequence_window.to_be_bytes();
        let wish = |feature, own, mandatory| Wish { feature, own, mandatory, agreed: false };
        Self {
            server,
            ccid,
            sequence_window: window,
            wishes: [
                wish(Feature::Ccid, true, true),
                wish(Feature::Ccid, false, true),
                wish(Feature::SequenceWindow, true, false),
                wish(Feature::EcnIncapable, true, false),
                wish(Feature::SendNdpCount, true, false),
                wish(Feature::SendLossEventRate, false, false),
            ],
            sends_ndp_count: false,
            sends_loss_event_rate: false,
            peer_window: None,
            window_confirmed: false,
            agreed_ccids: [false; 2],
            confirms: OptionList::new(),
            reading: false,
            unsent: false,
        }
    }

    /// Whether both halves of the connection have the congestion control that they must have.
    pub(super) fn are_agreed(&self) -> bool {
        self.agreed_ccids == [true; 2]
    }

    /// Writes what is wanted and not agreed yet.
    pub(super) fn write_changes(&self, list: &mut OptionList) {
        for wish in self.wishes.iter().filter(|wish| !wish.agreed) {
            let value: &[u8] = match wish.feature {
                Feature::Ccid => &[self.ccid],
                Feature::SequenceWindow => &self.sequence_window,
                _ => &[1],
            };
            let change = if wish.own { OptionRepr::ChangeL } else { OptionRepr::ChangeR };
            // Six wishes take fewer octets than the list has.
            let _ = !wish.mandatory || list.push(&OptionRepr::Mandatory);
            let _ = list.push(&change(wish.feature, value));
        }
    }

    /// Writes the answers to the peer's latest wishes.
    pub(super) fn write_confirms(&mut self, list: &mut OptionList) {
        // Where there is no room the peer asks again.
        let _ = list.extend(&self.confirms);
        self.unsent = false;
    }

    /// A packet of the peer is about to be read.
    pub(super) fn begin(&mut self) {
        self.reading = true;
    }

    /// Takes in an option; others than those of features are nothing to it.
    pub(super) fn on_option(&mut self, option: &OptionRepr, mandatory: bool) -> Result<(), Refusal> {
        match *option {
            OptionRepr::ChangeL(feature, values) => self.on_change(feature, values, false, mandatory),
            OptionRepr::ChangeR(feature, values) => self.on_change(feature, values, true, mandatory),
            OptionRepr::ConfirmL(feature, values) => self.on_confirm(feature, values, false),
            OptionRepr::ConfirmR(feature, values) => self.on_confirm(feature, values, true),
            _ => Ok(()),
        }
    }

    /// What this end can live with for a feature that is decided by preference, the best first. Empty: unknown.
    fn preferences(&self, feature: Feature, own: bool) -> &'static [u8] {
        match (feature, own) {
            (Feature::Ccid, _) if self.ccid == 4 => &[4],
            (Feature::Ccid, _) => &[3],
            // ECN needs the IP header, which isn't this machine's.
            (Feature::EcnIncapable, true) => &[1],
            (Feature::EcnIncapable, false) => &[0, 1],
            (Feature::SendNdpCount | Feature::SendLossEventRate, _) => &[1, 0],
            (Feature::AllowShortSequenceNumbers | Feature::SendAckVector, _)
            | (Feature::MinimumChecksumCoverage | Feature::CheckDataChecksum, _) => &[0],
            _ => &[],
        }
    }

    /// The peer wants to change a feature, `own` to this end or to itself.
    fn on_change(&mut self, feature: Feature, values: &[u8], own: bool, mandatory: bool) -> Result<(), Refusal> {
        let confirm = if own { OptionRepr::ConfirmL } else { OptionRepr::ConfirmR };
        let kind = if own { OptionKind::ChangeR } else { OptionKind::ChangeL };
        let refused = |code| Err((code, [kind.into(), feature.into(), values.first().copied().unwrap_or(0)]));
        if values.is_empty() {
            return refused(ResetCode::OptionError);
        }
        if core::mem::take(&mut self.reading) && !self.unsent {
            // The answers to earlier ones have been sent.
            self.confirms = OptionList::new();
        }
        self.unsent = true;
        let answered = match feature {
            // Numbers that their owner sets: they are taken as they are (section 6.3.2).
            Feature::SequenceWindow if !own => {
                let window = values.iter().fold(0_u64, |window, &octet| window << 8 | u64::from(octet));
                if values.len() > 6 || !(32..1 << 46).contains(&window) {
                    return refused(ResetCode::OptionError);
                }
                self.peer_window = Some(window);
                self.confirms.push(&confirm(feature, values))
            }
            // Means nothing under CCID 3 (RFC 4342, section 9).
            Feature::AckRatio if !own => self.confirms.push(&confirm(feature, values)),
            _ => {
                let preferences = self.preferences(feature, own);
                if preferences.is_empty() {
                    if mandatory {
                        return refused(ResetCode::MandatoryError);
                    }
                    self.confirms.push(&confirm(feature, &[]))
                } else {
                    let (first, second) = if self.server { (preferences, values) } else { (values, preferences) };
                    let common = first.iter().find(|&value| second.contains(value)).copied();
                    if common.is_none() && mandatory {
                        return refused(ResetCode::MandatoryError);
                    }
                    // Without one in common the value stays; every default is the last that is preferred, but for CCIDs.
                    let fallback = if feature == Feature::Ccid { 2 } else { preferences[preferences.len() - 1] };
                    let value = common.unwrap_or(fallback);
                    self.set(feature, own, value);
                    let mut answer = [value, 0, 0];
                    answer[1..=preferences.len()].copy_from_slice(preferences);
                    self.confirms.push(&confirm(feature, &answer[..=preferences.len()]))
                }
            }
        };
        // A peer that fills 192 octets with wishes asks again.
        let _ = answered;
        Ok(())
    }

    /// The peer confirms a change of a feature of this end (`own`) or of the peer.
    fn on_confirm(&mut self, feature: Feature, values: &[u8], own: bool) -> Result<(), Refusal> {
        let Some(wish) = self.wishes.iter_mut().find(|wish| wish.feature == feature && wish.own == own) else {
            return Ok(());
        };
        if wish.agreed {
            return Ok(());
        }
        wish.agreed = true;
        if feature == Feature::SequenceWindow {
            self.window_confirmed = values == self.sequence_window;
            return Ok(());
        }
        match values.first() {
            Some(value) if self.preferences(feature, own).contains(value) => {
                self.set(feature, own, *value);
                Ok(())
            }
            // An empty one: the peer doesn't know the feature. It keeps its default.
            None if feature != Feature::Ccid => Ok(()),
            _ => {
                let kind = if own { OptionKind::ConfirmR } else { OptionKind::ConfirmL };
                Err((ResetCode::OptionError, [kind.into(), feature.into(), values.first().copied().unwrap_or(0)]))
            }
        }
    }

    /// A value is in force now.
    fn set(&mut self, feature: Feature, own: bool, value: u8) {
        match (feature, own) {
            (Feature::Ccid, own) => self.agreed_ccids[usize::from(own)] = value == self.ccid,
            (Feature::SendNdpCount, true) => self.sends_ndp_count = value == 1,
            (Feature::SendLossEventRate, true) => self.sends_loss_event_rate = value == 1,
            _ => {}
        }
        if let Some(wish) = self.wishes.iter_mut().find(|wish| wish.feature == feature && wish.own == own) {
            wish.agreed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(write: impl FnOnce(&mut OptionList)) -> Vec<Vec<u8>> {
        let mut list = OptionList::new();
        write(&mut list);
        let mut single = Vec::new();
        for option in list.as_options().iter() {
            let mut one = OptionList::new();
            one.push(&option.unwrap());
            single.push(one.as_options().as_octets().to_vec());
        }
        single
    }

    #[test]
    fn both_ends_agree_in_a_handshake() {
        let (mut client, mut server) = (Features::new(false, 3, 1000), Features::new(true, 3, 2000));
        let deliver = |from: &mut Features, to: &mut Features| {
            let mut list = OptionList::new();
            from.write_confirms(&mut list);
            from.write_changes(&mut list);
            let mut mandatory = false;
            to.begin();
            for option in list.as_options().iter().map(Result::unwrap) {
                to.on_option(&option, mandatory).unwrap();
                mandatory = option == OptionRepr::Mandatory;
            }
        };
        deliver(&mut client, &mut server);
        assert!(server.are_agreed() && !client.are_agreed());
        deliver(&mut server, &mut client);
        deliver(&mut client, &mut server);
        for end in [&client, &server] {
            assert!(end.are_agreed() && end.sends_ndp_count && end.sends_loss_event_rate && end.window_confirmed);
            assert_eq!(options(|list| end.write_changes(list)), Vec::<Vec<u8>>::new());
        }
        assert_eq!((client.peer_window, server.peer_window), (Some(2000), Some(1000)));
    }

    #[test]
    fn section_6_3_1_the_server_s_preference_decides() {
        let mut server = Features::new(true, 3, 100);
        server.on_option(&OptionRepr::ChangeL(Feature::Ccid, &[2, 4, 3]), false).unwrap();
        server.on_option(&OptionRepr::ChangeR(Feature::SendLossEventRate, &[0, 1]), false).unwrap();
        assert_eq!(options(|list| server.write_confirms(list)), [&[35, 5, 1, 3, 3][..], &[33, 6, 192, 1, 1, 0]]);
        let mut client = Features::new(false, 3, 100);
        client.on_option(&OptionRepr::ChangeR(Feature::SendLossEventRate, &[0, 1]), false).unwrap();
        assert_eq!(options(|list| client.write_confirms(list)), [&[33, 6, 192, 0, 1, 0]]);
        assert!(!client.sends_loss_event_rate);
    }

    #[test]
    fn what_is_unknown_is_confirmed_empty_and_ack_ratio_as_it_is() {
        let mut server = Features::new(true, 3, 100);
        server.on_option(&OptionRepr::ChangeL(Feature::Unknown(99), &[7]), false).unwrap();
        server.on_option(&OptionRepr::ChangeL(Feature::AckRatio, &[0, 2]), true).unwrap();
        assert_eq!(options(|list| server.write_confirms(list)), [&[35, 3, 99][..], &[35, 5, 5, 0, 2]]);
        let refused = server.on_option(&OptionRepr::ChangeL(Feature::Unknown(99), &[7]), true);
        assert_eq!(refused, Err((ResetCode::MandatoryError, [32, 99, 7])));
    }

    #[test]
    fn a_peer_without_the_congestion_control_is_refused() {
        let mut server = Features::new(true, 3, 100);
        // Not mandatory: nothing in common, the value stays 2, and there is no agreement.
        server.on_option(&OptionRepr::ChangeL(Feature::Ccid, &[2]), false).unwrap();
        assert_eq!(options(|list| server.write_confirms(list)), [&[35, 5, 1, 2, 3]]);
        assert!(!server.are_agreed());
        let refused = server.on_option(&OptionRepr::ChangeL(Feature::Ccid, &[2]), true);
        assert_eq!(refused, Err((ResetCode::MandatoryError, [32, 1, 2])));
        let mut client = Features::new(false, 3, 100);
        let refused = client.on_option(&OptionRepr::ConfirmR(Feature::Ccid, &[2, 2]), false);
        assert_eq!(refused, Err((ResetCode::OptionError, [35, 1, 2])));
        let refused = Features::new(true, 3, 100).on_option(&OptionRepr::ChangeL(Feature::SequenceWindow, &[3]), false);
        assert_eq!(refused, Err((ResetCode::OptionError, [32, 3, 3])));
    }

    #[test]
    fn a_flood_of_wishes_takes_no_memory() {
        let mut server = Features::new(true, 3, 100);
        for _ in 0..1000 {
            server.on_option(&OptionRepr::ChangeL(Feature::AckRatio, &[0, 2]), false).unwrap();
        }
        assert!(options(|list| server.write_confirms(list)).len() < 50);
    }
}
