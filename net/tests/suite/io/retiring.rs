//! A connection that is given up may still be closed by its peer, which then keeps the ports busy; in the end it is reset.

use super::lifetimes::plain_listener;
use super::{BackEnd, PATIENCE, Side};
use net::{Endpoint, Event};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// `TCP_TIME_WAIT` (`include/net/tcp_states.h`).
const TIME_WAIT: &str = "06";

/// The state of the IPv4 socket with these ports, as the kernel lists it; `None`: there is none.
pub fn state(local: u16, remote: u16) -> Option<String> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let (local, remote) = (format!(":{local:04X}"), format!(":{remote:04X}"));
    let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let is_it = |row: &Vec<&str>| row.len() > 3 && row[1].ends_with(&local) && row[2].ends_with(&remote);
    rows.find(is_it).map(|row| row[3].to_owned())
}

/// A client with a connection on slot 0, on which the last answer has come, and the server's side of it.
fn answered<I: BackEnd>(listener: &TcpListener, address: &Endpoint) -> (Side<I>, TcpStream) {
    let mut client = Side::<I>::new();
    client.io.connect(0, address);
    client.until(0, Event::Connected);
    let (mut server, _) = listener.accept().unwrap();
    client.io.send(0, b"ask");
    client.turn();
    server.read_exact(&mut [0; 3]).unwrap();
    server.write_all(b"answer").unwrap();
    client.until_received(0, 6);
    client.received[0].clear();
    (client, server)
}

/// Turns until this holds.
#[track_caller]
fn until<I: BackEnd>(client: &mut Side<I>, mut holds: impl FnMut(&mut Side<I>) -> bool, what: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !holds(client) {
        client.turn();
        assert!(Instant::now() < deadline, "{what}");
    }
}

/// How the server's side ends: 0 for an end, or the error.
fn end<I: BackEnd>(client: &mut Side<I>, server: &mut TcpStream) -> Result<usize, ErrorKind> {
    server.set_nonblocking(true).unwrap();
    let mut end = Ok(1);
    let has_ended = |_: &mut Side<I>| match server.read(&mut [0; 100]) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => false,
        other => {
            end = other.map_err(|error| error.kind());
            true
        }
    };
    until(client, has_ended, "the client never closes");
    end
}

pub fn a_peer_that_closes_first_keeps_the_ports_busy<I: BackEnd>() {
    for closes_before in [true, false] {
        let (listener, address) = plain_listener();
        let (mut client, server) = answered::<I>(&listener, &address);
        let (local, remote) = (server.local_addr().unwrap().port(), server.peer_addr().unwrap().port());
        if closes_before {
            drop(server);
            client.io.retire(0, u64::MAX);
        } else {
            client.io.retire(0, u64::MAX);
            client.turn();
            drop(server);
        }
        let waits = |_: &mut Side<I>| state(local, remote).as_deref() == Some(TIME_WAIT);
        until(&mut client, waits, "the server closed first");
        assert_eq!(state(remote, local), None, "the client's port is free");
        until(&mut client, |client| client.io.retired_until_ns().is_none(), "it is closed");
        assert_eq!(client.seen, [], "nothing more is told of it");
    }
}

pub fn a_peer_that_only_sends_no_more_is_not_kept_waiting<I: BackEnd>() {
    let (listener, address) = plain_listener();
    let (mut client, mut server) = answered::<I>(&listener, &address);
    client.io.retire(0, u64::MAX);
    client.turn();
    server.write_all(b"nobody reads this").unwrap();
    client.turn();
    server.shutdown(Shutdown::Write).unwrap();
    assert_eq!(end(&mut client, &mut server), Ok(0), "no reset");
    assert_eq!((client.received[0].len(), client.seen.len()), (0, 0));
}

pub fn a_peer_that_stays_is_reset_when_its_time_is_up<I: BackEnd>() {
    let (listener, address) = plain_listener();
    let (mut client, mut server) = answered::<I>(&listener, &address);
    let (local, remote) = (server.local_addr().unwrap().port(), server.peer_addr().unwrap().port());
    client.io.retire(0, 1000);
    assert_eq!(client.io.retired_until_ns(), Some(1000));
    client.io.close_retired(999);
    client.turn();
    assert_eq!(state(remote, local).as_deref(), Some("01"), "it has its time");
    client.io.close_retired(1000);
    assert_eq!(end(&mut client, &mut server), Err(ErrorKind::ConnectionReset));
    drop(server);
    assert_eq!((state(remote, local), state(local, remote)), (None, None), "neither port stays busy");
    assert_eq!(client.io.retired_until_ns(), None);
}

pub fn the_place_of_a_retired_connection_is_free_at_once<I: BackEnd>() {
    let (listener, address) = plain_listener();
    let (mut client, mut first) = answered::<I>(&listener, &address);
    for nth in 0..20 {
        client.io.retire(0, u64::MAX);
        client.io.connect(0, &address);
        first.write_all(b"too late").unwrap();
        client.until(0, Event::Connected);
        let (mut second, _) = listener.accept().unwrap();
        // After bytes that were dropped, receives are asked for in another way.
        if nth % 2 == 0 {
            client.io.skip(0, 4);
        }
        client.io.send(0, b"ask");
        client.turn();
        second.read_exact(&mut [0; 3]).unwrap();
        (client.skipped, client.received[0]) = (0, Vec::new());
        second.write_all(b"skip this").unwrap();
        let has_all = |c: &mut Side<I>| c.skipped + c.received[0].len() as u64 == 9;
        until(&mut client, has_all, "an answer on the new connection");
        assert!(b"skip this".ends_with(&client.received[0]));
        drop(std::mem::replace(&mut first, second));
        std::thread::sleep(Duration::from_millis(1));
    }
    client.io.retire(0, u64::MAX);
    drop(first);
    until(&mut client, |client| client.io.retired_until_ns().is_none(), "all are closed");
}
