//! Finds the processes of a server on this machine that drome did not start, by which of them listens on its port.

use crate::processes::stat::stat;
use crate::processes::tree::{self, Tree};
use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use procfs::process::{FDTarget, Process};
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// The process that listens at `address` and is the parent of all others that do. `None` if it is on another machine, or
/// can't be seen.
pub fn listener(address: SocketAddr) -> Option<i32> {
    if address.ip().is_loopback() { listener_here(address) } else { None }
}

/// As [`listener`], for any address that is known to be this machine's.
pub fn listener_here(address: SocketAddr) -> Option<i32> {
    let entries = tcp().into_iter().flatten().chain(tcp6().into_iter().flatten());
    let is_it = |e: &TcpNetEntry| {
        let at = e.local_address;
        e.state == TcpState::Listen
            && at.port() == address.port()
            && (at.ip() == address.ip() || at.ip().is_unspecified())
    };
    let inodes: Vec<u64> = entries.filter(is_it).map(|e| e.inode).collect();
    let holds = |process: &Process| {
        let targets = process.fd().into_iter().flatten().flatten().map(|fd| fd.target);
        targets.into_iter().any(|target| matches!(target, FDTarget::Socket(inode) if inodes.contains(&inode)))
    };
    let all = procfs::process::all_processes().ok()?;
    let holders: Vec<(i32, i32)> =
        all.flatten().filter(holds).filter_map(|p| stat(p.pid)).map(|stat| (stat.pid, stat.parent)).collect();
    let is_top = |(_, parent): &&(i32, i32)| holders.iter().all(|(pid, _)| pid != parent);
    holders.iter().find(is_top).map(|(pid, _)| *pid)
}

/// Whether this machine has the address: the kernel lets a socket bind to no other.
pub fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// The processes of a server that listen, and where.
pub fn listening(tree: &Tree) -> Vec<(i32, SocketAddr)> {
    let entries = tcp().into_iter().flatten().chain(tcp6().into_iter().flatten());
    let listeners: Vec<TcpNetEntry> = entries.filter(|e| e.state == TcpState::Listen).collect();
    let of_process = |pid: i32| {
        let fds = Process::new(pid).and_then(|process| process.fd()).into_iter().flatten().flatten();
        let at = |target| match target {
            FDTarget::Socket(inode) => listeners.iter().find(|e| e.inode == inode).map(|e| e.local_address),
            _ => None,
        };
        fds.filter_map(move |fd| at(fd.target)).map(move |address| (pid, address)).collect::<Vec<_>>()
    };
    tree::pids(tree).into_iter().flat_map(of_process).collect()
}

/// Whether a process of a server listens on this port. `None`: none is seen to, but there is one whose sockets can't be read.
pub fn listens(tree: &Tree, port: u16) -> Option<bool> {
    if listening(tree).iter().any(|(_, at)| at.port() == port) {
        return Some(true);
    }
    let is_hidden = |pid: &i32| Process::new(*pid).and_then(|process| process.fd()).is_err();
    // One that has just ended can't be looked at, either, and is not there any more.
    let is_there = |pid: &i32| tree::pids(tree).contains(pid);
    let is_unknown = tree::pids(tree).iter().any(|pid| is_hidden(pid) && is_there(pid));
    (!is_unknown).then_some(false)
}

/// The process that listens at `address` and is not one of the server's. `None`: it is one of them, or none is seen.
pub fn foreign_listener(tree: &Tree, address: SocketAddr) -> Option<i32> {
    // The kernel's table of sockets is read in pieces, so it may lack a listener while sockets come and go. A server that
    // `listens` missed for that reason is found here.
    listener_here(address).filter(|pid| !tree::pids(tree).contains(pid))
}

/// How many of the machine's cores a server may use. How many of them its threads can keep busy is known only when it was loaded: many
/// servers start threads or processes with their connections.
pub fn cores(pid: i32) -> usize {
    net::cpu::allowed_to(pid).len().max(1)
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use std::net::TcpListener;

    #[test]
    fn the_listener_of_a_port_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(super::listener(address), Some(std::process::id() as i32));
        drop(listener);
        assert_eq!(super::listener(address), None);
        assert_eq!(super::listener("192.0.2.1:80".parse().unwrap()), None);
    }

    #[test]
    fn whose_port_it_is_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut other = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let own = std::process::id() as i32;
        // Another test's child has this one's sockets, too, until it has become another program.
        let is_nobodys = || super::listens(&Tree::Below(own), port) == Some(false);
        assert!((0..100).any(|_| is_nobodys()), "no process below this one listens there");
        let address = listener.local_addr().unwrap();
        assert_eq!(super::foreign_listener(&Tree::From(own), address), None, "it is its own listener");
        assert_eq!(super::foreign_listener(&Tree::From(other.id() as i32), address), Some(own));
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
