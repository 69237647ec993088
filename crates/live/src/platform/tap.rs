//! TAP devices: Ethernet interfaces whose frames this process reads and writes.

use std::io;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// What makes them.
pub(crate) const DEVICE: &str = "/dev/net/tun";

/// Makes a TAP device in the network namespace of the calling thread. It is down, exists until it is dropped, and neither
/// reads nor writes block.
///
/// # Errors
/// Errors of the platform: `EPERM` without `CAP_NET_ADMIN`, `ENOENT` without the device `/dev/net/tun`.
pub fn open(name: &str) -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new().name(name).layer(Layer::L2).enable(false).build_sync();
    let device = device.map_err(|error| io::Error::new(error.kind(), format!("{DEVICE}: {error}")))?;
    fcntl(&device, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(device)
}
