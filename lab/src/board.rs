//! Which cores and which port a trial gets. Server and client are on disjoint cores whenever there are two.

use std::net::TcpListener;

/// The cores, dealt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores {
    /// For servers: the first of those allowed.
    pub server: Vec<usize>,
    /// For the load generator: the last.
    pub client: Vec<usize>,
}

impl Cores {
    /// Deals the cores that this process may use, half to either side.
    pub fn deal() -> Self {
        Self::split(&net::cpu::allowed())
    }

    fn split(allowed: &[usize]) -> Self {
        match allowed.len() {
            0 | 1 => Self { server: allowed.to_vec(), client: allowed.to_vec() },
            n => Self { server: allowed[..n - n / 2].to_vec(), client: allowed[n - n / 2..].to_vec() },
        }
    }

    /// Both sides share their cores: there is only one.
    pub fn are_shared(&self) -> bool {
        self.server == self.client
    }
}

/// Servers listen below the range from which Linux takes the local ports of connections: there no port is still
/// taken by a connection of an earlier trial.
const PORTS: std::ops::Range<u64> = 12_000..32_000;

/// A TCP port of the loopback that is free now; another one each time.
pub fn free_port() -> std::io::Result<u16> {
    let seed = stats::random::derive(&[net::clock::now_ns(), std::process::id().into()]);
    let some = (0..100).map(|k| PORTS.start + stats::random::derive(&[seed, k]) % (PORTS.end - PORTS.start));
    match some.map(|port| port as u16).find(|port| is_free(*port)) {
        Some(port) => Ok(port),
        None => Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port()),
    }
}

/// True when nobody listens on the port.
pub fn is_free(port: u16) -> bool {
    // A listener that shares its port would let a plain bind pass only with the same option, which this lacks.
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_are_disjoint_whenever_there_are_two_cores() {
        for n in 0..9 {
            let cores = Cores::split(&(0..n).collect::<Vec<_>>());
            let disjoint = cores.server.iter().all(|cpu| !cores.client.contains(cpu));
            assert_eq!(disjoint, n != 1, "{n}");
            assert_eq!(cores.server.is_empty(), n == 0);
            assert_eq!(cores.server.len() + cores.client.len(), if n == 1 { 2 } else { n });
        }
    }
}
