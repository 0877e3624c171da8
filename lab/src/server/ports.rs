//! Free TCP ports.

use std::net::{Ipv4Addr, TcpListener};

/// Servers listen below the range from which Linux takes the local ports of connections, because no port there is still in use by
/// a connection of an earlier trial.
const PORTS: std::ops::Range<u64> = 12_000..32_000;

/// Finds a free TCP port of the loopback, another one each time.
pub fn free_port() -> std::io::Result<u16> {
    free_port_of(Ipv4Addr::LOCALHOST)
}

/// Finds a free TCP port of an address of this machine, another one each time.
pub fn free_port_of(host: Ipv4Addr) -> std::io::Result<u16> {
    let seed = stats::random::derive(&[net::clock::now_ns(), std::process::id().into()]);
    let some = (0..100).map(|k| PORTS.start + stats::random::derive(&[seed, k]) % (PORTS.end - PORTS.start));
    match some.map(|port| port as u16).find(|port| is_free(host, *port)) {
        Some(port) => Ok(port),
        None => Ok(TcpListener::bind((host, 0))?.local_addr()?.port()),
    }
}

/// Whether no process listens on the port.
pub fn is_free(host: Ipv4Addr, port: u16) -> bool {
    // A listener with SO_REUSEPORT would let another socket bind only with the same option, which this one lacks.
    TcpListener::bind((host, port)).is_ok()
}
