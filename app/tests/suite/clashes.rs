//! Two who want the same at the same time, and folders with names that a shell would take apart.

use crate::common::catalog::contender;
use crate::common::{Finished, Home, process, run};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

/// It tells the test its port when it is started for the first time, and fails when somebody else has taken it meanwhile.
const SERVER: &str = r"
import http.server, os, socket, sys
port, control, mark = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if not os.path.exists(mark):
    open(mark, 'w').close()
    with socket.create_connection(('127.0.0.1', control)) as test:
        test.sendall(f'{port}\n'.encode())
        test.recv(1)
    if 'silent' in sys.argv: import time; time.sleep(1000)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_hello = self.path.split('?')[0] == '/hello'
        body = b'Hello World\n' if is_hello else b'none'
        self.send_response(200 if is_hello else 404); self.send_header('Content-Type', 'text/plain'); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.HTTPServer(('127.0.0.1', port), Handler).serve_forever()
";

/// `drome verify` of this server, whose port somebody else takes by `take` before it listens; these words are its last arguments.
fn verified(words: &str, take: impl FnOnce(TcpListener)) -> Finished {
    let home = Home::new();
    let control = TcpListener::bind("127.0.0.1:0").unwrap();
    let (at, mark) = (control.local_addr().unwrap().port(), home.path().join("mark"));
    let own = format!(r#""{at}", "{}"{words}"#, mark.display());
    home.add_contender("one", &format!(r#"["python3", "{{src}}/server.py", "{{port}}", {own}]"#));
    home.write("own/contenders/one/src/server.py", SERVER);
    let child = process::spawn_heard(&mut home.with_catalog(&["verify", "one"]));
    let (mut server, _) = control.accept().unwrap();
    let mut line = String::new();
    BufReader::new(server.try_clone().unwrap()).read_line(&mut line).unwrap();
    take(TcpListener::bind(("127.0.0.1", line.trim().parse::<u16>().unwrap())).unwrap());
    server.write_all(b"x").unwrap();
    let finished = process::ended(child);
    home.assert_clean();
    finished
}

#[test]
fn a_port_that_somebody_takes_meanwhile_is_no_failure_of_the_server() {
    let mut taken = None;
    let finished = verified("", |listener| taken = Some(listener));
    finished.assert_err(0, &["one: 1 workload correct"]);
    assert!(!finished.out.contains("ddress already in use"), "{}{}", finished.out, finished.err);
    assert!(!finished.out.contains("it ended"), "{}{}", finished.out, finished.err);
}

#[test]
fn who_answers_in_a_servers_place_is_not_taken_for_it() {
    let answers = |other: TcpListener| {
        std::thread::spawn(move || {
            for mut stream in other.incoming().flatten() {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother");
            }
        });
    };
    let finished = verified(r#", "silent""#, answers);
    // Whatever it does on the next port, no word is of what somebody else answered on the first.
    assert!(!finished.out.contains("5 bytes instead of 12"), "{}{}", finished.out, finished.err);
    assert!(!finished.out.contains("the command did not start it"), "{}{}", finished.out, finished.err);
}

#[test]
fn two_dromes_that_build_the_same_contender_build_it_once() {
    let home = Home::new();
    let count = home.path().join("count");
    let build = format!(
        r#"[build]
command = ["sh", "-c", "mkdir {{build}}/alone || exit 1; echo built >> {}; sleep 3; rmdir {{build}}/alone"]"#,
        count.display()
    );
    let text = contender("one", r#"["true"]"#);
    let tables = format!("[install]\nminutes = 1\ndisk_mb = 1\n{build}\n[version]");
    home.write_contender("one", &text.replace("[version]", &tables));
    let install = || process::spawn_heard(&mut home.with_catalog(&["install", "one", "--yes"]));
    for child in [install(), install(), install()] {
        let finished = process::ended(child);
        assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    }
    assert_eq!(std::fs::read_to_string(count).unwrap(), "built\n");
}

#[test]
fn a_race_runs_in_a_folder_whatever_its_name() {
    let home = Home::new();
    let folder = home.path().join("it's \"a\" $folder; `here`");
    std::fs::create_dir(&folder).unwrap();
    let script = format!("exec '{}' serve --port \"$1\"\n", env!("CARGO_BIN_EXE_drome"));
    std::fs::write(folder.join("serve.sh"), script).unwrap();
    let command = "sh ./serve.sh {port}";
    let short = ["--duration", "100ms", "--warmup", "20ms", "--rounds", "1"];
    let url = ["--url", "http://127.0.0.1:{port}/hello"];
    let mut race = home.drome(&["race", command, command]);
    let finished = run(race.args(short).args(url).current_dir(&folder));
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    home.assert_clean();
}
