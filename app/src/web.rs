//! What drome's servers of pages and of metrics have in common: the limits of connections, and who is asked.

pub mod connections;

use axum::http::HeaderMap;
use axum::http::header::HeaderName;
use axum::http::uri::Authority;

/// The value of a header field that must occur exactly once.
pub fn only_value<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

/// The name or address in the value of a Host field, in lower case and without the port; `None`: it is no such value. An address of
/// version 6 has its brackets.
pub fn host_name(host: &str) -> Option<String> {
    // A Host has no user (RFC 9110, section 7.2).
    let host: Authority = Some(host).filter(|host| !host.contains('@'))?.parse().ok()?;
    Some(host.host().to_ascii_lowercase())
}
