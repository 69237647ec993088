//! Answers to programs that ask a running command for its state: one line on a local socket, metrics over HTTP (RFC
//! 9112), and a page for browsers.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::{SocketAddr as LocalAddress, UnixListener, UnixStream};

use hopcast_protocols::time::{Duration, Instant};
use nix::poll::PollFlags;
use serde::Serialize;
use serde_json::Value;

/// The content type of metrics in Prometheus' text form (OpenMetrics 1.0).
pub(crate) const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is answered.
pub(crate) trait Answers {
    /// The line for who asks on the local socket, its end included.
    fn line(&self) -> Vec<u8>;

    /// The metrics, as [`METRICS`] says.
    fn metrics(&self) -> String;

    /// The state in lines for people, for the page at `/`; `None`: there is no such page.
    fn text(&self) -> Option<String> {
        None
    }

    /// What is at `target` over HTTP, for a request with this field `Host`; `None` if the request has none, or several.
    fn get(&self, target: &str, host: Option<&str>) -> Page {
        let text = if target == "/" { self.text() } else { None };
        match (target, text) {
            ("/metrics", _) => Page { code: OK, kind: METRICS, body: self.metrics().into_bytes() },
            (_, Some(text)) if host.is_some_and(is_local) => Page::of_lines(&text),
            (_, Some(_)) => Page::text("403 Forbidden", "open a loopback address, such as 127.0.0.1\n"),
            (_, None) => Page::text("404 Not Found", "the metrics are at /metrics\n"),
        }
    }
}

/// Whether a field `Host` names this machine. A page of another site whose name leads to a loopback address must not read anything.
pub(crate) fn is_local(host: &str) -> bool {
    let is_port = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The content type of a page for browsers.
pub(crate) const HTML: &str = "text/html; charset=utf-8";
/// The page before its lines.
const HEAD: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="2">
<meta name="viewport" content="width=device-width">
<title>hopcast</title>
<style>
:root { color-scheme: light dark; }
body { margin: 2em; }
pre { font: 15px/1.5 ui-monospace, monospace; }
</style>
<pre>"#;

/// The code of a request that is answered.
pub(crate) const OK: &str = "200 OK";

/// An answer over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The status code and what it means.
    pub(crate) code: &'static str,
    /// The content type.
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
}

impl Page {
    /// A sentence for people.
    pub(crate) fn text(code: &'static str, text: &str) -> Self {
        Self { code, kind: "text/plain", body: text.as_bytes().to_vec() }
    }

    /// A page for browsers that shows lines as they are, and asks for them again every two seconds.
    fn of_lines(lines: &str) -> Self {
        let lines = lines.replace('&', "&amp;").replace('<', "&lt;");
        Self { code: OK, kind: HTML, body: [HEAD, &lines, "</pre>\n"].concat().into_bytes() }
    }
}

/// Reads a loopback address and port, on which metrics may be given.
///
/// # Errors
///
/// What is wrong with the text.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| "an address and a port are written like 127.0.0.1:9654")?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err("metrics are given on a loopback address only, such as 127.0.0.1".into()),
    }
}

/// Asks the command that has the local socket `address` for its state; `None` if no program listens there. Any program of the host
/// may have the name of the socket: `limit` is the longest answer that is read, in bytes.
///
/// # Errors
///
/// The platform's; no whole answer within five seconds.
pub(crate) fn ask(address: &LocalAddress, limit: u64) -> io::Result<Option<Value>> {
    let stream = match UnixStream::connect_addr(address) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(None),
        Err(error) => return Err(error),
    };
    stream.set_read_timeout(Some(std::time::Duration::from_nanos(PATIENCE.as_nanos())))?;
    let mut octets = Vec::new();
    stream.take(limit).read_to_end(&mut octets)?;
    Ok(Some(serde_json::from_slice(&octets)?))
}

/// A state as the line that answers on the local socket.
pub(crate) fn line(state: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(state).expect("the state is plain data");
    line.push(b'\n');
    line
}

/// The most that are answered at a time; others wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 8;
/// Who has not read its answer after this time gets no more of it.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest request that is read, in bytes.
const MAX_REQUEST: usize = 4096;

/// The listeners and those who have come.
#[derive(Debug, Default)]
pub(crate) struct Server {
    local: Option<UnixListener>,
    http: Option<TcpListener>,
    connections: Vec<Connection>,
}

#[derive(Debug)]
struct Connection {
    stream: Stream,
    request: Vec<u8>,
    /// What is to be sent; `None`: the request is not read yet.
    reply: Option<Vec<u8>>,
    /// Bytes of it that are sent.
    sent: usize,
    until: Instant,
}

#[derive(Debug)]
enum Stream {
    Local(UnixStream),
    Http(TcpStream),
}

impl Server {
    /// Answers on a local socket.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn local(local: UnixListener) -> io::Result<Self> {
        local.set_nonblocking(true)?;
        Ok(Self { local: Some(local), ..Self::default() })
    }

    /// Gives metrics over HTTP on `address` too.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn listen_for_http(&mut self, address: SocketAddr) -> io::Result<()> {
        let http = TcpListener::bind(address)?;
        http.set_nonblocking(true)?;
        self.http = Some(http);
        Ok(())
    }

    /// Answers over HTTP alone.
    ///
    /// # Errors
    ///
    /// The platform's.
    pub(crate) fn http(http: TcpListener) -> io::Result<Self> {
        http.set_nonblocking(true)?;
        Ok(Self { http: Some(http), ..Self::default() })
    }

    /// What is to be waited for.
    pub(crate) fn fds(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let has_room = self.connections.len() < MAX_CONNECTIONS;
        let local = self.local.as_ref().filter(|_| has_room).map(|local| (local.as_fd(), PollFlags::POLLIN));
        let http = self.http.as_ref().filter(|_| has_room).map(|http| (http.as_fd(), PollFlags::POLLIN));
        let open = self.connections.iter().map(|connection| {
            let flags = if connection.reply.is_some() { PollFlags::POLLOUT } else { PollFlags::POLLIN };
            match &connection.stream {
                Stream::Local(stream) => (stream.as_fd(), flags),
                Stream::Http(stream) => (stream.as_fd(), flags),
            }
        });
        local.into_iter().chain(http).chain(open)
    }

    /// Whether all that have come have their answers.
    pub(crate) fn is_idle(&self) -> bool {
        self.connections.is_empty()
    }

    /// When somebody's patience ends.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.connections.iter().map(|connection| connection.until).min()
    }

    /// Does what can be done without waiting.
    pub(crate) fn serve(&mut self, now: Instant, answers: &impl Answers) {
        while self.connections.len() < MAX_CONNECTIONS
            && let Some((stream, reply)) = self.accept(answers)
        {
            self.connections.push(Connection { stream, request: Vec::new(), reply, sent: 0, until: now + PATIENCE });
        }
        self.connections
            .retain_mut(|connection| connection.until > now && connection.proceed(answers).unwrap_or(false));
    }

    fn accept(&self, answers: &impl Answers) -> Option<(Stream, Option<Vec<u8>>)> {
        if let Some(Ok((stream, _))) = self.local.as_ref().map(UnixListener::accept)
            && stream.set_nonblocking(true).is_ok()
        {
            return Some((Stream::Local(stream), Some(answers.line())));
        }
        let (stream, _) = self.http.as_ref()?.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        Some((Stream::Http(stream), None))
    }
}

impl Connection {
    /// Reads and writes what can be; whether something is left to do.
    fn proceed(&mut self, answers: &impl Answers) -> io::Result<bool> {
        while self.reply.is_none() {
            let mut octets = [0; 512];
            let read = match &mut self.stream {
                Stream::Local(stream) => stream.read(&mut octets),
                Stream::Http(stream) => stream.read(&mut octets),
            };
            match read {
                Ok(0) => return Ok(false),
                Ok(len) => self.request.extend_from_slice(&octets[..len]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
            self.reply = answer(&self.request, answers);
        }
        let Some(reply) = &self.reply else { return Ok(true) };
        while self.sent < reply.len() {
            let written = match &mut self.stream {
                Stream::Local(stream) => stream.write(&reply[self.sent..]),
                Stream::Http(stream) => stream.write(&reply[self.sent..]),
            };
            match written {
                Ok(len) => self.sent += len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

/// The reply to a request over HTTP; `None` while it is not all there.
pub(crate) fn answer(request: &[u8], answers: &impl Answers) -> Option<Vec<u8>> {
    let is_whole = request.windows(4).any(|octets| octets == b"\r\n\r\n");
    if !is_whole && request.len() < MAX_REQUEST {
        return None;
    }
    let mut words = request.split(|&octet| matches!(octet, b' ' | b'\r' | b'\n'));
    let Page { code, kind, body } = match (words.next(), words.next().map(str::from_utf8)) {
        _ if !is_whole => Page::text("431 Request Header Fields Too Large", ""),
        (Some(b"GET"), Some(Ok(target))) => answers.get(target, host(request)),
        (Some(b"GET"), _) => Page::text("400 Bad Request", ""),
        _ => Page::text("405 Method Not Allowed", ""),
    };
    let head = format!(
        "HTTP/1.1 {code}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: \
         close\r\n\r\n",
        body.len()
    );
    Some([head.into_bytes(), body].concat())
}

/// The field `Host` of a request, which may be there once.
fn host(request: &[u8]) -> Option<&str> {
    let mut hosts = request.split(|&octet| octet == b'\n').filter_map(|line| {
        let (name, value) = str::from_utf8(line).ok()?.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    hosts.next().filter(|_| hosts.next().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Seven;

    impl Answers for Seven {
        fn line(&self) -> Vec<u8> {
            b"7\n".to_vec()
        }

        fn metrics(&self) -> String {
            "seven_total 7\n# EOF\n".into()
        }

        fn text(&self) -> Option<String> {
            Some("<seven> & 7\n".into())
        }
    }

    fn reply(request: &[u8]) -> Option<String> {
        answer(request, &Seven).map(|reply| String::from_utf8(reply).expect("text"))
    }

    #[test]
    fn metrics_stay_on_the_machine() {
        assert!(loopback("127.0.0.1:9654").is_ok() && loopback("[::1]:9654").is_ok());
        assert!(loopback("0.0.0.0:9654").is_err_and(|error| error.contains("loopback")));
        assert!(loopback("9654").is_err_and(|error| error.contains("127.0.0.1:9654")));
    }

    #[test]
    fn a_request_is_answered_once_it_is_all_there() {
        let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
        for len in 0..request.len() {
            assert_eq!(reply(&request[..len]), None, "after {len} octets");
        }
        let whole = reply(request).expect("it is all there");
        let (head, body) = whole.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(METRICS), "{head}");
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
        assert!(body == "seven_total 7\n# EOF\n", "{body}");
    }

    #[test]
    fn other_requests_are_told_what_is_wrong() {
        let too_long = [&b"GET / HTTP/1.1\r\nX: "[..], &[b'x'; MAX_REQUEST]].concat();
        for (request, code) in [
            (&b"GET / HTTP/1.1\r\n\r\n"[..], "403 Forbidden"),
            (b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", "403 Forbidden"),
            (b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n", "404 Not Found"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            (b"\r\n\r\n", "405 Method Not Allowed"),
            (&too_long, "431 Request Header Fields Too Large"),
        ] {
            let reply = reply(request).expect("it is answered");
            assert!(reply.starts_with(&format!("HTTP/1.1 {code}\r\n")), "{reply}");
        }
    }

    #[test]
    fn a_page_shows_the_lines_as_they_are_to_this_machine_alone() {
        let page = reply(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:9655\r\n\r\n").expect("it is answered");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains(HTML), "{page}");
        assert!(page.ends_with("<pre>&lt;seven> &amp; 7\n</pre>\n"), "{page}");
        for host in ["127.0.0.1", "127.8.0.1:80", "localhost", "localhost:9655", "[::1]", "[::1]:9655"] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "127.0.0.1.example.com",
            "localhost.example.com:80",
            "10.0.0.1",
            "[::2]:80",
            "127.0.0.1:x",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn the_host_of_a_request_is_its_only_one() {
        for (request, expected) in [
            (&b"GET / HTTP/1.1\r\nhOST:  127.0.0.1:80 \r\n\r\n"[..], Some("127.0.0.1:80")),
            (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", None),
            (b"GET / HTTP/1.1\r\nHosts: a\r\n\r\n", None),
        ] {
            assert_eq!(host(request), expected);
        }
    }

    proptest! {
        #[test]
        fn arbitrary_requests_are_answered_or_waited_for(request in proptest::collection::vec(any::<u8>(), 0..100)) {
            let is_whole = request.windows(4).any(|octets| octets == b"\r\n\r\n");
            prop_assert_eq!(reply(&request).is_some(), is_whole);
        }
    }
}
