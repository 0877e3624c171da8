//! Where h2load's requests go, and their bytes.

use super::options::{Options, refuse, wrong};
use crate::Printed;
use crate::number::strerror;
use model::url::Url;
use model::{Address, Protocol, Target};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// Header fields that HTTP/2 does not have, or has once and by another name.
const NOT_IN_HTTP2: &str =
    "connection host http2-settings keep-alive proxy-connection te transfer-encoding upgrade";

/// Path and query of a URI, which may be all that it has.
pub fn path(uri: &str) -> Result<String, Printed> {
    let whole = if uri.starts_with('/') { format!("http://a{uri}") } else { uri.to_owned() };
    let url = Url::parse(&whole).ok().filter(|_| whole.contains("://"));
    url.map(|url| url.path).ok_or_else(|| wrong(&format!("invalid URI: {uri}")))
}

/// The server: the base URI's, or the first URI's.
pub fn target(options: &Options) -> Result<Target, Printed> {
    let socket = options.base.as_deref().and_then(|base| base.strip_prefix("unix:"));
    if socket == Some("") {
        return Err(wrong("--base-uri: invalid UNIX domain socket path: unix:"));
    }
    let (uri, what) = match &options.base {
        Some(base) if socket.is_none() => (base, "--base-uri: invalid base URI"),
        _ => (&options.uris[0], "invalid URI"),
    };
    let url = Url::parse(uri).ok().filter(|_| uri.contains("://"));
    let url = url.ok_or_else(|| wrong(&format!("{what}: {uri}")))?;
    if url.name == "nghttp2.org" {
        return Err(wrong("Using h2load against public server nghttp2.org should be prohibited."));
    }
    if url.authorization.is_some() {
        return refuse("user:password@ in a URI", "h2load would not send it: write -H 'authorization: …'");
    }
    if socket.is_some() && options.connect_to.is_some() {
        return refuse("--connect-to", "h2load would ignore it beside -B unix:");
    }
    let path = PathBuf::from(socket.unwrap_or_default());
    let mut target = Target::on_socket(uri, path).map_err(|error| wrong(&error.to_string()))?;
    if socket.is_none() {
        let mut all = addresses(&url, options.connect_to.as_deref())?;
        target.address = Address::Tcp(all.remove(0));
        target.others = all;
    }
    Ok(target)
}

/// The addresses to connect to, at least one: those of the URL, or of `HOST[:PORT]` in place of its own.
fn addresses(url: &Url, other: Option<&str>) -> Result<Vec<SocketAddr>, Printed> {
    let own_port = url.port.unwrap_or(url.usual_port());
    let (name, port) = match other {
        None => (url.name.clone(), own_port),
        Some(to) => {
            let other = Url::parse(&format!("http://{to}")).ok().filter(|_| !to.contains('/'));
            let other = other.ok_or_else(|| wrong(&format!("--connect-to: Invalid value {to}")))?;
            (other.name, other.port.unwrap_or(own_port))
        }
    };
    let failed = |error| wrong(&format!("getaddrinfo() failed: {}", strerror(&error)));
    let all: Vec<_> = (name.as_str(), port).to_socket_addrs().map_err(failed)?.collect();
    if all.is_empty() { Err(wrong("No address returned")) } else { Ok(all) }
}

/// The body that is sent.
pub fn data(path: &str) -> Result<Vec<u8>, Printed> {
    let data = std::fs::read(path).map_err(|_| wrong(&format!("-d: Could not open file {path}")))?;
    // The tool maps the file into memory, which can't be done with an empty one.
    if data.is_empty() { Err(wrong(&format!("-d: Could not mmap file {path}"))) } else { Ok(data) }
}

/// A request as HTTP/1.1 has it, which is also how the load engine takes those of HTTP/2.
pub fn request(
    options: &Options,
    target: &Target,
    protocol: Protocol,
    path: &str,
    data: Option<&[u8]>,
) -> Result<Vec<u8>, Printed> {
    let mut method = if data.is_some() { "POST" } else { "GET" };
    let (mut authority, mut agent, mut more) = (target.host.as_str(), "h2load nghttp2/1.52.0", String::new());
    for (name, value) in &options.headers {
        match name.as_str() {
            ":method" => method = value,
            ":authority" | ":host" => authority = value,
            "user-agent" => agent = value,
            ":scheme" if value == if target.tls { "https" } else { "http" } => {}
            name if name.starts_with(':') => {
                return refuse(&format!("-H {name}"), "drome sends no pseudo-header of this name and value");
            }
            name if protocol == Protocol::Http2 && NOT_IN_HTTP2.split(' ').any(|other| other == name) => {
                let why = "HTTP/2 has no such field; the server's name is `:authority`";
                return refuse(&format!("-H {name}"), why);
            }
            _ => more.push_str(&format!("{name}: {value}\r\n")),
        }
    }
    if let Some(data) = data {
        more.push_str(&format!("Content-Length: {}\r\n", data.len()));
    }
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\nuser-agent: {agent}\r\n{more}\r\n");
    Ok([head.as_bytes(), data.unwrap_or_default()].concat())
}
