//! Every exchange is told, once, with its times in order; connections that are counted are counted.

use super::uring;
use load::{LoadError, Progress, run};
use model::{Ask, End, Exchange, Expect, IoChoice, Load, Loss, Plan, Tally, Target, Think, Until};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::Duration;

const ANSWER: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nnone\n";

/// Answers requests one by one and hangs up after `most` on a connection; `most` 0: without any answer.
fn server(most: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut buffer = vec![0; 65536];
                let mut answered = 0;
                while let Ok(n @ 1..) = stream.read(&mut buffer) {
                    for _ in buffer[..n].windows(4).filter(|w| w == b"\r\n\r\n") {
                        if answered == most || stream.write_all(ANSWER).is_err() {
                            return;
                        }
                        answered += 1;
                    }
                }
            });
        }
    });
    port
}

fn plan(port: u16, io: IoChoice, per_connection: Option<usize>, until: Until) -> Plan {
    let target = Target::resolve(&format!("http://127.0.0.1:{port}/")).unwrap();
    let expect = Expect { any_status: true, ..Expect::default() };
    let ask = Ask { expect, ..Ask::get(&target) };
    let load = Load::Closed { connections: 4, per_connection };
    Plan { io, keep_first: true, threads: 2, ..Plan::new(target, ask, load, until) }
}

/// What can drive the sockets on this machine.
fn back_ends() -> Vec<IoChoice> {
    if uring::is_usable() { vec![IoChoice::Epoll, IoChoice::Uring] } else { vec![IoChoice::Epoll] }
}

fn measure(plan: &Plan) -> (Tally, Vec<Exchange>) {
    let (to, told) = channel();
    let progress = Progress { log: Some(to), ..Progress::default() };
    let tally = run(plan, &progress, &()).unwrap();
    drop(progress);
    (tally, told.iter().flatten().collect())
}

fn assert_in_order(exchange: &Exchange) {
    let Exchange { connect_ns, connected_ns, sent_ns, first_byte_ns, done_ns, .. } = *exchange;
    let times = [connect_ns, connected_ns, sent_ns, first_byte_ns, done_ns];
    assert!(times[0] > 0 && times.is_sorted(), "{exchange:?}");
}

#[test]
fn where_nobody_listens_every_connection_is_told_unless_one_had_to_be_established_first() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let wanted = plan(port, IoChoice::Best, None, Until::Closed(6));
    assert!(matches!(run(&wanted, &Progress::default(), &()), Err(LoadError::Connect { .. })));
    let (tally, told) = measure(&Plan { probe: false, ..wanted });
    assert_eq!((tally.sent, tally.errors.connect, told.len()), (0, 6, 6));
    assert!(told.iter().all(|exchange| exchange.end == End::Lost(Loss::Connect)));
    assert!(tally.client_system_cpu_ns.is_some_and(|ns| ns <= tally.client_cpu_ns));
}

#[test]
fn every_answer_is_told_once() {
    let port = server(usize::MAX);
    for io in back_ends() {
        for per_connection in [None, Some(3)] {
            let (tally, told) = measure(&plan(port, io, per_connection, Until::Answered(1_000)));
            assert_eq!((tally.completed, tally.errors.total(), told.len()), (1_000, 0, 1_000));
            told.iter().for_each(assert_in_order);
            assert!(told.iter().all(|e| e.status() == Some(404) && e.body_bytes == 5));
            assert!(told.iter().all(|e| (e.nth as usize) < per_connection.unwrap_or(usize::MAX)));
            let mut each: Vec<_> = told.iter().map(|e| (e.connection, e.nth)).collect();
            each.sort_unstable();
            each.dedup();
            assert_eq!(each.len(), 1_000);
            assert_eq!(tally.first_answer, ANSWER);
        }
    }
}

#[test]
fn so_many_connections_are_opened_and_no_more() {
    let port = server(usize::MAX);
    for io in back_ends() {
        for rate_per_s in [None, Some(2_000.0)] {
            let mut plan = plan(port, io, Some(5), Until::Closed(101));
            plan.connecting.rate_per_s = rate_per_s;
            let (tally, told) = measure(&plan);
            assert_eq!((tally.connections_opened, tally.completed, told.len()), (101, 505, 505));
            let connections: std::collections::BTreeSet<_> = told.iter().map(|e| e.connection).collect();
            assert_eq!(connections.len(), 101);
        }
    }
}

#[test]
fn a_connection_that_came_to_nothing_is_one_all_the_same() {
    let port = server(0);
    for io in back_ends() {
        let (tally, told) = measure(&plan(port, io, Some(5), Until::Closed(9)));
        assert_eq!((tally.connections_opened, tally.errors.receive, told.len()), (9, 9, 9));
        assert!(told.iter().all(|e| e.end == End::Lost(Loss::Ended) && e.first_byte_ns == 0));
        assert!(tally.first_answer.is_empty());
    }
}

#[test]
fn what_is_lost_behind_an_answer_is_told_too() {
    let port = server(2);
    let mut plan = plan(port, IoChoice::Best, None, Until::Closed(10));
    (plan.pipeline, plan.bursts) = (5, true);
    let (tally, told) = measure(&plan);
    assert_eq!((tally.completed, tally.errors.receive), (20, 30));
    let is_lost = |e: &&Exchange| e.end == End::Lost(Loss::Ended);
    assert_eq!((told.len(), told.iter().filter(is_lost).count()), (50, 30));
}

#[test]
fn of_an_answer_that_was_cut_off_so_much_is_told_as_came() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (nth, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut buffer = [0; 4096];
            // The second answer of a connection is cut off; every other time before it has even begun.
            let rest =
                if nth % 2 == 0 { &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nno"[..] } else { b"" };
            for answer in [ANSWER, rest] {
                if let Ok(1..) = stream.read(&mut buffer) {
                    let _ = stream.write_all(answer);
                }
            }
        }
    });
    for io in back_ends() {
        let (_, told) = measure(&plan(port, io, Some(5), Until::Closed(4)));
        let lost = told.iter().filter(|e| e.end == End::Lost(Loss::Ended));
        let mut bytes: Vec<_> = lost.map(|e| (e.first_byte_ns > 0, e.body_bytes)).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, [(false, 0), (false, 0), (true, 2), (true, 2)]);
    }
}

#[test]
fn a_number_of_requests_ends_what_time_would_end_much_later() {
    let port = server(usize::MAX);
    for (most, until) in [(70, Until::Elapsed(Duration::from_mins(1))), (70, Until::Answered(1_000))] {
        let mut plan = plan(port, IoChoice::Best, None, until);
        plan.most_requests = Some(most);
        let (tally, told) = measure(&plan);
        assert_eq!((tally.sent, tally.completed, told.len() as u64), (most, most, most));
    }
    let mut plan = plan(port, IoChoice::Best, None, Until::Elapsed(Duration::from_millis(50)));
    plan.most_requests = Some(u64::MAX);
    assert!(measure(&plan).0.duration_ns < 60_000_000_000);
}

#[test]
fn a_burst_has_one_latency_where_it_is_to_have_one() {
    let port = server(usize::MAX);
    for (burst_latency, latencies) in [(false, 50), (true, 10)] {
        let plan = plan(port, IoChoice::Best, None, Until::Answered(50));
        let (tally, _) = measure(&Plan { pipeline: 5, bursts: true, burst_latency, ..plan });
        assert_eq!((tally.completed, tally.service.count()), (50, latencies));
    }
}

#[test]
fn one_connection_waits_for_its_answer_before_there_are_others() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let watched = std::thread::spawn(move || {
        // Somebody looked whether anybody is there.
        drop(listener.accept().unwrap());
        let mut first = listener.accept().unwrap().0;
        assert!(first.read(&mut [0; 4096]).unwrap() > 0);
        std::thread::sleep(Duration::from_millis(100));
        listener.set_nonblocking(true).unwrap();
        let is_alone = listener.accept().is_err();
        listener.set_nonblocking(false).unwrap();
        first.write_all(ANSWER).unwrap();
        drop(listener.accept().unwrap());
        is_alone
    });
    let mut plan = plan(port, IoChoice::Best, None, Until::Elapsed(Duration::from_mins(1)));
    (plan.threads, plan.connecting.one_first) = (1, true);
    let progress = Progress::default();
    std::thread::scope(|scope| {
        scope.spawn(|| run(&plan, &progress, &()));
        let is_alone = watched.join();
        progress.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(is_alone.unwrap());
    });
}

#[test]
fn answers_are_counted_in_steps() {
    let port = server(usize::MAX);
    let until = Until::Elapsed(Duration::from_millis(2_050));
    let plan = Plan { pulse: Some(Duration::from_millis(100)), ..plan(port, IoChoice::Best, None, until) };
    let (tally, _) = measure(&plan);
    // On two threads; on a machine that hardly gets on steps are longer, and fewer.
    assert!((2..=40).contains(&tally.pulse.len()), "{:?}", tally.pulse);
    assert!(tally.pulse.iter().all(|beat| beat.duration_ns >= 100_000_000));
    assert!(tally.pulse.iter().map(|beat| beat.answers).sum::<u64>() <= tally.completed);
}

#[test]
fn who_thinks_does_so_on_a_new_connection_too() {
    let pause = Duration::from_millis(30);
    let port = server(usize::MAX);
    for per_connection in [None, Some(1)] {
        for io in back_ends() {
            let plan = plan(port, io, per_connection, Until::Answered(20));
            let (tally, _) = measure(&Plan { think: Think::Between(pause, pause), ..plan });
            // Four connections, so that one of them asked five times at least, with four pauses between.
            assert!(tally.duration_ns >= 4 * pause.as_nanos() as u64, "{}", tally.duration_ns);
        }
    }
}

#[test]
fn the_addresses_of_a_name_are_tried_in_turn_and_all_are_named_if_none_accepts() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let open = listener.local_addr().unwrap();
    let closed = |host: [u8; 4]| std::net::SocketAddr::from((host, open.port()));
    let several = |all: &[std::net::SocketAddr]| {
        let mut target = Target::resolve("http://127.0.0.1:1/").unwrap();
        (target.address, target.others) = (model::Address::Tcp(all[0]), all[1..].to_vec());
        target
    };
    for all in [&[open, closed([127, 0, 0, 8])][..], &[closed([127, 0, 0, 8]), closed([127, 0, 0, 9]), open]]
    {
        let mut target = several(all);
        load::reach(&mut target).unwrap();
        assert_eq!((target.address.tcp(), target.others), (Some(open), Vec::new()), "{all:?}");
    }
    let mut nowhere = several(&[closed([127, 0, 0, 8]), closed([127, 0, 0, 9])]);
    let why = load::reach(&mut nowhere).unwrap_err().to_string();
    assert!(why.contains("127.0.0.8:") && why.contains("nor to 127.0.0.9:"), "{why}");
    // With one address, the first connection of the load tells whether it accepts.
    load::reach(&mut several(&[closed([127, 0, 0, 8])])).unwrap();
}

#[test]
fn a_server_that_accepts_nothing_is_there_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let endpoint = net::Endpoint::Unix(path.clone());
    net::limits::raise_descriptors(u64::MAX);
    let full: Vec<_> = std::iter::from_fn(|| net::socket::connecting(&endpoint, None).ok()).collect();
    let mut target = Target::resolve("http://127.0.0.1:1/").unwrap();
    target.address = model::Address::Unix(path);
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(load::probe(&target)));
    told.recv_timeout(Duration::from_mins(1)).expect("nothing is waited for").unwrap();
    drop(full);
}
