//! Tests of packet formats against Wireshark's dissectors, captures of other projects, and other codecs.

mod captures;
mod pcap;
mod peers;
mod tshark;
