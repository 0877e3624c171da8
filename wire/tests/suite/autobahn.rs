//! The cases of the Autobahn test suite, each in both roles: all at once, in its frames, in pieces of 997 bytes, and byte by byte if it is
//! short.

// `drome serve` is asked them too.
mod cases;

pub use cases::{Frame, MASK};

use crate::oracle::Seen;
use crate::oracle::websocket::{OPENED, client, server};
use cases::{WORD, close, hex, text};
use wire::websocket::WebSocketError::{self, *};
use wire::{Head, WireError};

impl Frame {
    fn is_control(&self) -> bool {
        self.0 & 8 != 0
    }

    fn begins_message(&self) -> bool {
        matches!(self.0 & 15, 1 | 2)
    }
}

/// These frames and no message after them are sent; the peer says these frames, in this order.
fn fine(numbers: &str, sent: &[Frame], said: &[Frame]) {
    check(numbers, sent, said, None);
}

/// All frames are sent back.
fn echoed(numbers: &str, sent: &[Frame]) {
    check(numbers, sent, sent, None);
}

/// The peer says these frames, then it closes with this code because of this error.
fn fails(numbers: &str, sent: &[Frame], said: &[Frame], error: WebSocketError, code: u16) {
    check(numbers, sent, &[said, &[close(code, "")]].concat(), Some(error));
}

fn check(numbers: &str, sent: &[Frame], said: &[Frame], error: Option<WebSocketError>) {
    println!("{numbers}");
    let error = error.map(WireError::WebSocket);
    check_server(numbers, sent, said, error);
    check_client(numbers, sent, said, error);
}

/// Calls `run` with the bytes cut in several ways, and whether each frame is whole.
fn in_pieces(frames: &[Frame], mask: Option<[u8; 4]>, mut run: impl FnMut(&[&[u8]], bool)) {
    let frames: Vec<_> = frames.iter().map(|frame| frame.bytes(mask)).collect();
    let bytes = frames.concat();
    run(&[&bytes], true);
    run(&frames.iter().map(Vec::as_slice).collect::<Vec<_>>(), true);
    run(&bytes.chunks(997).collect::<Vec<_>>(), bytes.len() <= 997);
    if bytes.len() < 200_000 {
        run(&bytes.chunks(1).collect::<Vec<_>>(), false);
    }
}

fn check_server(numbers: &str, sent: &[Frame], said: &[Frame], error: Option<WireError>) {
    let said: Vec<_> = said.iter().map(|frame| frame.bytes(None)).collect();
    let closes = said.last().is_some_and(|frame| frame[0] == 0x88);
    in_pieces(sent, Some(MASK), |pieces, in_frames| {
        let outcome = server(pieces);
        assert!(outcome.error == error && outcome.is_closed == closes, "{numbers}: {outcome:?}");
        if error == Some(WireError::WebSocket(Text)) && !in_frames {
            // A part of the frame may have been sent back already: no close frame fits into it.
            let before = said[..said.len() - 1].concat();
            assert!(outcome.out.starts_with(&before), "{numbers}: {outcome:?}");
        } else {
            assert!(outcome.out == said.concat(), "{numbers}: {:?}", outcome.out);
        }
    });
}

fn check_client(numbers: &str, sent: &[Frame], said: &[Frame], error: Option<WireError>) {
    // What a server echoes is what a client hears.
    let events = events(said);
    let ends = events.iter().filter(|event| matches!(event, Seen::End(_))).count();
    let asked = sent.iter().filter(|frame| frame.begins_message()).count();
    let closed = said.last().filter(|frame| frame.0 == 0x88);
    let error = error.or_else(|| {
        let Frame(_, payload) = closed.filter(|_| asked > ends)?;
        let code = payload.first_chunk().map_or(1005, |code| u16::from_be_bytes(*code));
        Some(WireError::WebSocket(Closed(code)))
    });
    let answers = said.iter().filter(|frame| frame.is_control());
    let out = answers.map(|frame| frame.bytes(Some([0xd7, 0x5b, 0x2e, 0x91]))).collect::<Vec<_>>().concat();
    in_pieces(sent, None, |pieces, _| {
        for skips in [false, true] {
            let mut outcome = client(OPENED, pieces, asked, skips);
            let (mut heard, mut expected) = (std::mem::take(&mut outcome.events), self::events(said));
            if error == Some(WireError::WebSocket(Text)) {
                // Only what was whole before is certain.
                keep_whole(&mut heard);
                keep_whole(&mut expected);
            }
            assert!(heard == expected, "{numbers}: {heard:?}");
            assert!(
                outcome.error == error && outcome.is_closed == closed.is_some(),
                "{numbers}: {outcome:?}"
            );
            assert_eq!(outcome.out, out, "{numbers}");
        }
    });
}

/// Drops what there is of a message without its end.
fn keep_whole(events: &mut Vec<Seen>) {
    let end = events.iter().rposition(|event| matches!(event, Seen::End(_)));
    events.truncate(end.map_or(0, |at| at + 1));
}

/// What a client hears of these frames.
fn events(frames: &[Frame]) -> Vec<Seen> {
    let mut events = Vec::new();
    for frame in frames.iter().filter(|frame| !frame.is_control()) {
        let Frame(start, payload) = frame;
        let is_final = start & 0x80 != 0;
        if frame.begins_message() {
            let length = is_final.then_some(payload.len() as u64);
            events.push(Seen::Head(Head { status: 0, length }));
        }
        match events.last_mut() {
            Some(Seen::Body(body)) => body.extend(payload),
            _ if payload.is_empty() => {}
            _ => events.push(Seen::Body(payload.clone())),
        }
        if is_final {
            events.push(Seen::End(true));
        }
    }
    events
}

/// A message that comes in pieces of this length.
fn in_chunks(number: &str, frame: &Frame, length: usize) {
    let (said, sent) = (frame.bytes(None), frame.bytes(Some(MASK)));
    let outcome = server(&sent.chunks(length).collect::<Vec<_>>());
    assert!(outcome.error.is_none() && outcome.out == said, "{number}");
    let outcome = client(OPENED, &said.chunks(length).collect::<Vec<_>>(), 1, false);
    assert!(outcome.events == events(std::slice::from_ref(frame)), "{number}");
}

/// 6.4.3 and 6.4.4: in pieces of one frame, of which the second shows the error.
#[test]
fn text_that_is_found_wrong_within_its_frame() {
    let (valid, wrong) = (hex(WORD), hex("f4908080"));
    for (number, cuts) in [("6.4.3", [11, 15]), ("6.4.4", [12, 13])] {
        // In pieces of one frame: the second one shows the error, and what came before was sent back.
        let bytes = text([&valid[..], &wrong, b"edited"].concat()).bytes(Some(MASK));
        let (pieces, rest) = bytes.split_at(6 + cuts[1]);
        let (accepted, wrong) = pieces.split_at(6 + cuts[0]);
        assert_eq!(server(&[accepted]).error, None, "{number}");
        for pieces in [vec![accepted, wrong], vec![accepted, wrong, rest]] {
            let outcome = server(&pieces);
            assert_eq!(outcome.error, Some(WireError::WebSocket(Text)), "{number}");
            assert_eq!(outcome.out.len(), 2 + cuts[0], "{number}: no frame begins within this one");
        }
    }
}
