use crate::time::Duration;

/// K of RFC 3561, section 10, note on DELETE_PERIOD.
const K: u64 = 5;
/// Bounds of the free times, between which no sum or product of them leaves its type.
const TIMES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(3600));

/// The free parameters of AODV: those of RFC 3561, section 10, by their names there, and what the RFC leaves to a node. The
/// times that section 10 derives are methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// ACTIVE_ROUTE_TIMEOUT: how long a route is valid without being used.
    pub active_route_timeout: Duration,
    /// ALLOWED_HELLO_LOSS: number of hello intervals without a sign of a neighbour after which it is lost.
    pub allowed_hello_loss: u32,
    /// HELLO_INTERVAL: time between two hellos.
    pub hello_interval: Duration,
    /// LOCAL_ADD_TTL: by how much the request of a local repair goes beyond where the destination was.
    pub local_add_ttl: u8,
    /// NET_DIAMETER: hops between the two nodes that are farthest apart.
    pub net_diameter: u8,
    /// NODE_TRAVERSAL_TIME: time for a hop, with all that it waits for.
    pub node_traversal_time: Duration,
    /// RERR_RATELIMIT: the most route errors in a second; `None`: no limit.
    pub rerr_ratelimit: Option<u32>,
    /// RREQ_RATELIMIT: the most route requests that a node originates in a second; `None`: no limit.
    pub rreq_ratelimit: Option<u32>,
    /// RREQ_RETRIES: the most requests through the whole network in a search, not counting the search's first request
    /// (section 6.3). With 0, a search that begins with a ring ends with the last ring. Under ns-2's rules the first request
    /// through the whole network is not counted, whatever came before it.
    pub rreq_retries: u32,
    /// TIMEOUT_BUFFER: hops by which the wait for a reply is longer than the ring takes.
    pub timeout_buffer: u8,
    /// TTL_START: radius of the first ring in hops.
    pub ttl_start: u8,
    /// TTL_INCREMENT: by how many hops each ring is larger than the one before.
    pub ttl_increment: u8,
    /// TTL_THRESHOLD: radius of the last ring; what is beyond is the whole network.
    pub ttl_threshold: u8,
    /// Whose rules are followed where ns-2.35 has its own.
    pub rules: Rules,
    /// Broadcasts that answer a message of a neighbour are delayed by up to this time, so that neighbours that have heard the
    /// same do not all transmit at once (RFC 5148, section 5); and requests of the node's own, but under ns-2's rules and in ARP
    /// packets, which go at once.
    pub broadcast_jitter: Duration,
    /// Whether messages travel behind ARP packets, and not in UDP.
    pub in_arp: bool,
    /// Whether requests are 16 bytes longer, by an extension that says nothing.
    pub pads_requests: bool,
    /// How a node learns that a neighbour has gone.
    pub link_detection: LinkDetection,
    /// Whether hellos are also sent by a node that is not part of an active route (section 6.9: it should not).
    pub hello_always: bool,
    /// Whether a hello is left out after another broadcast of the node within the interval (section 6.9).
    pub hello_suppression: bool,
    /// Whether a packet to pass on without a route is answered by a route error (section 6.11, case ii).
    pub error_without_route: bool,
    /// When a node looks itself for a route that has broken behind it.
    pub local_repair: LocalRepair,
    /// G flag: a node that replies for a destination also sends it the route to the originator (section 6.3).
    pub gratuitous_reply: bool,
    /// D flag: only the destination itself may reply (section 5.1).
    pub destination_only: bool,
    /// A flag: each reply is to be acknowledged, and a neighbour that does not is blacklisted (section 6.8).
    pub reply_acknowledgement: bool,
}

/// Whose rules a node follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Those of RFC 3561.
    Rfc3561,
    /// What ns-2.35 (aodv/aodv.cc) does otherwise: `docs/models/aodv.md` has a list.
    Ns2(Constants),
}

/// Times that are constants in ns-2.35 (aodv/aodv.h), by their names there, where RFC 3561 derives them or has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// BCAST_ID_SAVE: how long a request is known again at the least, PATH_DISCOVERY_TIME in the RFC, and how often those are
    /// forgotten that came before that.
    pub bcast_id_save: Duration,
    /// MAX_RREQ_TIMEOUT: the longest wait for a reply, and the time for which a destination that was not found is not looked
    /// for again; the RFC has neither.
    pub max_rreq_timeout: Duration,
    /// MY_ROUTE_TIMEOUT: lifetime of a route to this node.
    pub my_route_timeout: Duration,
    /// REV_ROUTE_LIFE: how long a route back to an originator is needed, MinimalLifetime in the RFC.
    pub rev_route_life: Duration,
}

/// How a node learns that a neighbour has gone (RFC 3561, section 6.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkDetection {
    /// It hears nothing of it, having heard a hello before.
    Hello,
    /// The link layer says so, or gives up a packet for it.
    LinkLayer,
    /// Either.
    Both,
}

/// When a node looks itself for a route that has broken behind it, and does not give it up at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalRepair {
    /// Never.
    Never,
    /// The destination was no farther than MAX_REPAIR_TTL (RFC 3561, section 6.12).
    Near,
    /// The link layer gives up a packet that has come farther than it has to go (`rt_ll_failed` of ns-2.35's aodv/aodv.cc). The
    /// other routes over the link are left as they are.
    NearerThanSource,
}

impl Rules {
    /// The constants of ns-2.35, where its rules are followed.
    pub(super) fn constants(self) -> Option<Constants> {
        match self {
            Self::Rfc3561 => None,
            Self::Ns2(constants) => Some(constants),
        }
    }
}

impl LinkDetection {
    pub(super) fn uses_hello(self) -> bool {
        self != Self::LinkLayer
    }

    pub(super) fn uses_link_layer(self) -> bool {
        self != Self::Hello
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::rfc3561()
    }
}

impl Config {
    /// The defaults of RFC 3561, section 10; all that it offers, but no D flag and no acknowledgements. The jitter is that of
    /// [`Self::ns2`].
    pub const fn rfc3561() -> Self {
        Self {
            active_route_timeout: Duration::from_secs(3),
            allowed_hello_loss: 2,
            hello_interval: Duration::from_secs(1),
            local_add_ttl: 2,
            net_diameter: 35,
            node_traversal_time: Duration::from_millis(40),
            rerr_ratelimit: Some(10),
            rreq_ratelimit: Some(10),
            rreq_retries: 2,
            timeout_buffer: 2,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            rules: Rules::Rfc3561,
            broadcast_jitter: Duration::from_millis(10),
            in_arp: false,
            pads_requests: false,
            link_detection: LinkDetection::Both,
            hello_always: false,
            hello_suppression: true,
            error_without_route: true,
            local_repair: LocalRepair::Near,
            gratuitous_reply: true,
            destination_only: false,
            reply_acknowledgement: false,
        }
    }

    /// Those of ns-2.35 (aodv/aodv.h, and the jitter in aodv/aodv.cc), which detects broken links in the link layer and
    /// sends no hellos, limits no rates and has separate [rules](Rules::Ns2).
    pub const fn ns2() -> Self {
        Self {
            active_route_timeout: Duration::from_secs(10),
            allowed_hello_loss: 3,
            net_diameter: 30,
            node_traversal_time: Duration::from_millis(30),
            rerr_ratelimit: None,
            rreq_ratelimit: None,
            rreq_retries: 3,
            timeout_buffer: 0,
            // TTL_START, 5, is never used: rt_last_hop_count begins with INFINITY2 (aodv/aodv_rtable.cc).
            ttl_start: 30,
            rules: Rules::Ns2(Constants {
                bcast_id_save: Duration::from_secs(6),
                max_rreq_timeout: Duration::from_secs(10),
                my_route_timeout: Duration::from_secs(10),
                rev_route_life: Duration::from_secs(6),
            }),
            link_detection: LinkDetection::LinkLayer,
            local_repair: LocalRepair::NearerThanSource,
            gratuitous_reply: false,
            ..Self::rfc3561()
        }
    }

    /// Those of draft-ietf-manet-aodv-05 (March 2000), section 17, as run by de Silva and Das, "Experimental evaluation of a
    /// wireless ad hoc network" (IC3N 2000): a hello each second from every node, whatever else it sends, a neighbour lost after two
    /// seconds, no local repair, and nothing from the link layer, whose radios know no acknowledgement.
    pub const fn draft5() -> Self {
        Self {
            rerr_ratelimit: None,
            rreq_ratelimit: None,
            timeout_buffer: 0,
            link_detection: LinkDetection::Hello,
            hello_always: true,
            hello_suppression: false,
            local_repair: LocalRepair::Never,
            gratuitous_reply: false,
            ..Self::rfc3561()
        }
    }

    /// [`Self::draft5`] where de Silva and Das had it, in the ARP of Linux (section 3.2): requests are ARP requests, replies and
    /// errors ARP replies, with the fields of AODV behind those of ARP. Their format is not told; here the message of RFC 3561
    /// stands behind an ARP packet, which is as long as the headers of IP and UDP that it replaces. Of the lengths that of a request
    /// is told (Table 1): 68 bytes, of which 28 are the ARP packet, 24 the message, and 16 an extension that says nothing.
    pub const fn draft5_in_arp() -> Self {
        Self { in_arp: true, pads_requests: true, ..Self::draft5() }
    }

    /// BLACKLIST_TIMEOUT: how long requests of a neighbour that did not receive a reply are ignored. The formula is that of
    /// the note on expanding ring searches.
    pub(crate) fn blacklist_timeout(&self) -> Duration {
        let rings = self.ttl_threshold.checked_sub(self.ttl_start).map_or(0, |span| span / self.ttl_increment + 1);
        self.net_traversal_time() * (u64::from(rings) + u64::from(self.rreq_retries))
    }

    /// DELETE_PERIOD: how long a route that is no longer valid is remembered. Of the formula of the RFC and twice the
    /// PATH_DISCOVERY_TIME the longer one: no valid route may outlive its next hop's memory.
    pub fn delete_period(&self) -> Duration {
        (self.active_route_timeout.max(self.hello_interval) * K)
            .max(self.path_discovery_time().max(self.net_traversal_time() * 2) * 2)
    }

    /// MAX_REPAIR_TTL: a route is repaired locally if the destination was no farther than this, in hops.
    pub(crate) fn max_repair_ttl(&self) -> u8 {
        // A third of an octet is an octet.
        (u16::from(self.net_diameter) * 3 / 10) as u8
    }

    /// MY_ROUTE_TIMEOUT: lifetime of a route to this node.
    pub(crate) fn my_route_timeout(&self) -> Duration {
        self.rules.constants().map_or(self.active_route_timeout * 2, |constants| constants.my_route_timeout)
    }

    /// NET_TRAVERSAL_TIME: time through the network and back.
    pub(crate) fn net_traversal_time(&self) -> Duration {
        self.node_traversal_time * 2 * u64::from(self.net_diameter)
    }

    /// NEXT_HOP_WAIT: time in which a neighbour shows that it has received something.
    pub(crate) fn next_hop_wait(&self) -> Duration {
        self.node_traversal_time + Duration::from_millis(10)
    }

    /// PATH_DISCOVERY_TIME: how long a request is known again.
    pub(crate) fn path_discovery_time(&self) -> Duration {
        self.rules.constants().map_or(self.net_traversal_time() * 2, |constants| constants.bcast_id_save)
    }

    /// RING_TRAVERSAL_TIME: wait for a reply to a request with this time to live.
    pub(crate) fn ring_traversal_time(&self, ttl: u8) -> Duration {
        self.node_traversal_time * 2 * (u64::from(ttl) + u64::from(self.timeout_buffer))
    }

    /// MinimalLifetime of section 6.5: how long a route back to an originator `hops` away is needed.
    pub(crate) fn reverse_route_lifetime(&self, hops: u8) -> Duration {
        let derived = (self.net_traversal_time() * 2).saturating_sub(self.node_traversal_time * 2 * u64::from(hops));
        self.rules.constants().map_or(derived, |constants| constants.rev_route_life)
    }

    /// Whether a lost link takes along all packets that were to go over it, including those of this node, and a repair is
    /// a search (`rt_ll_failed` and `local_rt_repair` of ns-2.35's aodv/aodv.cc). With the RFC's repair, the protocol
    /// decides on each packet again, and a repair is one request.
    pub(super) fn fails_as_ns2(&self) -> bool {
        self.is_ns2() && self.local_repair != LocalRepair::Near
    }

    /// Whether requests of the node's own leave without jitter: as in ns-2, and as ARP's do.
    pub(super) fn asks_at_once(&self) -> bool {
        self.is_ns2() || self.in_arp
    }

    /// Whether ns-2's rules are followed.
    pub(super) fn is_ns2(&self) -> bool {
        self.rules != Rules::Rfc3561
    }

    /// The longest lifetime of a route: shorter than the memory of its next hop by what a message may take.
    pub(super) fn longest_lifetime(&self) -> Duration {
        self.delete_period() - self.net_traversal_time()
    }

    /// The same with every value in its range.
    pub(super) fn clamped(mut self) -> Self {
        let time = |time: Duration| time.clamp(TIMES.0, TIMES.1);
        self.active_route_timeout = time(self.active_route_timeout);
        self.hello_interval = time(self.hello_interval);
        self.node_traversal_time = time(self.node_traversal_time);
        if let Rules::Ns2(constants) = self.rules {
            self.rules = Rules::Ns2(Constants {
                bcast_id_save: time(constants.bcast_id_save),
                max_rreq_timeout: time(constants.max_rreq_timeout),
                my_route_timeout: time(constants.my_route_timeout),
                rev_route_life: time(constants.rev_route_life),
            });
        }
        self.broadcast_jitter = self.broadcast_jitter.min(TIMES.1);
        self.allowed_hello_loss = self.allowed_hello_loss.clamp(1, 1_000);
        self.net_diameter = self.net_diameter.max(1);
        self.rerr_ratelimit = self.rerr_ratelimit.map(|limit| limit.clamp(1, 1_000));
        self.rreq_ratelimit = self.rreq_ratelimit.map(|limit| limit.clamp(1, 1_000));
        self.rreq_retries = self.rreq_retries.min(1_000);
        self.ttl_start = self.ttl_start.max(1);
        self.ttl_increment = self.ttl_increment.max(1);
        self
    }
}
