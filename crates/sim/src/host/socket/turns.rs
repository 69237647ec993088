//! Blocking writes of datagrams wait for room at their interface, and take turns there: those to UDP, and those over RTP that neither
//! pacer nor window holds back.
//!
//! Linux delays a blocking write while the queue of the interface has no room for it. All other packets leave whatever
//! the room, and a full queue drops them.

use super::{Connect, Owner, SocketId};
use crate::host::{Context, Endpoint, Slot, Stack};
use crate::metrics::DropCause;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::QueueSpace;
use hopcast_radio::mac::edca::{AccessCategory, UserPriority};
use std::collections::VecDeque;

/// So long a blocking program waits after a write for which a routing protocol had no route, and at the most after one that left
/// too many packets waiting for a route or an address; a choice of ours.
const FAILED_WRITE_PAUSE: Duration = Duration::from_secs(1);

/// A program that writes datagrams, as its socket knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    /// Where it writes to; `None` for a socket that only receives.
    pub(super) remote: Option<Endpoint>,
    /// Whether it writes with blocking calls, and has not ended.
    pub(super) is_blocking: bool,
    /// Whether its socket waits for its turn at an interface.
    is_queued: bool,
    /// Until then its call does not return.
    resumes: Instant,
}

impl Writer {
    pub(super) fn new(connect: Option<Connect>) -> Self {
        Self {
            remote: connect.map(|connect| connect.remote),
            is_blocking: connect.is_some_and(|connect| connect.is_blocking),
            is_queued: false,
            resumes: Instant::START,
        }
    }

    /// Where it writes to.
    pub(super) fn remote(&self) -> Endpoint {
        self.remote.expect("a socket that a program writes to has a remote end")
    }
}

/// Sockets with a blocking write to one interface.
#[derive(Clone, Debug, Default)]
pub(in crate::host) struct Turns {
    /// By turns.
    waiting: VecDeque<SocketId>,
    /// Free places that its queue must have before one of them writes again, by category under EDCA; 0 unless one found too few.
    awaited: [usize; AccessCategory::ALL.len()],
}

/// Whose turn is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::host) struct Place {
    interface: usize,
    /// Among the sockets that wait there.
    turn: usize,
}

/// The turn of a socket: what it finds at its interface, and what it needs.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::host) struct Turn {
    /// Whose it is; `None` while no socket has it.
    socket: Option<SocketId>,
    interface: usize,
    /// Free places in the queue of the interface.
    places: usize,
    /// Among the queues of the interface.
    queue: usize,
    /// Whether that is the only one.
    is_only: bool,
    /// Places that the write needs, if these are too few.
    needed: Option<usize>,
}

/// What the search for the next turn finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) enum Next {
    /// A program, which may write once.
    Turn(u32),
    /// None here: one waits at another interface from now on.
    Moved,
    /// None at all.
    Nobody,
}

impl Stack {
    /// Whether a program waits for room at an interface.
    #[inline]
    pub(in crate::host) fn has_writers(&self) -> bool {
        self.turns.iter().any(|turns| !turns.waiting.is_empty())
    }

    /// Whether the program of a socket writes only when the socket has its turn.
    pub(super) fn takes_turns(&self, socket: SocketId) -> bool {
        match socket {
            SocketId::Udp(place) => self.udp[place as usize].writer.is_blocking,
            SocketId::Rtp(place) => self.rtp[place as usize].takes_turns(),
            SocketId::Tcp(_) | SocketId::Dccp(_) | SocketId::Messages(_) => false,
        }
    }

    /// Whether it is the turn of this socket.
    pub(super) fn has_turn(&self, socket: SocketId) -> bool {
        self.turn.socket == Some(socket)
    }

    /// A socket may be able to write, as far as its own buffer goes.
    pub(super) fn await_turn(&mut self, socket: SocketId, now: Instant) {
        if self.takes_turns(socket) && !self.writer(socket).is_queued {
            let interface = self.interface_towards(self.writer(socket).remote().node, now) as usize;
            self.writer_mut(socket).is_queued = true;
            self.turns[interface].waiting.push_back(socket);
        }
    }

    fn parts(&self, socket: SocketId) -> (&Owner, &Writer) {
        match socket {
            SocketId::Udp(place) => (&self.udp[place as usize].owner, &self.udp[place as usize].writer),
            SocketId::Rtp(place) => (&self.rtp[place as usize].owner, &self.rtp[place as usize].writer),
            SocketId::Tcp(_) | SocketId::Dccp(_) | SocketId::Messages(_) => unreachable!("it takes no turns"),
        }
    }

    fn writer(&self, socket: SocketId) -> &Writer {
        self.parts(socket).1
    }

    fn writer_mut(&mut self, socket: SocketId) -> &mut Writer {
        match socket {
            SocketId::Udp(place) => &mut self.udp[place as usize].writer,
            SocketId::Rtp(place) => &mut self.rtp[place as usize].writer,
            SocketId::Tcp(_) | SocketId::Dccp(_) | SocketId::Messages(_) => unreachable!("it takes no turns"),
        }
    }

    /// The next turn from `place` on while the queues have `room`.
    ///
    /// The first one that finds too little room keeps its turn among those of its queue, so that large datagrams don't starve. All
    /// of them then wait until half of the queue is free, as those wait whom Linux lets write again when half of their buffer is
    /// (`sock_def_write_space`): who writes whenever a place becomes free leaves none to anybody else.
    pub(in crate::host) fn next_turn(
        &mut self,
        place: &mut Place,
        room: &impl Fn(u32, UserPriority) -> QueueSpace,
        cx: &Context<'_>,
    ) -> Next {
        while place.interface < self.turns.len() {
            let interface = place.interface;
            let Some(&socket) = self.turns[interface].waiting.get(place.turn) else {
                *place = Place { interface: interface + 1, turn: 0 };
                continue;
            };
            if self.turns.len() > 1 {
                // Its way may be another by now.
                let own = self.interface_towards(self.writer(socket).remote().node, cx.now) as usize;
                if own != interface {
                    self.turns[interface].waiting.remove(place.turn);
                    self.turns[own].waiting.push_back(socket);
                    return Next::Moved;
                }
            }
            let owner = *self.parts(socket).0;
            let QueueSpace { places, category } = room(interface as u32, cx.flows[owner.flow].priority());
            let queue = category.map_or(0, |category| category as usize);
            let is_only = category.is_none();
            self.turn = Turn { socket: None, interface, places, queue, is_only, needed: None };
            let awaited = &mut self.turns[interface].awaited[queue];
            if places >= *awaited {
                *awaited = 0;
                self.turn.socket = Some(socket);
                return Next::Turn(owner.program);
            }
            self.turn.needed = Some(*awaited);
            self.pass_turn(place);
        }
        Next::Nobody
    }

    /// A program has had its turn, and has written, or not. Returns whether there may be something to send.
    pub(in crate::host) fn end_turn(&mut self, place: &mut Place, wrote: bool) -> bool {
        self.turn.socket = None;
        if !wrote && self.turn.needed.is_some() {
            self.pass_turn(place);
            return false;
        }
        let waiting = &mut self.turns[place.interface].waiting;
        let socket = waiting.remove(place.turn).expect("its turn was found there");
        if wrote {
            waiting.push_back(socket);
        } else {
            // There is nothing to write, or its buffer has no room: something else will wake it.
            self.writer_mut(socket).is_queued = false;
        }
        wrote
    }

    /// The one whose turn it is needs more places than there are, and keeps its turn.
    fn pass_turn(&mut self, place: &mut Place) {
        let Turn { interface, queue, is_only, needed, .. } = self.turn;
        let half = self.config.interfaces[interface].queue_packets.div_ceil(2) as usize;
        self.turns[interface].awaited[queue] = needed.unwrap_or(0).max(half);
        *place = match is_only {
            true => Place { interface: interface + 1, turn: 0 },
            false => Place { interface, turn: place.turn + 1 },
        };
    }

    /// Whether the queue has room for a datagram of `packets`, now that its socket has its turn. What never fits goes when the queue is
    /// empty.
    pub(super) fn has_room_in_turn(&mut self, packets: u32) -> bool {
        let most = self.config.interfaces[self.turn.interface].queue_packets.max(1);
        let needed = packets.min(most) as usize;
        self.turn.needed = (needed > self.turn.places).then_some(needed);
        self.turn.needed.is_none()
    }

    /// Whether the latest write to a socket has yet to return; its program is woken then.
    pub(in crate::host) fn is_paused(&mut self, socket: SocketId, now: Instant) -> bool {
        let (SocketId::Udp(_) | SocketId::Rtp(_)) = socket else { return false };
        let (&Owner { program, .. }, &Writer { resumes, .. }) = self.parts(socket);
        if resumes > now {
            self.timers.set(Slot::Program(program).index(), Some(resumes));
        }
        resumes > now
    }

    /// The write that has just been made does not return while more would only drive out what waits for a route or an address:
    /// otherwise such writes would never block, nor end.
    pub(super) fn stall(&mut self, socket: SocketId, now: Instant) {
        self.pause(socket, now);
        if !self.stalled.contains(&socket) {
            self.stalled.push(socket);
        }
    }

    /// What waited for a route or an address has gone: there is room again.
    pub(in crate::host) fn wake_stalled(&mut self, now: Instant) {
        for socket in core::mem::take(&mut self.stalled) {
            self.writer_mut(socket).resumes = now;
            self.await_turn(socket, now);
        }
    }

    /// After a blocking write for which there was no route, but may be one later, the socket takes its time.
    pub(in crate::host) fn pause(&mut self, socket: SocketId, now: Instant) {
        if let SocketId::Udp(_) | SocketId::Rtp(_) = socket {
            self.writer_mut(socket).resumes = now + FAILED_WRITE_PAUSE;
        }
    }

    /// Whether a route may come that is not there now.
    pub(super) fn may_get_route(&self) -> bool {
        self.router.is_some() || self.unrouted == DropCause::NotAssociated
    }
}
