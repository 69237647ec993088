//! Sockets for the units of a flow.

use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};

use super::control::ANSWER_TIME;
use super::overflow::Overflow;
use super::plan::Protocol;
use crate::platform::wait;

/// How often a thread that waits looks whether it is to stop.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// Input of units.
#[derive(Debug)]
pub enum Input {
    /// Datagrams.
    Udp(UdpSocket),
    /// The stream of a future connection.
    Tcp(TcpListener),
}

/// Output of units.
#[derive(Debug)]
pub enum Output {
    /// A connected socket.
    Udp(UdpSocket),
    /// A connection.
    Tcp(TcpStream),
}

impl Input {
    /// Any free port of the host of `local`, for `protocol`, with buffers of `buffer` bytes.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn bind(protocol: Protocol, local: SocketAddr, buffer: Option<u32>) -> io::Result<Self> {
        let any = with_port(local, 0);
        Ok(match protocol {
            Protocol::Udp => {
                let socket = UdpSocket::bind(any)?;
                socket.set_nonblocking(true)?;
                set_buffers(&socket, buffer)?;
                Self::Udp(socket)
            }
            Protocol::Tcp => {
                let listener = TcpListener::bind(any)?;
                listener.set_nonblocking(true)?;
                // Those of the listener are those of its connections.
                set_buffers(&listener, buffer)?;
                Self::Tcp(listener)
            }
        })
    }

    /// What counts the datagrams that there is no room for; `None` for a stream, which waits.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn overflow(&self) -> io::Result<Option<Overflow>> {
        match self {
            Self::Udp(socket) => Overflow::of(socket).map(Some),
            Self::Tcp(_) => Ok(None),
        }
    }

    /// The port.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn port(&self) -> io::Result<u16> {
        let address = match self {
            Self::Udp(socket) => socket.local_addr(),
            Self::Tcp(listener) => listener.local_addr(),
        };
        address.map(|address| address.port())
    }
}

impl Output {
    /// Connects any free port of the host of `local` to `remote`.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn connect(
        protocol: Protocol,
        local: SocketAddr,
        remote: SocketAddr,
        buffer: Option<u32>,
    ) -> io::Result<Self> {
        Ok(match protocol {
            Protocol::Udp => {
                let socket = UdpSocket::bind(with_port(local, 0))?;
                socket.connect(remote)?;
                socket.set_nonblocking(true)?;
                set_buffers(&socket, buffer)?;
                Self::Udp(socket)
            }
            Protocol::Tcp => {
                let stream = TcpStream::connect_timeout(&remote, ANSWER_TIME)?;
                stream.set_nonblocking(true)?;
                set_buffers(&stream, buffer)?;
                Self::Tcp(stream)
            }
        })
    }
}

/// Another port of the same host. What belongs to its address stays: link-local ones of IPv6 have a scope (RFC 4007).
pub(crate) fn with_port(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}

fn set_buffers(socket: &impl AsFd, octets: Option<u32>) -> io::Result<()> {
    if let Some(octets) = octets {
        let octets = octets as usize;
        setsockopt(socket, sockopt::SndBuf, &octets)?;
        setsockopt(socket, sockopt::RcvBuf, &octets)?;
    }
    Ok(())
}

/// Waits for the connection that `from` opens; those of others are closed, and told to `stranger`. `None` if `stop` is set
/// before it comes.
pub(crate) fn accept(
    listener: &TcpListener,
    from: IpAddr,
    stop: &AtomicBool,
    mut stranger: impl FnMut(),
) -> io::Result<Option<TcpStream>> {
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, address)) if address.ip() == from => {
                stream.set_nonblocking(true)?;
                return Ok(Some(stream));
            }
            Ok(_) => stranger(),
            Err(error) if is_transient(&error) => {
                wait::readable(listener, LOOK);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Writes all of `octets`, waiting as long as it takes; false if `stop` is set before.
///
/// # Errors
///
/// The system's.
pub(crate) fn write_all(stream: &mut TcpStream, mut octets: &[u8], stop: &AtomicBool) -> io::Result<bool> {
    while !octets.is_empty() {
        match stream.write(octets) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => octets = &octets[written..],
            Err(error) if is_transient(&error) => {
                wait::writable(stream, LOOK);
                if stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Whether it is worth trying again.
pub(crate) fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted)
}
