//! Hosts and ports as users write them: `HOST`, `HOST:PORT`, `[HOST]:PORT`, or an IPv6 address, whose colons do not
//! separate a port.

use std::net::{SocketAddr, ToSocketAddrs};

use hopcast_sim::io_error::cause;

/// Host and port of `text`. `None` if the text has another form; the host does not have to exist.
pub fn split(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(inside) => inside.split_once(']')?,
        None if text.matches(':').count() == 1 => text.split_at(text.find(':')?),
        None => (text, ""),
    };
    if host.is_empty() || host.contains(['[', ']']) {
        return None;
    }
    match rest.strip_prefix(':') {
        // A number may be written with a sign, a port may not.
        Some(port) if port.bytes().all(|octet| octet.is_ascii_digit()) => Some((host, Some(port.parse().ok()?))),
        None if rest.is_empty() => Some((host, None)),
        _ => None,
    }
}

/// The addresses of `text`, at least one; at `usual_port` if it names none.
///
/// # Errors
///
/// What is wrong, in a sentence that begins with `text`.
pub(crate) fn resolve(text: &str, usual_port: Option<u16>) -> Result<Vec<SocketAddr>, String> {
    let wanted = if usual_port.is_some() { "HOST or HOST:PORT" } else { "HOST:PORT" };
    let found = split(text).and_then(|(host, port)| Some((host, port.or(usual_port)?)));
    let host_and_port = found.ok_or_else(|| match has_too_large_a_port(text) {
        true => format!("{text}: a port is at most {}", u16::MAX),
        false => format!("{text}: expected {wanted}"),
    })?;
    let addresses = host_and_port.to_socket_addrs().map_err(|error| format!("{text}: {}", cause(&error)))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    if addresses.is_empty() { Err(format!("{text}: the name has no address")) } else { Ok(addresses) }
}

/// Whether only the size of the port is wrong.
fn has_too_large_a_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    !port.is_empty()
        && port.bytes().all(|octet| octet.is_ascii_digit())
        && split(host).is_some_and(|(_, other)| other.is_none())
        && port.parse::<u16>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_usual_port_is_taken_where_none_is_named() {
        for (text, address) in [
            ("127.0.0.1", "127.0.0.1:47300"),
            ("127.0.0.1:9", "127.0.0.1:9"),
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("::1", "[::1]:47300"),
            ("[::1]", "[::1]:47300"),
            ("[::1]:9", "[::1]:9"),
        ] {
            let expected: SocketAddr = address.parse().expect("an address");
            assert_eq!(resolve(text, Some(47_300)), Ok(vec![expected]));
        }
        assert_eq!(resolve("::1", None), Err("::1: expected HOST:PORT".into()));
    }

    #[test]
    fn what_is_no_host_and_port_is_not_looked_up() {
        let wrong = [
            "",
            ":9",
            "[]",
            "[]:9",
            "host:",
            "host:many",
            "host:+9",
            "[::1",
            "::1]",
            "[::1]9",
            "[::1]:",
            "[::1]6511:7",
            "[[::1]]",
        ];
        for text in wrong {
            assert_eq!(resolve(text, Some(6511)), Err(format!("{text}: expected HOST or HOST:PORT")));
        }
        for text in ["host:65536", "[::1]:99999999999999999999"] {
            assert_eq!(resolve(text, Some(6511)), Err(format!("{text}: a port is at most 65535")));
        }
        assert_eq!(
            (split("fe80::1%eth0"), split("host:65535")),
            (Some(("fe80::1%eth0", None)), Some(("host", Some(65_535))))
        );
    }

    proptest! {
        #[test]
        fn a_host_is_what_stands_before_the_port(text in "[a-z0-9:\\[\\]]{0,12}", port: u16) {
            if let Some((host, None)) = split(&text) {
                let with_port = format!("[{host}]:{port}");
                prop_assert_eq!(split(&with_port), Some((host, Some(port))));
            }
        }
    }
}
