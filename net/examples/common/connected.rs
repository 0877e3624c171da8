//! The connections of the baseline clients that keep them, and the length of the answers on them.

use super::common::{Options, Result};
use net::Ports;
use net::socket::{self, Blocking};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// Opens all connections.
pub fn connect(options: &Options) -> Result<Vec<OwnedFd>> {
    let to = SocketAddr::from(([127, 0, 0, 1], options.port));
    let ports = Ports::of(options.connections, 0, 1);
    let one = |slot| {
        let ports = ports.as_ref().map(|ports| ports.range(slot as u32));
        let socket = socket::unconnected(&to.into(), ports, Blocking::Yes)?;
        rustix::net::connect(&socket, &to)?;
        Ok(socket)
    };
    let all: std::io::Result<Vec<OwnedFd>> = (0..options.connections).map(one).collect();
    Ok(all.map_err(|e| format!("can't connect to port {} ({e}): is a server there?", options.port))?)
}

/// The length of an answer, head and body, as its head says; `None`: the head is not whole.
pub fn answer_bytes(bytes: &[u8]) -> Result<Option<usize>> {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return Ok(None) };
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let (_, length) = length.ok_or("the first answer has no Content-Length")?;
    Ok(Some(head.len() + 4 + length.trim().parse::<usize>()?))
}
