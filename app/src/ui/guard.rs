//! Who may come in. The page starts servers and writes to the store, so a page of somebody else's must not reach it
//! through the browser of who has both open:
//! - the Host must be one that leads here, else the name is somebody's that now points here (DNS rebinding);
//! - what changes something must come from a page of ours: its Origin is that Host (a forged request has another one);
//! - what browsers say another page loads (`Sec-Fetch-Site`) is refused too: it could only be meant to disturb;
//! - beyond this machine it also takes the token that was printed once; it stays in a cookie that no script reads and
//!   no other site's link carries.

use super::failure::Failure;
use crate::failure::WrongInput;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

/// The cookie with the token.
const COOKIE: &str = "drome-token";

/// Nothing is loaded from elsewhere, no script or style stands in a page, no other page frames ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The rule of one address.
#[derive(Debug)]
pub struct Guard {
    /// The names that lead here.
    hosts: Vec<String>,
    /// It listens at every address: a Host that is an address can't be rebound, and will do.
    any_address: bool,
    /// Needed beyond this machine.
    token: Option<String>,
}

impl Guard {
    /// For a listener at this address that was asked for by this name.
    pub fn new(name: &str, at: SocketAddr) -> anyhow::Result<Self> {
        let is_here = at.ip().is_loopback();
        let any_address = at.ip().is_unspecified();
        let mut hosts = vec![bracketed(name), of_ip(at.ip())];
        if is_here || any_address {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        let token = if is_here { None } else { Some(random_token()?) };
        Ok(Self { hosts, any_address, token })
    }

    /// The address to go to, with the token where one is needed.
    pub fn address(&self, at: SocketAddr) -> String {
        let ip = if self.any_address { outward(at.ip()) } else { at.ip() };
        let token = self.token.as_ref().map_or_else(String::new, |token| format!("?token={token}"));
        format!("http://{}:{}/{token}", of_ip(ip), at.port())
    }

    fn judge(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Entry, Failure> {
        let refused = |why: &str| Failure::new(StatusCode::FORBIDDEN, why);
        let host = one(headers, &header::HOST).ok_or_else(|| refused("A request must name one Host."))?;
        // A request line may name a host of its own, and that would count.
        let named = uri.authority().map_or(host, axum::http::uri::Authority::as_str);
        if named != host || !self.leads_here(host) {
            return Err(refused("This Host does not lead here. Use the address that drome ui has printed."));
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            let origin = one(headers, &header::ORIGIN);
            if origin != Some(format!("http://{host}").as_str()) {
                return Err(refused(
                    "Only a page of drome's own may ask for this: the Origin is another one.",
                ));
            }
        }
        let fetched = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let is_from_elsewhere = matches!(fetched("sec-fetch-site"), Some("cross-site" | "same-site"));
        if is_from_elsewhere && fetched("sec-fetch-mode") != Some("navigate") {
            return Err(refused("A page of somebody else's may link here, but not load from here."));
        }
        let Some(token) = &self.token else { return Ok(Entry::Free) };
        if cookies(headers).any(|value| is_same(value, token)) {
            return Ok(Entry::Free);
        }
        let given = uri.query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("token="));
        if given.is_some_and(|given| is_same(given, token)) {
            return Ok(Entry::First(token.clone()));
        }
        Err(refused(
            "From another machine it takes the token: open the whole address that drome ui has printed.",
        ))
    }

    fn leads_here(&self, host: &str) -> bool {
        let name = without_port(host).to_ascii_lowercase();
        let is_address = || name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        self.hosts.contains(&name) || (self.any_address && is_address())
    }
}

enum Entry {
    /// Goes on.
    Free,
    /// Comes with the token for the first time.
    First(String),
}

/// Stands before every page.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.judge(request.method(), request.uri(), request.headers()) {
        Err(failure) => failure.into_response(),
        Ok(Entry::First(token)) => remember(&token, request.uri().path()),
        Ok(Entry::Free) => match super::import::too_large(request.headers()) {
            Some(failure) => failure.into_response(),
            None => next.run(request).await,
        },
    };
    let headers = response.headers_mut();
    let always: [(HeaderName, &'static str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Never to others; but forms of our own must keep their Origin, which `no-referrer` would take from them.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    response
}

/// Keeps the token in a cookie and takes it out of the address, where others could read it.
fn remember(token: &str, path: &str) -> Response {
    let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
    // A path that begins with two slashes would be another host.
    let path = format!("/{}", path.trim_start_matches('/'));
    (StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, path)]).into_response()
}

/// A field that must be there once.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// Takes as long for a wrong token that begins well as for any other.
fn is_same(given: &str, token: &str) -> bool {
    let differs = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differs == 0
}

fn without_port(host: &str) -> &str {
    match host.rfind(':') {
        Some(at) if !host[at..].contains(']') => &host[..at],
        _ => host,
    }
}

fn bracketed(name: &str) -> String {
    let is_v6 = name.contains(':') && !name.starts_with('[');
    if is_v6 { format!("[{name}]") } else { name.to_ascii_lowercase() }
}

fn of_ip(ip: IpAddr) -> String {
    bracketed(&ip.to_string())
}

/// The address by which this machine speaks to others; nothing is sent to find it out.
fn outward(unspecified: IpAddr) -> IpAddr {
    // An address for documentation (RFC 5737, RFC 3849), which nobody has.
    let nobody = if unspecified.is_ipv4() { "192.0.2.1:9" } else { "[2001:db8::1]:9" };
    let socket = UdpSocket::bind((unspecified, 0));
    let asked = socket.and_then(|socket| socket.connect(nobody).and_then(|()| socket.local_addr()));
    asked.map_or(unspecified, |at| at.ip())
}

fn random_token() -> anyhow::Result<String> {
    let mut bytes = [0_u8; 16];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|e| {
        WrongInput(format!(
            "no token can be made (/dev/urandom: {e}): stay on this machine, without --listen"
        ))
    })?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
#[path = "guard/tests.rs"]
mod tests;
