//! A server that is still warming up while it is measured is labelled; the reference is not. It is warmed up before, at whatever rate it
//! is asked later.

use crate::common::catalog::{cell, contender, keep_alive, study};
use crate::common::{Home, contender as contender_of, run};

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

/// A home with the study `warms` of this server, which is of this class.
fn home(class: &str, server: &str, cell: &str, design: &[(&str, &str)]) -> Home {
    let home = Home::new();
    home.write_study("warms", &study(&["warms"], cell, design));
    let text = contender("Warms up", r#"["python3", "{src}/warms.py", "{port}"]"#);
    home.write_contender("warms", &text.replace("\"native\"", &format!("\"{class}\"")));
    home.write("own/contenders/warms/src/warms.py", server);
    home
}

#[test]
fn a_server_that_warms_up_in_the_window_is_labelled_and_the_reference_is_not() {
    let design =
        [("measure", "'1s'"), ("warmup", "'100ms'"), ("warmup_limit", "'12s'"), ("slice", "'100ms'")];
    let home = home("jit", SERVER, &keep_alive(32), &design);
    let finished = run(&mut home.with_catalog(&["run", "warms", "--seed", "5"]));
    finished.assert_out(0, &["not settled in 1 of 1 start"]);
    let json = home.findings();
    let row = |name: &str| contender_of(&json["cells"][0], name);
    let warms = &row("warms")["in_heats"];
    assert_eq!((&warms["not_settled"], &warms["starts"]), (&1.into(), &1.into()), "{warms}");
    assert_eq!(warms["unranked"], "not_settled", "{warms}");
    assert_eq!(row("reference")["in_heats"]["not_settled"], 0, "{}", row("reference"));
    home.assert_clean();
}

/// The first 100 answers take 50 ms each, as if each were still compiled; the others a millisecond.
const COMPILES: (&str, &str) = (
    "        due = max(due + 1 / (60 + 20 * (time.monotonic() - began)), time.monotonic() - 0.1)\n        mine = due\n",
    "        mine = time.monotonic() + (0.05 if answered < 100 else 0.001)\n",
);

/// At twenty requests a second its 100 slow answers would take five seconds, longer than a server that is not known to be compiled is
/// warmed up.
#[test]
fn a_server_is_warmed_up_by_all_it_can_answer_before_it_is_asked_at_a_low_rate() {
    assert!(SERVER.contains(COMPILES.0));
    let slow = cell("20 a second", "hello", "open = { rate_per_s = 20, connections = 4 }");
    let design = [("rounds", "[2, 2]"), ("measure", "'2s'"), ("slice", "'100ms'"), ("warmup", "'200ms'")];
    let design = [&design[..], &[("warmup_limit", "'2min'")]].concat();
    let home = home("managed", &SERVER.replace(COMPILES.0, COMPILES.1), &slow, &design);
    let finished = run(&mut home.with_catalog(&["run", "warms"]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json = home.findings();
    let warms = contender_of(&json["cells"][0], "warms");
    let typical_ns = warms["latency_ns_p50"]["median"].as_f64();
    assert!(typical_ns.is_some_and(|ns| ns < 25e6), "{warms}");
    home.assert_clean();
}
