//! `--server-on`: servers in a network namespace of their own, at the other end of a veth pair. It needs root, as CI has it.

use crate::common::catalog::{keep_alive, study};
use crate::common::namespace::{Namespace, ip, tool};
use crate::common::{DROME, Home, process, run};
use std::process::Command;
use std::time::Duration;

/// A race of two of drome's own servers there. Eight connections ask the slow one so rarely that no round trip explains it, however busy the
/// machine was when those were measured.
fn race(home: &Home, namespace: &Namespace, more: &[&str]) -> Command {
    let server = format!("{DROME} serve --listen {{host}} --port {{port}}");
    let slow = format!("{server} --spin 10ms");
    let mut command = home.drome(&["race", &server, &slow, "--url", "http://127.0.0.1:{port}/hello"]);
    command.args(["--server-on", &namespace.transport(), "--server-address", &namespace.address]);
    command.args(["-c", "8", "--warmup", "50ms", "--duration", "100ms", "--seed", "1"]).args(more);
    command
}

#[test]
fn two_servers_elsewhere_are_raced_from_here() {
    // TCP's segments are counted for a whole namespace: those of other tests would be taken for this link's, as if it were full.
    let (home, namespace) = (Home::new(), Namespace::apart());
    // Where the machine is busy, it takes some rounds more.
    let finished = run(&mut namespace.near(&race(&home, &namespace, &["--budget", "3min"])));
    finished.assert_out(0, &["A is "]);
    assert!(finished.err.contains("round trip"), "the network is told: {}", finished.err);
    let json = home.findings();
    let on = &json["environment"]["servers_on"];
    assert_eq!(on["address"], namespace.address.as_str(), "{on}");
    assert!(on["network"]["round_trip_ns"].as_u64().is_some_and(|ns| ns > 0), "{on}");
    let rows = json["cells"][0]["contenders"].as_array().unwrap();
    assert!(
        rows.iter().all(|row| row["server_cpu_ns_per_request"]["median"].as_f64().is_some_and(|ns| ns > 0.0)),
        "{rows:?}"
    );
    assert!(namespace.is_empty_within(Duration::from_secs(10)), "left: {}", namespace.processes());
}

#[test]
fn a_drome_that_is_killed_leaves_nothing_there() {
    let (home, namespace) = (Home::new(), Namespace::new());
    let mut command = race(&home, &namespace, &["--budget", "2min"]);
    let mut child = process::spawn_unheard(&mut command);
    crate::common::wait_for(|| namespace.processes().lines().count() >= 4, "servers to run there");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(namespace.is_empty_within(Duration::from_secs(10)), "left: {}", namespace.processes());
}

#[test]
fn a_firewall_in_between_is_told() {
    let (home, namespace) = (Home::new(), Namespace::new());
    ip(&format!("route add prohibit {}/32", namespace.address));
    let finished = run(&mut race(&home, &namespace, &["--rounds", "2"]));
    ip(&format!("route del prohibit {}/32", namespace.address));
    assert_ne!(finished.code, 0);
    assert!(finished.err.contains("a firewall or a route between the two"), "{}", finished.err);
    assert!(namespace.is_empty_within(Duration::from_secs(10)), "left: {}", namespace.processes());
}

#[test]
fn a_link_that_goes_down_ends_the_run_on_both_sides() {
    let (home, namespace) = (Home::new(), Namespace::new());
    let mut command = race(&home, &namespace, &["--budget", "2min"]);
    let child = process::spawn_heard(&mut command);
    crate::common::wait_for(|| namespace.processes().lines().count() >= 6, "servers to run there");
    std::thread::sleep(Duration::from_secs(2));
    ip(&format!("link set {} down", namespace.here));
    let ended = process::output(child, "the race");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success(), "{said}");
    assert!(namespace.is_empty_within(Duration::from_secs(10)), "left: {}", namespace.processes());
}

#[test]
fn a_slow_link_is_named_as_the_bound() {
    let (home, namespace) = (Home::new(), Namespace::apart());
    // Answers of 100 kB at 100 Mbit/s: 120 a second, whatever the server can do.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("large"), vec![b'x'; 100_000]).unwrap();
    let (name, there) = (&namespace.name, &namespace.there);
    tool("tc", &format!("-n {name} qdisc add dev {there} root tbf rate 100mbit burst 64kb latency 50ms"));
    let server =
        format!("{DROME} serve --listen {{host}} --port {{port}} --root {}", folder.path().display());
    let mut command = home.drome(&["race", &server, &server, "--url", "http://127.0.0.1:{port}/large"]);
    command.args(["--server-on", &namespace.transport(), "--server-address", &namespace.address]);
    command.args(["-c", "8", "--duration", "300ms", "--rounds", "2", "--seed", "1"]);
    // TCP's segments are counted for a whole namespace: those of other tests would be taken for this link's.
    let finished = run(&mut namespace.near(&command));
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let json = home.findings();
    let tcp = json["environment"]["servers_on"]["network"]["tcp_from_servers_bytes_per_s"].as_f64().unwrap();
    // Of each 1,514 bytes 1,448 are the user's; a busy machine may carry less.
    assert!((11.95e6 * 0.8..11.95e6 * 1.1).contains(&tcp), "{tcp}");
    let rows = json["cells"][0]["contenders"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["bound"] == "network"), "{rows:?}");
}

/// A catalogue with a contender that only starts where this device is, and studies of it on the machine of these words and on this one.
fn catalog_of(home: &Home, device: &str, server_on: &str) -> String {
    let here = study(&["a"], &keep_alive(2), &[("measure", "'500ms'")]);
    home.write_study("there", &format!("server-on = \"{server_on}\"\n{here}"));
    home.write_study("here", &here);
    let command = format!(
        "[\"sh\", \"-c\", \"grep -q {device}: /proc/net/dev && exec $0 serve --listen {{host}} --port {{port}}\", \"{{drome}}\"]"
    );
    home.add_contender("a", &command);
    home.path().join("own").display().to_string()
}

#[test]
fn a_study_is_verified_on_the_machine_that_it_names() {
    let (home, namespace) = (Home::new(), Namespace::new());
    let own = catalog_of(&home, &namespace.there, &namespace.transport());
    let verify = ["verify", "there", "--catalog", &own, "--server-address", &namespace.address];
    let finished = run(&mut home.drome(&verify));
    finished.assert_err(0, &["on the other machine of the study: ip netns exec"]);
    let here = run(&mut home.drome(&["verify", "a", "--catalog", &own]));
    assert_ne!(here.code, 0, "it only starts there: {}{}", here.out, here.err);
    assert!(namespace.is_empty_within(Duration::from_secs(10)), "left: {}", namespace.processes());
}

#[test]
fn studies_on_different_machines_are_not_verified_together() {
    let home = Home::new();
    let own = catalog_of(&home, "lo", "ssh board");
    let finished = run(&mut home.drome(&["verify", "there", "here", "--catalog", &own]));
    finished.assert_err(2, &["this machine and `ssh board` (server-on)"]);
}
