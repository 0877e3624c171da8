//! The URL that ab requests, parsed as ab does it, and the address of its host.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// A parsed URL.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Url {
    /// As it was given.
    pub whole: String,
    /// Whether the connection is encrypted.
    pub is_tls: bool,
    /// The host, without brackets.
    pub host: String,
    pub port: u16,
    /// The path, which begins with a slash.
    pub path: String,
}

impl Url {
    /// Parses a URL; `None` if ab rejects it. ab requires a path, but no scheme.
    pub fn parse(whole: &str) -> Option<Self> {
        let after = |scheme| whole.strip_prefix(scheme).filter(|rest: &&str| !rest.is_empty());
        let (is_tls, rest) = match (after("http://"), after("https://")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => (false, whole),
        };
        let (authority, path) = rest.split_at(rest.find('/')?);
        let name = authority.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &authority[name.len()..];
        // Digits alone are a port without a host. Digits without a colon before them are part of the name.
        let (host, port) = match name.strip_suffix(':') {
            Some(host) if !digits.is_empty() => (host, digits.parse().ok().filter(|port| *port > 0)?),
            _ if name.is_empty() => return None,
            _ => (authority, if is_tls { 443 } else { 80 }),
        };
        let host = match host.strip_prefix('[') {
            Some(bracketed) => {
                let bare = bracketed.strip_suffix(']')?;
                bare.parse::<Ipv6Addr>().ok()?;
                bare
            }
            None => host,
        };
        let is_whole = !host.is_empty();
        let (host, path) = (host.to_owned(), path.to_owned());
        is_whole.then(|| Self { whole: whole.to_owned(), is_tls, host, port, path })
    }

    /// The value of the Host field.
    pub fn authority(&self) -> String {
        let host = if self.host.parse::<Ipv6Addr>().is_ok() {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        let usual = if self.is_tls { 443 } else { 80 };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }
}

/// The addresses of a host, or APR's error message and ab's exit code. ab connects to the first that accepts; `from` can reach those of its
/// own kind only.
pub fn resolve(host: &str, port: u16, from: Option<IpAddr>) -> Result<Vec<SocketAddr>, (String, u8)> {
    let all = (host, port).to_socket_addrs().map_err(|error| failed(host, &error.to_string()))?;
    let is_wanted = |address: &SocketAddr| from.is_none_or(|from| from.is_ipv4() == address.is_ipv4());
    Ok(all.filter(is_wanted).collect())
}

/// The message about a host without an address, and the exit code.
pub fn unknown(host: &str) -> (String, u8) {
    failed(host, "no address")
}

fn failed(host: &str, why: &str) -> (String, u8) {
    let (words, number, code) = if why.contains("Temporary failure") {
        ("Temporary failure in name resolution", 670_003, 51)
    } else {
        ("Name or service not known", 670_002, 50)
    };
    (format!("apr_sockaddr_info_get() for {host}: {words} ({number})\n"), code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_as_ab_does_it() {
        let parts = |text: &str| Url::parse(text).map(|u| (u.is_tls, u.authority(), u.host, u.port, u.path));
        let some = |tls, authority: &str, host: &str, port, path: &str| {
            Some((tls, authority.to_owned(), host.to_owned(), port, path.to_owned()))
        };
        let cases = [
            ("http://a/", some(false, "a", "a", 80, "/")),
            ("a:8080/x y?q#f", some(false, "a:8080", "a", 8080, "/x y?q#f")),
            ("https://a:443/", some(true, "a", "a", 443, "/")),
            ("https://10.0.0.1/", some(true, "10.0.0.1", "10.0.0.1", 443, "/")),
            ("http://[::1]:81/x", some(false, "[::1]:81", "::1", 81, "/x")),
            ("foo:bar/", some(false, "foo:bar", "foo:bar", 80, "/")),
            ("http://", some(false, "http:", "http:", 80, "//")),
            ("ftp://a/", some(false, "ftp:", "ftp:", 80, "//a/")),
        ];
        for (text, expected) in cases {
            assert_eq!(parts(text), expected, "{text}");
        }
        for bad in ["", "a", "http://a", "/x", "http:///x", "8080/", ":80/", "a:0/", "a:99999/", "[1]/"] {
            assert_eq!(Url::parse(bad), None, "{bad}");
        }
    }
}
