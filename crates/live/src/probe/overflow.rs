//! Datagrams that the system dropped because a socket had no room: these are not losses of the path.

use std::fs::{self, File};
use std::io;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

/// The system's tables of this network namespace's UDP sockets (proc(5)): of IPv4, and of IPv6.
const TABLES: [&str; 2] = ["/proc/thread-self/net/udp", "/proc/thread-self/net/udp6"];
/// Columns of the socket's number and of the count, as words of a line.
const INODE: usize = 9;
const DROPS: usize = 12;

/// The datagrams for which one socket had no room.
#[derive(Clone, Copy, Debug)]
pub struct Overflow {
    inode: u64,
}

impl Overflow {
    /// Of this socket.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn of(socket: &UdpSocket) -> io::Result<Self> {
        let file = File::from(OwnedFd::from(socket.try_clone()?));
        Ok(Self { inode: file.metadata()?.ino() })
    }

    /// How many there were since the socket was made; 0 where the system does not tell.
    pub(crate) fn count(self) -> u64 {
        let tables = TABLES.iter().filter_map(|table| fs::read_to_string(table).ok());
        tables.into_iter().find_map(|table| find(&table, self.inode)).unwrap_or(0)
    }
}

fn find(table: &str, inode: u64) -> Option<u64> {
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let number = |line: &[&str], column: usize| line.get(column)?.parse::<u64>().ok();
    lines.find(|line| number(line, INODE) == Some(inode)).and_then(|line| number(&line, DROPS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_a_socket_is_found_by_its_number() {
        let table = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n \
                     1234: 0100007F:B8C4 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 41 2 00000000 7\n \
                     1235: 0100007F:B8C5 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 42 2 00000000 61536\n";
        assert_eq!([41, 42, 43].map(|inode| find(table, inode)), [Some(7), Some(61_536), None]);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // Where there is no IPv6 there is nothing to test.
            let Ok(socket) = UdpSocket::bind(address) else { continue };
            let overflow = Overflow::of(&socket).expect("it is open");
            assert_eq!(overflow.count(), 0);
            socket.set_nonblocking(true).expect("it is a socket");
            let source = UdpSocket::bind(address).expect("there is a port");
            let count = 2_000;
            for _ in 0..count {
                let sent = source.send_to(&[0; 1_000], socket.local_addr().expect("it is bound"));
                assert_eq!(sent.expect("loopback takes it"), 1_000);
            }
            let mut received = 0;
            while socket.recv(&mut [0; 1_000]).is_ok() {
                received += 1;
            }
            assert!(received < count, "a buffer of 2 MB");
            assert_eq!(overflow.count(), count - received);
        }
    }
}
