//! URLs as users write them: each part is used, or refused by its name (RFC 3986, RFC 6874 for zones, RFC 7617 for credentials).

use base64::{Engine, prelude::BASE64_STANDARD};
use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;

/// What stands in place of a user's name and password.
const REDACTED: &str = "***";

/// Characters that can't be in a name: those that separate the parts of a URL, and those that no name has.
const NOT_IN_A_NAME: &str = " \"#%/:<>?@[\\]^`{|}";

/// The parts of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// The URL as it was written, without the user's name and password.
    pub shown: String,
    /// Whether the scheme is https.
    pub tls: bool,
    /// The user's name and password, as the field `Authorization` has them.
    pub authorization: Option<Authorization>,
    /// The host's name or address, with its zone, without brackets.
    pub name: String,
    /// The host as a request names it: an address of IPv6 in brackets and without its zone, which means nothing to the server.
    pub host: String,
    /// The port, if the URL has one.
    pub port: Option<u16>,
    /// Path and query as they were written; at least `/`.
    pub path: String,
    /// What follows `#`, which no client sends.
    pub fragment: Option<String>,
}

/// The value of the field `Authorization`. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Authorization(String);

impl Authorization {
    /// The value as it is sent.
    pub fn value(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Url {
    /// Takes a URL apart. A missing scheme means http. The error says which part can't be used, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(c) = text.chars().find(|c| *c == ' ' || c.is_control()) {
            return Err(format!("`{}` can't be in a URL: write it as {}", c.escape_default(), escaped(c)));
        }
        let (tls, whole) = scheme(text)?;
        let (rest, fragment) = match whole.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment.to_owned())),
            None => (whole, None),
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        let shown = user.map_or_else(
            || text.to_owned(),
            |user| format!("{}{REDACTED}{}", &text[..text.len() - whole.len()], &whole[user.len()..]),
        );
        let (host, port) = host_and_port(place)?;
        let (name, host) = names(host)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self {
            shown,
            tls,
            authorization: user.map(basic).transpose()?,
            name,
            host,
            port: port_number(port)?,
            path: path_as_sent(&format!("{slash}{path}")),
            fragment,
        })
    }

    /// The port that is used without one in the URL.
    pub fn usual_port(&self) -> u16 {
        if self.tls { 443 } else { 80 }
    }
}

/// A path with its query as requests have it: what is not ASCII is escaped, as RFC 3987 has it; all else stays as it was written.
pub fn path_as_sent(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii() { c.to_string() } else { escaped(c) }).collect()
}

/// The text with the user's name and password of every URL in it replaced, whether or not it is a good URL.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        let end = after.find(|c: char| "/?#".contains(c) || c.is_whitespace()).unwrap_or(after.len());
        shown.push_str(before);
        rest = after;
        if let Some(user) = after[..end].rfind('@') {
            shown.push_str(REDACTED);
            rest = &after[user..];
        }
    }
    if shown.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(shown + rest) }
}

/// A text that was meant as a URL, with all that may be a password replaced: a slash in a password ends the part that has it too early.
pub fn redacted_url(url: &str) -> String {
    let Some((user, rest)) = url.rsplit_once('@') else { return url.to_owned() };
    let scheme = user.find("://").map_or("", |at| &user[..at + 3]);
    format!("{scheme}{REDACTED}@{rest}")
}

fn escaped(c: char) -> String {
    c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Whether the scheme is https, and what follows it.
fn scheme(text: &str) -> Result<(bool, &str), String> {
    let Some((word, rest)) = text.split_once(':') else { return Ok((false, text)) };
    let is_scheme = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_http = ["http", "https"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    match rest.strip_prefix("//") {
        Some(rest) if is_http => Ok((word.len() == 5, rest)),
        Some(_) if is_scheme => Err(format!("only http and https are supported, not {word}")),
        None if is_http && !rest.starts_with(|c: char| c.is_ascii_digit()) => {
            Err(format!("two slashes must follow {word}:"))
        }
        _ => Ok((false, text)),
    }
}

/// The host, in brackets if it has them, and the digits of the port, if there is a colon.
fn host_and_port(place: &str) -> Result<(&str, Option<&str>), String> {
    let end = match place.strip_prefix('[') {
        Some(rest) => rest.find(']').ok_or("the bracket of its address is not closed")? + 2,
        None => place.find(':').unwrap_or(place.len()),
    };
    let (host, rest) = place.split_at(end);
    match rest.strip_prefix(':') {
        Some(digits) if digits.contains(':') => {
            Err("an address of IPv6 must be in brackets, such as [::1]".to_owned())
        }
        Some(digits) => Ok((host, Some(digits))),
        None if rest.is_empty() => Ok((host, None)),
        None => Err(format!("`{rest}` follows its address")),
    }
}

/// The port, unless there is none or nothing follows the colon (RFC 3986, 3.2.3).
fn port_number(digits: Option<&str>) -> Result<Option<u16>, String> {
    let Some(digits) = digits.filter(|digits| !digits.is_empty()) else { return Ok(None) };
    let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    match number.filter(|port| *port > 0) {
        Some(port) => Ok(Some(port)),
        None => Err("its port is not a number from 1 to 65535".to_owned()),
    }
}

/// The host's name for the resolver and for requests.
fn names(host: &str) -> Result<(String, String), String> {
    if let Some(bracketed) = host.strip_prefix('[') {
        let literal = bracketed.trim_end_matches(']');
        // RFC 6874 writes the sign before a zone as %25; as an address is shown elsewhere, it is a bare %.
        let (address, zone) = match literal.split_once('%') {
            Some((address, zone)) => {
                (address, Some(zone.strip_prefix("25").filter(|zone| !zone.is_empty()).unwrap_or(zone)))
            }
            None => (literal, None),
        };
        if address.parse::<Ipv6Addr>().is_err() || zone.is_some_and(str::is_empty) {
            return Err(format!("`{host}` is no address of IPv6"));
        }
        let zone = zone.map(|zone| decoded(zone, "zone")).transpose()?;
        let name = zone.map_or_else(|| address.to_owned(), |zone| format!("{address}%{zone}"));
        return Ok((name, format!("[{address}]")));
    }
    let name = decoded(host, "host")?;
    if name.is_empty() || name == "." {
        return Err("it has no host".to_owned());
    }
    match name.chars().find(|c| c.is_control() || !c.is_ascii() || NOT_IN_A_NAME.contains(*c)) {
        Some(c) if c.is_ascii() => Err(format!("`{}` can't be in a host's name", c.escape_default())),
        Some(_) => {
            Err(format!("write the host `{name}` in ASCII, with xn--… for each part that is not (punycode)"))
        }
        None => Ok((name.clone(), name)),
    }
}

/// Credentials as RFC 7617 sends them. A name without a password has an empty one, as in curl.
fn basic(user: &str) -> Result<Authorization, String> {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let (name, password) = (decoded(name, "user's name")?, decoded(password, "password")?);
    if name.contains(':') {
        return Err("its user's name has a colon, which HTTP's Basic authentication can't send".to_owned());
    }
    if name.chars().chain(password.chars()).any(char::is_control) {
        return Err("its user's name or password has a control character".to_owned());
    }
    Ok(Authorization(format!("Basic {}", BASE64_STANDARD.encode(format!("{name}:{password}")))))
}

/// The text with its escapes (`%41`) replaced by what they stand for.
fn decoded(text: &str, what: &str) -> Result<String, String> {
    let wrong = || format!("an escape in its {what} is not a % and two hexadecimal digits of UTF-8");
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((plain, escape)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        let digits = escape.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        bytes.push(digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(wrong)?);
        rest = &escape[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Host, port and path of a URL.
    fn parts(url: &str) -> (String, Option<u16>, String) {
        let url = Url::parse(url).unwrap_or_else(|why| panic!("{url}: {why}"));
        (url.host, url.port, url.path)
    }

    #[test]
    fn every_part_of_a_url_is_used() {
        for (url, host, port, path) in [
            ("http://a", "a", None, "/"),
            ("HTTP://a/", "a", None, "/"),
            ("a", "a", None, "/"),
            ("a:81", "a", Some(81), "/"),
            ("http:81/x", "http", Some(81), "/x"),
            ("a/?u=http://b", "a", None, "/?u=http://b"),
            ("http://LOCALHOST/", "LOCALHOST", None, "/"),
            ("http://a./", "a.", None, "/"),
            ("http://%6c%6F%63/", "loc", None, "/"),
            ("http://127.1:1/", "127.1", Some(1), "/"),
            ("http://a_b-c.d/", "a_b-c.d", None, "/"),
            ("http://a:/x", "a", None, "/x"),
            ("http://a:0080/", "a", Some(80), "/"),
            ("http://a:65535/", "a", Some(65535), "/"),
            ("http://[::1]", "[::1]", None, "/"),
            ("http://[::1]:81?q", "[::1]", Some(81), "/?q"),
            ("http://[fe80::1%eth0]:81/", "[fe80::1]", Some(81), "/"),
            ("http://[fe80::1%25eth0]/", "[fe80::1]", None, "/"),
            ("http://[fe80::1%25e%2Dn0]/", "[fe80::1]", None, "/"),
            ("http://a?", "a", None, "/?"),
            ("http://a/?", "a", None, "/?"),
            ("http://a/./b/../c//d", "a", None, "/./b/../c//d"),
            ("http://a/%2F%zz?a=b&c#d", "a", None, "/%2F%zz?a=b&c"),
            ("http://a/|<>\"{}^`\\'?[]@:", "a", None, "/|<>\"{}^`\\'?[]@:"),
            ("http://a/é?ü", "a", None, "/%C3%A9?%C3%BC"),
            ("http://a/b@c", "a", None, "/b@c"),
        ] {
            assert_eq!(parts(url), (host.to_owned(), port, path.to_owned()), "{url}");
        }
        assert_eq!([Url::parse("HTTPS://a").unwrap().tls, Url::parse("a").unwrap().tls], [true, false]);
        let zone = |url: &str| Url::parse(url).unwrap().name;
        assert_eq!(
            [zone("http://[fe80::1%25eth0]/"), zone("http://[fe80::1%2]/")],
            ["fe80::1%eth0", "fe80::1%2"]
        );
        let fragment = |url: &str| Url::parse(url).unwrap().fragment;
        assert_eq!(
            [fragment("http://a/#b#c"), fragment("a#"), fragment("a")],
            [Some("b#c".into()), Some(String::new()), None]
        );
    }

    #[test]
    fn what_can_not_be_used_is_refused_by_its_name() {
        for (url, why) in [
            ("", "no host"),
            ("http://", "no host"),
            ("http:///x", "no host"),
            ("//a/", "no host"),
            ("http://:80/", "no host"),
            ("http://u@/", "no host"),
            ("http://./", "no host"),
            ("http:/a", "two slashes"),
            ("https:a", "two slashes"),
            ("http:\\\\a\\", "two slashes"),
            ("ftp://a/", "not ftp"),
            ("unix:///run/x", "not unix"),
            ("http:// /", "%20"),
            ("http://a/b c", "%20"),
            ("http://a/\n", "%0A"),
            ("http://a/\u{7f}", "%7F"),
            ("http://a/\u{0}", "%00"),
            ("http://a:0/", "port"),
            ("http://a:65536/", "port"),
            ("http://a:+80/", "port"),
            ("http://a:-1/", "port"),
            ("http://a:8x/", "port"),
            ("http://::1/", "in brackets"),
            ("::1", "in brackets"),
            ("http://a:1:2/", "in brackets"),
            ("http://[::1/", "bracket"),
            ("http://[::1]x/", "follows"),
            ("http://[v1.x]/", "IPv6"),
            ("http://[127.0.0.1]/", "IPv6"),
            ("http://[fe80::1%]/", "IPv6"),
            ("http://b\u{fc}cher.example/", "xn--"),
            ("http://b%C3%BCcher.example/", "xn--"),
            ("http://a%00/", "host"),
            ("http://a%2Fb/", "host"),
            ("http://a%/", "escape"),
            ("http://%ff/", "escape"),
            ("http://a\\b/", "host"),
            ("http://{host}/", "host"),
            ("http://u%3Av:p@a/", "colon"),
            ("http://u:%0A@a/", "control"),
            ("http://u:%zz@a/", "password"),
        ] {
            let error = Url::parse(url).map_or_else(|why| why, |url| format!("{url:?}"));
            assert!(error.contains(why), "{url}: {error}");
        }
    }

    #[test]
    fn credentials_are_sent_as_curl_sends_them_and_never_shown() {
        // The values are those that curl 7.88.1 sends for these URLs.
        for (url, value, shown) in [
            ("http://u:p@a/", "Basic dTpw", "http://***@a/"),
            ("http://u@a/", "Basic dTo=", "http://***@a/"),
            ("http://:@a/", "Basic Og==", "http://***@a/"),
            ("http://@a/", "Basic Og==", "http://***@a/"),
            ("http://u:p%40ss:x@a/", "Basic dTpwQHNzOng=", "http://***@a/"),
            ("http://\u{fc}:\u{e9}@a/", "Basic w7w6w6k=", "http://***@a/"),
            ("u:p@a:81/x@y#z@", "Basic dTpw", "***@a:81/x@y#z@"),
            ("HTTPS://u:p@[::1]/", "Basic dTpw", "HTTPS://***@[::1]/"),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!((url.authorization.as_ref().unwrap().value(), url.shown.as_str()), (value, shown));
            assert!(!format!("{url:?}").contains("Basic"), "{url:?}");
        }
        assert_eq!(Url::parse("http://a/x@y").unwrap().authorization, None);
        for (text, shown) in [
            ("run --url=http://u:p@a/ and https://v@b:1/@", "run --url=http://***@a/ and https://***@b:1/@"),
            ("http://u:p'\"@a/", "http://***@a/"),
            ("http://a/@ x@y", "http://a/@ x@y"),
            ("plain@text", "plain@text"),
        ] {
            assert_eq!(redacted(text), shown);
        }
        assert_eq!(redacted_url("http://u:p/w@a:x/"), "http://***@a:x/", "a slash in a password");
        assert_eq!(redacted_url("u:p@a:x"), "***@a:x");
    }
}
