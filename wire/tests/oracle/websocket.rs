//! What must hold for the bytes of a WebSocket, in both roles, cut anywhere.

use super::{Seen, cuts, push_body};
use std::cell::RefCell;
use wire::websocket::{WebSocketError, WebSocketServer};
use wire::{ClientSession, Event, Hearer, RequestBytes, WebSocket, WebSocketShared, WireError};

/// An answer that opens the WebSocket. The value is the digest of the client's fixed key, computed by another program.
pub const OPENED: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: BQtV6gzPmQ+Vkz+HbbSLabt2PnU=\r\n\r\n";

/// What came of some bytes.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// What a client heard.
    pub events: Vec<Seen>,
    pub error: Option<WireError>,
    /// What it said to these bytes.
    pub out: Vec<u8>,
    /// Whether nothing more is read.
    pub is_closed: bool,
}

/// Nobody who asks for a HEAD.
struct Asker;

impl Hearer for Asker {
    fn is_head(&self, _: usize) -> bool {
        false
    }
}

/// Checks any bytes: as what a server says after the handshake and in place of its answer, and as what a client says.
pub fn check_websocket(bytes: &[u8]) {
    for (opened, asked) in [(OPENED, 3), (OPENED, 0), (b"", 0)] {
        let whole = client(opened, &[bytes], asked, false);
        assert_eq!(whole, client(opened, &[bytes], asked, true), "bodies may be passed over unread");
        for pieces in cuts(bytes) {
            for skips in [false, true] {
                assert_eq!(whole, client(opened, &pieces, asked, skips));
            }
        }
        let heard = server(&[&whole.out]);
        assert_eq!(heard.error, None, "a server understands what the client says");
    }
    let whole = server(&[bytes]);
    for pieces in cuts(bytes) {
        let outcome = server(&pieces);
        if outcome.error == Some(WireError::WebSocket(WebSocketError::Text)) {
            assert_eq!(whole.error, outcome.error, "how much is echoed before depends on the cuts");
        } else {
            assert_eq!(whole, outcome);
        }
    }
    let heard = client(OPENED, &[&whole.out], whole.out.len(), false).error;
    let is_understood = matches!(heard, None | Some(WireError::WebSocket(WebSocketError::Closed(_))));
    assert!(is_understood, "a client understands what the server says: {heard:?}");
}

/// Lets a server read.
pub fn server(pieces: &[&[u8]]) -> Outcome {
    let (mut server, mut out) = (WebSocketServer::default(), Vec::new());
    let error = pieces.iter().find_map(|piece| server.echo(piece, &mut out).err());
    Outcome { events: Vec::new(), error, out, is_closed: server.is_closed() }
}

/// Lets a client read that has sent this number of messages after the handshake. `skips`: as if the kernel dropped what can be dropped.
pub fn client(opened: &[u8], pieces: &[&[u8]], asked: usize, skips: bool) -> Outcome {
    // What is shared does not change.
    thread_local!(static SHARED: RefCell<WebSocketShared> = RefCell::new(WebSocket::shared(vec![RequestBytes {
        request: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
        last: b"",
        is_encrypted: false,
    }]).unwrap()));
    SHARED.with_borrow_mut(|shared| client_with(shared, opened, pieces, asked, skips))
}

fn client_with(
    shared: &mut WebSocketShared,
    opened: &[u8],
    pieces: &[&[u8]],
    asked: usize,
    skips: bool,
) -> Outcome {
    let (mut session, mut out) = (WebSocket::default(), Vec::new());
    session.open(shared, &mut out);
    out.clear();
    let mut outcome = Outcome { events: Vec::new(), error: None, out: Vec::new(), is_closed: false };
    read(&mut session, shared, opened, &mut outcome, false);
    for _ in 0..asked {
        session.begin(shared, 0, false, &mut out);
    }
    for piece in pieces {
        read(&mut session, shared, piece, &mut outcome, skips);
    }
    outcome.is_closed = session.is_closing();
    // How much of such a message came before the error depends on the cuts.
    if outcome.error == Some(WireError::WebSocket(WebSocketError::Text))
        && matches!(outcome.events.last(), Some(Seen::Body(_)))
    {
        outcome.events.pop();
    }
    outcome
}

fn read(
    session: &mut WebSocket,
    shared: &mut WebSocketShared,
    piece: &[u8],
    outcome: &mut Outcome,
    skips: bool,
) {
    let mut input = piece;
    while outcome.error.is_none() {
        if let Some(left) = session.skippable().filter(|_| skips && !input.is_empty()) {
            let (skipped, rest) =
                input.split_at(input.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
            session.skip(skipped.len() as u64);
            push_body(&mut outcome.events, skipped);
            input = rest;
        }
        let before = input.len();
        let event = session.next(shared, &mut input, &mut outcome.out, &mut Asker);
        let is_end = input.is_empty() || input.as_ptr_range().end == piece.as_ptr_range().end;
        assert!(input.len() <= before && is_end, "what is left is the end of what was given");
        match event {
            Ok(Some(Event::Head(0, head))) => outcome.events.push(Seen::Head(head)),
            Ok(Some(Event::Body(0, body))) => {
                assert!(!body.is_empty(), "a body has bytes");
                push_body(&mut outcome.events, body);
            }
            Ok(Some(Event::End { place: 0, keep_alive, .. })) => outcome.events.push(Seen::End(keep_alive)),
            Ok(Some(event)) => panic!("not an event of this protocol: {event:?}"),
            Ok(None) => {
                assert!(input.is_empty(), "a session that wants more has used all it was given");
                return;
            }
            Err(error) => outcome.error = Some(error),
        }
    }
}
