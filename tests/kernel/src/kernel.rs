//! The kernel's TCP as an end: a socket in a network namespace whose only way out is a TUN device.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Command;
use std::{fmt, fs, thread};

use hopcast_protocols::time::Duration;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrIn, sockopt};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::Role;

const DEVICE: &str = "peer0";
/// 1460 bytes of payload behind headers without options.
const MTU: u16 = 1500;
/// Written and read at once.
const CHUNK: usize = 1 << 16;

/// What of the kernel's TCP is set, for one namespace. The names are those of Linux's `ip-sysctl.rst` and `ip-route(8)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// TCP_CONGESTION: `reno` or `cubic`.
    pub congestion: &'static str,
    /// `tcp_sack`. Without it neither RACK nor TLP is used.
    pub sack: bool,
    /// `tcp_recovery`, a bit field.
    pub recovery: u8,
    /// `tcp_early_retrans`: 0 turns the tail loss probe off, 3 is the kernel's default.
    pub early_retransmit: u8,
    /// `rto_min` of the route. The kernel adds at least this to the smoothed round-trip time.
    pub min_rto: Duration,
    /// `initcwnd` of the route, in segments.
    pub initial_window: u32,
    /// `quickack` of the route: each segment is acknowledged at once.
    pub quick_ack: bool,
}

impl Default for Settings {
    /// The kernel's own values (6.18).
    fn default() -> Self {
        Self {
            congestion: "cubic",
            sack: true,
            recovery: 1,
            early_retransmit: 3,
            min_rto: Duration::from_millis(200),
            initial_window: 10,
            quick_ack: false,
        }
    }
}

/// Why the kernel can't be a peer here.
#[derive(Debug)]
pub struct Unavailable {
    /// The program `ip` is missing, rather than a right or a device.
    pub program: bool,
    reason: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Whether namespaces and TUN devices can be made and `ip` is there to set them up.
pub fn available() -> Result<(), Unavailable> {
    if let Err(error) = Command::new("ip").arg("-Version").output() {
        return Err(Unavailable { program: true, reason: format!("ip: {error}") });
    }
    let attempt = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("a network namespace: {error}"))?;
        tun().map(drop).map_err(|error| format!("a TUN device: {error}"))
    });
    let made = attempt.join().expect("it returns its error");
    made.map_err(|reason| Unavailable { program: false, reason })
}

/// A socket of the kernel's and its user.
pub struct Kernel {
    device: SyncDevice,
    stream: Socket,
    /// Bytes still to be written.
    left: u64,
    buffer: Vec<u8>,
}

enum Socket {
    Connecting(TcpStream),
    Listening(TcpListener),
    Open(TcpStream),
}

impl Kernel {
    /// An end that opens at once: the SYN of a sender waits in the device.
    pub fn open(settings: &Settings, role: Role) -> io::Result<Self> {
        let settings = settings.clone();
        // A namespace belongs to a thread; device and socket stay in it and keep it alive.
        let maker = thread::spawn(move || -> io::Result<(SyncDevice, OwnedFd)> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let device = tun()?;
            settings.apply(role)?;
            Ok((device, open_socket(&settings, role)?))
        });
        let (device, socket) = maker.join().expect("it returns its error")?;
        let (stream, left) = match role {
            Role::Sends(bytes) => (Socket::Connecting(socket.into()), bytes),
            Role::Receives => (Socket::Listening(socket.into()), 0),
        };
        Ok(Self { device, stream, left, buffer: vec![0; CHUNK] })
    }

    pub(crate) fn handle_packet(&mut self, octets: &[u8]) -> io::Result<()> {
        self.device.send(octets).map(drop)
    }

    /// Lets the user write and read, then takes the next packet out of the device.
    pub(crate) fn poll_packet(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.run_user()?;
        match self.device.recv(&mut self.buffer) {
            Ok(len) => Ok(Some(self.buffer[..len].to_vec())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn run_user(&mut self) -> io::Result<()> {
        let done = match &mut self.stream {
            Socket::Listening(listener) => listener.accept().map(|(stream, _)| {
                let set = stream.set_nonblocking(true);
                self.stream = Socket::Open(stream);
                set
            }),
            // A name is there once the connection is.
            Socket::Connecting(stream) => match stream.peer_addr() {
                Ok(_) => {
                    self.stream = Socket::Open(stream.try_clone()?);
                    return self.run_user();
                }
                Err(_) => return Ok(()),
            },
            Socket::Open(stream) if self.left > 0 => loop {
                let len = self.left.min(CHUNK as u64) as usize;
                match stream.write(&self.buffer[..len]) {
                    Ok(0) => break Ok(Ok(())),
                    Ok(taken) => self.left -= taken as u64,
                    Err(error) => break Err(error),
                }
                if self.left == 0 {
                    break Ok(Ok(()));
                }
            },
            Socket::Open(stream) => loop {
                match stream.read(&mut self.buffer) {
                    Ok(0) => break Ok(Ok(())),
                    Ok(_) => {}
                    Err(error) => break Err(error),
                }
            },
        };
        match done {
            Ok(done) => done,
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What tells of a packet from the kernel.
    pub(crate) fn device(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// What tells that the user can write, if it wants to.
    pub(crate) fn writable(&self) -> Option<BorrowedFd<'_>> {
        match &self.stream {
            Socket::Open(stream) if self.left > 0 => Some(stream.as_fd()),
            _ => None,
        }
    }
}

/// The TUN device of the calling thread's namespace, whose `recv` does not block.
fn tun() -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new().name(DEVICE).layer(Layer::L3).mtu(MTU).build_sync()?;
    fcntl(&device, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(device)
}

impl Settings {
    /// Sets the calling thread's namespace up.
    fn apply(&self, role: Role) -> io::Result<()> {
        let (local, remote) = (role.local(), role.remote());
        // One segment a packet at the device, or TSO would send bursts of its own making.
        ip(&["link", "set", DEVICE, "up", "gso_max_segs", "1"])?;
        ip(&["address", "add", &format!("{}/32", local.ip()), "dev", DEVICE])?;
        let (window, min_rto) = (self.initial_window.to_string(), self.min_rto.as_nanos() / 1_000_000);
        let (route, min_rto) = (remote.ip().to_string(), format!("{min_rto}ms"));
        let mut words = vec!["route", "add", &route, "dev", DEVICE, "initcwnd", &window, "rto_min", &min_rto];
        if self.quick_ack {
            words.extend(["quickack", "1"]);
        }
        ip(&words)?;
        for (name, value) in [
            ("tcp_sack", u8::from(self.sack).to_string()),
            ("tcp_recovery", self.recovery.to_string()),
            ("tcp_early_retrans", self.early_retransmit.to_string()),
            // As hopcast's defaults: no timestamps and no D-SACK, hence no undoing; no ECN.
            ("tcp_timestamps", "0".to_owned()),
            ("tcp_dsack", "0".to_owned()),
            ("tcp_ecn", "0".to_owned()),
            // Buffers that limit nothing.
            ("tcp_rmem", "4096 6291456 33554432".to_owned()),
            ("tcp_wmem", "4096 4194304 4194304".to_owned()),
        ] {
            let path = format!("/proc/sys/net/ipv4/{name}");
            fs::write(&path, value).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
        }
        Ok(())
    }
}

fn open_socket(settings: &Settings, role: Role) -> io::Result<OwnedFd> {
    let address = |socket: SocketAddrV4| SockaddrIn::from(socket);
    let socket = socket::socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_NONBLOCK, None)?;
    socket::setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(settings.congestion))?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&socket);
    socket::bind(fd, &address(role.local()))?;
    match role {
        Role::Sends(_) => match socket::connect(fd, &address(role.remote())) {
            Ok(()) | Err(Errno::EINPROGRESS) => {}
            Err(error) => return Err(error.into()),
        },
        Role::Receives => socket::listen(&socket, socket::Backlog::new(1)?)?,
    }
    Ok(socket)
}

fn ip(words: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(words).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("ip {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim())))
}
