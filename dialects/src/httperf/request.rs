//! httperf's requests: their target, URIs and bytes.

use super::options::Options;
use crate::job;
use model::{Address, Ask, Target};
use std::net::{SocketAddr, ToSocketAddrs};

/// The largest number of calls for which the URIs of a set are listed.
const MOST_LISTED: u64 = 100_000;

/// The target, with IPv4 only, as in the tool. `None` if the name is unknown.
pub fn target(options: &Options) -> Option<Target> {
    let (server, port) = (options.server.as_str(), options.port());
    let address = (server, port).to_socket_addrs().ok()?.find(SocketAddr::is_ipv4)?;
    let scheme = if options.ssl { "https" } else { "http" };
    Some(Target {
        url: format!("{scheme}://{server}:{port}{}", options.uri),
        host: options.server_name.as_deref().unwrap_or(server).to_owned(),
        path: options.uri.clone(),
        tls: options.ssl,
        ..Target::at(Address::Tcp(address))
    })
}

/// One URI, or the repeating sequence of those of `--wset`. `None` if they are too many to list.
pub fn uris(options: &Options) -> Option<Vec<String>> {
    let Some((files, rate)) = options.wset else { return Some(vec![options.uri.clone()]) };
    let (id, clients) = options.client;
    let calls = options.num_conns.saturating_mul(options.num_calls);
    let mut uris = Vec::new();
    // httperf starts from the first random number of its library, which is 0 because it sets no seed.
    let (mut due, mut file) = (0.0, id);
    while (uris.len() as u64) < calls {
        let is_anew = due == 0.0 && file == id && !uris.is_empty();
        if is_anew {
            break;
        }
        if uris.len() as u64 == MOST_LISTED {
            return None;
        }
        due += rate;
        if due >= 1.0 {
            due -= 1.0;
            file += clients;
            if file >= files {
                file -= files;
            }
        }
        uris.push(wset_uri(&options.uri, file, files));
    }
    Some(uris)
}

/// The file's path: one digit for each power of ten below the number of files, each after a slash.
fn wset_uri(prefix: &str, file: u64, files: u64) -> String {
    // If the prefix ends with a slash, it loses its first byte; if that slash is all, it is the same byte.
    let prefix = if prefix.ends_with('/') { prefix.get(1..).unwrap_or_default() } else { prefix };
    let digits = if files > 1 { (files - 1).ilog10() as usize + 1 } else { 0 };
    let all = format!("{file:0digits$}");
    let path: String = all[all.len() - digits..].chars().flat_map(|digit| ['/', digit]).collect();
    format!("{prefix}{path}.html")
}

/// The text of `--add-header`, without escapes. The tool prints a message about unknown escapes and leaves them
/// unchanged.
pub fn unescaped(program: &str, text: &str, err: &mut String) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some((&escape, after)) = rest.split_first() else { break };
        rest = after;
        match escape {
            b'\\' => bytes.push(b'\\'),
            b'a' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b'n' => bytes.extend_from_slice(b"\r\n"),
            b'0'..=b'9' => {
                let digits = std::iter::once(&escape).chain(rest).take_while(|b| (b'0'..=b'7').contains(b));
                let code = digits.clone().fold(0u8, |code, b| code.wrapping_mul(8).wrapping_add(b - b'0'));
                rest = &rest[digits.count().saturating_sub(1)..];
                bytes.push(code);
            }
            other => {
                let shown = other as char;
                err.push_str(&format!(
                    "{program}: ignoring unknown escape sequence `\\{shown}' in --add-header\n"
                ));
                bytes.push(other);
            }
        }
    }
    bytes
}

/// The bytes of a request. `None` if the tool does not know the version of HTTP.
pub fn ask(options: &Options, uri: &str, extra: &[u8]) -> Option<Ask> {
    let method = options.method.as_deref().filter(|method| !method.is_empty()).unwrap_or("GET");
    let (version, keep_alive) = match options.http_version {
        (1, 0) => ("1.0", "Connection: keep-alive\r\n"),
        (1, 1) => ("1.1", ""),
        _ => return None,
    };
    // Without a host, the blank line precedes the added headers, as in the tool.
    let host = options.server_name.as_deref().unwrap_or(&options.server);
    let host = if options.no_host_hdr { String::new() } else { format!("Host: {host}") };
    let head =
        format!("{method} {uri} HTTP/{version}\r\nUser-Agent: httperf/0.9.0\r\n{keep_alive}{host}\r\n");
    Some(job::ask([head.as_bytes(), extra, b"\r\n"].concat()))
}
