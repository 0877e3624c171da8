//! The yardsticks do the work that they are the measure of: every answer whole, every request counted.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

/// Nothing here takes longer, on however slow a machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// `cargo test` builds the examples, beside the folder of the tests.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(path.is_file(), "{} is not built: run `cargo build -p drome-net --examples`", path.display());
    path
}

struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(body_bytes: usize) -> Server {
    serve_with(body_bytes, &[])
}

fn serve_with(body_bytes: usize, more: &[&str]) -> Server {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let args = [port.to_string(), body_bytes.to_string()];
    let child = Command::new(example("floor_server")).args(args).args(more).spawn().unwrap();
    let server = Server { child, port };
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "the server does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    server
}

fn client(port: u16, args: &str) -> Output {
    let port = port.to_string();
    Command::new(example("floor_client")).args([&port, "/"]).args(args.split(' ')).output().unwrap()
}

/// The requests that the client says it has done.
fn requests(output: &Output) -> usize {
    let text = String::from_utf8_lossy(&output.stdout);
    let json =
        text.trim().strip_prefix("{\"requests\":").and_then(|rest| rest.split_once(",\"rate_per_s\":"));
    let (requests, rate) = json.unwrap_or_else(|| panic!("{output:?}"));
    assert!(rate.strip_suffix('}').unwrap().parse::<f64>().unwrap() > 0.0);
    requests.parse().unwrap()
}

#[test]
fn the_server_answers_every_blank_line_whole() {
    let server = serve(12);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let answer =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nxxxxxxxxxxxx".as_bytes();
    for pipeline in [1, 2, 64, 65, 200] {
        stream.write_all("GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(pipeline).as_bytes()).unwrap();
        let mut received = vec![0; answer.len() * pipeline];
        stream.read_exact(&mut received).unwrap();
        assert!(received == answer.repeat(pipeline), "{}", String::from_utf8_lossy(&received));
    }
}

#[test]
fn a_server_that_leaves_the_closing_to_its_clients_says_close_and_stays() {
    let server = serve_with(2, &["leave"]);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    for _ in 0..2 {
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let answer =
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nxx";
        let mut received = vec![0; answer.len()];
        stream.read_exact(&mut received).unwrap();
        assert_eq!(received, answer);
    }
}

#[test]
fn the_client_counts_what_came_whole() {
    for (body_bytes, args, at_once) in [(12, "8 0.3", 1), (12, "3 0.3 16", 16), (50_000, "4 0.3", 1)] {
        let server = serve(body_bytes);
        let output = client(server.port, args);
        let requests = requests(&output);
        assert!(requests > 0 && requests.is_multiple_of(at_once), "{args}: {requests}");
    }
}

#[test]
fn the_client_counts_nothing_that_the_server_did_not_send() {
    // One answer a connection, then silence: as many requests as connections, however long it waits.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut streams: Vec<TcpStream> = (0..5).map(|_| listener.accept().unwrap().0).collect();
        for stream in &mut streams {
            stream.read_exact(&mut [0; 18]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab").unwrap();
        }
        streams.iter_mut().skip(1).for_each(|stream| stream.write_all(b"c").unwrap());
        streams
    });
    let output = client(port, "5 1");
    assert_eq!(requests(&output), 4, "one answer lacks its last byte");
    drop(server.join().unwrap());
}

#[test]
fn what_can_not_be_measured_is_said() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let output = client(port, "1 0.1");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(&format!("can't connect to port {port}")), "{errors}");
    assert_eq!(client(port, "0 1").status.code(), Some(2));
}

/// Answers one request a connection and closes it, for so many connections; the requests that came.
fn one_answer_each(connections: usize, with_answer: bool) -> (u16, std::thread::JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            let mut memory = [0; 1024];
            let n = stream.read(&mut memory).unwrap();
            let asked = String::from_utf8_lossy(&memory[..n]);
            assert!(asked.starts_with("GET /hello HTTP/1.1\r\n"), "{asked}");
            assert!(asked.ends_with("Connection: close\r\n\r\n"), "{asked}");
            if with_answer {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
            }
        }
        connections
    });
    (port, server)
}

#[test]
fn the_connector_has_a_new_connection_for_every_request() {
    let connector = |port: u16| {
        Command::new(example("floor_connector"))
            .args([&port.to_string(), "/hello", "3", "1"])
            .output()
            .unwrap()
    };
    let (port, server) = one_answer_each(50, true);
    let output = connector(port);
    // It goes on after fifty, and says so when nobody listens any more.
    assert_eq!((server.join().unwrap(), output.status.code()), (50, Some(1)), "{output:?}");
    let (port, server) = one_answer_each(1, false);
    let output = connector(port);
    assert_eq!((server.join().unwrap(), output.status.code()), (1, Some(1)), "{output:?}");
}
