//! What must hold for any bytes that a client of HTTP/2 may send, cut anywhere.

use super::cuts;
use super::http2::written_frames;
use std::collections::BTreeMap;
use wire::http2::frame::{ErrorCode, FrameHead, PREFACE, append_block, append_data, kind};
use wire::http2::hpack::write_status;
use wire::http2::server::{
    AnswerBody, BodyEnd, MAX_OPEN_STREAMS, Routed, ServerEvent, ServerSession, ServerShared,
};

/// A server on one connection. `/N` is a body of N bytes, any other path one of 2; a body that comes is sent back. Fields that are too long
/// are answered with 7 bytes.
#[derive(Default)]
pub struct Server {
    pub session: ServerSession<Vec<u8>>,
    pub written: Vec<u8>,
    /// The requests in their order, and the bodies that became whole.
    pub seen: Vec<(u32, String)>,
    pub error: Option<ErrorCode>,
    /// How often a head was looked at.
    pub looks: usize,
}

/// The frames that a server wrote, in words: a stream's number, then what it was told.
pub type Told = Vec<(u32, String)>;

impl Server {
    pub fn new() -> Self {
        let mut server = Self::default();
        server.session.open(&mut server.written);
        server
    }

    /// Reads a piece. Bodies are not sent yet.
    pub fn read(&mut self, shared: &mut ServerShared<String>, piece: &[u8]) {
        let mut input = piece;
        while self.error.is_none() {
            let Self { session, written, looks, .. } = self;
            let event = session.next(shared, &mut input, written, |head| {
                *looks += 1;
                assert_eq!((head.major, head.minor), (2, 0));
                let fields: Vec<_> = head
                    .fields()
                    .map(|(name, value)| format!(" {name}={}", String::from_utf8_lossy(value)))
                    .collect();
                let route = format!("{} {}{}", head.method, head.target, fields.concat());
                Routed { route, is_lasting: head.method == "GET" }
            });
            assert!(piece.ends_with(input), "what is left is the end of what was given");
            match event {
                Ok(None) => return assert!(input.is_empty(), "all that was given has been used"),
                Ok(Some(ServerEvent::Request { stream, route, has_body, .. })) => {
                    self.seen.push((stream, route.clone()));
                    if has_body {
                        self.session.hold(stream, Vec::new());
                    } else {
                        self.answer(stream, &route);
                    }
                }
                Ok(Some(ServerEvent::TooLong { stream })) => {
                    self.seen.push((stream, "too long".to_owned()));
                    self.answer(stream, "GET /7");
                }
                Ok(Some(ServerEvent::Body { stream, bytes, is_last })) => {
                    let body = self.session.work(stream).unwrap();
                    body.extend_from_slice(bytes);
                    if is_last {
                        let body = std::mem::take(body);
                        self.seen.push((stream, String::from_utf8_lossy(&body).into_owned()));
                        self.send(stream, body);
                    }
                }
                Err(error) => self.error = Some(error.code),
            }
            assert!(self.session.all_work().count() <= MAX_OPEN_STREAMS);
        }
    }

    fn answer(&mut self, stream: u32, route: &str) {
        let path = route.split(' ').nth(1).unwrap();
        let length = path.trim_start_matches('/').parse().unwrap_or(2_usize).min(1 << 20);
        self.send(stream, (0..length).map(|at| (at % 251) as u8).collect());
    }

    fn send(&mut self, stream: u32, body: Vec<u8>) {
        let mut block = Vec::new();
        write_status(&mut block, 200);
        if body.len() < 10 && self.session.take_whole(stream, body.len() as u32) {
            append_block(&mut self.written, stream, &block, false);
            return append_data(&mut self.written, stream, &body, true);
        }
        let whole = AnswerBody { length: body.len() as u64, allowed: u64::MAX, end: BodyEnd::Nothing };
        self.session.answer(stream, &block, whole, body, &mut self.written);
    }

    /// Sends what can be sent of bodies.
    pub fn send_bodies(&mut self) {
        while self.error.is_none()
            && let Some(part) = self.session.next_part(&mut self.written)
        {
            let start = part.offset as usize;
            self.written.extend_from_slice(&part.work[start..start + part.length]);
            part.append_end(&mut self.written);
        }
    }

    /// What it has told the client, but for what opens the connection and further windows.
    pub fn told(&self) -> Told {
        let number = |payload: &[u8], at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
        let mut bodies: BTreeMap<u32, usize> = BTreeMap::new();
        let mut told = Vec::new();
        for (head, payload) in &written_frames(&self.written)[2..] {
            let FrameHead { kind, stream, .. } = *head;
            told.extend(match kind {
                kind::SETTINGS => Some((0, "settings known".to_owned())),
                kind::PING => Some((0, "pong".to_owned())),
                kind::RST_STREAM => Some((stream, format!("{}", ErrorCode(number(payload, 0))))),
                kind::GOAWAY => {
                    Some((0, format!("GOAWAY {} {}", number(payload, 0), ErrorCode(number(payload, 4)))))
                }
                kind::DATA => {
                    let so_far = bodies.entry(stream).or_default();
                    *so_far += payload.len();
                    (head.flags & 1 == 1).then(|| (stream, format!("{so_far} bytes")))
                }
                kind::HEADERS if head.flags & 1 == 1 => Some((stream, "no body".to_owned())),
                _ => None,
            });
        }
        told
    }
}

/// What a client sends after its preface, in every way of cutting it that is tried: all must say the same.
pub fn check_http2_server(bytes: &[u8]) {
    let bytes = [PREFACE, bytes].concat();
    let serve = |pieces: &[&[u8]], shared: &mut ServerShared<String>| {
        let mut server = Server::new();
        pieces.iter().for_each(|piece| server.read(shared, piece));
        server.send_bodies();
        (server.seen.clone(), server.told(), server.error)
    };
    let whole = serve(&[&bytes], &mut ServerShared::default());
    let mut shared = ServerShared::default();
    for pieces in cuts(&bytes) {
        assert_eq!(
            whole,
            serve(&pieces, &mut shared),
            "cuts, and what other connections sent, change nothing"
        );
    }
}
