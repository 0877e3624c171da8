//! A server that is still warming up while it is measured is labelled; the reference is not. It is warmed up before, at whatever rate it
//! is asked later.

use crate::common::{Home, run};
use serde_json::Value;

const STUDY: &str = r#"
title = "A server that warms up"
contenders = ["warms"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 32 } }
[design]
rounds = [1, 1]
measure = "1s"
warmup = "100ms"
warmup_limit = "12s"
precision = 0.9
budget = "2h"
"#;

const CONTENDER: &str = r#"
title = "Warms up"
language = "Python"
class = "jit"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["python3", "--version"]
[run]
command = ["python3", "{src}/warms.py", "{port}"]
ready = "10s"
[serves]
hello = "/hello"
"#;

/// Sixty answers a second at first, and twenty more in every second, as if its code were compiled piece by piece. Each answer has its due time,
/// and one that was late makes none of the next late, so that no machine is too slow or too busy for it.
const SERVER: &str = r#"
import socket, sys, threading, time
answered, due, began, lock = 0, 0.0, time.monotonic(), threading.Lock()
def wait():
    global answered, due
    with lock:
        answered += 1
        due = max(due + 1 / (60 + 20 * (time.monotonic() - began)), time.monotonic() - 0.1)
        mine = due
    time.sleep(max(0.0, mine - time.monotonic()))
def serve(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            more = client.recv(4096)
            if not more:
                return
            data += more
        head, data = data.split(b"\r\n\r\n", 1)
        if b"/hello" not in head.split(b"\r\n", 1)[0]:
            client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            continue
        wait()
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World\n")
def safe(client):
    try:
        serve(client)
    except OSError:
        pass
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = listener.accept()
    threading.Thread(target=safe, args=(client,), daemon=True).start()
"#;

#[test]
fn a_server_that_warms_up_in_the_window_is_labelled_and_the_reference_is_not() {
    let home = Home::new();
    home.write("own/studies/warms.toml", STUDY);
    home.write("own/contenders/warms/contender.toml", CONTENDER);
    home.write("own/contenders/warms/src/warms.py", SERVER);
    let finished = run(&mut home.with_catalog(&["run", "warms", "--seed", "5"]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json = run(&mut home.drome(&["report", "--format", "json"])).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    let row = |name: &str| {
        let all = json["cells"][0]["contenders"].as_array().unwrap();
        all.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} is not in {all:?}"))
    };
    let warms = &row("warms")["in_heats"];
    assert_eq!((&warms["not_settled"], &warms["starts"]), (&Value::from(1), &Value::from(1)), "{warms}");
    assert_eq!(warms["unranked"], "not_settled", "{warms}");
    assert_eq!(row("reference")["in_heats"]["not_settled"], 0, "{}", row("reference"));
    assert!(finished.out.contains("not settled in 1 of 1 start"), "{}", finished.out);
    home.assert_clean();
}

const OPEN: &str = r#"
title = "A server that warms up, at a low rate"
contenders = ["warms"]
[[cell]]
title = "20 a second"
workload = "hello"
load = { open = { rate_per_s = 20, connections = 4 } }
[design]
rounds = [2, 2]
measure = "2s"
budget = "2h"
"#;

/// The first 100 answers take 50 ms each, as if each were still compiled; the others a millisecond.
const COMPILES: (&str, &str) = (
    "        due = max(due + 1 / (60 + 20 * (time.monotonic() - began)), time.monotonic() - 0.1)\n        mine = due\n",
    "        mine = time.monotonic() + (0.05 if answered < 100 else 0.001)\n",
);

/// At twenty requests a second its 100 slow answers would take five seconds, longer than a server that is not known to be compiled is
/// warmed up.
#[test]
fn a_server_is_warmed_up_by_all_it_can_answer_before_it_is_asked_at_a_low_rate() {
    let home = Home::new();
    home.write("own/studies/open.toml", OPEN);
    let contender = CONTENDER.replace("\"jit\"", "\"managed\"");
    home.write("own/contenders/warms/contender.toml", &contender);
    assert!(SERVER.contains(COMPILES.0));
    home.write("own/contenders/warms/src/warms.py", &SERVER.replace(COMPILES.0, COMPILES.1));
    let finished = run(&mut home.with_catalog(&["run", "open", "--format", "json"]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    let rows = json["cells"][0]["contenders"].as_array().unwrap();
    let warms = rows.iter().find(|row| row["name"] == "warms").unwrap();
    let typical_ns = warms["latency_ns_p50"]["median"].as_f64();
    assert!(typical_ns.is_some_and(|ns| ns < 25e6), "{warms}");
    home.assert_clean();
}
