//! How much of a clip a display must buffer so that it does not stall.

use super::admission::Outlook;
use crate::time::Duration;

/// The least that is buffered: it covers repetitions of packets.
pub const LEAST: Duration = Duration::from_secs(1);
/// The most: viewers do not wait longer.
pub const MOST: Duration = Duration::from_secs(60);

/// The least media in the buffer with which the probability of a stall is at most `probability`, from [`LEAST`] on; `None` if
/// [`MOST`] is not enough.
pub fn least(outlook: &Outlook, probability: f64) -> Option<Duration> {
    let seconds = match outlook {
        Outlook::Exponential { chances, decay } => {
            // −ln(1 − p) = chances · exp(−decay · x).
            let tolerated = -libm::log1p(-probability);
            if tolerated <= 0.0 {
                return None;
            }
            libm::log(chances / tolerated).max(0.0) / decay
        }
        Outlook::Deficits(deficits) => {
            // As many may stall as the probability allows, rounded down.
            let stalled = (probability * deficits.len() as f64 + 1e-9) as usize;
            let place = deficits.len().checked_sub(stalled + 1);
            place.map_or(0.0, |place| deficits[place])
        }
        Outlook::Certain { stalls: true } => return None,
        Outlook::Certain { stalls: false } => 0.0,
    };
    // Rounded up to whole milliseconds, as in messages.
    let least = LEAST.max(Duration::from_secs_f64(libm::ceil(seconds * 1e3) / 1e3));
    (least <= MOST).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_twenty_streams_one_may_stall_at_five_percent() {
        let deficits: Vec<f64> = (1..=20).map(f64::from).collect();
        let outlook = Outlook::Deficits(deficits);
        assert_eq!(least(&outlook, 0.05), Some(Duration::from_secs(19)));
        assert_eq!(outlook.stall_probability(19.0), 0.05);
        assert_eq!(least(&outlook, 0.0), Some(Duration::from_secs(20)));
        assert_eq!(least(&outlook, 1.0), Some(LEAST));
    }

    #[test]
    fn the_exponential_tail_is_inverted() {
        let outlook = Outlook::Exponential { chances: 600.0, decay: 0.8 };
        let prefetch = least(&outlook, 0.01).expect("less than a minute").as_secs_f64();
        assert!((outlook.stall_probability(prefetch) - 0.01).abs() < 1e-5);
        assert_eq!(least(&outlook, 0.0), None);
    }

    #[test]
    fn bounds() {
        assert_eq!(least(&Outlook::Certain { stalls: false }, 0.1), Some(LEAST));
        assert_eq!(least(&Outlook::Certain { stalls: true }, 0.1), None);
        assert_eq!(least(&Outlook::Deficits(vec![60.001]), 0.0), None);
        assert_eq!(least(&Outlook::Deficits(vec![60.0]), 0.0), Some(MOST));
    }
}
