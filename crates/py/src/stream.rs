//! Both ends of a stream for `hopcast.stream`, which gives them sockets and a clock.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use hopcast_live::address;
use hopcast_live::failure::Failure;
use hopcast_live::stream::session::{Variant, describe};
use hopcast_live::stream::{
    Receiver, ReceiverConfig, ReceiverOutput, Sender, SenderConfig, SenderOutput, correction, draw_seed, read_sealing,
};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::dccp::CloseReason;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Host, port and, of IPv6, flow information and scope, as Python's sockets have them.
type Peer = (String, u16, u32, u32);
/// What a machine wants done: a word, bytes, a peer, a reason.
type Wish<'py> = (&'static str, Option<Bound<'py, PyBytes>>, Option<Peer>, Option<String>);

/// Host and port, if it names one, of HOST, HOST:PORT, or with brackets around the host; `None` if that can't be.
#[pyfunction]
pub(crate) fn split_address(text: &str) -> Option<(&str, Option<u16>)> {
    address::split(text)
}

/// The sending end. Times are nanoseconds by one clock that never goes back.
#[pyclass(name = "StreamSender", module = "hopcast._core")]
pub(crate) struct StreamSender(Mutex<Sender>);

#[pymethods]
impl StreamSender {
    #[new]
    fn new(
        variant: &str,
        correction: Option<(i64, i64)>,
        patience_s: Option<f64>,
        key: Option<PathBuf>,
        now: u64,
    ) -> PyResult<Self> {
        let variant = named(variant)?;
        let fec = |(source, repair): (i64, i64)| {
            // What is out of range is none that could be.
            let [source, repair] = [source, repair].map(|count| u32::try_from(count).unwrap_or_default());
            self::correction(variant, source, repair)
                .map_err(|wrong| PyValueError::new_err(format!("correction: {wrong}")))
        };
        let config = SenderConfig {
            variant,
            fec: correction.map(fec).transpose()?,
            patience: patience_s.map(|seconds| duration("patience", seconds)).transpose()?,
            sealing: read_sealing(key.as_deref()).map_err(failure)?,
            ..SenderConfig::default()
        };
        Ok(Self(Mutex::new(Sender::new(config, draw_seed().map_err(failure)?, Instant::from_nanos(now)))))
    }

    fn room(&mut self) -> usize {
        self.machine().room()
    }

    fn handle_packet(&mut self, packet: &[u8], now: u64) -> bool {
        self.machine().handle_packet(packet, Instant::from_nanos(now))
    }

    fn handle_datagram(&mut self, datagram: &[u8], now: u64) {
        self.machine().handle_datagram(datagram, Instant::from_nanos(now));
    }

    fn handle_end(&mut self, now: u64) {
        self.machine().handle_end(Instant::from_nanos(now));
    }

    fn handle_stop(&mut self, now: u64) {
        self.machine().handle_stop(Instant::from_nanos(now));
    }

    fn handle_timeout(&mut self, now: u64) {
        self.machine().handle_timeout(Instant::from_nanos(now));
    }

    fn poll_timeout(&mut self) -> Option<u64> {
        self.machine().poll_timeout().map(Instant::as_nanos)
    }

    fn poll_output<'py>(&mut self, py: Python<'py>, now: u64) -> Option<Wish<'py>> {
        Some(match self.machine().poll_output(Instant::from_nanos(now))? {
            SenderOutput::Transmit(octets) => ("transmit", Some(PyBytes::new(py, octets)), None, None),
            SenderOutput::Connected => ("connected", None, None, None),
            SenderOutput::Lost(reason) => ("lost", None, None, Some(describe(reason))),
            SenderOutput::Finished(reason) => {
                // As it was wished, it has no reason.
                let reason = (reason != CloseReason::Finished).then(|| describe(reason));
                ("finished", None, None, reason)
            }
        })
    }

    /// Statistics as JSON.
    fn statistics(&mut self, now: u64) -> String {
        self.machine().report().to_json(Instant::from_nanos(now))
    }
}

impl StreamSender {
    fn machine(&mut self) -> &mut Sender {
        // A panic inside has gone to Python by then.
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The receiving end. Times are nanoseconds by one clock that never goes back.
#[pyclass(name = "StreamReceiver", module = "hopcast._core")]
pub(crate) struct StreamReceiver(Mutex<Receiver>);

#[pymethods]
impl StreamReceiver {
    #[new]
    fn new(variant: &str, playout_s: f64, key: Option<PathBuf>, now: u64) -> PyResult<Self> {
        let config = ReceiverConfig {
            variant: named(variant)?,
            playout: duration("playout", playout_s)?,
            sealing: read_sealing(key.as_deref()).map_err(failure)?,
            ..ReceiverConfig::default()
        };
        Ok(Self(Mutex::new(Receiver::new(config, draw_seed().map_err(failure)?, Instant::from_nanos(now)))))
    }

    #[pyo3(signature = (datagram, now, host, port, flowinfo = 0, scope_id = 0))]
    fn handle_datagram(
        &mut self,
        datagram: &[u8],
        now: u64,
        host: &str,
        port: u16,
        flowinfo: u32,
        scope_id: u32,
    ) -> PyResult<()> {
        let peer = match host.parse().map_err(|_| PyValueError::new_err(format!("{host} is no address")))? {
            IpAddr::V4(host) => SocketAddr::from((host, port)),
            IpAddr::V6(host) => SocketAddrV6::new(host, port, flowinfo, scope_id).into(),
        };
        self.machine().handle_datagram(peer, datagram, Instant::from_nanos(now));
        Ok(())
    }

    fn handle_stop(&mut self, now: u64) {
        self.machine().handle_stop(Instant::from_nanos(now));
    }

    fn handle_timeout(&mut self, now: u64) {
        self.machine().handle_timeout(Instant::from_nanos(now));
    }

    fn poll_timeout(&mut self) -> Option<u64> {
        self.machine().poll_timeout().map(Instant::as_nanos)
    }

    fn poll_output<'py>(&mut self, py: Python<'py>, now: u64) -> Option<Wish<'py>> {
        let address = |peer: SocketAddr| {
            let (flowinfo, scope) = match peer {
                SocketAddr::V4(_) => (0, 0),
                SocketAddr::V6(peer) => (peer.flowinfo(), peer.scope_id()),
            };
            Some((peer.ip().to_string(), peer.port(), flowinfo, scope))
        };
        Some(match self.machine().poll_output(Instant::from_nanos(now))? {
            ReceiverOutput::Transmit(to, octets) => ("transmit", Some(PyBytes::new(py, octets)), address(to), None),
            ReceiverOutput::Deliver(octets) => ("deliver", Some(PyBytes::new(py, octets)), None, None),
            ReceiverOutput::Connected(peer) => ("connected", None, address(peer), None),
            ReceiverOutput::Finished(peer) => ("finished", None, address(peer), None),
            ReceiverOutput::Lost(peer, reason) => ("lost", None, address(peer), Some(describe(reason))),
        })
    }

    /// Statistics as JSON.
    fn statistics(&mut self, now: u64) -> String {
        let now = Instant::from_nanos(now);
        self.machine().report(now).to_json(now)
    }
}

impl StreamReceiver {
    fn machine(&mut self) -> &mut Receiver {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(variant: &str) -> PyResult<Variant> {
    // Sessions of RTP are for the command line alone.
    Variant::named(variant)
        .filter(|variant| *variant != Variant::Rtp)
        .ok_or_else(|| PyValueError::new_err(format!("variant {variant}: adtfrc, tfrc or udp is wanted")))
}

/// A time in seconds.
fn duration(name: &str, seconds: f64) -> PyResult<Duration> {
    if seconds.is_finite() && seconds >= 0.0 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(PyValueError::new_err(format!("{name} {seconds}: a number of seconds is wanted, not below zero")))
    }
}

fn failure(failure: Failure) -> PyErr {
    match failure {
        Failure::Input(message) => PyValueError::new_err(message),
        other => PyOSError::new_err(other.to_string()),
    }
}
