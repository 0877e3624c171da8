//! Unary calls of `drome serve`: what curl sees of them, what a real client makes of them, and what drome says when they go wrong.

use crate::common::{Home, Server, back_ends, everywhere, run, serve};
use std::process::Command;

/// A message with its prefix.
fn framed(flag: u8, length: usize, message: &[u8]) -> Vec<u8> {
    [&[flag][..], &(length as u32).to_be_bytes(), message].concat()
}

/// What a request with this body is answered: version, status, length, and the last `grpc-status`. `type`: its content type.
fn curl(server: &Server, is_encrypted: bool, path: &str, kind: &str, body: &[u8]) -> String {
    let home = Home::new();
    let (sent, head, got) = (home.path().join("sent"), home.path().join("head"), home.path().join("got"));
    std::fs::write(&sent, body).unwrap();
    let (how, scheme) = if is_encrypted { ("--http2", "https") } else { ("--http2-prior-knowledge", "http") };
    let mut curl = Command::new("curl");
    curl.args(["-sk", "--max-time", "60", how, "-w", "%{http_version} %{http_code} %{size_download}", "-H"]);
    curl.arg(format!("Content-Type: {kind}")).arg("-D").arg(&head).arg("-o").arg(&got);
    curl.arg("--data-binary").arg(format!("@{}", sent.display()));
    let finished = run(curl.arg(format!("{scheme}://{}{path}", server.address)));
    let head = std::fs::read_to_string(&head).unwrap();
    let status = head.lines().rev().find_map(|line| line.strip_prefix("grpc-status: "));
    let is_same = std::fs::read(&got).unwrap_or_default() == body;
    let echo = if is_same { " the same" } else { "" };
    format!("{}{echo}, {}", finished.out, status.unwrap_or("none").trim())
}

#[test]
fn a_call_of_echo_gets_its_message_back_and_others_an_error() {
    let large = framed(0, 100_000, &vec![b'x'; 100_000]);
    let grpc = "application/grpc";
    let rows: [(&str, &str, &[u8], &str); 13] = [
        ("/drome.Bench/Echo", grpc, &framed(0, 5, b"hello"), "2 200 10 the same, 0"),
        ("/x/Echo", "application/grpc+proto", &framed(0, 0, b""), "2 200 5 the same, 0"),
        ("/x/Echo", "application/grpc; a=b", &framed(0, 1, b"\0"), "2 200 6 the same, 0"),
        ("/drome.Bench/Echo", grpc, &large, "2 200 100005 the same, 0"),
        ("/drome.Bench/None", grpc, &framed(0, 5, b"hello"), "2 200 0, 12"),
        ("/Echo", grpc, &framed(0, 5, b"hello"), "2 200 0, 12"),
        ("/a/b/Echo", grpc, &framed(0, 5, b"hello"), "2 200 0, 12"),
        ("/x/Echo", grpc, b"", "2 200 0 the same, 13"),
        ("/x/Echo", grpc, &framed(0, 6, b"hello"), "2 200 0, 13"),
        ("/x/Echo", grpc, &framed(0, 4, b"hello"), "2 200 0, 13"),
        ("/x/Echo", grpc, &framed(1, 5, b"hello"), "2 200 0, 13"),
        ("/x/Echo", "application/grpc-web", &framed(0, 5, b"hello"), "2 404 10, none"),
        ("/echo", "text/plain", b"hello", "2 200 5 the same, none"),
    ];
    everywhere(&[], |server, is_encrypted| {
        for (path, kind, body, expected) in rows {
            let told = curl(server, is_encrypted, path, kind, body);
            assert_eq!(told, expected, "{path} {kind} {} bytes", body.len());
        }
    });
}

/// Debian's gRPC for Python calls what is not drome's own client.
const CLIENT: &str = "
import sys, grpc
channel = grpc.insecure_channel(sys.argv[1])
echo = channel.unary_unary('/any.Service/Echo')
for size in [0, 1, 1000, 16384, 100000, 3000000]:
    assert echo(bytes(size), timeout=60) == bytes(size), size
calls = [echo.future(str(n).encode(), timeout=60) for n in range(500)]
assert [call.result() for call in calls] == [str(n).encode() for n in range(500)]
for method, size in ('/any.Service/None', 0), ('/any.Service/Echo', 5000000):
    try:
        channel.unary_unary(method)(bytes(size), timeout=60)
    except grpc.RpcError as error:
        print(error.code(), error.details())
";

#[test]
fn a_real_client_gets_its_messages_back() {
    for io in back_ends() {
        let server = serve(&["--io", io]);
        let finished =
            run(Command::new("/usr/bin/python3").args(["-c", CLIENT, &server.address.to_string()]));
        let none = "StatusCode.UNIMPLEMENTED only methods that are called Echo are there";
        finished.assert_out(0, &[none, "StatusCode.RESOURCE_EXHAUSTED a message of more than 4 MiB"]);
    }
}

#[test]
fn what_goes_wrong_with_a_call_is_named_and_never_an_answer() {
    // The fault; the end of the cause, if it is an error.
    let rows = [
        ("delay=5ms", None),
        ("trickle=5B/1ms", None),
        ("chunked", None),
        ("close-after=3", None),
        ("status=503", Some("status: 503 was not expected")),
        ("length=+5", Some("HTTP/2: a body that is shorter than its head announces (PROTOCOL_ERROR)")),
        ("truncate", Some("the server broke off an answer (INTERNAL_ERROR)")),
        ("garbage", Some("HTTP/2: a frame of more than 16,384 bytes (FRAME_SIZE_ERROR)")),
    ];
    let home = Home::new();
    let data = home.write("message", "hello").display().to_string();
    for io in back_ends() {
        for (fault, cause) in rows {
            let server = serve(&["--io", io, "--fault", fault]);
            let url = format!("http://{}", server.address);
            let mut load = home.drome(&["load", &url, "--grpc", "/a.B/Echo", "--data", &data, "-n", "20"]);
            let finished =
                run(load.args(["-c", "2", "--io", io, "--expect-body", &data, "--format", "json"]));
            let json: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
            let completed = if cause.is_none() { 20 } else { 0 };
            assert_eq!(json["requests"]["completed"], completed, "{fault}: {json}");
            let causes = json["errors"]["causes"].to_string();
            assert!(causes.contains(cause.unwrap_or("{}")), "{fault}: {causes}");
        }
        let server = serve(&["--io", io]);
        let url = format!("http://{}", server.address);
        let load = run(&mut home.drome(&["load", &url, "--grpc", "/a.B/None", "-n", "20", "--io", io]));
        load.assert_out(4, &["20× status: grpc-status 12 (UNIMPLEMENTED) instead of 0", "gRPC, 1 stream"]);
        // A server of HTTP/2 that knows nothing of gRPC.
        let root = serve(&["--io", io, "--root", home.path().to_str().unwrap()]);
        let url = format!("http://{}", root.address);
        let load = run(&mut home.drome(&["load", &url, "--grpc", "/a.B/Echo", "-n", "20", "--io", io]));
        load.assert_out(4, &["20× status: 405 was not expected"]);
    }
}
