//! Where requests go: a parsed URL, and the address that it resolves to.

use http::Uri;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// A resolved URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The URL as given.
    pub url: String,
    /// The Host header: the name and, unless it is the scheme's default, the port.
    pub host: String,
    /// Path and query; at least `/`.
    pub path: String,
    /// The address to connect to.
    pub address: Address,
    /// Whether the connection is encrypted.
    pub tls: bool,
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
    /// Parses a URL and resolves its host; the first address that the resolver gives is used. A missing scheme means http. Errors: the text
    /// is not an http or https URL, or the host has no address.
    pub fn resolve(url: &str) -> Result<Self, TargetError> {
        let parse = |why: &str| TargetError::Parse { url: url.to_owned(), why: why.to_owned() };
        let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let without_fragment = whole.split('#').next().unwrap_or_default();
        let uri: Uri = without_fragment.parse().map_err(|e: http::uri::InvalidUri| parse(&e.to_string()))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(other) => return Err(parse(&format!("only http and https are supported, not {other}"))),
            None => return Err(parse("it has no host")),
        };
        let authority = uri.authority().ok_or_else(|| parse("it has no host"))?;
        let (name, port) = (authority.host(), authority.port());
        if name.is_empty() {
            return Err(parse("it has no host"));
        }
        if port.is_none() && authority.as_str().len() != name.len() {
            return Err(parse("its port is not a number from 1 to 65535"));
        }
        let usual = if tls { 443 } else { 80 };
        let port = port.map_or(usual, |p| p.as_u16());
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let resolve = |why: String| TargetError::Resolve { url: url.to_owned(), host: bare.to_owned(), why };
        let address = (bare, port)
            .to_socket_addrs()
            .map_err(|e| resolve(e.to_string()))?
            .next()
            .ok_or_else(|| resolve("it has no address".to_owned()))?;
        let host = if port == usual { name.to_owned() } else { format!("{name}:{port}") };
        let path = uri.path_and_query().map_or("/", |p| p.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { url: url.to_owned(), host, path, address: Address::Tcp(address), tls })
    }

    /// The name in the URL, without port and brackets: what a certificate must be for.
    pub fn name(&self) -> &str {
        let without_port = match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => &self.host,
        };
        without_port.trim_start_matches('[').trim_end_matches(']')
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
        for bad in ["", "http://", "ftp://a/", "http://a:99999/", "http://a:b/", "http:// /", "http:///x"] {
            assert!(matches!(Target::resolve(bad), Err(TargetError::Parse { .. })), "{bad}");
        }
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
