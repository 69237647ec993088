//! Timelines of one station, instant by instant; the clauses are those of IEEE 802.11-2020.
//!
//! In the drawings a letter above the axis is what the station sends, one below is what it hears; times in microseconds.

mod access;
mod aggregation;
mod agreement;
mod bench;
mod edca;
mod exchange;
mod management;
mod ns2;
mod properties;
mod protection;
mod queueing;
mod rate;
mod recovery;
mod reservation;
mod standards;
mod txop;
mod widths;
