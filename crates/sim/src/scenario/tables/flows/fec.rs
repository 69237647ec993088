//! Forward error correction of a flow: `flows.fec`.

use hopcast_protocols::fec::Config;
use hopcast_wire::fec::MAX_SYMBOLS;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use crate::scenario::declare::is;
use crate::scenario::model;
use crate::scenario::quantity::Time;

/// Forward error correction of a flow: Reed–Solomon over blocks of packets (RFC 6865).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fec {
    /// Number of the application's packets in a block.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = is(Config::default().source, CHOICE)))]
    source: u8,
    /// Number of repair packets after a full block: the receiver recovers this number of losses in the block. `source`
    /// and `repair` together are at most 255.
    #[schemars(extend("minimum" = 0, "maximum" = 254, "x-default" = is(Config::default().repair, CHOICE)))]
    repair: u8,
    /// Longest time from a block's first packet to its repair packets. A block that is not full by then gets fewer repair
    /// packets.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 3600, "x-default" = is(Time::from(Config::default().block_timeout), CHOICE)))]
    block_timeout: Time,
}

const CHOICE: &str = "a choice of hopcast for interactive media";

impl Resolver<'_> {
    pub(super) fn fec(&mut self, index: &str, given: &Fec, transport: &model::Transport) -> Config {
        let &Fec { source, repair, block_timeout } = given;
        if matches!(transport, model::Transport::Tcp(_)) {
            let expected = "transport.protocol = \"udp\", \"rtp\", \"tfrc\" or \"adtfrc\"";
            self.report(&["flows", index, "fec"], "is only for transports that do not retransmit", expected);
        }
        if usize::from(source) + usize::from(repair) > MAX_SYMBOLS {
            let problem = format!("makes {repair} repair packets for {source} packets of the application");
            self.report(
                &["flows", index, "fec", "repair"],
                problem,
                format!("at most {MAX_SYMBOLS} packets in a block"),
            );
        }
        Config { source, repair, block_timeout: block_timeout.into(), ..Config::default() }
    }
}
