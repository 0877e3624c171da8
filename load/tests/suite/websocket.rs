//! WebSocket on real sockets: messages that come back, and a server that wants none of it.

use super::uring;
use load::{Progress, run};
use model::{Ask, Asking, Expect, IoChoice, Load, Plan, Protocol, Tally, Target, Until, Verify};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wire::RequestParser;
use wire::websocket::{UpgradeAnswer, WebSocketServer};

/// Sends everything back, on connections that it counts.
fn server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, opened) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&opened);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, count) = (stream.unwrap(), Arc::clone(&count));
            std::thread::spawn(move || serve(stream, &count));
        }
    });
    (port, opened)
}

fn serve(mut stream: TcpStream, opened: &AtomicUsize) -> Option<()> {
    let (mut buffer, mut out) = (vec![0; 65536], Vec::new());
    let (mut parser, mut session) = (RequestParser::new(), None::<WebSocketServer>);
    loop {
        let n = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
        let mut input = &buffer[..n];
        if session.is_none() {
            let request = parser.next(&mut input, UpgradeAnswer::to).ok()?;
            let Some(request) = request else { continue };
            request.route.ok()?.write(&mut out);
            session = Some(WebSocketServer::default());
            opened.fetch_add(1, Ordering::Relaxed);
        }
        let session = session.as_mut()?;
        let ended = session.echo(input, &mut out).is_err() || session.is_closed();
        stream.write_all(&out).ok()?;
        out.clear();
        if ended {
            return None;
        }
    }
}

fn echoed(message: &[u8], kind: &str, io: IoChoice, per_connection: Option<usize>) -> (Tally, usize) {
    let (port, opened) = server();
    let target = Target::resolve(&format!("http://127.0.0.1:{port}/echo")).unwrap();
    let headers = [("Content-Type".to_owned(), kind.to_owned())];
    let asking = Asking {
        method: "GET",
        path: "/echo",
        http10: false,
        keep_alive: true,
        headers: &headers,
        body: message,
    };
    let request = target.request(asking);
    let expect = Expect { body: Some(message.to_vec()), any_status: true, ..Expect::default() };
    let ask = Ask { last: request.clone(), request, expect, weight: 1.0, ..Ask::default() };
    let load = Load::Closed { connections: 4, per_connection };
    let plan = Plan::new(target, ask, load, Until::Answered(1000));
    let plan = Plan { protocol: Protocol::WebSocket, io, pipeline: 8, verify: Verify::All, ..plan };
    let tally = run(&plan, &Progress::default(), &()).unwrap();
    (tally, opened.load(Ordering::Relaxed))
}

#[test]
fn every_message_comes_back() {
    let ios = if uring::is_usable() { &[IoChoice::Epoll, IoChoice::Uring][..] } else { &[IoChoice::Epoll] };
    let large = vec![0xab; 100_000];
    for io in ios {
        for (message, kind) in [("Grüße".as_bytes(), "text/plain"), (&large, "application/octet-stream")] {
            let (tally, opened) = echoed(message, kind, *io, None);
            assert_eq!(
                (tally.completed, tally.errors.total(), opened),
                (1000, 0, 4),
                "{:?}",
                tally.error_causes
            );
            assert_eq!((tally.verified, tally.status.len()), (1000, 0), "a message has no status");
        }
    }
}

#[test]
fn connections_are_closed_after_their_last_message() {
    let (tally, opened) = echoed(b"0123456789abcdef", "application/octet-stream", IoChoice::Best, Some(21));
    assert_eq!((tally.completed, tally.errors.total()), (1000, 0), "{:?}", tally.error_causes);
    assert!(opened >= 1000 / 21, "{opened}");
}

#[test]
fn a_server_that_does_not_switch_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::resolve(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let load = Load::Closed { connections: 1, per_connection: None };
    let plan = Plan::new(target.clone(), Ask::get(&target), load, Until::Answered(1));
    let plan = Plan { protocol: Protocol::WebSocket, ..plan };
    let tally = run(&plan, &Progress::default(), &()).unwrap();
    assert_eq!((tally.completed, tally.errors.total()), (0, 1));
    assert!(tally.error_causes.keys().any(|cause| cause.contains("404")), "{:?}", tally.error_causes);
}
