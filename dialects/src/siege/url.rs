//! siege's URLs: an optional scheme, an optional method and body after the URL, escaped as siege escapes them; and
//! the request that siege makes from one.

use super::messages;
use super::settings::Settings;
use crate::number::strerror;
use model::Target;

/// A parsed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The method.
    pub method: &'static str,
    /// The URL as siege prints it.
    pub display: String,
    /// The connection's host name, port, and whether it is encrypted.
    pub host: (String, u16, bool),
    /// Path and query.
    pub path: String,
    /// The body, and its content type.
    pub body: Option<(Vec<u8>, String)>,
    /// siege's messages about it.
    pub printed: String,
}

/// The methods that siege recognises after a URL.
const METHODS: [&str; 5] = [" POST", " PUT", " PATCH", " DELETE", " OPTIONS"];

/// A URL that contains one of these or of [`METHODS`] is not escaped, unless it also contains [`NO_METHOD`].
const WORDS: [&str; 3] = [" HEAD", " TRACE", " CONNECT"];

/// The first of siege's methods; siege takes its number, 0, for "none", and then looks for no other.
const NO_METHOD: &str = " GET";

/// The white space around the text of files with these extensions, or with none, is removed; other files are sent unchanged.
const TEXTS: [&str; 10] = ["asc", "css", "csv", "htm", "html", "md", "txt", "xml", "tsv", "svg"];

/// Why a URL is not requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// siege does not know the scheme; it takes `localhost:` for a scheme too.
    Scheme,
    /// The URL is for FTP, which drome does not support.
    Ftp,
    /// The URL contains a name and a password.
    Credentials,
}

/// Parses a URL.
pub fn parse(given: &str, settings: &Settings) -> Result<Asked, Unfit> {
    let has_method =
        !given.contains(NO_METHOD) && METHODS.iter().chain(&WORDS).any(|word| given.contains(word));
    let url = if has_method || !settings.escape { given.to_owned() } else { escape(given) };
    let (is_secure, rest) = scheme(&url)?;
    let (rest, method) = match METHODS.iter().find_map(|m| rest.find(m).map(|at| (at, *m))) {
        Some((at, method)) => (&rest[..at], Some((method.trim_start(), &rest[at + method.len()..]))),
        None => (rest, None),
    };
    let end = rest.find(['/', '#', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err(Unfit::Credentials);
    }
    let port_at = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
    let (name, port) = port_at.map_or((authority, ""), |at| (&authority[..at], &authority[at + 1..]));
    let port = port.parse().unwrap_or(if is_secure { 443 } else { 80 });
    let path = path.split('#').next().unwrap_or_default().trim();
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let mut printed = String::new();
    let body = method.map(|(_, data)| body(data.trim_start(), settings, &mut printed));
    let method = method.map_or("GET", |(method, _)| method);
    let absolute = if given.contains("://") {
        format!("http{}://{rest}", if is_secure { "s" } else { "" })
    } else if rest.contains('/') {
        format!("http://{rest}")
    } else {
        format!("http://{rest}/")
    };
    let display = if settings.full_url || method != "GET" { absolute } else { path.clone() };
    Ok(Asked { method, display, host: (name.to_owned(), port, is_secure), path, body, printed })
}

/// Whether the connection is encrypted, and what follows the scheme.
fn scheme(url: &str) -> Result<(bool, &str), Unfit> {
    let after = |word: &str| {
        let begins = url.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        begins.then(|| url[word.len()..].trim_start_matches('/'))
    };
    if let Some(rest) = after("https:") {
        return Ok((true, rest));
    }
    if let Some(rest) = after("http:") {
        return Ok((false, rest));
    }
    if after("ftp:").is_some() {
        return Err(Unfit::Ftp);
    }
    let head = url.split(':').next().unwrap_or_default();
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '+';
    if head.len() < url.len() && !head.is_empty() && head.chars().all(is_scheme) {
        return Err(Unfit::Scheme);
    }
    Ok((false, url))
}

/// The body: the text itself, or a file's content.
fn body(data: &str, settings: &Settings, printed: &mut String) -> (Vec<u8>, String) {
    let Some(file) = data.strip_prefix('<').map(str::trim) else {
        // Other tools read these otherwise.
        if data.starts_with("-T") || data.starts_with('@') {
            printed.push_str(&format!(
                "drome: siege sends `{data}` as it is; a file is `POST <FILE`, and the content type is set by the option -T\n"
            ));
        }
        return (data.as_bytes().to_vec(), settings.content_type.clone());
    };
    let ending = file.rsplit('.').next().unwrap_or_default();
    match std::fs::read(file) {
        Ok(bytes) if !file.contains('.') || TEXTS.contains(&ending) => {
            (bytes.trim_ascii().to_vec(), settings.content_type.clone())
        }
        Ok(bytes) => (bytes, settings.content_type.clone()),
        Err(error) => {
            printed.push_str(&messages::error(&format!("unable to open file: {file}: {}", strerror(&error))));
            (Vec::new(), settings.content_type.clone())
        }
    }
}

/// Escapes characters that are not allowed in a URL, and removes unnecessary escapes.
fn escape(url: &str) -> String {
    let bytes = url.as_bytes();
    let mut escaped = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        let hex = hex.filter(|two| two.bytes().all(|b| b.is_ascii_hexdigit()));
        let decoded = hex.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| byte == b'%');
        match decoded {
            Some(plain) if !is_forbidden(plain) && !is_reserved(plain) => {
                escaped.push(plain);
                at += 3;
                continue;
            }
            None if is_forbidden(byte) && !is_reserved(byte) => {
                escaped.extend_from_slice(format!("%{byte:02X}").as_bytes());
            }
            _ => escaped.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&escaped).into_owned()
}

/// The characters that RFC 1738 does not allow in a URL, and some more.
fn is_forbidden(byte: u8) -> bool {
    byte <= b' ' || byte >= 0x7f || b"\"#%:<>@[\\]^`{|}~".contains(&byte)
}

fn is_reserved(byte: u8) -> bool {
    b"#&+/:;=?@[]".contains(&byte)
}

impl Asked {
    /// The target. `None`: the name is unknown.
    pub fn target(&self) -> Option<Target> {
        let (name, port, is_secure) = &self.host;
        let scheme = if *is_secure { "https" } else { "http" };
        let target = Target::resolve(&format!("{scheme}://{name}:{port}/")).ok()?;
        Some(Target { path: self.path.clone(), ..target })
    }

    /// The request as siege writes it.
    pub fn request(&self, settings: &Settings) -> Vec<u8> {
        let (name, port, is_secure) = &self.host;
        let usual = if *is_secure { 443 } else { 80 };
        let port = if *port == usual { String::new() } else { format!(":{port}") };
        let extra = &settings.extra;
        let lower = extra.to_ascii_lowercase();
        let version = if settings.http11 && !settings.get && !settings.print { "1.1" } else { "1.0" };
        let host = if lower.contains("host:") { String::new() } else { format!("Host: {name}{port}\r\n") };
        let accept = if lower.starts_with("accept:") { "" } else { "Accept: */*\r\n" };
        let connection = if settings.keep_alive { "keep-alive" } else { "close" };
        let mut text = format!(
            "{} {} HTTP/{version}\r\n{host}{accept}Accept-Encoding: {}\r\nUser-Agent: {}\r\n{extra}Connection: {connection}\r\n",
            self.method, self.path, settings.encoding, settings.agent
        );
        let empty = Vec::new();
        let body = match &self.body {
            Some((body, kind)) => {
                text.push_str(&format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()));
                body
            }
            None => &empty,
        };
        text.push_str("\r\n");
        [text.as_bytes(), body].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Asked {
        parse(url, &Settings::of_debian()).unwrap_or_else(|why| panic!("{url}: {why:?}"))
    }

    #[test]
    fn urls_as_siege_takes_them() {
        for (url, name, port, path) in [
            ("http://a/b", "a", 80, "/b"),
            ("HTTPS://a", "a", 443, "/"),
            ("127.0.0.1:81", "127.0.0.1", 81, "/"),
            ("a.b:82/x?y#z", "a.b", 82, "/x?y"),
            ("a#z", "a", 80, "/"),
            ("http://[::1]:83/", "[::1]", 83, "/"),
            ("http://a/b c?d=%41%20é", "a", 80, "/b%20c?d=A%20%C3%A9"),
            ("http://a/x HEAD", "a", 80, "/x HEAD"),
            ("http://a/x GET", "a", 80, "/x%20GET"),
            ("http://a/x POST b GET c", "a", 80, "/x%20POST%20b%20GET%20c"),
            ("http://a/x POST b=GET", "a", 80, "/x"),
            ("http://a/100%", "a", 80, "/100%25"),
        ] {
            let asked = parsed(url);
            assert_eq!(
                (asked.host.0.as_str(), asked.host.1, asked.path.as_str()),
                (name, port, path),
                "{url}"
            );
        }
        for (other, why) in [
            ("ftp://a/", Unfit::Ftp),
            ("gopher://a/", Unfit::Scheme),
            ("localhost:80/", Unfit::Scheme),
            ("http://u:p@a/", Unfit::Credentials),
        ] {
            assert_eq!(parse(other, &Settings::of_debian()), Err(why), "{other}");
        }
    }

    #[test]
    fn methods_and_bodies_stand_behind() {
        let asked = parsed("http://a/x POST  a=b c");
        assert_eq!((asked.method, asked.path.as_str(), asked.display.as_str()), ("POST", "/x", "http://a/x"));
        assert_eq!(asked.body.unwrap().0, b"a=b c");
        assert_eq!(parsed("http://a/x DELETE").body.unwrap().0, b"");
        assert!(
            parsed("a POST </no/such/file")
                .printed
                .contains("unable to open file: /no/such/file: No such file")
        );
    }
}
