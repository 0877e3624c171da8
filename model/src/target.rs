//! Where requests go: a parsed URL, and the address that it resolves to.

use crate::url::{Authorization, Url, redacted_url};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, ToSocketAddrs};
use std::path::PathBuf;

/// A resolved URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The URL as given, without its user's name and password.
    pub url: String,
    /// The Host header: the name and, unless it is the scheme's default, the port.
    pub host: String,
    /// Path and query; at least `/`.
    pub path: String,
    /// The address to connect to.
    pub address: Address,
    /// More addresses of the host, for the case that nothing listens at the first.
    #[serde(default)]
    pub others: Vec<SocketAddr>,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// The user's name and password, if the URL has them. Requests are made from them where the URL is read, so they go nowhere else.
    #[serde(skip)]
    pub authorization: Option<Authorization>,
    /// What follows `#` in the URL, which is not sent.
    #[serde(skip)]
    pub fragment: Option<String>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Address {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// The address, if it is a TCP port.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// The parts of a request, from which [`Target::request`] writes its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The method: GET and the like.
    pub method: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// Whether the version is HTTP/1.0 instead of 1.1.
    pub http10: bool,
    /// Whether the connection is used again afterwards.
    pub keep_alive: bool,
    /// Header fields besides those that are added.
    pub headers: &'a [(String, String)],
    /// The body.
    pub body: &'a [u8],
}

/// Why a URL is no target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The URL does not parse.
    #[error("`{url}` is not a URL ({why}): write it like http://127.0.0.1:8080/path")]
    Parse {
        /// The URL as given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The host can't be resolved.
    #[error("can't resolve `{host}`, the host of {url} ({why}): check the spelling, or use an address")]
    Resolve {
        /// The URL as given.
        url: String,
        /// The host.
        host: String,
        /// The resolver's error.
        why: String,
    },
}

impl Target {
    /// Parses a URL and looks up all addresses of its host; `address` is the first of them. A missing scheme means http. Errors: the text is
    /// not an http or https URL, or the host has no address.
    pub fn resolve(url: &str) -> Result<Self, TargetError> {
        let wrong = |why: String| TargetError::Parse { url: redacted_url(url), why };
        let parts = Url::parse(url).map_err(wrong)?;
        let usual = parts.usual_port();
        let port = parts.port.unwrap_or(usual);
        let resolve =
            |why: String| TargetError::Resolve { url: parts.shown.clone(), host: parts.name.clone(), why };
        let mut all = addresses(&parts.name, port).map_err(|e| resolve(e.to_string()))?;
        let mut seen = BTreeSet::new();
        all.retain(|address| seen.insert(*address));
        if all.is_empty() {
            return Err(resolve("it has no address".to_owned()));
        }
        Ok(Self { others: all.split_off(1), ..Self::from_url(parts, Address::Tcp(all[0])) })
    }

    /// Parses a URL for a server on a Unix socket: its host is a name for the server alone, and is not looked up. Error: the text is not an
    /// http or https URL.
    pub fn on_socket(url: &str, path: PathBuf) -> Result<Self, TargetError> {
        let wrong = |why: String| TargetError::Parse { url: redacted_url(url), why };
        Ok(Self::from_url(Url::parse(url).map_err(wrong)?, Address::Unix(path)))
    }

    /// What a URL says, for a server at this address.
    fn from_url(parts: Url, address: Address) -> Self {
        let usual = parts.usual_port();
        let other_port = parts.port.filter(|port| *port != usual);
        Self {
            host: other_port.map_or_else(|| parts.host.clone(), |port| format!("{}:{port}", parts.host)),
            url: parts.shown,
            path: parts.path,
            tls: parts.tls,
            authorization: parts.authorization,
            fragment: parts.fragment,
            ..Self::at(address)
        }
    }

    /// A target at this address, of which nothing else is set.
    pub fn at(address: Address) -> Self {
        Self {
            url: String::new(),
            host: String::new(),
            path: "/".to_owned(),
            address,
            others: Vec::new(),
            tls: false,
            authorization: None,
            fragment: None,
        }
    }

    /// The URL, with the address that is used where the URL has a name.
    pub fn shown(&self) -> String {
        self.shown_at(&self.address.to_string())
    }

    /// The same with the addresses that were used in other places.
    pub fn shown_at(&self, addresses: &str) -> String {
        let has_name = self.address.tcp().is_some() && self.name().parse::<IpAddr>().is_err();
        if has_name && !addresses.is_empty() {
            format!("{} at {addresses}", self.url)
        } else {
            self.url.clone()
        }
    }

    /// All addresses of the host, in the order in which they are tried.
    pub fn addresses(&self) -> impl Iterator<Item = Address> {
        let others = self.others.iter().map(|other| Address::Tcp(*other));
        std::iter::once(self.address.clone()).chain(others)
    }

    /// The name in the URL, without port and brackets: what a certificate must be for.
    pub fn name(&self) -> &str {
        let without_port = match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => &self.host,
        };
        // A certificate's name has no dot at its end (RFC 6066, 3).
        without_port.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.')
    }

    /// Writes the request as bytes: head, the given headers, body. Host, `Content-Length` and the field `Connection` are added unless
    /// given.
    pub fn request(&self, asking: Asking<'_>) -> Vec<u8> {
        let Asking { method, path, http10, keep_alive, headers, body } = asking;
        let given = |name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        let version = if http10 { "1.0" } else { "1.1" };
        let mut text = format!("{method} {path} HTTP/{version}\r\n");
        let mut add = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\r\n"));
        if !given("host") {
            add("Host", &self.host);
        }
        if let Some(authorization) = self.authorization.as_ref().filter(|_| !given("authorization")) {
            add("Authorization", authorization.value());
        }
        match (http10, keep_alive) {
            _ if given("connection") => {}
            (true, true) => add("Connection", "keep-alive"),
            (false, false) => add("Connection", "close"),
            _ => {}
        }
        if !body.is_empty() && !given("content-length") {
            add("Content-Length", &body.len().to_string());
        }
        for (name, value) in headers {
            add(name, value);
        }
        text.push_str("\r\n");
        [text.as_bytes(), body].concat()
    }
}

/// The addresses of a host. A zone may belong to any address, also where the system's resolver knows it for local ones only.
fn addresses(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let Some((address, zone)) = name.split_once('%') else {
        return Ok((name, port).to_socket_addrs()?.collect());
    };
    let address: Ipv6Addr = address.parse().map_err(io::Error::other)?;
    let of_interface = || {
        let named = !zone.contains('/') && zone != "." && zone != "..";
        let index =
            named.then(|| std::fs::read_to_string(format!("/sys/class/net/{zone}/ifindex")).ok()).flatten();
        index.and_then(|index| index.trim().parse().ok())
    };
    let index = zone.parse().ok().or_else(of_interface);
    let index =
        index.ok_or_else(|| io::Error::other(format!("this machine has no network interface {zone}")))?;
    Ok(vec![SocketAddrV6::new(address, port, 0, index).into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let t = Target::resolve("http://127.0.0.1:8080/a?b=c#d").unwrap();
        assert_eq!((t.host.as_str(), t.path.as_str()), ("127.0.0.1:8080", "/a?b=c"));
        let t = Target::resolve("127.0.0.1").unwrap();
        assert_eq!(
            (t.host.as_str(), t.path.as_str(), t.address.to_string().as_str()),
            ("127.0.0.1", "/", "127.0.0.1:80")
        );
        let t = Target::resolve("http://[::1]:81?q").unwrap();
        assert_eq!(
            (t.host.as_str(), t.path.as_str(), t.address.to_string().as_str()),
            ("[::1]:81", "/?q", "[::1]:81")
        );
    }

    #[test]
    fn https_has_a_port_and_a_name_of_its_own() {
        let t = Target::resolve("https://127.0.0.1/").unwrap();
        assert_eq!((t.tls, t.address.to_string().as_str(), t.name()), (true, "127.0.0.1:443", "127.0.0.1"));
        let name = |url| Target::resolve(url).unwrap().name().to_owned();
        assert_eq!([name("https://[::1]:81/"), name("http://[::1]/")], ["::1", "::1"]);
        assert_eq!(name("http://localhost:8080/"), "localhost");
    }

    #[test]
    fn what_is_no_url_is_said_to_be_none() {
        for bad in [
            "",
            "http://",
            "ftp://a/",
            "http://a:99999/",
            "http://a:0/",
            "http://a:b/",
            "http:// /",
            "http:///x",
        ] {
            assert!(matches!(Target::resolve(bad), Err(TargetError::Parse { .. })), "{bad}");
        }
    }

    #[test]
    fn an_address_keeps_its_zone_and_a_request_does_not_name_it() {
        for url in ["http://[fe80::1%lo]:81/", "http://[fe80::1%25lo]:81/", "[::1%lo]:81"] {
            let t = Target::resolve(url).unwrap();
            let Address::Tcp(SocketAddr::V6(at)) = t.address else { panic!("{t:?}") };
            assert!(at.scope_id() > 0 && at.port() == 81 && !t.host.contains("lo"), "{at:?} {}", t.host);
        }
        let Address::Tcp(SocketAddr::V6(at)) = Target::resolve("http://[fe80::1%7]/").unwrap().address else {
            panic!()
        };
        assert_eq!(at.scope_id(), 7);
        for none in ["http://[fe80::1%no-such-one]/", "http://[fe80::1%..]/", "http://[fe80::1%2Fetc]/"] {
            let error = Target::resolve(none).unwrap_err().to_string();
            assert!(error.contains("no network interface"), "{none}: {error}");
        }
    }

    #[test]
    fn errors_and_stored_urls_have_no_password() {
        for url in ["http://u:secret@a b/", "http://u:secret@:1/", "http://u:sec/ret@a:x/", "u:secret@a:x"] {
            let error = Target::resolve(url).unwrap_err().to_string();
            assert!(!error.contains("sec") && error.contains("***@"), "{error}");
        }
        let t = Target::resolve("http://u:secret@127.0.0.1:81/").unwrap();
        assert_eq!(t.url, "http://***@127.0.0.1:81/");
        let asking =
            Asking { method: "GET", path: "/", http10: false, keep_alive: true, headers: &[], body: b"" };
        let request = String::from_utf8(t.request(asking)).unwrap();
        assert!(request.contains("\r\nAuthorization: Basic dTpzZWNyZXQ=\r\n"), "{request}");
        let own = [("authorization".to_owned(), "Bearer x".to_owned())];
        let request = String::from_utf8(t.request(Asking { headers: &own, ..asking })).unwrap();
        assert!(!request.contains("Basic"), "a field that is given replaces it: {request}");
    }

    #[test]
    fn the_request_has_each_header_once() {
        let t = Target::resolve("127.0.0.1:81/x").unwrap();
        let headers = [("HOST".to_owned(), "h".to_owned())];
        let asking = Asking {
            method: "POST",
            path: &t.path,
            http10: false,
            keep_alive: false,
            headers: &headers,
            body: b"hi",
        };
        let text = |asking| String::from_utf8(t.request(asking)).unwrap();
        assert_eq!(
            text(asking),
            "POST /x HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\nHOST: h\r\n\r\nhi"
        );
        let asking = Asking { http10: true, keep_alive: true, headers: &[], body: b"", ..asking };
        assert_eq!(text(asking), "POST /x HTTP/1.0\r\nHost: 127.0.0.1:81\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(
            text(Asking { keep_alive: false, ..asking }),
            "POST /x HTTP/1.0\r\nHost: 127.0.0.1:81\r\n\r\n"
        );
    }
}
