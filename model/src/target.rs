//! Where requests go: a URL, taken apart, and the address that it resolves to.

use http::Uri;
use std::net::{SocketAddr, ToSocketAddrs};

/// A resolved URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As it was given.
    pub url: String,
    /// The Host header: name and, unless it is 80, port.
    pub host: String,
    /// Path and query; at least `/`.
    pub path: String,
    /// Where to connect to.
    pub address: SocketAddr,
}

/// Why a URL is no target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// It does not parse.
    #[error("`{url}` is not a URL ({why}): write it like http://127.0.0.1:8080/path")]
    Parse {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The name is unknown.
    #[error("can't resolve the host `{host}` of {url} ({why}): check the spelling, or use an address")]
    Resolve {
        /// As it was given.
        url: String,
        /// The name.
        host: String,
        /// What the resolver said.
        why: String,
    },
}

impl Target {
    /// Takes a URL apart and resolves its host. A missing scheme means http.
    pub fn resolve(url: &str) -> Result<Self, TargetError> {
        let parse = |why: &str| TargetError::Parse { url: url.to_owned(), why: why.to_owned() };
        let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let without_fragment = whole.split('#').next().unwrap_or_default();
        let uri: Uri = without_fragment.parse().map_err(|e: http::uri::InvalidUri| parse(&e.to_string()))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some(other) => return Err(parse(&format!("only http is spoken, not {other}"))),
            None => return Err(parse("it has no host")),
        }
        let authority = uri.authority().ok_or_else(|| parse("it has no host"))?;
        let (name, port) = (authority.host(), authority.port());
        if name.is_empty() {
            return Err(parse("it has no host"));
        }
        if port.is_none() && authority.as_str().len() != name.len() {
            return Err(parse("its port is not a number from 1 to 65535"));
        }
        let port = port.map_or(80, |p| p.as_u16());
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let resolve = |why: String| TargetError::Resolve { url: url.to_owned(), host: bare.to_owned(), why };
        let address = (bare, port)
            .to_socket_addrs()
            .map_err(|e| resolve(e.to_string()))?
            .next()
            .ok_or_else(|| resolve("it has no address".to_owned()))?;
        let host = if port == 80 { name.to_owned() } else { format!("{name}:{port}") };
        let path = uri.path_and_query().map_or("/", |p| p.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { url: url.to_owned(), host, path, address })
    }

    /// The request as bytes: head, the given headers, body. Host, `Content-Length` and, for the last
    /// request of a connection, `Connection: close` are added unless given.
    pub fn request(&self, method: &str, headers: &[(String, String)], body: &[u8], close: bool) -> Vec<u8> {
        let given = |name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        let mut text = format!("{method} {} HTTP/1.1\r\n", self.path);
        let mut add = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\r\n"));
        if !given("host") {
            add("Host", &self.host);
        }
        if close && !given("connection") {
            add("Connection", "close");
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
        assert_eq!((t.host.as_str(), t.path.as_str(), t.address.port()), ("127.0.0.1", "/", 80));
        let t = Target::resolve("http://[::1]:81?q").unwrap();
        assert_eq!((t.host.as_str(), t.path.as_str(), t.address.port()), ("[::1]:81", "/?q", 81));
    }

    #[test]
    fn what_is_no_url_is_said_to_be_none() {
        for bad in [
            "",
            "http://",
            "ftp://a/",
            "https://a/",
            "http://a:99999/",
            "http://a:b/",
            "http:// /",
            "http:///x",
        ] {
            assert!(matches!(Target::resolve(bad), Err(TargetError::Parse { .. })), "{bad}");
        }
    }

    #[test]
    fn the_request_has_each_header_once() {
        let t = Target::resolve("127.0.0.1:81/x").unwrap();
        let headers = [("HOST".to_owned(), "h".to_owned())];
        let text = String::from_utf8(t.request("POST", &headers, b"hi", true)).unwrap();
        assert_eq!(text, "POST /x HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\nHOST: h\r\n\r\nhi");
    }
}
