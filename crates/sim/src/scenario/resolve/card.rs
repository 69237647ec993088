//! The cards of a group of nodes.

use super::super::model;
use super::super::quantity::Time;
use super::super::schema::{Card, CardModel};
use super::{Resolver, show, word};
use crate::host::card::CardConfig;

/// Where the numbers of the two models stand.
const TABLE: &str = "WaveLAN, Table 1 of S. Desilva and S. R. Das, 2000";

/// The packet whose copying they give, in octets.
const COPIED: f64 = 1500.0;

impl Resolver<'_> {
    pub(super) fn card(
        &mut self,
        index: &str,
        given: Option<Card>,
        role: model::Role,
        queue_packets: u32,
    ) -> Option<CardConfig> {
        let path = ["nodes", index, "card"];
        let Some(given) = given else {
            self.ledger.note(&path, "none", "default: copying takes no time");
            return None;
        };
        if role == model::Role::Wired {
            self.report(&path, "says nothing: a node of role wired has no radio", "another role");
        }
        let at = |key| ["nodes", index, "card", key];
        let name = self.ledger.pick(&at("model"), given.model, word, || {
            (CardModel::Pcmcia, "default: that of most nodes of the testbed that it was measured in".into())
        });
        let (transmit, receive, copy_out, copy_in) = match name {
            CardModel::Pcmcia => (1, 5, 3.46e-3, 2.057e-3),
            CardModel::Isa => (10, 31, 0.96e-3, 0.955e-3),
        };
        let source = || format!("default: {} {TABLE}", word(&name));
        let transmit_buffers =
            self.ledger.pick(&at("transmit_buffers"), given.transmit_buffers, show, || (transmit, source()));
        let receive_buffers =
            self.ledger.pick(&at("receive_buffers"), given.receive_buffers, show, || (receive, source()));
        let copy_out = self.ledger.pick(&at("copy_out"), given.copy_out, show, || (Time(copy_out), source()));
        let copy_in = self.ledger.pick(&at("copy_in"), given.copy_in, show, || (Time(copy_in), source()));
        Some(CardConfig {
            transmit_buffers,
            receive_buffers,
            copy_out: copy_out.0 * 1e9 / COPIED,
            copy_in: copy_in.0 * 1e9 / COPIED,
            queue_packets,
        })
    }
}
