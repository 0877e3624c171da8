//! Sockets as drome wants them: never blocking, never inherited, without Nagle's delay.

use rustix::io::Errno;
use rustix::net::sockopt::{
    set_socket_reuseaddr, set_socket_reuseport, set_tcp_nodelay, set_tcp_user_timeout,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, listen, socket_with};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// How many connections may wait to be accepted; the kernel lowers it to its own bound (somaxconn).
const BACKLOG: i32 = 4096;

/// A socket on which a connection is open or on its way.
pub fn connecting(to: &SocketAddr) -> Result<OwnedFd, Errno> {
    let socket = stream(to)?;
    set_tcp_nodelay(&socket, true)?;
    match connect(&socket, to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// A listener. Several may share one port; the kernel spreads connections over them.
pub fn listener(at: &SocketAddr) -> std::io::Result<OwnedFd> {
    let socket = stream(at)?;
    set_socket_reuseaddr(&socket, true)?;
    set_socket_reuseport(&socket, true)?;
    bind(&socket, at)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The address that a socket is bound to.
pub fn local_address(socket: &OwnedFd) -> std::io::Result<SocketAddr> {
    let any = rustix::net::getsockname(socket)?;
    SocketAddr::try_from(any).map_err(std::io::Error::from)
}

fn stream(address: &SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
}

/// Binds and listens alone, as a server that shares its port with nobody would: an error when the port is in use.
pub fn exclusive(at: &SocketAddr) -> std::io::Result<OwnedFd> {
    let socket = stream(at)?;
    set_socket_reuseaddr(&socket, true)?;
    bind(&socket, at)?;
    listen(&socket, 1)?;
    Ok(socket)
}

/// Connections of this listener fail when their peer acknowledges or reads nothing for so long while there is
/// something to send (tcp(7), `TCP_USER_TIMEOUT`, which accepted sockets inherit).
pub fn give_up_after(listener: &OwnedFd, longest: Duration) -> std::io::Result<()> {
    Ok(set_tcp_user_timeout(listener, longest.as_millis().try_into().unwrap_or(u32::MAX))?)
}
