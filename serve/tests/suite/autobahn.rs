//! The cases of the Autobahn test suite, over a socket.

#[path = "../../../wire/tests/suite/autobahn/cases.rs"]
mod cases;

use cases::{Frame, MASK, close};
use serve::{BackEnd, Config, Faults, Listen, Messages, Server, Site};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use wire::websocket::WebSocketError;

/// Nothing here takes longer, on however slow a machine.
const PATIENCE: Duration = Duration::from_mins(2);

const UPGRADE: &[u8] = b"GET /websocket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Where the server listens, which serves until the tests end.
fn server() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    static STOP: AtomicBool = AtomicBool::new(false);
    *ADDRESS.get_or_init(|| {
        let config = Config {
            listen: Listen::Tcp(([127, 0, 0, 1], 0).into()),
            threads: 1,
            root: None,
            idle_timeout: PATIENCE,
            access_log: None,
            spin: Duration::ZERO,
            messages: Messages::default(),
            faults: Faults::default(),
            io: Some(BackEnd::Epoll),
            tls: None,
        };
        let server = Server::bind(config).unwrap();
        let place = server.place();
        std::thread::spawn(move || {
            let mut site = Site::new();
            site.websocket("/websocket");
            server.run(&site, &STOP, |_| ()).unwrap();
        });
        place.trim_start_matches("http://").trim_end_matches('/').parse().unwrap()
    })
}

/// What the server says to these pieces after the handshake, until it closes. Where nothing else does, a close frame ends it.
fn said(pieces: Vec<Vec<u8>>) -> Vec<u8> {
    let mut stream = TcpStream::connect(server()).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(UPGRADE).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || pieces.iter().all(|piece| writer.write_all(piece).is_ok()));
    let mut got = Vec::new();
    match stream.read_to_end(&mut got) {
        // What a server that has closed is still sent resets the connection.
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => {}
    }
    sending.join().unwrap();
    let end = got.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    assert!(got.starts_with(b"HTTP/1.1 101 "));
    got.split_off(end)
}

fn fine(numbers: &str, sent: &[Frame], heard: &[Frame]) {
    let mut pieces: Vec<_> = sent.iter().map(|frame| frame.bytes(Some(MASK))).collect();
    let mut expected: Vec<_> = heard.iter().map(|frame| frame.bytes(None)).collect();
    if heard.last().is_none_or(|frame| frame.0 != 0x88) {
        pieces.push(close(1000, "").bytes(Some(MASK)));
        expected.push(close(1000, "").bytes(None));
    }
    let whole = said(vec![pieces.concat()]);
    assert!(whole == expected.concat(), "{numbers}, at once: {} bytes", whole.len());
    let in_frames = said(pieces);
    assert!(in_frames == expected.concat(), "{numbers}, in frames: {} bytes", in_frames.len());
}

fn echoed(numbers: &str, sent: &[Frame]) {
    fine(numbers, sent, sent);
}

fn fails(numbers: &str, sent: &[Frame], heard: &[Frame], error: WebSocketError, code: u16) {
    let before = heard.iter().map(|frame| frame.bytes(None)).collect::<Vec<_>>().concat();
    let expected = [&before[..], &close(code, "").bytes(None)].concat();
    let got = said(vec![sent.iter().map(|frame| frame.bytes(Some(MASK))).collect::<Vec<_>>().concat()]);
    // Where a part of a frame was sent back before the error in its text was found, no close frame fits.
    let echoed = sent.iter().map(|frame| frame.bytes(None)).collect::<Vec<_>>().concat();
    let is_part = got.len() < echoed.len() && echoed.starts_with(&got);
    let is_cut = error == WebSocketError::Text && got.starts_with(&before) && is_part;
    assert!(got == expected || is_cut, "{numbers}: {got:?}");
}

fn in_chunks(number: &str, frame: &Frame, length: usize) {
    let end = close(1000, "");
    let sent = [frame.bytes(Some(MASK)), end.bytes(Some(MASK))].concat();
    let got = said(sent.chunks(length).map(<[u8]>::to_vec).collect());
    assert!(got == [frame.bytes(None), end.bytes(None)].concat(), "{number}: {} bytes", got.len());
}
