//! Packet formats against judges: Wireshark's dissectors, and captures that other projects made.

mod captures;
mod pcap;
mod tshark;
