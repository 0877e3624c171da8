//! Free TCP ports.

use std::net::{IpAddr, Ipv4Addr, TcpListener};

/// Servers listen below the range from which Linux takes the local ports of connections, because no port there is still in use by
/// a connection of an earlier start.
const PORTS: std::ops::Range<u64> = 12_000..32_000;

/// Finds a free TCP port of the loopback, another one each time.
pub fn free_port() -> std::io::Result<u16> {
    free_port_of(&[IpAddr::V4(Ipv4Addr::LOCALHOST)])
}

/// Finds a TCP port that is free at all of these addresses of this machine, another one each time.
pub fn free_port_of(hosts: &[IpAddr]) -> std::io::Result<u16> {
    two_free_ports_of(hosts).map(|[port, _]| port)
}

/// Finds two such ports.
pub fn two_free_ports_of(hosts: &[IpAddr]) -> std::io::Result<[u16; 2]> {
    let seed = stats::random::derive(&[net::clock::now_ns(), std::process::id().into()]);
    let some = (0..100).map(|k| PORTS.start + stats::random::derive(&[seed, k]) % (PORTS.end - PORTS.start));
    let mut free = some.map(|port| port as u16).filter(|port| is_free(hosts, *port));
    if let Some(one) = free.next()
        && let Some(other) = free.find(|other| *other != one)
    {
        return Ok([one, other]);
    }
    let first = hosts.first().copied().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let [one, other] = [TcpListener::bind((first, 0))?, TcpListener::bind((first, 0))?];
    Ok([one.local_addr()?.port(), other.local_addr()?.port()])
}

/// Whether no process listens on the port at any of these addresses.
pub fn is_free(hosts: &[IpAddr], port: u16) -> bool {
    // A listener with SO_REUSEPORT would let another socket bind only with the same option, which this one lacks.
    hosts.iter().all(|host| TcpListener::bind((*host, port)).is_ok())
}
