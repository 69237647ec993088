//! Tests of packet formats against Wireshark's dissectors and captures of other projects.

mod captures;
mod pcap;
mod tshark;
