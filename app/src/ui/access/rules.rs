//! Access control. The page starts servers and writes to the store. Two kinds of strangers could reach it: other users of
//! this machine, who can also connect to a loopback port, and web pages in the user's browser. Therefore:
//! - every request needs the token that `drome ui` prints; a browser keeps it in a cookie that no script can read
//!   and that no other site's request carries. All ports of a host share cookies, so the cookie's name contains the
//!   port;
//! - the Host must be a name of this server; any other name was pointed here (DNS rebinding);
//! - a request that changes something must come from one of our pages: its Origin equals its Host;
//! - of requests from other sites (`Sec-Fetch-Site`), only followed links are answered: no frame, no image, no
//!   script.

use crate::failure::WrongInput;
use crate::ui::pages::error_page::ErrorPage;
use crate::web::{host_name, only_value};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};

/// Pages load nothing from other sites, have no inline script or style, and can't be framed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The access control for one address.
#[derive(Debug)]
pub struct AccessRules {
    /// The host names of this server.
    hosts: Vec<String>,
    /// Whether it listens on all addresses. Then any IP address is accepted as Host, because it can't be rebound.
    any_address: bool,
    /// The token that every request needs.
    token: String,
    /// Replaces the token once, in the address that a browser is started with: all users of the machine can read
    /// command lines for as long as the browser runs.
    ticket: Mutex<Option<String>>,
    /// The name of the cookie with the token.
    cookie: String,
}

impl AccessRules {
    /// The rules of a listener. `name`: its address or host name, as the user gave it; `at`: the address on which it listens.
    pub fn new(name: &str, at: SocketAddr) -> anyhow::Result<Self> {
        let is_here = at.ip().is_loopback();
        let any_address = at.ip().is_unspecified();
        let mut hosts = vec![bracketed(name), of_ip(at.ip())];
        if is_here || any_address {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        let (token, cookie) = (random_token()?, format!("drome-token-{}", at.port()));
        Ok(Self { hosts, any_address, token, ticket: Mutex::default(), cookie })
    }

    /// The address of the page, with the token.
    pub fn address(&self, at: SocketAddr) -> String {
        self.address_with(at, &self.token)
    }

    /// The same, valid for one visit only.
    pub fn address_for_one_visit(&self, at: SocketAddr) -> anyhow::Result<String> {
        let ticket = random_token()?;
        *self.ticket.lock().unwrap_or_else(PoisonError::into_inner) = Some(ticket.clone());
        Ok(self.address_with(at, &ticket))
    }

    fn address_with(&self, at: SocketAddr, token: &str) -> String {
        let ip = if self.any_address { outward(at.ip()) } else { at.ip() };
        format!("http://{}:{}/?token={token}", of_ip(ip), at.port())
    }

    fn judge(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Entry, ErrorPage> {
        let refused = |why: &str| ErrorPage::new(StatusCode::FORBIDDEN, why);
        let host = only_value(headers, &header::HOST)
            .ok_or_else(|| refused("A request must name exactly one Host."))?;
        // A host in the request line would take precedence.
        let named = uri.authority().map_or(host, axum::http::uri::Authority::as_str);
        if named != host || !self.leads_here(host) {
            return Err(refused(
                "This Host is not an address of drome. Use the address that drome ui printed.",
            ));
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            let origin = only_value(headers, &header::ORIGIN);
            if origin != Some(format!("http://{host}").as_str()) {
                return Err(refused(
                    "Only drome's own pages can send this request: its Origin is another site.",
                ));
            }
        }
        if is_from_elsewhere(headers) && !is_followed_link(method, headers) {
            return Err(refused("Other sites can link to this page, but not load from it."));
        }
        if self.cookies(headers).any(|value| is_same(value, &self.token)) {
            return Ok(Entry::Free);
        }
        let given = uri.query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("token="));
        if given.is_some_and(|given| is_same(given, &self.token) || self.is_ticket(given)) {
            return Ok(Entry::First);
        }
        Err(refused(
            "This page needs a token: open the whole address that drome ui printed, with ?token=… at its end.",
        ))
    }

    /// Whether this is the ticket; it is valid once.
    fn is_ticket(&self, given: &str) -> bool {
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        ticket.take_if(|ticket| is_same(given, ticket)).is_some()
    }

    fn cookies<'h>(&'h self, headers: &'h HeaderMap) -> impl Iterator<Item = &'h str> {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value)
    }

    /// Stores the token in a cookie, and removes it from the address, where others could read it.
    fn remember(&self, path: &str) -> Response {
        let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, self.token);
        // A path that begins with two slashes would be another host.
        let path = format!("/{}", path.trim_start_matches('/'));
        (StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, path)]).into_response()
    }

    fn leads_here(&self, host: &str) -> bool {
        let Some(name) = host_name(host) else { return false };
        let is_address = || name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        self.hosts.contains(&name) || (self.any_address && is_address())
    }
}

enum Entry {
    /// The request has access.
    Free,
    /// The request brings the token for the first time.
    First,
}

/// Checks every request before its page.
pub async fn check(State(rules): State<Arc<AccessRules>>, request: Request, next: Next) -> Response {
    let mut response = match rules.judge(request.method(), request.uri(), request.headers()) {
        Err(failure) => failure.into_response(),
        Ok(Entry::First) => rules.remember(request.uri().path()),
        Ok(Entry::Free) => next.run(request).await,
    };
    let headers = response.headers_mut();
    let always: [(HeaderName, &'static str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Nothing is sent to other sites. `no-referrer` would also remove the Origin from our own forms.
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

/// Whether the browser says that another site's page sent the request.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    matches!(fetched(headers, "sec-fetch-site"), Some("cross-site" | "same-site"))
}

/// Whether a link was followed in a window of its own. A frame is a navigation too, but inside another site's page.
fn is_followed_link(method: &Method, headers: &HeaderMap) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
        && fetched(headers, "sec-fetch-mode") == Some("navigate")
        && fetched(headers, "sec-fetch-dest") == Some("document")
}

/// A header field in which a browser describes the request's origin or purpose (W3C Fetch Metadata).
fn fetched<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Compares tokens in constant time.
fn is_same(given: &str, token: &str) -> bool {
    let differs = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differs == 0
}

fn bracketed(name: &str) -> String {
    let is_v6 = name.contains(':') && !name.starts_with('[');
    if is_v6 { format!("[{name}]") } else { name.to_ascii_lowercase() }
}

fn of_ip(ip: IpAddr) -> String {
    bracketed(&ip.to_string())
}

/// The address of this machine towards other machines. Nothing is sent to find it out.
fn outward(unspecified: IpAddr) -> IpAddr {
    // An address for documentation (RFC 5737, RFC 3849), which no machine has.
    let nobody = if unspecified.is_ipv4() { "192.0.2.1:9" } else { "[2001:db8::1]:9" };
    let socket = UdpSocket::bind((unspecified, 0));
    let asked = socket.and_then(|socket| socket.connect(nobody).and_then(|()| socket.local_addr()));
    asked.map_or(unspecified, |at| at.ip())
}

fn random_token() -> anyhow::Result<String> {
    let mut bytes = [0_u8; 16];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|e| {
        WrongInput(format!("can't create a token (/dev/urandom: {e}): make /dev/urandom readable"))
    })?;
    Ok(model::hex(bytes))
}

#[cfg(test)]
#[path = "rules/tests.rs"]
mod tests;
