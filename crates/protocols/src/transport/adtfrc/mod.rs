//! ADTFRC: TFRC that tells congestion from channel errors, route changes and disconnection (Fu, Meng, Lu, "A Transport
//! Protocol for Supporting Multimedia Streaming in Mobile Ad Hoc Networks", sections III and IV).
//!
//! The [`Receiver`] takes four [metrics](Sample) of each packet, classifies each among those before, and
//! [identifies](Signs::states) the state of the network from the classes. Only losses in congestion count as loss events. The
//! [`Sender`] follows the state that comes with each feedback, and freezes and probes while the path is gone. Both are built
//! around those of [TFRC](super::tfrc), and know nothing of packets' bytes.
//!
//! # Decisions where the paper leaves one, or contradicts itself
//!
//! * **The receiver's state** goes with feedback as of the latest packet; congestion excludes the other two, which may hold
//!   together. The sender looks for congestion first, then for a route change, then for channel errors.
//! * **A congestion event** (the congestion frequency that takes the place of the loss event rate) is a loss while the state
//!   is congestion; those of one round trip are one event, as in TFRC. Without the loss it could not be: HIGH and LOW are
//!   relative, so that on a quiet path too some 9 % of the packets show congestion by chance.
//! * **Algorithm 1, lines 16 to 20**, has increase and decrease swapped. A rate above the one before is an increase; for
//!   TFRC both are the assignment of the new rate.
//! * **Algorithm 1 has no branch for the normal state**: it is TFRC's own, min(T_calc, 2 T_recv). So is that for channel
//!   errors, which the text has "maintain the current rate": T_calc does not count such losses, and so nothing of it slows
//!   the sender down.
//! * **The first feedback after a disconnection** keeps the rate, whatever it says, as section III-A wants (the algorithm
//!   would go by its state): its receive rate is that of one probe.
//! * **Disconnection** needs a packet that was not answered in two round trips: a sender that was idle when its timer expired
//!   isn't cut off, nor one whose only packet has just left.
//!   Before any feedback, and with a receiver that tells no state, the timer is TFRC's.
//! * **A probe** is the data that waits, since nothing is ever retransmitted; if none waits, a packet that the peer must
//!   answer (DCCP's Sync). Either answer ends the probing. The paper gives neither the period of the probes nor their limit:
//!   2 s, which Holland and Vaidya found best, and fifty of them, 100 s, as long as TCP must try at least (RFC 9293,
//!   section 3.8.3).
//! * **A sample is HIGH** if at most 30 % of the samples are as high, **LOW** if at most 30 % are as low. So of samples that
//!   are all alike none is either. "All samples" are the latest 10 000, 40 to 200 s at the paper's rates; they are kept in
//!   steps of 1/64 of their value.
//! * **A packet is lost** when TFRC says so, after three with higher numbers; PLR counts it then.
//! * **IDD needs the sender's timestamps.** Data without one comes from a plain TFRC sender: nothing is identified, every
//!   loss counts, and no state is told.
//! * **TFRC is RFC 3448's**, which the paper names, so that T_recv is the last receive rate alone.

mod classifier;
mod config;
mod detector;
mod metrics;
mod receiver;
mod sender;

#[cfg(test)]
mod tests;

use classifier::{Class, Classifier};
pub use config::{Config, Identification};
use detector::Detector;
pub use detector::{Signs, States};
use metrics::Metrics;
pub use metrics::Sample;
pub(super) use receiver::Notice;
pub use receiver::Receiver;
pub(super) use sender::Expired;
pub use sender::Sender;
