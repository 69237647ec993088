//! The four access categories of EDCA: their default parameters by physical layer, and the packets that belong to each
//! (IEEE 802.11-2020, 10.2.3.2 and 10.23.2). Contention is that of the station, [`super::Dcf`].

use hopcast_protocols::time::Duration;

pub use crate::frame::UserPriority;
use crate::phy::{ModulationClass, Phy, PhyParameters};

/// An access category, lowest priority first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessCategory {
    /// AC_BK.
    Background,
    /// AC_BE.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl AccessCategory {
    /// All of them, lowest priority first: the order of their indices.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// The category of a user priority (Table 10-1): 1 and 2, which 802.1D puts below 0, are background.
    pub const fn of_user_priority(priority: UserPriority) -> Self {
        match priority.get() {
            1 | 2 => Self::Background,
            0 | 3 => Self::BestEffort,
            4 | 5 => Self::Video,
            _ => Self::Voice,
        }
    }
}

/// Edition of the default parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edition {
    /// 802.11e-2005 to 802.11-2012 (Table 8-105), and WMM: common practice.
    #[default]
    Ieee2012,
    /// 802.11-2020 (Table 9-155), with other TXOP limits.
    Ieee2020,
}

/// EDCA parameters of an access category (Table 9-155).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdcaParameters {
    /// CWmin: the first backoff is drawn from 0 to this many slots, both included.
    pub cw_min: u32,
    /// CWmax.
    pub cw_max: u32,
    /// AIFSN: slots in the arbitration interframe space.
    pub aifsn: u8,
    /// Time for which the medium may be held after access; zero: for one MSDU, however long it takes.
    pub txop_limit: Duration,
}

impl EdcaParameters {
    /// The defaults of all categories, for [`super::Config::edca`].
    pub fn all_defaults(phy: &Phy, edition: Edition) -> [Self; 4] {
        AccessCategory::ALL.map(|category| Self::defaults(category, phy, edition))
    }

    /// The defaults for `category` on `phy`, for stations that no access point configures differently.
    pub fn defaults(category: AccessCategory, phy: &Phy, edition: Edition) -> Self {
        let PhyParameters { cw_min, cw_max, .. } = *phy.parameters();
        let dsss = phy.fastest().modulation_class() == ModulationClass::Dsss;
        // Of a power of two less one: (aCWmin + 1)/2 − 1 and (aCWmin + 1)/4 − 1.
        let (half, quarter) = (cw_min >> 1, cw_min >> 2);
        let (cw_min, cw_max, aifsn) = match category {
            AccessCategory::Background => (cw_min, cw_max, 7),
            AccessCategory::BestEffort => (cw_min, cw_max, 3),
            AccessCategory::Video => (half, cw_min, 2),
            AccessCategory::Voice => (quarter, half, 2),
        };
        let txop_limit = match (category, edition, dsss) {
            (AccessCategory::Background | AccessCategory::BestEffort, Edition::Ieee2012, _) => 0,
            (AccessCategory::Background | AccessCategory::BestEffort, Edition::Ieee2020, true) => 3_264,
            (AccessCategory::Background | AccessCategory::BestEffort, Edition::Ieee2020, false) => 2_528,
            (AccessCategory::Video, _, true) => 6_016,
            (AccessCategory::Video, Edition::Ieee2012, false) => 3_008,
            (AccessCategory::Video, Edition::Ieee2020, false) => 4_096,
            (AccessCategory::Voice, _, true) => 3_264,
            (AccessCategory::Voice, Edition::Ieee2012, false) => 1_504,
            (AccessCategory::Voice, Edition::Ieee2020, false) => 2_080,
        };
        Self { cw_min, cw_max, aifsn, txop_limit: Duration::from_micros(txop_limit) }
    }

    /// AIFS = AIFSN × slot + SIFS (10.3.2.3.6).
    pub fn aifs(&self, phy: &PhyParameters) -> Duration {
        phy.sifs + phy.slot * u64::from(self.aifsn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Standard;

    fn row(category: AccessCategory, standard: Standard, edition: Edition) -> (u32, u32, u8, u64, u64) {
        let phy = standard.phy(false);
        let EdcaParameters { cw_min, cw_max, aifsn, txop_limit } = EdcaParameters::defaults(category, &phy, edition);
        let aifs = EdcaParameters::defaults(category, &phy, edition).aifs(phy.parameters());
        (cw_min, cw_max, aifsn, txop_limit.as_nanos() / 1_000, aifs.as_nanos() / 1_000)
    }

    /// CWmin, CWmax, AIFSN, TXOP limit and AIFS in microseconds.
    #[test]
    fn defaults_are_the_tabulated_ones() {
        let rows = |standard, edition| AccessCategory::ALL.map(|category| row(category, standard, edition));
        let ofdm = [(15, 1023, 7, 0, 79), (15, 1023, 3, 0, 43), (7, 15, 2, 3_008, 34), (3, 7, 2, 1_504, 34)];
        assert_eq!(rows(Standard::Ofdm, Edition::Ieee2012), ofdm);
        let erp = [(15, 1023, 7, 0, 73), (15, 1023, 3, 0, 37), (7, 15, 2, 3_008, 28), (3, 7, 2, 1_504, 28)];
        assert_eq!(rows(Standard::Erp, Edition::Ieee2012), erp);
        let dsss = [(31, 1023, 7, 0, 150), (31, 1023, 3, 0, 70), (15, 31, 2, 6_016, 50), (7, 15, 2, 3_264, 50)];
        assert_eq!(rows(Standard::HrDsss, Edition::Ieee2012), dsss);
        let limits = |standard| rows(standard, Edition::Ieee2020).map(|row| row.3);
        assert_eq!(limits(Standard::Ofdm), [2_528, 2_528, 4_096, 2_080]);
        assert_eq!(limits(Standard::Dsss), [3_264, 3_264, 6_016, 3_264]);
    }

    /// AIFSN 2 is DIFS.
    #[test]
    fn the_shortest_aifs_is_difs() {
        for standard in [Standard::Dsss, Standard::HrDsss, Standard::Ofdm, Standard::Erp] {
            let phy = standard.phy(false);
            let voice = EdcaParameters::defaults(AccessCategory::Voice, &phy, Edition::default());
            assert_eq!(voice.aifs(phy.parameters()), phy.difs());
        }
    }

    #[test]
    fn user_priorities_are_sorted_as_in_table_10_1() {
        use AccessCategory::{Background, BestEffort, Video, Voice};
        let categories: Vec<_> = (0..8).map(|up| AccessCategory::of_user_priority(UserPriority::new(up))).collect();
        assert_eq!(categories, [BestEffort, Background, Background, BestEffort, Video, Video, Voice, Voice]);
    }
}
