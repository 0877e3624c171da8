//! What httperf's dialect prints is what it counted, and is read as that.

use crate::harness::{self, MS, OK, one, parse};
use dialects::{Halt, Job};
use model::{End, Exchange, Gaps, Load, Loss, Tally, Until};
use proptest::prelude::*;
use std::time::Duration;

fn job(line: &str) -> Box<dyn Job> {
    harness::job("httperf", line)
}

/// The `nth` call of a connection that began at `begin_ms` and asks every 10 ms.
fn exchange(connection: u64, begin_ms: u64, nth: u32, end: End) -> Exchange {
    let begin = 1_000_000_000 + begin_ms * MS;
    let sent_ns = begin + 2 * MS + u64::from(nth) * 10 * MS;
    let times_ns = [begin, begin + MS, sent_ns, sent_ns + 3 * MS, sent_ns + 5 * MS];
    harness::exchange(connection, nth, times_ns, 10, end)
}

/// Three connections of two calls each: one is whole, one is lost, one is closed by the server.
#[test]
fn a_report_by_hand() {
    let mut job = job("--server 127.0.0.1 --num-conns 3 --num-calls 2 --rate 100 -vv");
    let closes = End::Answered { status: 404, keeps_alive: false };
    job.hear(&[
        exchange(0, 0, 0, OK),
        exchange(1, 10, 0, OK),
        exchange(0, 0, 1, OK),
        exchange(1, 10, 1, End::Lost(Loss::Timeout)),
        exchange(2, 30, 0, closes),
    ]);
    let tally = Tally {
        sent: 5,
        sent_bytes: 305,
        received_bytes: 4 * 50,
        body_bytes: 40,
        client_cpu_ns: 8_000_000,
        client_system_cpu_ns: Some(6_000_000),
        ..Tally::default()
    };
    let expected = "\
Maximum connect burst length: 1

Connection lifetime histogram (time in ms):
             :
             7.5 1
             :
            17.5 2

Total: connections 3 requests 5 replies 4 test-duration 0.037 s

Connection rate: 81.1 conn/s (12.3 ms/conn, <=2 concurrent connections)
Connection time [ms]: min 7.0 avg 13.7 max 17.0 median 17.5 stddev 5.8
Connection time [ms]: connect 1.0
Connection length [replies/conn]: 1.333

Request rate: 135.1 req/s (7.4 ms/req)
Request size [B]: 61.0

Reply rate [replies/s]: min 0.0 avg 0.0 max 0.0 stddev 0.0 (0 samples)
Reply time [ms]: response 3.0 transfer 2.0
Reply size [B]: header 40.0 content 10.0 footer 0.0 (total 50.0)
Reply status: 1xx=0 2xx=3 3xx=0 4xx=1 5xx=0

CPU time [s]: user 0.00 system 0.01 (user 5.4% system 16.2% total 21.6%)
Net I/O: 13.3 KB/s (0.1*10^6 bps)

Errors: total 2 client-timo 1 socket-timo 0 connrefused 0 connreset 1
Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0
";
    assert_eq!(job.print(&tally).out, expected);
}

#[test]
fn errors_have_the_tool_s_words() {
    let lost = |loss, causes: &[(&str, u64)]| {
        let mut job = job("--server 127.0.0.1 --num-conns 9");
        (0..9).for_each(|n| drop(job.hear(&[exchange(n, n, 0, End::Lost(loss))])));
        let error_causes = causes.iter().map(|(cause, n)| ((*cause).to_owned(), *n)).collect();
        let out = job.print(&Tally { error_causes, ..Tally::default() }).out;
        let errors = one("httperf", &out).reading.errors;
        errors.into_iter().map(|(kind, n)| format!("{kind} {n}")).collect::<Vec<_>>().join(", ")
    };
    let connect = [
        ("connect: Connection refused (os error 111)", 3),
        ("connect: Connection timed out (os error 110)", 2),
        ("connect: no connection within the timeout", 3),
        ("connect: Network is unreachable (os error 101)", 1),
    ];
    assert_eq!(lost(Loss::Connect, &connect), "client-timo 3, connrefused 3, other 1, socket-timo 2");
    assert_eq!(lost(Loss::Receive, &[("receive: Connection reset (os error 104)", 9)]), "connreset 9");
    assert_eq!(lost(Loss::Timeout, &[("timeout: no whole answer in time", 9)]), "client-timo 9");
    assert_eq!(lost(Loss::Protocol, &[]), "other 9");
    let local = [("local: Too many open files (os error 24)", 4), ("local: no port (os error 99)", 5)];
    assert_eq!(lost(Loss::Local, &local), "fd-unavail 4, other 5");
}

#[test]
fn the_plan_is_what_was_asked() {
    let line = "--server 127.0.0.1 --port 81 --num-conns 1000 --num-calls 100 --burst-length 20 --rate 1000 --timeout 2 \
        --think-timeout 1.5";
    let plan = job(line).plan().clone();
    let load = Load::Closed { connections: 944, per_connection: Some(100) };
    assert_eq!((plan.load, plan.until, plan.threads), (load, Until::Closed(1000), 1));
    assert_eq!((plan.pipeline, plan.bursts, plan.probe), (20, true, false));
    assert_eq!((plan.connecting.rate_per_s, plan.timeout), (Some(1000.0), Duration::from_millis(3500)));
    assert_eq!(plan.target.address.to_string(), "127.0.0.1:81");
    let plan = job("--server 127.0.0.1 --ssl --num-conns 1000").plan().clone();
    let load = Load::Closed { connections: 1, per_connection: Some(1) };
    assert_eq!((plan.load, plan.connecting.rate_per_s, plan.target.tls), (load, None, true));
    assert_eq!(plan.target.address.to_string(), "127.0.0.1:443");
    let printed = job("--server 127.0.0.1").fail(&Halt::Other { why: "no".to_owned(), errno: None });
    assert_eq!((printed.err.as_str(), printed.exit), ("httperf: no\n", Some(1)));
}

#[test]
fn connections_begin_at_random_if_that_was_asked() {
    let paced = |line: &str| {
        let plan = job(&format!("--server 127.0.0.1 --num-conns 20 {line}")).plan().clone();
        (plan.connecting.rate_per_s, plan.connecting.gaps, plan.load.connections(), plan.seed)
    };
    assert_eq!(paced("--period e0.01"), (Some(100.0), Gaps::Exponential, 20, 0));
    assert_eq!(paced("--period=e0.01 --client 2/3"), (Some(100.0), Gaps::Exponential, 20, 2));
    assert_eq!(paced("--period u0.125,0.375"), (Some(4.0), Gaps::Uniform(0.5), 20, 0));
    assert_eq!(paced("--period U0.375,0.125"), (Some(4.0), Gaps::Uniform(0.5), 20, 0));
    assert_eq!(paced("--period d0.25"), (Some(4.0), Gaps::Even, 20, 0));
    for sequential in ["--period e0", "--period u0,0", "--period 0", "--rate 0", ""] {
        assert_eq!(paced(sequential), (None, Gaps::Even, 1, 0), "{sequential}");
    }
    let begin = |line: &str| job(&format!("--server 127.0.0.1 {line}")).begin().out;
    assert!(begin("--period e0.01").contains(" --period=e0.01 "), "{}", begin("--period e0.01"));
    assert!(begin("--period u1,3").contains(" --period=u1,3 "), "{}", begin("--period u1,3"));
}

/// Of connections that begin at random, those are a burst that begin within a millisecond. The last burst does not count.
#[test]
fn a_burst_at_random_times_is_what_begins_within_a_tick() {
    let longest = |pace: &str| {
        let mut job = job(&format!("--server 127.0.0.1 --num-conns 6 {pace}"));
        for (n, begin_ms) in [0, 0, 0, 30, 35, 100].into_iter().enumerate() {
            job.hear(&[exchange(n as u64, begin_ms, 0, OK)]);
        }
        let out = job.print(&Tally::default()).out;
        out.lines().next().unwrap().to_owned()
    };
    assert_eq!(longest("--period e0.02"), "Maximum connect burst length: 3");
    assert_eq!(longest("--period u0,0.04"), "Maximum connect burst length: 3");
    assert_eq!(longest("--num-calls 1"), "Maximum connect burst length: 1");
}

/// A rate of replies for every five seconds; where one of several clients says so, the first sample is earlier.
#[test]
fn samples_are_taken_every_five_seconds() {
    let rates = |client: &str| {
        let mut job = job(&format!("--server 127.0.0.1 --client {client} --num-calls 2000"));
        // Ten milliseconds a call: 100 replies a second for 17 s.
        (0..1700).for_each(|nth| drop(job.hear(&[exchange(0, 0, nth, OK)])));
        let out = job.print(&Tally { interrupted: true, ..Tally::default() }).out;
        let reading = one("httperf", &out).reading;
        let get = |name: &str| reading.get(&format!("sampled_rate_per_s_{name}")).unwrap();
        (reading.get("rate_samples").unwrap(), get("min"), get("mean"), get("max"))
    };
    assert_eq!(rates("0/1"), (3.0, 100.0, 100.0, 100.0));
    let (samples, min, _, max) = rates("0/5");
    assert_eq!(samples, 4.0);
    assert!(min >= 99.0 && max <= 101.0, "{min} {max}");
}

fn any_end() -> impl Strategy<Value = End> {
    prop_oneof![
        8 => (100u16..600, any::<bool>()).prop_map(|(status, keeps_alive)| End::Answered { status, keeps_alive }),
        1 => Just(End::Lost(Loss::Receive)),
        1 => Just(End::Lost(Loss::Timeout)),
        1 => Just(End::Lost(Loss::Connect)),
    ]
}

proptest! {
    #[test]
    fn what_is_printed_is_read(
        connections in prop::collection::vec((0u64..2000, prop::collection::vec(any_end(), 1..6)), 1..40),
        sizes in (1u64..1000, 1u64..500),
        cpu_ns in 0u64..100_000_000,
    ) {
        let mut job = job("--server 127.0.0.1 --port 81 --uri /x --num-conns 40 --num-calls 5 --rate 50");
        let mut out = job.begin().out;
        let (mut sent, mut replies) = (0, 0);
        for (number, (begin_ms, ends)) in connections.iter().enumerate() {
            for (nth, end) in ends.iter().enumerate() {
                job.hear(&[exchange(number as u64, *begin_ms, nth as u32, *end)]);
                sent += 1;
                replies += u64::from(matches!(end, End::Answered { .. }));
            }
        }
        let (request_bytes, head_bytes) = sizes;
        let tally = Tally {
            sent,
            sent_bytes: sent * request_bytes,
            received_bytes: replies * (head_bytes + 10),
            body_bytes: replies * 10,
            client_cpu_ns: cpu_ns,
            client_system_cpu_ns: Some(cpu_ns / 3),
            ..Tally::default()
        };
        out += &job.print(&tally).out;
        let found = one("httperf", &out);
        prop_assert!(found.strange.is_empty(), "{:?}", found.strange);
        let reading = &found.reading;
        prop_assert_eq!(reading.url.as_deref(), Some("http://127.0.0.1:81/x"));
        let near = |name: &str, expected: f64, within: f64| {
            let value = reading.get(name);
            prop_assert!(value.is_some_and(|v| (v - expected).abs() <= within), "{name}: {value:?} {expected}\n{out}");
            Ok(())
        };
        near("connections_opened", connections.len() as f64, 0.0)?;
        near("sent", sent as f64, 0.0)?;
        near("completed", replies as f64, 0.0)?;
        near("request_bytes", request_bytes as f64, 0.0)?;
        let begin = connections.iter().map(|(begin, _)| *begin).min().unwrap();
        let end = connections.iter().map(|(begin, ends)| begin + 7 + 10 * (ends.len() as u64 - 1)).max().unwrap();
        near("duration_ns", (end - begin) as f64 * 1e6, 0.5e6)?;
        near("client_cpu_user_ns", (cpu_ns - cpu_ns / 3) as f64, 5.1e6)?;
        if replies > 0 {
            near("header_bytes", head_bytes as f64, 0.0)?;
            near("document_bytes", 10.0, 0.0)?;
            near("first_byte_ns_mean", 3e6, 0.0)?;
            near("transfer_ns_mean", 2e6, 0.0)?;
        }
        let failed = connections.iter().filter(|(_, ends)| {
            ends.len() < 5 || ends.iter().any(|end| matches!(end, End::Lost(_)))
        });
        near("failed", failed.count() as f64, 0.0)?;
        // Answers with a status of failure are not failed requests to httperf.
        let kinds: u64 = reading.errors.iter().filter(|(kind, _)| *kind != "status").map(|(_, n)| n).sum();
        prop_assert_eq!(Some(kinds as f64), reading.get("failed"));
        prop_assert_eq!(reading.status.values().sum::<u64>(), replies);
    }

    #[test]
    fn no_command_line_is_trouble(
        words in prop::collection::vec("(--?(num-conns|wset|client|period|rate|uri|add-header|port|v|s)?=?)?\\PC{0,8}", 0..6),
    ) {
        let args: Vec<&str> = words.iter().map(String::as_str).chain(["--server", "127.0.0.1"]).collect();
        let _ = parse("httperf", &args);
    }
}
