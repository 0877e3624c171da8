//! `drome race URL URL`: servers that already run, and go on afterwards.

use crate::common::{DROME, Finished, Home, Server, answers, contender, process, run, serve};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};

/// An answer takes at least so long: on every machine much longer than without.
const SLOW: [&str; 2] = ["--spin", "20ms"];

/// Answers come after a moment, so that the load leaves the cores to other tests.
const CALM: [&str; 2] = ["--fault", "delay=1ms"];

/// On a busy machine it takes some rounds more. A race that is decided ends earlier.
const UNTIL_SURE: [&str; 2] = ["--budget", "3min"];

fn url(server: &Server) -> String {
    format!("http://{}/hello", server.address)
}

fn race(home: &Home, servers: &[&str], args: &[&str]) -> Finished {
    let load = ["-c", "1", "--warmup", "50ms", "--duration", "100ms", "--seed", "1"];
    run(home.drome(&["race"]).args(servers).args(load).args(args))
}

fn assert_lives(server: &mut Server) {
    assert!(server.child.try_wait().unwrap().is_none(), "it has ended");
    TcpStream::connect(server.address).unwrap();
}

#[test]
fn the_faster_of_two_running_servers_is_found_and_both_go_on() {
    let (home, mut slow, mut fast) = (Home::new(), serve(&["--fault", "delay=20ms"]), serve(&CALM));
    let [why, verdict] = ["why", "verdict.md"].map(|name| home.path().join(name).display().to_string());
    let gate = ["--fail-if-slower", "2%", "--verdict", &verdict, "--profile", &why];
    let told = race(&home, &[&url(&slow), &url(&fast)], &[&UNTIL_SURE[..], &gate].concat());
    // Nothing that is not known to be theirs is sampled.
    told.assert_err(0, &["nothing to sample", "--pid"]);
    assert_eq!(std::fs::read_dir(&why).unwrap().count(), 0);
    let text = std::fs::read_to_string(&verdict).unwrap();
    assert!(text.contains("Not all servers could be sampled: `the processes of these servers are"), "{text}");
    told.assert_out(0, &["B is ", "× A, 95 %", "drome did not start these servers"]);
    assert!(!told.out.contains("servers on core"), "{}", told.out);
    assert!(told.out.contains(&format!("A, {}: {}", slow.address, url(&slow))), "{}", told.out);
    assert_lives(&mut slow);
    assert_lives(&mut fast);
    let found = home.findings();
    assert_eq!(found["race"]["running"], true);
    assert_eq!(found["race"]["held_equal"]["server_cpus"], serde_json::json!([]));
    for (name, server) in [("A", &slow), ("B", &fast)] {
        let row = contender(&found["cells"][0], name);
        for key in ["server_cpu_ns_per_request", "rss_max_bytes", "server_core_use", "server_idle_share"] {
            assert!(row[key].is_null(), "{key} of a server whose processes are not known: {row}");
        }
        assert_eq!(row["trials"], found["race"]["blocks"], "each is measured once in every round");
        assert_eq!(found["entrants"][name]["command"], serde_json::json!([url(server)]));
    }
    // It is kept with the run.
    let again = run(&mut home.drome(&["report"]));
    assert!(again.out.contains("drome did not start these servers"), "{}", again.out);
    let page = home.path().join("page.html");
    run(&mut home.drome(&["report", "--output", page.to_str().unwrap()]));
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("drome did not start these servers"), "told on the page, too");
    assert!(page.contains("The servers already ran.") && !page.contains(" --url "), "how to run it again");
    home.assert_clean();
}

#[test]
fn with_their_processes_cpu_time_and_memory_are_known_and_can_decide() {
    let (home, mut dear, mut cheap) = (Home::new(), serve(&SLOW), serve(&[]));
    let pids = [&dear, &cheap].map(|server| server.child.id().to_string());
    let args = ["--pid", &pids[0], "--pid", &pids[1], "--metric", "server-cpu", UNTIL_SURE[0], UNTIL_SURE[1]];
    let told = race(&home, &[&url(&dear), &url(&cheap)], &args);
    told.assert_out(0, &["× less server CPU per request than A"]);
    let found = home.findings();
    let cpu_ns = |name: &str| {
        contender(&found["cells"][0], name)["server_cpu_ns_per_request"]["median"].as_f64().unwrap()
    };
    // A busy machine takes time from the wait, which is counted by the clock.
    assert!(cpu_ns("B") > 0.0 && cpu_ns("A") > 20.0 * cpu_ns("B"), "{} {}", cpu_ns("A"), cpu_ns("B"));
    for name in ["A", "B"] {
        let row = contender(&found["cells"][0], name);
        assert!(row["rss_max_bytes"].as_u64().unwrap() > 0, "{row}");
        assert_eq!(row["ran"]["executables"].as_array().unwrap().len(), 1, "{row}");
    }
    assert_lives(&mut dear);
    assert_lives(&mut cheap);
}

#[test]
fn what_is_no_race_of_running_servers_is_refused_with_the_reason() {
    // A listener in a ring is not seen to be any process's.
    let (home, seen) = (Home::new(), ["--io", "epoll"]);
    let (one, other) = (serve(&seen), serve(&seen));
    let (a, b) = (url(&one), url(&other));
    let command = format!("{DROME} serve --port {{port}}");
    let encrypted = b.replace("http:", "https:");
    let elsewhere = format!("http://{}/other?x=1", other.address);
    let (pid, no_pid) = (one.child.id().to_string(), i32::MAX.to_string());
    let other_pid = other.child.id().to_string();
    let cases: [(&[&str], &[&str], &str); 13] = [
        (&[&command, &b], &[], "is a command, and others are URLs of servers that already run"),
        (&[&a, &encrypted], &[], "one is encrypted and one is not"),
        (&[&a, &elsewhere], &[], "give URLs with the same path and query"),
        (&[&a, &b], &["--url", "http://127.0.0.1:{port}/"], "--url: the URLs of the servers already say"),
        (&[&a, &b], &["--prepare", "true"], "--prepare: it runs before a server starts"),
        (&[&a, &b], &["--ready", "1s"], "--ready: it is for servers that drome starts"),
        (&[&a, &b], &["--alone"], "--alone: it starts one server at a time"),
        (&[&a, &b], &["--metric", "rss"], "--metric rss: the processes of these servers are not known"),
        (&[&a, &b], &["--pid", &pid], "--pid: 1 for 2 URLs"),
        (&[&a, &b], &["--pid", &pid, "--pid", &no_pid], "there is no process"),
        (&[&a, &b], &["--pid", &pid, "--pid", &pid], "can't be distinguished"),
        (&[&a, &b], &["--pid", &other_pid, "--pid", &pid], "in the order of the URLs"),
        (&[&command, &command], &["--pid", &pid], "--pid: it is for URLs"),
    ];
    for (servers, args, why) in cases {
        let told = race(&home, servers, args);
        // The terminal may break the lines.
        let words = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.code == 2 && words.contains(why), "{servers:?} {args:?}: {} {words}", told.code);
    }
    assert_eq!(
        run(&mut home.drome(&["list", "runs"])).out.matches("race").count(),
        0,
        "nothing was measured"
    );
}

/// A server of one answer.
fn at(address: SocketAddr) -> String {
    format!("http://{address}/")
}

#[test]
fn servers_that_answer_differently_are_told_with_what_each_answers() {
    let home = Home::new();
    let abc = at(answers(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", true, true));
    let abx = at(answers(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabx", true, true));
    let abcd = at(answers(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd", true, true));
    let none = at(answers(b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc", true, true));
    for (other, why) in [
        (&abx, "A answers / with `c` from byte 2 on, B with `x` from byte 2 on: that is not the same work"),
        (&abcd, "A answers / with 3 bytes, B with 4 bytes: that is not the same work"),
        (&none, "A answers / with status 200, B with status 404: that is not the same work"),
    ] {
        let told = race(&home, &[&abc, other], &[]);
        told.assert_err(2, &[why]);
    }
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let told = race(&home, &[&abc, &at(gone)], &[]);
    told.assert_err(2, &[&format!("it does not answer at {gone}")]);
}

/// Races two servers, of which the second is killed when the first heat has begun.
fn with_one_that_dies(args: impl Fn(&[Server; 2]) -> Vec<String>, why: &str) {
    let (home, mut servers) = (Home::new(), [serve(&CALM), serve(&CALM)]);
    let mut command = home.drome(&["race", &url(&servers[0]), &url(&servers[1]), "-c", "2", "--seed", "1"]);
    command.args(["--duration", "2s", "--rounds", "2", "--budget", "3min"]).args(args(&servers));
    let mut child = process::spawn_heard(&mut command);
    let (mut told, mut is_dead) = (String::new(), false);
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        told.push_str(&(line.unwrap() + "\n"));
        if told.contains("round 1") && !is_dead {
            is_dead = true;
            servers[1].child.kill().unwrap();
        }
    }
    let ended = process::ended(child);
    assert_eq!(ended.code, 4, "{}{told}", ended.out);
    assert!(told.contains("B: failed: ") && told.contains(why), "{told}");
    assert!(ended.out.contains("B can't be compared with A"), "{}", ended.out);
    assert_lives(&mut servers[0]);
    home.assert_clean();
}

#[test]
fn a_server_that_stops_answering_has_failed() {
    with_one_that_dies(|_| Vec::new(), "it gave no correct answer in 3 turns in a row");
}

#[test]
fn the_end_of_a_known_process_is_told() {
    let pids = |servers: &[Server; 2]| -> Vec<String> {
        servers.iter().flat_map(|server| ["--pid".to_owned(), server.child.id().to_string()]).collect()
    };
    with_one_that_dies(pids, "has ended");
}
