//! A URL as wrk parses it: it requires a scheme and a host, and accepts any scheme.

/// The parts of a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// As it was given.
    pub whole: String,
    /// The scheme; only `https` means TLS.
    pub scheme: String,
    /// The host, without brackets.
    pub host: String,
    /// As it was given.
    pub port: Option<String>,
    /// Everything from the first slash to the end, including the fragment, which is not sent.
    pub path: String,
}

impl Url {
    /// Parses a URL; `None` if it is not one.
    pub fn parse(whole: &str) -> Option<Self> {
        let (scheme, rest) = whole.split_once("://")?;
        let is_scheme = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphabetic());
        if !is_scheme || whole.bytes().any(|b| b <= b' ' || b == 0x7f) {
            return None;
        }
        let length = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(length);
        let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        let (host, port) = split(place)?;
        let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
        if port.is_some_and(|port| !is_port(port)) {
            return None;
        }
        Some(Self {
            whole: whole.to_owned(),
            scheme: scheme.to_owned(),
            host: host.to_owned(),
            port: port.map(str::to_owned),
            path: if path.starts_with('/') { path.to_owned() } else { "/".to_owned() },
        })
    }

    /// Host and port or service, as in wrk's error messages.
    pub fn place(&self) -> String {
        format!("{}:{}", self.host, self.port.as_ref().unwrap_or(&self.scheme))
    }

    /// Whether it uses TLS.
    pub fn is_tls(&self) -> bool {
        self.scheme.starts_with("https")
    }
}

fn split(place: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        let is_host =
            !host.is_empty() && host.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'));
        return match (is_host, port) {
            (true, "") => Some((host, None)),
            (true, port) => Some((host, Some(port.strip_prefix(':')?))),
            (false, _) => None,
        };
    }
    let (host, port) = place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port)));
    let is_host = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    (!host.is_empty() && host.bytes().all(is_host)).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let of =
            |url: &str| Url::parse(url).map(|u| (u.scheme.clone(), u.place(), u.path.clone(), u.is_tls()));
        let some = |scheme: &str, place: &str, path: &str, tls| {
            Some((scheme.to_owned(), place.to_owned(), path.to_owned(), tls))
        };
        assert_eq!(of("http://a/b?c#d"), some("http", "a:http", "/b?c#d", false));
        assert_eq!(of("https://a:81?c"), some("https", "a:81", "/", true));
        assert_eq!(of("ftp://u:p@[::1]:080"), some("ftp", "::1:080", "/", false));
        for bad in [
            "",
            "a",
            "a/b",
            "://a",
            "http://",
            "http:///a",
            "http://a b/",
            "http://a:/",
            "http://a:99999/",
            "h1://a",
            "http://[::1",
            "http://[]/",
            "http://a:b@c:d/",
        ] {
            assert_eq!(Url::parse(bad), None, "{bad}");
        }
        assert_eq!(Url::parse("http://a:80x/"), None);
    }
}
