//! What must hold for any bytes at all, cut anywhere. The fuzz targets and the tests of the corpus use it alike.

#![allow(dead_code, reason = "each user uses a part of it")]

pub mod http2;
pub mod http2_server;
pub mod websocket;

use wire::{Head, LastHead, Part, RequestParser, ResponseParser, WireError};

/// What a parser made of some bytes: the events in order, joined so that cuts don't show, and how it ended.
#[derive(Debug, PartialEq)]
pub struct Read<E> {
    pub events: Vec<E>,
    pub error: Option<WireError>,
    /// Of answers only: what the end of the connection means.
    pub closed: Option<Result<bool, WireError>>,
}

/// An event of an answer that owns its bytes.
#[derive(Debug, PartialEq)]
pub enum Seen {
    Head(Head),
    Body(Vec<u8>),
    End(bool),
}

/// A request: method, target and fields, whether the connection stays, whether it is HTTP/1.0.
pub type Asked = ((String, String, Vec<(String, Vec<u8>)>), bool, bool);

/// Reads answers from these bytes in every way of cutting them that is tried; all must say the same.
pub fn check_responses(bytes: &[u8]) {
    for head_only in [false, true] {
        let whole = read_responses(&[bytes], head_only, false, &mut None);
        let unread = read_responses(&[bytes], head_only, true, &mut None);
        assert_eq!(whole, unread, "bodies may be passed over unread");
        // It goes from one connection to the next, as in the load engine.
        let mut last = Some(LastHead::default());
        for _ in 0..2 {
            let known = read_responses(&[bytes], head_only, false, &mut last);
            assert_eq!(whole, known, "a head that is known is the same as one that is not");
        }
        for pieces in cuts(bytes) {
            for skips in [false, true] {
                assert_eq!(whole, read_responses(&pieces, head_only, skips, &mut last));
            }
        }
    }
}

/// The same for requests.
pub fn check_requests(bytes: &[u8]) {
    let whole = read_requests(&[bytes]);
    for pieces in cuts(bytes) {
        assert_eq!(whole, read_requests(&pieces));
    }
}

/// Chunked bodies, as the body of an answer and of a request.
pub fn check_chunked(bytes: &[u8]) {
    check_responses(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", bytes].concat());
    check_requests(&[b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", bytes].concat());
}

/// The longest input that is cut at every byte.
const CUT_EVERYWHERE_BYTES: usize = 2 * 1024;

/// The ways to cut the bytes, each of which is compared with all at once: at every byte, byte by byte, in halves, and twice into pieces
/// whose lengths depend on the bytes themselves.
fn cuts(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let everywhere = 0..bytes.len() * usize::from(bytes.len() <= CUT_EVERYWHERE_BYTES);
    let halves = everywhere.chain([bytes.len() / 2]).map(|at| {
        let (left, right) = bytes.split_at(at);
        vec![left, right]
    });
    halves.chain([bytes.chunks(1).collect(), pieces(bytes, 7), pieces(bytes, 61)]).collect()
}

/// Pieces of up to `longest` bytes, empty ones among them.
fn pieces(bytes: &[u8], longest: usize) -> Vec<&[u8]> {
    // FNV-1a: any function of the bytes will do, as long as it is the same every time.
    let mut hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| mix(h ^ u64::from(*b)));
    let (mut left, mut pieces) = (bytes, Vec::new());
    while !left.is_empty() {
        hash = mix(hash ^ left.len() as u64);
        let (piece, rest) = left.split_at(((hash >> 32) as usize % (longest + 1)).min(left.len()));
        pieces.push(piece);
        left = rest;
    }
    pieces
}

fn mix(hash: u64) -> u64 {
    hash.wrapping_mul(0x0100_0000_01b3)
}

/// `skips`: bodies of known length are passed over as the load engine does when the kernel drops them.
/// `last`: with the head that was read last, if any.
pub fn read_responses(
    pieces: &[&[u8]],
    head_only: bool,
    skips: bool,
    last: &mut Option<LastHead>,
) -> Read<Seen> {
    let mut parser = ResponseParser::new();
    let mut read = Read { events: Vec::new(), error: None, closed: None };
    for piece in pieces {
        let mut input = *piece;
        loop {
            if let Some(left) = parser.body_left().filter(|_| skips && !input.is_empty()) {
                let (skipped, rest) =
                    input.split_at(input.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
                parser.skip(skipped.len() as u64);
                push_body(&mut read.events, skipped);
                input = rest;
            }
            let before = input.len();
            let event = match last {
                Some(last) => parser.next_after(&mut input, head_only, last),
                None => parser.next(&mut input, head_only),
            };
            assert!(
                input.len() <= before && piece.ends_with(input),
                "what is left is the end of what was given"
            );
            match event {
                Ok(Some(Part::Head(head))) => {
                    assert!(input.len() < before, "a head takes its last byte");
                    read.events.push(Seen::Head(head));
                }
                Ok(Some(Part::Body(bytes))) => {
                    assert!(!bytes.is_empty() && input.len() < before, "a body has bytes");
                    push_body(&mut read.events, bytes);
                }
                Ok(Some(Part::End { keep_alive })) => {
                    assert!(parser.is_idle());
                    read.events.push(Seen::End(keep_alive));
                }
                Ok(None) => {
                    assert!(input.is_empty(), "a parser that wants more has used all it was given");
                    break;
                }
                Err(error) => {
                    read.error = Some(error);
                    return read;
                }
            }
        }
    }
    read.closed = Some(parser.closed().map(|event| event.is_some()));
    read
}

fn push_body(events: &mut Vec<Seen>, bytes: &[u8]) {
    match events.last_mut() {
        Some(Seen::Body(body)) => body.extend_from_slice(bytes),
        _ if bytes.is_empty() => {}
        _ => events.push(Seen::Body(bytes.to_vec())),
    }
}

fn read_requests(pieces: &[&[u8]]) -> Read<Asked> {
    let mut parser = RequestParser::new();
    let mut read = Read { events: Vec::new(), error: None, closed: None };
    for piece in pieces {
        let mut input = *piece;
        loop {
            let before = input.len();
            let request = parser.next(&mut input, |head| {
                let fields = head.fields().map(|(name, value)| (name.to_owned(), value.to_vec()));
                (head.method.to_owned(), head.target.to_owned(), fields.collect())
            });
            assert!(
                input.len() <= before && piece.ends_with(input),
                "what is left is the end of what was given"
            );
            match request {
                Ok(Some(request)) => {
                    assert!(input.len() < before, "a request takes its last byte");
                    read.events.push((request.route, request.keep_alive, request.http10));
                }
                Ok(None) => {
                    assert!(input.is_empty(), "a parser that wants more has used all it was given");
                    break;
                }
                Err(error) => {
                    read.error = Some(error);
                    return read;
                }
            }
        }
    }
    read
}
