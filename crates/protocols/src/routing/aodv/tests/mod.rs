//! The machine by hand at exact instants (`by_hand`, `repair`, `hello`, `unidirectional`), what others got wrong
//! (`regressions`), ns-2's rules (`ns2`), properties (`loops`, `octets`), and whole networks (`networks`).

mod bench;
mod by_hand;
mod hello;
mod loops;
mod networks;
mod ns2;
mod octets;
mod regressions;
mod repair;
mod unidirectional;

use super::{Aodv, Config, LinkDetection};
use crate::routing::Node;
use crate::routing::network::Network;
use crate::time::{Duration, Instant};

/// The RFC's defaults without hellos and without jitter, so that every instant is known.
fn exact() -> Config {
    Config {
        link_detection: LinkDetection::LinkLayer,
        broadcast_jitter: Duration::ZERO,
        gratuitous_reply: false,
        ..Config::rfc3561()
    }
}

fn make(config: &Config) -> impl FnMut(Node) -> Aodv + use<> {
    let config = config.clone();
    move |node| Aodv::new(config.clone(), node, Instant::START)
}

fn line(count: usize, config: &Config) -> Network<Aodv> {
    Network::line(count, 1, make(config))
}
