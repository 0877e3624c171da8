//! Who closes a connection, and when: every version, `Connection` field, framing and way in which a server may end, over every back
//! end that the scripts can express. What must come of each is written down cell by cell: RFC 9112, sections 6.1, 6.3 and 9.3 to 9.8.

use super::fake::Closed;
use super::*;
use model::End;
use net::{Errno, Io, Operation};
use std::fmt::Write;

/// The time that a server has to close a connection whose last answer is whole.
const PATIENCE_NS: u64 = 10 * MS;

/// When an answer comes after its request, and when a connection is open.
const AFTER_NS: u64 = MS;

const HEADS: [(&str, &str); 10] = [
    ("HTTP/1.1", ""),
    ("HTTP/1.1", "keep-alive"),
    ("HTTP/1.1", "close"),
    ("HTTP/1.1", "close, keep-alive"),
    ("HTTP/1.1", "keep-alive, close"),
    ("HTTP/1.0", ""),
    ("HTTP/1.0", "keep-alive"),
    ("HTTP/1.0", "close"),
    ("HTTP/1.0", "close, keep-alive"),
    ("HTTP/1.0", "keep-alive, close"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length,
    Chunked,
    UntilClose,
}

const FRAMINGS: [Framing; 3] = [Framing::Length, Framing::Chunked, Framing::UntilClose];

/// What the server does after its first answer on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    /// Closes; over TLS it announces that.
    Closes,
    /// Leaves the connection open, and answers further requests on it.
    Stays,
    /// Sends no more, and reads on.
    HalfCloses,
    Resets,
    /// Closes without announcing it, over TLS.
    Cuts,
}

const SERVERS: [Server; 5] =
    [Server::Closes, Server::Stays, Server::HalfCloses, Server::Resets, Server::Cuts];

/// How the load generator's back end behaves, as far as a worker can see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BackEnd {
    /// As `io_uring`: what is sent leaves at the end of a pass.
    Ring,
    /// As `epoll`: what is sent leaves at once.
    Epoll,
    Tls,
}

/// For each of `HEADS`, what comes of `Closes`, `Stays`, `HalfCloses`, `Resets`, `Cuts`; with a `Content-Length`, chunked, until the close.
/// `a`: answered, and the next request goes to a new connection at once. `k`: all on one connection. `l`: the next request is sent on
/// the same connection and lost. `c`: cut off. `t`: timeout.
const EXPECTED: [&str; 10] = [
    "lklll lklll atacc",
    "lklll lklll atacc",
    "aaaaa aaaaa atacc",
    "aaaaa aaaaa atacc",
    "aaaaa aaaaa atacc",
    // A chunked HTTP/1.0 answer is faulty: the connection is closed after it (RFC 9112 section 6.1).
    "aaaaa aaaaa atacc",
    "lklll aaaaa atacc",
    "aaaaa aaaaa atacc",
    "aaaaa aaaaa atacc",
    "aaaaa aaaaa atacc",
];

fn answer((version, field): (&str, &str), framing: Framing) -> Vec<u8> {
    let field = if field.is_empty() { String::new() } else { format!("Connection: {field}\r\n") };
    let (framed, body) = match framing {
        Framing::Length => ("Content-Length: 2\r\n", "ok"),
        Framing::Chunked => ("Transfer-Encoding: chunked\r\n", "2\r\nok\r\n0\r\n\r\n"),
        Framing::UntilClose => ("", "ok"),
    };
    format!("{version} 200 OK\r\n{field}{framed}\r\n{body}").into_bytes()
}

fn end(server: Server, is_tls: bool) -> Option<What> {
    match server {
        Server::Closes | Server::HalfCloses => Some(What::Ended(is_tls.then_some(true))),
        Server::Cuts => Some(What::Ended(is_tls.then_some(false))),
        Server::Resets => Some(What::Failed(Operation::Receive, Errno::CONNRESET)),
        Server::Stays => None,
    }
}

fn script(answer: Vec<u8>, server: Server, is_tls: bool) -> impl FnMut(Call) -> Vec<(u64, What)> {
    move |call| match call {
        Call::Connect { .. } => {
            let secured = is_tls.then_some((AFTER_NS, What::Secured));
            [(AFTER_NS, What::Connected)].into_iter().chain(secured).collect()
        }
        Call::Send { before: 1.., .. } if server != Server::Stays => vec![],
        Call::Send { .. } => {
            let end = end(server, is_tls).map(|end| (AFTER_NS, end));
            [(AFTER_NS, What::Bytes(answer.clone()))].into_iter().chain(end).collect()
        }
    }
}

/// Measures one cell.
fn run_cell(head: (&str, &str), framing: Framing, server: Server, back_end: BackEnd) -> Ran {
    let is_tls = back_end == BackEnd::Tls;
    let mut plan = closed(1);
    plan.target.tls = is_tls;
    let mut io = Fake::new(REQUEST.len(), Box::new(script(answer(head, framing), server, is_tls)));
    io.sends_at_once = back_end == BackEnd::Epoll;
    run_on(&plan, None, io)
}

/// How long after the last event on each connection the next one was asked for, at most.
fn longest_wait_ns(ran: &Ran) -> u64 {
    let last_ns = |nth: usize| {
        ran.told.iter().filter(|told| told.connection == nth as u64).map(|told| told.done_ns).max()
    };
    let waits = ran.seen.connects_ns.iter().enumerate().skip(1);
    waits.map(|(nth, at_ns)| at_ns - last_ns(nth - 1).unwrap_or(0)).max().unwrap_or(0)
}

/// Checks how each connection but the last was closed.
fn assert_closed(ran: &Ran, server: Server, code: char, place: &str) {
    for told in ran.told.iter().filter(|told| told.connection + 1 < ran.seen.connects_ns.len() as u64) {
        let closed = ran.seen.closed[&(told.connection as usize)];
        match (code, server) {
            ('t', _) => assert!(matches!(closed, Closed::First(_)), "{place}: {closed:?}"),
            (_, Server::Stays) => {
                let Closed::Reset(at_ns) = closed else { panic!("{place}: {closed:?}") };
                let after_ns = at_ns - told.done_ns;
                assert!(after_ns.abs_diff(PATIENCE_NS) <= MS / 100, "{place}: {after_ns} ns");
            }
            _ => {
                let Closed::AfterPeer(at_ns) = closed else { panic!("{place}: {closed:?}") };
                assert!(at_ns.abs_diff(told.done_ns) <= MS, "{place}: the peer's end is noticed at once");
            }
        }
    }
}

/// Checks one cell; returns what a table says of it.
fn check_cell(ran: &Ran, server: Server, code: char, place: &str) -> String {
    assert_accounted(&ran.tally);
    let (completed, errors) = (ran.tally.completed, ran.tally.errors);
    let (connects, wait_ns) = (ran.seen.connects_ns.len() as u64, longest_wait_ns(ran));
    let told = format!("{place}: {completed} completed, {errors:?}, {connects} connections, {wait_ns} ns");
    assert_eq!(errors.total(), errors.receive + errors.timeout, "{told}");
    let is_about = |a: u64, b: u64| a.abs_diff(b) <= 1;
    let is_right = match code {
        'a' => completed > 600 && errors.total() == 0 && is_about(connects, completed) && wait_ns == 0,
        'k' => completed > 1800 && errors.total() == 0 && connects == 1,
        'l' => {
            let is_lost = is_about(completed, errors.receive) && errors.timeout == 0;
            completed > 600 && is_lost && is_about(connects, completed) && wait_ns == 0
        }
        'c' => completed == 0 && errors.receive > 100 && is_about(connects, errors.receive),
        't' => completed == 0 && errors.total() == errors.timeout && (3..=4).contains(&errors.timeout),
        _ => false,
    };
    assert!(is_right, "{told}, expected {code}");
    // A connection that brought nothing is tried again at the next housekeeping.
    assert!(wait_ns <= 10 * MS, "{told}");
    let lost = ran.told.iter().filter(|told| matches!(told.end, End::Lost(_))).count() as u64;
    assert_eq!(lost, errors.total(), "{told}");
    assert_closed(ran, server, code, place);
    format!(
        "{} {connects}/{completed}/{}",
        ["answered", "kept", "lost", "cut", "timeout"]["aklct".find(code).unwrap()],
        errors.total()
    )
}

/// Prints each cell as: what comes of it, connections opened / answers / requests lost, in two seconds on one connection at a time.
#[test]
fn every_answer_that_ends_its_connection_goes_the_same_way() {
    let mut table = String::new();
    for back_end in [BackEnd::Ring, BackEnd::Epoll, BackEnd::Tls] {
        let is_tls = back_end == BackEnd::Tls;
        let servers: Vec<Server> = SERVERS.into_iter().filter(|s| is_tls || *s != Server::Cuts).collect();
        let columns = servers.iter().map(|server| format!("{server:?} |")).collect::<String>();
        writeln!(
            table,
            "\n| {back_end:?} | framing | {columns}\n| --- | --- |{}",
            " --- |".repeat(servers.len())
        )
        .unwrap();
        for (head, row) in HEADS.into_iter().zip(EXPECTED) {
            for (framing, codes) in FRAMINGS.into_iter().zip(row.split(' ')) {
                write!(table, "| {} {} | {framing:?} |", head.0, head.1).unwrap();
                for (server, code) in SERVERS.into_iter().zip(codes.chars()) {
                    if !servers.contains(&server) {
                        continue;
                    }
                    let place = format!("{back_end:?}, {head:?}, {framing:?}, {server:?}");
                    let ran = run_cell(head, framing, server, back_end);
                    write!(table, " {} |", check_cell(&ran, server, code, &place)).unwrap();
                }
                table.push('\n');
            }
        }
    }
    println!("{table}");
}

const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

/// A server that announces each close and leaves it to the client.
fn stays(call: Call) -> Vec<(u64, What)> {
    script(LAST.to_vec(), Server::Stays, false)(call)
}

/// Between its slices nobody looks after a target's connections.
#[test]
fn at_the_end_of_a_slice_and_of_a_run_no_connection_waits_for_its_close() {
    let ground = Ground::new(vec![closed(3), closed(3)]);
    let mut heat = Heat::new(&ground, vec![Box::new(stays), Box::new(stays)]);
    for nth in 0..6 {
        let counts = heat.slice(SlicePlan::of(nth % 2));
        let rate = counts.counted.tally.rate_per_s().unwrap();
        assert!((rate - 1500.0).abs() < 1.0, "{rate}: three connections, each anew after 2 ms");
        assert!(heat.workers.iter().all(|worker| worker.io.retired_until_ns().is_none()));
        assert!(counts.ended_ns - counts.closed_ns.unwrap() <= 13 * MS, "it ends soon all the same");
    }
    let ran = run(&closed(3), stays);
    let open = ran.seen.connects_ns.len() - ran.seen.closed.len();
    assert!(open <= 3, "{open} are left to the end of the back end, which are its last connections");
    let is_reset = |closed: &Closed| matches!(closed, Closed::Reset(_));
    assert!(ran.seen.closed.values().all(is_reset), "{:?}", ran.seen.closed);
}

/// Where the client has said that its request is the last one, the server closes; where it has not, only the client knows.
#[test]
fn the_client_closes_at_once_only_where_the_server_does_not_know() {
    let load = Load::Closed { connections: 1, per_connection: Some(2) };
    let said = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    let old = b"GET / HTTP/1.0\r\n\r\n";
    for (last, is_said) in [(REQUEST, false), (said, true), (old, true)] {
        let mut plan = plan(load.clone(), Duration::from_millis(200));
        // The back end counts requests by their length.
        plan.asks[0].last = last.to_vec();
        plan.asks[0].request = last.to_vec();
        let Ran { tally, seen, .. } = run_on(&plan, None, Fake::new(last.len(), Box::new(faults::plain(MS))));
        assert_accounted(&tally);
        assert!(tally.completed > 100 && tally.errors.total() == 0);
        let is_right = |closed: &Closed| matches!(closed, Closed::Reset(_)) == is_said;
        assert!(seen.closed.values().all(is_right), "{:?}", seen.closed);
    }
}

#[test]
fn ports_that_given_up_connections_hold_are_given_back_before_a_new_one_fails() {
    let no_port = || vec![(0, What::Failed(Operation::Local, Errno::ADDRNOTAVAIL))];
    for rate_per_s in [None, Some(400.0)] {
        let mut plan = closed(2);
        plan.connecting.rate_per_s = rate_per_s;
        // Every tenth connection and the one after it find no port, as long as others have been given up before.
        let ran = run(&plan, |call| match call {
            Call::Connect { nth } if nth > 10 && nth % 10 < 2 => no_port(),
            call => stays(call),
        });
        assert_accounted(&ran.tally);
        assert_eq!((ran.tally.halted.as_deref(), ran.tally.errors.total()), (None, 0));
        assert!(ran.tally.completed > 300, "{}", ran.tally.completed);
    }
    // Where none was given up, there is nothing to wait for.
    let ran = run(&closed(2), |_| no_port());
    assert!(ran.tally.halted.is_some_and(|why| why.contains("local ports")));
}
