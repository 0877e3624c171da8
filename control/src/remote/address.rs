//! The address of an agent's own machine, by which the machine that started the agent reaches it.

use crate::processes::local;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// An address reserved for documentation (192.0.2.0/24, RFC 5737): packets to it would take the default route.
const ANYWHERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// The address by which this machine is reached: the one that ssh was connected to, else the one from which its own packets to anywhere
/// leave. `None`: it has neither, or only one of the loopback.
pub fn own() -> Option<Ipv4Addr> {
    let of_ssh = std::env::var("SSH_CONNECTION").ok().and_then(|words| of_ssh(&words));
    // The variable may be inherited from a shell on another machine that was reached by ssh itself. Then the address is not one of this
    // machine.
    of_ssh.filter(|own| local::is_own((*own).into())).or_else(of_route)
}

/// The third word of `SSH_CONNECTION` is the server's own address.
fn of_ssh(words: &str) -> Option<Ipv4Addr> {
    words.split_whitespace().nth(2)?.parse().ok()
}

/// The kernel chooses the address when a socket is connected; no packet is sent for that.
fn of_route() -> Option<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((ANYWHERE, 9)).ok()?;
    match socket.local_addr().ok()?.ip() {
        IpAddr::V4(own) if !own.is_loopback() && !own.is_unspecified() => Some(own),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_tells_the_address_that_it_was_reached_by() {
        assert_eq!(of_ssh("10.0.0.7 51234 10.0.0.9 22"), Some(Ipv4Addr::new(10, 0, 0, 9)));
        assert_eq!((of_ssh(""), of_ssh("a b c d"), of_ssh("fe80::1 1 fe80::2 22")), (None, None, None));
    }
}
