//! Who closes a connection first, on real sockets: about thirty of the cells that `src/tests/closing.rs` has all of.

use super::uring;
use load::{Progress, run};
use model::{Ask, IoChoice, Load, Plan, Tally, Target, Until};
use net::tls::{ServerOptions, Tls};
use net::{Epoll, Event, Io, Operation, Slot, socket};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the server does after its first answer on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    Closes,
    Stays,
    HalfCloses,
    Resets,
}

/// What comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Every request is answered, on a connection of its own.
    Anew,
    /// All are answered on the first connections.
    Kept,
    /// The second request on each connection is lost.
    Lost,
    /// No answer is whole.
    Cut,
    Timeout,
}

use Outcome::{Anew, Cut, Kept, Lost, Timeout};
use Server::{Closes, HalfCloses, Resets, Stays};

const LENGTH: &str = "Content-Length: 2\r\n\r\nok";
const CHUNKED: &str = "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
const UNTIL_CLOSE: &str = "\r\nok";

/// Version, `Connection` field, framing and body, what the server does, what comes of it.
const ROWS: [(&str, &str, &str, Server, Outcome); 32] = [
    ("1.1", "", LENGTH, Closes, Lost),
    ("1.1", "", LENGTH, Stays, Kept),
    ("1.1", "", LENGTH, HalfCloses, Lost),
    ("1.1", "", LENGTH, Resets, Lost),
    ("1.1", "", CHUNKED, Closes, Lost),
    ("1.1", "", CHUNKED, Stays, Kept),
    ("1.1", "", UNTIL_CLOSE, Closes, Anew),
    ("1.1", "", UNTIL_CLOSE, Stays, Timeout),
    ("1.1", "", UNTIL_CLOSE, HalfCloses, Anew),
    ("1.1", "", UNTIL_CLOSE, Resets, Cut),
    ("1.1", "keep-alive", LENGTH, Stays, Kept),
    ("1.1", "keep-alive", UNTIL_CLOSE, Closes, Anew),
    ("1.1", "close", LENGTH, Closes, Anew),
    ("1.1", "close", LENGTH, Stays, Anew),
    ("1.1", "close", LENGTH, HalfCloses, Anew),
    ("1.1", "close", LENGTH, Resets, Anew),
    ("1.1", "close", CHUNKED, Closes, Anew),
    ("1.1", "close", CHUNKED, Stays, Anew),
    ("1.1", "close", UNTIL_CLOSE, Stays, Timeout),
    ("1.1", "keep-alive, close", LENGTH, Stays, Anew),
    ("1.1", "close, keep-alive", CHUNKED, HalfCloses, Anew),
    ("1.0", "", LENGTH, Closes, Anew),
    ("1.0", "", LENGTH, Stays, Anew),
    ("1.0", "", LENGTH, Resets, Anew),
    ("1.0", "", UNTIL_CLOSE, Closes, Anew),
    ("1.0", "", UNTIL_CLOSE, Resets, Cut),
    ("1.0", "keep-alive", LENGTH, Closes, Lost),
    ("1.0", "keep-alive", LENGTH, Stays, Kept),
    ("1.0", "keep-alive", CHUNKED, Stays, Anew),
    ("1.0", "keep-alive", UNTIL_CLOSE, HalfCloses, Anew),
    ("1.0", "close", LENGTH, Stays, Anew),
    ("1.0", "close, keep-alive", LENGTH, Stays, Anew),
];

/// A server in a thread of its own, and what it saw when it is stopped.
struct Running {
    port: u16,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

/// How connections ended that the server left to the client.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    ended: usize,
    reset: usize,
}

fn start(answer: String, server: Server, is_tls: bool) -> Running {
    let listener = socket::listener(&"127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket::local_address(&listener).unwrap().port();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        let mut epoll = Epoll::new().unwrap();
        if is_tls {
            let mut io = Tls::server(epoll, ServerOptions::default().config().unwrap());
            io.listen(listener).unwrap();
            serve(io, answer.as_bytes(), server, &stopped)
        } else {
            epoll.listen(listener).unwrap();
            serve(epoll, answer.as_bytes(), server, &stopped)
        }
    });
    Running { port, stop, thread }
}

/// Each request comes in one piece.
fn serve<I: Io>(mut io: I, answer: &[u8], server: Server, stop: &AtomicBool) -> Seen {
    let (mut seen, mut answered) = (Seen::default(), BTreeSet::<Slot>::new());
    while !stop.load(Ordering::Relaxed) {
        io.wait(Some(Duration::from_millis(1))).unwrap();
        while let Some(completion) = io.next() {
            let slot = completion.slot;
            match completion.event {
                Event::Received if server == Stays || answered.insert(slot) => {
                    io.send(slot, answer);
                    end(&mut io, slot, server);
                    if matches!(server, Closes | Resets) {
                        answered.remove(&slot);
                    }
                }
                Event::Ended | Event::Failed(..) if slot != net::LISTENER => {
                    seen.ended += usize::from(completion.event == Event::Ended);
                    seen.reset += usize::from(completion.event != Event::Ended);
                    answered.remove(&slot);
                    io.close(slot);
                }
                Event::Failed(Operation::Local, errno) => panic!("the server's own trouble: {errno}"),
                _ => {}
            }
        }
    }
    seen
}

fn end<I: Io>(io: &mut I, slot: Slot, server: Server) {
    match server {
        Closes => io.close(slot),
        Resets => io.reset(slot),
        HalfCloses => io.shut_down(slot),
        Stays => {}
    }
}

fn measure(port: u16, io: IoChoice, is_tls: bool, until: Until) -> Tally {
    let scheme = if is_tls { "https" } else { "http" };
    let target = Target::resolve(&format!("{scheme}://127.0.0.1:{port}/")).unwrap();
    let ask = Ask::get(&target);
    let load = Load::Closed { connections: 3, per_connection: None };
    let mut plan = Plan { io, probe: false, ..Plan::new(target, ask, load, until) };
    plan.timeout = if matches!(until, Until::Elapsed(_)) { Duration::from_millis(50) } else { plan.timeout };
    plan.tls.insecure = true;
    run(&plan, &Progress::default(), &()).unwrap()
}

/// Connections with a server that are in TIME-WAIT: its address and its client's, and whether the server closed first.
fn in_time_wait(port: u16) -> BTreeSet<(String, String, bool)> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let ending = format!(":{port:04X}");
    let waiting = table.lines().filter_map(|line| {
        let row: Vec<&str> = line.split_whitespace().collect();
        (row.len() > 3 && row[3] == "06").then(|| (row[1].to_owned(), row[2].to_owned()))
    });
    let with_server =
        waiting.filter_map(|(local, remote)| match (local.ends_with(&ending), remote.ends_with(&ending)) {
            (true, _) => Some((local, remote, true)),
            (_, true) => Some((remote, local, false)),
            _ => None,
        });
    with_server.collect()
}

/// The number of connections, or of answers, after which a measurement ends.
const ENOUGH: u64 = 40;

fn check(tally: &Tally, outcome: Outcome, place: &str) {
    let Tally { completed, connections_opened, errors, .. } = tally;
    let told = format!("{place}: {completed} completed on {connections_opened} connections, {errors:?}");
    // A request on a connection that was just reset may fail to leave, or to be answered.
    let lost = errors.send + errors.receive;
    assert_eq!(errors.total(), lost + errors.timeout, "{told}");
    let is_right = match outcome {
        Anew => (*completed, *connections_opened, errors.total()) == (ENOUGH, ENOUGH, 0),
        Kept => (*completed, errors.total()) == (ENOUGH, 0) && *connections_opened <= 3,
        Lost => (*completed, *connections_opened, lost) == (ENOUGH, ENOUGH, ENOUGH),
        Cut => (*completed, *connections_opened, lost) == (0, ENOUGH, ENOUGH),
        Timeout => *completed == 0 && lost == 0 && errors.timeout > 0,
    };
    assert!(is_right, "{told}, expected {outcome:?}");
}

fn check_row(
    (version, field, rest, server, outcome): (&str, &str, &str, Server, Outcome),
    io: IoChoice,
    is_tls: bool,
) {
    let field = if field.is_empty() { String::new() } else { format!("Connection: {field}\r\n") };
    let answer = format!("HTTP/{version} 200 OK\r\n{field}{rest}");
    let place = format!("{io:?}, TLS {is_tls}, {server:?}, {answer:?}");
    let running = start(answer, server, is_tls);
    // The port may have been another server's a moment ago.
    let of_others = in_time_wait(running.port);
    let until = match outcome {
        Kept => Until::Answered(ENOUGH),
        Timeout => Until::Elapsed(Duration::from_millis(400)),
        Anew | Lost | Cut => Until::Closed(ENOUGH),
    };
    let tally = measure(running.port, io, is_tls, until);
    check(&tally, outcome, &place);
    let waiting = in_time_wait(running.port);
    let mut own = waiting.difference(&of_others);
    running.stop.store(true, Ordering::Relaxed);
    let seen = running.thread.join().unwrap();
    if outcome == Anew {
        let of_client = own.clone().filter(|(_, _, by_server)| !by_server).count();
        assert_eq!(of_client, 0, "{place}: the client keeps ports busy, {seen:?}");
        // Over TLS the client's own announcement may come when the server is gone, which resets the connection.
        assert!(
            is_tls || server != Closes || own.any(|(_, _, by_server)| *by_server),
            "{place}: the server closed first"
        );
    }
    if (outcome, server, is_tls) == (Anew, Stays, false) {
        assert_eq!((seen.reset as u64, seen.ended), (ENOUGH, 0), "{place}: {seen:?}");
    }
}

fn check_all(io: IoChoice, is_tls: bool) {
    if io != IoChoice::Uring || uring::is_usable() {
        ROWS.into_iter().for_each(|row| check_row(row, io, is_tls));
    }
}

#[test]
fn on_real_sockets_over_io_uring() {
    check_all(IoChoice::Uring, false);
}

#[test]
fn on_real_sockets_over_epoll() {
    check_all(IoChoice::Epoll, false);
}

#[test]
fn on_real_sockets_over_tls() {
    check_all(IoChoice::Uring, true);
    check_all(IoChoice::Epoll, true);
}
