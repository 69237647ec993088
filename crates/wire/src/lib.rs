//! Packet formats: typed headers, parse and emit, one format a file.
