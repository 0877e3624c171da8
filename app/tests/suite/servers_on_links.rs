//! Links between load generator and servers that carry less than the servers do, or nothing any more: what limits is named, what the network
//! is like is found before the first heat, and a real ssh that falls silent is noticed. It needs root, as CI has it.

use crate::agent::CLEAN;
use crate::common::namespace::{Namespace, Through, ip};
use crate::common::sshd::Sshd;
use crate::common::{DROME, Home, process, run, serve, wait_for};
use serde_json::Value;
use std::process::Child;
use std::time::{Duration, Instant};

/// What a short race of two equal servers at the other end of a link reports, in closed load over so many connections.
fn raced(through: Through, connections: &str, duration: &str) -> Value {
    let (home, namespace) = (Home::new(), Namespace::through(through));
    let server = format!("{DROME} serve --listen {{host}} --port {{port}}");
    let mut command = home.drome(&["race", &server, &server, "--url", "http://127.0.0.1:{port}/hello"]);
    command.args(["--server-on", &namespace.transport(), "--server-address", &namespace.address]);
    command.args([
        "-c",
        connections,
        "--warmup",
        "200ms",
        "--duration",
        duration,
        "--rounds",
        "2",
        "--seed",
        "1",
    ]);
    // TCP's segments are counted for a whole namespace: those of other tests would be taken for this link's.
    let finished = run(&mut namespace.near(&command));
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    assert!(namespace.is_empty_within(CLEAN), "left: {}", namespace.processes());
    serde_json::from_str(&run(&mut home.drome(&["report", "--format", "json"])).out).unwrap()
}

fn network<'a>(report: &'a Value, key: &str) -> &'a Value {
    &report["environment"]["servers_on"]["network"][key]
}

fn rows(report: &Value) -> &Vec<Value> {
    report["cells"][0]["contenders"].as_array().unwrap()
}

/// Whether a figure is within 10 % of what it should be.
fn is_near(found: &Value, expected: f64, what: &str) -> bool {
    println!("{what}: {found}, of {expected}");
    found.as_f64().is_some_and(|found| (found / expected - 1.0).abs() <= 0.1)
}

/// A machine that is busy with something else delays packets, too, or does not fill a link: then it is tried again.
fn assert_soon(what: impl Fn() -> bool) {
    assert!((0..5).any(|_| what()), "never in five times");
}

#[test]
fn round_trips_are_found_and_named_as_the_bound_and_latency_includes_them() {
    let through = Through { delay: Duration::from_millis(100), ..Through::default() };
    assert_soon(|| {
        let report = raced(through, "8", "300ms");
        is_near(network(&report, "round_trip_ns"), 200e6, "round trip, ns")
            && rows(&report).iter().all(|row| {
                row["bound"] == "network"
                    && is_near(&row["latency_ns_p50"]["median"], 200e6, "median latency, ns")
                    && is_near(&row["rate_per_s"]["median"], 8.0 / 200e-3, "requests/s of eight connections")
            })
    });
}

#[test]
fn a_limit_of_packets_is_found_and_named_as_the_bound() {
    let through = Through { packets_per_s: 500, ..Through::default() };
    assert_soon(|| {
        let report = raced(through, "32", "300ms");
        rows(&report).iter().for_each(|row| println!("bound: {}, {}", row["bound"], row["notes"]));
        is_near(network(&report, "packets_per_s"), 500.0, "packets a second")
            && rows(&report).iter().all(|row| row["bound"] == "network")
    });
}

#[test]
fn loss_is_found_in_each_direction() {
    let through = Through { one_lost_of: 100, ..Through::default() };
    assert_soon(|| {
        let report = raced(through, "8", "300ms");
        is_near(network(&report, "lost_to_servers_ppm"), 10_000.0, "lost to the servers, of a million")
            && is_near(
                network(&report, "lost_from_servers_ppm"),
                10_000.0,
                "lost from the servers, of a million",
            )
    });
}

#[test]
fn over_ssh_servers_listen_where_ssh_arrived_and_load_comes_from_there() {
    let (home, namespace) = (Home::new(), Namespace::new());
    let sshd = Sshd::within(&namespace);
    let board = sshd.transport("config");
    let server = format!("{DROME} serve --listen {{host}} --port {{port}}");
    let mut command = home.drome(&["race", &server, &server, "--url", "http://127.0.0.1:{port}/hello"]);
    command.args(["--server-on", &board, "-c", "8", "--warmup", "50ms", "--duration", "100ms"]);
    let finished = run(command.args(["--rounds", "2", "--seed", "1"]));
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let report = home.findings();
    let on = &report["environment"]["servers_on"];
    assert_eq!((&on["name"], &on["address"]), (&board.into(), &namespace.address.clone().into()), "{on}");

    let board = sshd.transport("config");
    let here = namespace.address.replace(".2", ".1");
    let server = serve(&["--listen", &here]);
    let url = format!("http://{}/hello", server.address);
    // The order to start may come too late on a busy machine.
    assert_soon(|| {
        let mut command = home.drome(&["load", &url, "--load-from", "here", "--load-from", &board]);
        let loaded = run(command.args(["-n", "2000", "-c", "8", "--format", "json"]));
        let each: Value = serde_json::from_str(&loaded.out).unwrap_or_default();
        let each = each.pointer("/machines/each").and_then(Value::as_array).cloned().unwrap_or_default();
        let counts = each.iter().filter_map(|one| one.pointer("/counted/completed")?.as_u64());
        println!("{}{}", loaded.out, loaded.err);
        (each.len(), counts.sum::<u64>()) == (2, 2000)
    });
    sshd.assert_clean();
}

#[test]
fn a_link_that_falls_silent_in_a_long_window_is_noticed_by_both_sides() {
    let (home, namespace) = (Home::new(), Namespace::new());
    let sshd = Sshd::within(&namespace);
    let server = format!("{DROME} serve --listen {{host}} --port {{port}}");
    let mut command = home.drome(&["sweep", "--start", &server, "--url", "http://127.0.0.1:{port}/hello"]);
    command.args(["--server-on", &sshd.transport("config"), "--warmup", "100ms", "--duration", "5min"]);
    command.args(["-c", "8"]);
    let child = process::spawn_heard(&mut command);
    // The agent, and the server.
    wait_for(|| namespace.dromes().len() >= 2, "the server to run there");
    std::thread::sleep(Duration::from_secs(2));
    assert_noticed(&namespace, child, "the sweep");
}

/// A race over ssh in a window of its first heat, which lasts for minutes.
pub fn in_a_long_window(home: &Home, namespace: &Namespace, sshd: &Sshd) -> Child {
    let server = format!("{DROME} serve --listen {{host}} --port {{port}}");
    let mut command = home.drome(&["race", &server, &server, "--url", "http://127.0.0.1:{port}/hello"]);
    command.args(["--server-on", &sshd.transport("config"), "--warmup", "100ms", "--rounds", "2"]);
    // At ten a second, a window of enough answers lasts for minutes.
    command.args(["-c", "8", "--metric", "p50@10", "--duration", "5min", "--budget", "2h"]);
    let child = process::spawn_heard(&mut command);
    // The agent, two servers and the hub; then closed load, which warms up; then the window.
    wait_for(|| namespace.dromes().len() >= 4, "the servers to run there");
    wait_for(|| packets_in_a_second(namespace) > 500, "the warm-up");
    wait_for(|| (10..200).contains(&packets_in_a_second(namespace)), "the window");
    child
}

/// How many packets this machine sends into the link within a second.
pub fn packets_in_a_second(namespace: &Namespace) -> u64 {
    let file = format!("/sys/class/net/{}/statistics/tx_packets", namespace.here);
    let sent = || std::fs::read_to_string(&file).unwrap().trim().parse::<u64>().unwrap();
    let before = sent();
    std::thread::sleep(Duration::from_secs(1));
    sent() - before
}

/// Takes the link down: both sides end soon, and here it is told why.
fn assert_noticed(namespace: &Namespace, child: Child, name: &str) {
    ip(&format!("link set {} down", namespace.here));
    let down = Instant::now();
    let ended = process::output(child, name);
    let here = down.elapsed();
    wait_for(|| namespace.dromes().is_empty(), "both sides to notice");
    println!("{name}: noticed here after {here:?}, all ended there after {:?}", down.elapsed());
    assert!(down.elapsed() < CLEAN, "{:?}", down.elapsed());
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && said.contains("the link to"), "{said}");
}
