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
    /// Packets of the application in a block.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = is(Config::default().source, CHOICE)))]
    source: u8,
    /// Repair packets behind a full block: as many of its packets may be lost. With `source` at most 255.
    #[schemars(extend("minimum" = 0, "maximum" = 254, "x-default" = is(Config::default().repair, CHOICE)))]
    repair: u8,
    /// From a block's first packet to its repair packets, at the latest: a block that is not full by then has fewer of both.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 3600, "x-default" = is(Time::from(Config::default().block_timeout), CHOICE)))]
    block_timeout: Time,
}

const CHOICE: &str = "a choice for interactive media";

impl Resolver<'_> {
    pub(super) fn fec(&mut self, index: &str, given: &Fec, transport: &model::Transport) -> Config {
        let &Fec { source, repair, block_timeout } = given;
        if matches!(transport, model::Transport::Tcp(_)) {
            let expected = "transport.protocol = \"udp\", \"tfrc\" or \"adtfrc\"";
            self.report(&["flows", index, "fec"], "is for transports that do not send again what is lost", expected);
        }
        if usize::from(source) + usize::from(repair) > MAX_SYMBOLS {
            let problem = format!("is {repair} beside {source} packets of the application");
            self.report(
                &["flows", index, "fec", "repair"],
                problem,
                format!("at most {MAX_SYMBOLS} packets in a block"),
            );
        }
        Config { source, repair, block_timeout: block_timeout.into(), ..Config::default() }
    }
}
