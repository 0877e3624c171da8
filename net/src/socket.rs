//! Sockets with drome's options: never blocking, never inherited, without Nagle's delay.

use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{
    set_socket_reuseaddr, set_socket_reuseport, set_tcp_nodelay, set_tcp_user_timeout,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, bind,
    connect, listen, socket_with,
};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

/// How many connections may wait to be accepted; the kernel lowers it to its own bound (somaxconn).
pub(crate) const BACKLOG: i32 = 4096;

/// Where a connection goes to and comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A TCP port.
    Tcp {
        /// The address of the peer.
        to: SocketAddr,
        /// The local address; `None`: the system's choice.
        from: Option<IpAddr>,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl From<SocketAddr> for Endpoint {
    fn from(to: SocketAddr) -> Self {
        Self::Tcp { to, from: None }
    }
}

/// Whether calls on a socket block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// They block, unless a call says otherwise.
    Yes,
    /// They never block.
    No,
}

/// Makes a socket for a connection to this endpoint, not yet connected. `ports`: the local ports from which one is chosen; `None`: any.
pub fn unconnected(
    to: &Endpoint,
    ports: Option<RangeInclusive<u16>>,
    blocking: Blocking,
) -> Result<OwnedFd, Errno> {
    let (to, from) = match to {
        Endpoint::Unix(_) => return stream(AddressFamily::UNIX, blocking),
        Endpoint::Tcp { to, from } => (to, from),
    };
    let socket = stream(family(to), blocking)?;
    set_tcp_nodelay(&socket, true)?;
    if let Some(from) = from {
        // The port is chosen when the connection's other end is known: then one port serves many servers.
        bind_address_no_port(&socket)?;
        bind(&socket, &SocketAddr::new(*from, 0))?;
    }
    if let Some(ports) = ports {
        choose_port(&socket, &ports);
    }
    Ok(socket)
}

/// Makes a socket whose connection is open or being opened; calls on it never block.
pub fn connecting(to: &Endpoint, ports: Option<RangeInclusive<u16>>) -> Result<OwnedFd, Errno> {
    let socket = unconnected(to, ports, Blocking::No)?;
    let connected = match to {
        Endpoint::Tcp { to, .. } => connect(&socket, to),
        Endpoint::Unix(path) => connect(&socket, &SocketAddrUnix::new(path)?),
    };
    match connected {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// An address in the kernel's form, for a back end that hands it over later.
pub struct Peer(SocketAddrAny);

impl Peer {
    /// The address to which this endpoint's connections go.
    pub fn of(endpoint: &Endpoint) -> Result<Self, Errno> {
        Ok(Self(match endpoint {
            Endpoint::Tcp { to, .. } => SocketAddrAny::from(*to),
            Endpoint::Unix(path) => SocketAddrUnix::new(path)?.into(),
        }))
    }

    /// A pointer to the address, valid as long as this is not moved.
    pub fn as_ptr(&self) -> *const libc::sockaddr {
        self.0.as_ptr().cast()
    }

    /// The length of the address in bytes.
    pub fn length(&self) -> u32 {
        self.0.addr_len()
    }
}

/// Sends what the kernel takes at once; returns 0 when it has no room.
pub fn send_some(socket: impl AsFd, bytes: &[u8], flags: SendFlags) -> Result<usize, Errno> {
    let flags = flags | SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    match retry_on_intr(|| rustix::net::send(&socket, bytes, flags)) {
        Err(Errno::AGAIN) => Ok(0),
        other => other,
    }
}

/// Receives what has arrived.
pub fn receive_some(socket: impl AsFd, memory: &mut [u8]) -> Result<usize, Errno> {
    retry_on_intr(|| rustix::net::recv(&socket, &mut *memory, RecvFlags::DONTWAIT)).map(|(n, _)| n)
}

/// Receives what has arrived, at most `bytes` bytes, and drops it: with `MSG_TRUNC`, TCP copies nothing (tcp(7)).
#[allow(unsafe_code)]
pub fn drop_some(socket: impl AsFd, bytes: usize) -> Result<usize, Errno> {
    let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    loop {
        // SAFETY: nothing is written, so that no memory need be named.
        let n = unsafe { libc::recv(socket.as_fd().as_raw_fd(), std::ptr::null_mut(), bytes, flags) };
        match usize::try_from(n) {
            Ok(n) => return Ok(n),
            Err(_) => match Errno::from_io_error(&std::io::Error::last_os_error()) {
                Some(Errno::INTR) => {}
                errno => return Err(errno.unwrap_or(Errno::INVAL)),
            },
        }
    }
}

/// `IP_LOCAL_PORT_RANGE` of Linux 6.3 (`include/uapi/linux/in.h`): the upper bound in the upper half.
const LOCAL_PORT_RANGE: libc::c_int = 51;

/// Restricts the local port. An older kernel chooses as it always did, which only takes longer.
fn choose_port(socket: &OwnedFd, ports: &RangeInclusive<u16>) {
    let bounds = u32::from(*ports.end()) << 16 | u32::from(*ports.start());
    let _ = set_ip_option(socket, LOCAL_PORT_RANGE, bounds as libc::c_int);
}

fn bind_address_no_port(socket: &OwnedFd) -> Result<(), Errno> {
    set_ip_option(socket, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

#[allow(unsafe_code)]
fn set_ip_option(socket: &OwnedFd, option: libc::c_int, value: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the option's value is one int, which lives until the call returns.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(Errno::INVAL) }
}

/// Makes a listener. Several may share one port; the kernel spreads connections over them.
pub fn listener(at: &SocketAddr) -> std::io::Result<OwnedFd> {
    let socket = stream(family(at), Blocking::No)?;
    set_socket_reuseaddr(&socket, true)?;
    set_socket_reuseport(&socket, true)?;
    set_tcp_nodelay(&socket, true)?; // Accepted sockets inherit it.
    bind(&socket, at)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The address that a socket is bound to.
pub fn local_address(socket: &OwnedFd) -> std::io::Result<SocketAddr> {
    let any = rustix::net::getsockname(socket)?;
    SocketAddr::try_from(any).map_err(std::io::Error::from)
}

fn family(address: &SocketAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

pub(crate) fn stream(family: AddressFamily, blocking: Blocking) -> Result<OwnedFd, Errno> {
    let flags = match blocking {
        Blocking::Yes => SocketFlags::CLOEXEC,
        Blocking::No => SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
    };
    socket_with(family, SocketType::STREAM, flags, None)
}

/// The address of the peer; `None` where it has none.
pub fn peer(socket: &OwnedFd) -> Option<IpAddr> {
    let any = rustix::net::getpeername(socket).ok().flatten()?;
    SocketAddr::try_from(any).ok().map(|address| address.ip())
}

/// Makes connections of this listener fail when their peer acknowledges or reads nothing for this long while there is something to send
/// (tcp(7), `TCP_USER_TIMEOUT`, which accepted sockets inherit).
pub fn give_up_after(listener: &OwnedFd, longest: Duration) -> std::io::Result<()> {
    Ok(set_tcp_user_timeout(listener, longest.as_millis().try_into().unwrap_or(u32::MAX))?)
}
