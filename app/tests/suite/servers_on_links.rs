//! Links between load generator and servers that carry less than the servers do, or nothing any more: what limits is named, what the network
//! is like is found before the first heat, and a real ssh that falls silent is noticed. It needs root, as CI has it.

use crate::agent::CLEAN;
use crate::common::namespace::{Namespace, Through, ip};
use crate::common::sshd::Sshd;
use crate::common::{Home, process, run, serve, wait_for};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

const DROME: &str = env!("CARGO_BIN_EXE_drome");

/// What a short race of two equal servers at the other end of a link reports, in closed load over eight connections.
fn raced(through: Through, duration: &str) -> Value {
    let (home, namespace) = (Home::new(), Namespace::through(through));
    let server = format!("{DROME} serve --listen {{host}} --port {{port}}");
    let mut command = home.drome(&["race", &server, &server, "--url", "http://127.0.0.1:{port}/hello"]);
    command.args(["--server-on", &namespace.transport(), "--server-address", &namespace.address]);
    command.args(["-c", "8", "--warmup", "200ms", "--duration", duration, "--rounds", "2", "--seed", "1"]);
    let finished = run(&mut command);
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

/// Within 10 %.
fn assert_near(found: &Value, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
    println!("{what}: {found}, of {expected}");
    assert!((found / expected - 1.0).abs() <= 0.1, "{what}: {found}, not {expected}");
}

#[test]
fn round_trips_are_found_and_named_as_the_bound_and_latency_includes_them() {
    // So long that what a busy machine adds is little.
    let report = raced(Through { delay: Duration::from_millis(50), ..Through::default() }, "600ms");
    assert_near(network(&report, "round_trip_ns"), 100e6, "round trip, ns");
    for row in rows(&report) {
        assert_eq!(row["bound"], "network", "{row}");
        assert_near(&row["latency_ns_p50"]["median"], 100e6, "median latency, ns");
        assert_near(&row["rate_per_s"]["median"], 8.0 / 100e-3, "requests/s of eight connections");
    }
}

#[test]
fn a_limit_of_packets_is_found_and_named_as_the_bound() {
    let report = raced(Through { packets_per_s: 4_000, ..Through::default() }, "300ms");
    assert_near(network(&report, "packets_per_s"), 4_000.0, "packets a second");
    assert!(rows(&report).iter().all(|row| row["bound"] == "network"), "{:?}", rows(&report));
}

#[test]
fn loss_is_found_in_each_direction() {
    let report = raced(Through { one_lost_of: 100, ..Through::default() }, "300ms");
    assert_near(network(&report, "lost_to_servers_ppm"), 10_000.0, "lost to the servers, of a million");
    assert_near(network(&report, "lost_from_servers_ppm"), 10_000.0, "lost from the servers, of a million");
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
    let report = run(&mut home.drome(&["report", "--format", "json"])).out;
    let report: Value = serde_json::from_str(&report).unwrap();
    let on = &report["environment"]["servers_on"];
    assert_eq!((&on["name"], &on["address"]), (&board.into(), &namespace.address.clone().into()), "{on}");

    let board = sshd.transport("config");
    let here = namespace.address.replace(".2", ".1");
    let server = serve(&["--listen", &here]);
    let url = format!("http://{}/hello", server.address);
    let mut command = home.drome(&["load", &url, "--load-from", "here", "--load-from", &board]);
    let loaded = run(command.args(["-n", "2000", "-c", "8", "--format", "json"]));
    let loaded: Value = serde_json::from_str(&loaded.out).unwrap();
    let each = loaded["machines"]["each"].as_array().unwrap();
    let counts: Vec<u64> =
        each.iter().filter_map(|one| one.pointer("/counted/completed")?.as_u64()).collect();
    assert_eq!((counts.len(), counts.iter().sum::<u64>()), (2, 2000), "{loaded}");
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
    let child = process::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    // The agent, and the server.
    wait_for(|| namespace.dromes().len() >= 2, "the server to run there");
    std::thread::sleep(Duration::from_secs(2));
    ip(&format!("link set {} down", namespace.here));
    let down = Instant::now();
    let ended = process::output(child, "the sweep");
    let here = down.elapsed();
    wait_for(|| namespace.dromes().is_empty(), "both sides to notice");
    println!("noticed here after {here:?}, all ended there after {:?}", down.elapsed());
    assert!(down.elapsed() < CLEAN, "{:?}", down.elapsed());
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && said.contains("the link to"), "{said}");
}
