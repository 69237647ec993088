//! Streaming between the devices of homes: which streams are admitted over which paths, and how much media a display buffers.
//!
//! Ghandeharizadeh and others (P000, section VI) leave this to future work. Each part is a machine: [`profile`] knows a link,
//! [`airtime`] what is reserved around a device, [`hello`] when that is told, [`admission`] and [`prefetch`] judge a stream, [`reservation`] books it along a path,
//! [`delivery`] carries it, [`adaptation`] chooses its rate, [`variable_rate`] knows that of a film, [`schedule`] says which of several is sent next, [`path`] shortens the
//! path while it is under way, and [`device`] is all of them at one device. [`placement`] says beforehand which devices store which
//! clips, [`cache`] which ones a device keeps of those that it has displayed, and [`carrier`] which ones it fetches for others.
//! The machines see what a real host sees: its datagrams, and the station dump of its interface. Real hosts also need [`catalogue`],
//! to know which clips there are, and [`pairs`], where an interface tells nothing of its links.

pub mod adaptation;
pub mod admission;
pub mod airtime;
pub mod cache;
pub mod carrier;
pub mod catalogue;
pub mod delivery;
pub mod device;
pub mod hello;
pub mod pairs;
pub mod path;
pub mod placement;
pub mod prefetch;
pub mod profile;
pub mod reservation;
pub mod schedule;
pub mod variable_rate;
