//! WebSocket: the handshake, messages in any fragments, and what is refused beyond Autobahn's cases.

use crate::autobahn::{Frame, MASK};
use crate::oracle::Seen;
use crate::oracle::websocket::{OPENED, check_websocket, client, server};
use proptest::prelude::*;
use wire::websocket::WebSocketError::{self, *};
use wire::websocket::{UpgradeAnswer, UpgradeRefusal, WebSocketShared};
use wire::{ClientSession, Event, Head, Hearer, Missing, RequestBytes, RequestParser, WebSocket, WireError};

struct NoHead;

impl Hearer for NoHead {
    fn is_head(&self, _: usize) -> bool {
        false
    }
}

fn shared(requests: &[&str]) -> Result<WebSocketShared, WireError> {
    let bytes = |request: &&'static str| RequestBytes {
        request: request.as_bytes(),
        last: request.as_bytes(),
        is_encrypted: false,
    };
    let requests: Vec<&'static str> = requests.iter().map(|text| &*text.to_string().leak()).collect();
    WebSocket::shared(requests.iter().map(bytes).collect())
}

const HI: &str = "POST /chat?a=b HTTP/1.1\r\nHost: example.org\r\nContent-Length: 2\r\nX: 1\r\nContent-Type: text/plain\r\n\r\nhi";

/// An open session, and what its kind shares.
fn opened() -> (WebSocket, WebSocketShared) {
    let (mut shared, mut session) = (shared(&[HI]).unwrap(), WebSocket::default());
    session.open(&mut shared, &mut Vec::new());
    assert_eq!(session.next(&mut shared, &mut &OPENED[..], &mut Vec::new(), &mut NoHead), Ok(None));
    (session, shared)
}

#[test]
fn the_handshake_has_the_fields_of_the_request_but_for_those_of_its_body() {
    let request = "POST /chat?a=b HTTP/1.1\r\nHost: example.org\r\nContent-Length: 2\r\nX: 1\r\ncontent-type: text/plain\r\nConnection: close\r\nUpgrade: h2c\r\nSec-WebSocket-Key: a\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Protocol: chat\r\n\r\nhi";
    let (mut shared, mut session, mut out) = (shared(&[request]).unwrap(), WebSocket::default(), Vec::new());
    assert_eq!(session.room(), usize::MAX, "a connection is only opened for a request that it has room for");
    session.open(&mut shared, &mut out);
    assert_eq!(session.room(), 0);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "GET /chat?a=b HTTP/1.1\r\nHost: example.org\r\nX: 1\r\nSec-WebSocket-Protocol: chat\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ZHJvbWUgd2ViIHNvY2tldA==\r\n\r\n"
    );
    let mut input = OPENED;
    assert_eq!(session.next(&mut shared, &mut input, &mut Vec::new(), &mut NoHead), Ok(None));
    assert!(input.is_empty());
    assert_eq!(session.room(), usize::MAX);
}

#[test]
fn an_answer_to_the_handshake_that_does_not_open_it_is_an_error_that_says_why() {
    let accept = "Sec-WebSocket-Accept: BQtV6gzPmQ+Vkz+HbbSLabt2PnU=\r\n";
    let switch = "Upgrade: WebSocket\r\nConnection: keep-alive, upgrade\r\n";
    let cases = [
        (format!("101 S\r\n{switch}{accept}"), None),
        (format!("101 S\r\n{switch}{accept}Sec-WebSocket-Extensions:\r\n"), None),
        (format!("103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 101 S\r\n{switch}{accept}"), None),
        ("404 No\r\nContent-Length: 0\r\n".to_owned(), Some(Status(404))),
        (format!("200 OK\r\n{switch}{accept}"), Some(Status(200))),
        (format!("101 S\r\n{accept}Connection: Upgrade\r\n"), Some(Upgrade)),
        (format!("101 S\r\n{accept}Upgrade: websocket\r\n"), Some(Upgrade)),
        (format!("101 S\r\n{accept}Connection: Upgrade\r\nUpgrade: h2c\r\n"), Some(Upgrade)),
        (format!("101 S\r\n{switch}"), Some(Accept)),
        (format!("101 S\r\n{switch}Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), Some(Accept)),
        (format!("101 S\r\n{switch}{}", accept.to_lowercase()), Some(Accept)),
        (
            format!("101 S\r\n{switch}{accept}Sec-WebSocket-Extensions: permessage-deflate\r\n"),
            Some(Extension),
        ),
        (format!("101 S\r\n{switch}{accept}Sec-WebSocket-Protocol: chat\r\n"), Some(Subprotocol)),
    ];
    for (answer, expected) in cases {
        let bytes = format!("HTTP/1.1 {answer}\r\n");
        let outcome = client(b"", &[bytes.as_bytes()], 0, false);
        assert_eq!(outcome.error, expected.map(WireError::WebSocket), "{bytes}");
        assert!(outcome.out.is_empty(), "there is no WebSocket to be closed: {bytes}");
        check_websocket(bytes.as_bytes());
    }
    for (bytes, error) in [(&b"\x15\x03\x01\x00"[..], WireError::Tls), (b"hello", WireError::NotHttp)] {
        assert_eq!(client(b"", &[bytes], 0, false).error, Some(error));
    }
    let text = WireError::WebSocket(Status(404)).to_string();
    assert_eq!(text, "WebSocket: the server did not open one: it answered the handshake with status 404");
}

#[test]
fn a_subprotocol_that_was_offered_may_be_chosen() {
    let request = HI.replace("X: 1", "Sec-WebSocket-Protocol: a, b");
    for (chosen, is_right) in [("a", true), ("b", true), ("c", false), ("a, b", false)] {
        let (mut shared, mut session) = (shared(&[&request]).unwrap(), WebSocket::default());
        session.open(&mut shared, &mut Vec::new());
        let answer = String::from_utf8(OPENED.to_vec()).unwrap();
        let answer = answer.replace("\r\n\r\n", &format!("\r\nsec-websocket-protocol: {chosen}\r\n\r\n"));
        let heard = session.next(&mut shared, &mut answer.as_bytes(), &mut Vec::new(), &mut NoHead);
        assert_eq!(heard.is_ok(), is_right, "{chosen}: {heard:?}");
    }
}

#[test]
fn requests_that_one_websocket_cannot_carry_are_refused() {
    let error = |requests: &[&str]| shared(requests).unwrap_err();
    let other = HI.replace("/chat", "/other");
    assert_eq!(error(&[HI, &other]), WireError::WebSocket(Requests));
    let other = HI.replace("X: 1", "Sec-WebSocket-Extensions: permessage-deflate");
    assert_eq!(error(&[&other]), WireError::WebSocket(Offer));
    assert_eq!(error(&[&HI[..HI.len() - 1]]), WireError::Truncated);
    assert_eq!(error(&["nonsense\r\n\r\n"]), WireError::Head(httparse_error()));
    let other = HI.replace("Length: 2", "Length: 4");
    assert!(shared(&[HI, &(other + "!!")]).is_ok(), "messages may differ");
}

fn httparse_error() -> httparse::Error {
    let mut fields = [];
    httparse::Request::new(&mut fields).parse(b"nonsense\r\n\r\n").unwrap_err()
}

/// A message is one masked frame; its kind follows from the last content type.
#[test]
fn a_message_is_sent_as_the_request_says() {
    let long = "x".repeat(70_000);
    for (types, start) in [
        ("", 0x82),
        ("Content-Type: Text/html\r\n", 0x81),
        ("Content-Type: text/a\r\nContent-Type: b/c\r\n", 0x82),
    ] {
        for message in ["", "hi", &long[..125], &long[..126], &long[..65_535], &long[..65_536], &long] {
            let head = format!("POST / HTTP/1.1\r\nHost: a\r\n{types}");
            let sized = format!("{head}Content-Length: {}\r\n\r\n{message}", message.len());
            let mut requests = vec![sized];
            if !message.is_empty() {
                requests.push(format!(
                    "{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{message}\r\n0\r\n\r\n",
                    message.len()
                ));
            }
            for request in requests {
                let (mut shared, mut session, mut out) =
                    (shared(&[&request]).unwrap(), WebSocket::default(), vec![]);
                session.begin(&mut shared, 0, false, &mut out);
                let frame = Frame(start, message.into());
                assert!(out == frame.bytes(Some([0xd7, 0x5b, 0x2e, 0x91])), "{types:?}, {}", message.len());
                assert!(server(&[&out]).out == frame.bytes(None), "a server sends the same back");
            }
        }
    }
}

#[test]
fn a_text_message_must_be_utf8_before_it_is_sent() {
    let request = [&HI.as_bytes()[..HI.len() - 2], &[0xff, 0xfe]].concat().leak();
    let bytes = RequestBytes { request, last: request, is_encrypted: false };
    assert_eq!(WebSocket::shared(vec![bytes]).unwrap_err(), WireError::WebSocket(Text));
}

#[test]
fn a_message_that_nobody_asked_for_is_told_and_control_frames_are_not() {
    let outcome = client(OPENED, &[b"\x89\x01a\x8a\x00"], 0, false);
    assert_eq!((outcome.error, outcome.out.len()), (None, 2 + 4 + 1));
    for asked in 0..3 {
        let outcome = client(OPENED, &[b"\x82\x01a\x82\x01b\x82\x01c"], asked, false);
        assert_eq!((outcome.error, outcome.events.len()), (Some(WireError::Unasked), 3 * asked));
        assert!(outcome.out.starts_with(&[0x88, 0x82]), "it is closed");
    }
}

#[test]
fn frames_that_no_role_may_send_are_refused() {
    let both: [(&[u8], WebSocketError); 6] = [
        (&[0x82, 126, 0, 125], LengthForm),
        (&[0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], LengthForm),
        (&[0x82, 127, 0, 0, 0, 0, 0, 0, 0, 1], LengthForm),
        (&[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], LengthRange),
        (&[0x89, 126, 0, 126], LongControl),
        (&[0x8a, 127, 0, 0, 0, 0, 0, 1, 0, 0], LongControl),
    ];
    for (bytes, error) in both {
        let mut masked = bytes.to_vec();
        masked[1] |= 0x80;
        let expected = Some(WireError::WebSocket(error));
        assert_eq!(client(OPENED, &[bytes], 1, false).error, expected);
        assert_eq!(server(&[&masked]).error, expected);
        check_websocket(bytes);
        check_websocket(&masked);
    }
    // The longest there are begin, on both sides.
    for length in [[0, 0, 0, 0, 0, 1, 0, 0], [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]] {
        let bytes = [&[0x82, 127], &length[..], b"ab"].concat();
        let outcome = client(OPENED, &[&bytes], 1, false);
        let head = Head { status: 0, length: Some(u64::from_be_bytes(length)) };
        assert_eq!(outcome.events, [Seen::Head(head), Seen::Body(b"ab".to_vec())]);
        let masked = [&[0x82, 0xff], &length[..], &[0; 4], b"ab"].concat();
        assert_eq!(server(&[&masked]).out, bytes);
    }
    assert_eq!(client(OPENED, &[b"\x82\x81"], 1, false).error, Some(WireError::WebSocket(Masked)));
    assert_eq!(client(OPENED, &[b"\x8a\x80"], 1, false).error, Some(WireError::WebSocket(Masked)));
    let outcome = server(&[b"\x82\x01a"]);
    assert_eq!(outcome.error, Some(WireError::WebSocket(Unmasked)));
    assert_eq!(outcome.out, b"\x88\x02\x03\xea", "1002");
    assert!(outcome.is_closed);
}

#[test]
fn a_close_by_the_server_is_answered_and_open_messages_are_lost_for_its_reason() {
    let (mut session, mut shared) = opened();
    let mut out = Vec::new();
    let mut input = &b"\x88\x02\x03\xe9\x81\x01a"[..];
    assert_eq!(session.next(&mut shared, &mut input, &mut out, &mut NoHead), Ok(None));
    assert_eq!(out, Frame(0x88, vec![3, 0xe9]).bytes(Some([0xd7, 0x5b, 0x2e, 0x91])));
    assert!(session.is_closing() && input.is_empty(), "what follows is not looked at");
    assert_eq!((session.room(), session.closed()), (0, Ok(None)));
    for (bytes, error) in [(&b"\x88\x02\x03\xe9"[..], Closed(1001)), (b"\x88\x00", Closed(1005))] {
        let outcome = client(OPENED, &[bytes], 1, false);
        assert!(outcome.is_closed && outcome.error == Some(WireError::WebSocket(error)), "{outcome:?}");
    }
    let told = WireError::WebSocket(Closed(1001)).to_string();
    assert_eq!(told, "WebSocket: the server closed it with code 1001 before all messages had come back");
}

#[test]
fn after_the_last_message_has_come_back_it_closes() {
    let (mut session, mut shared) = opened();
    let mut out = Vec::new();
    session.begin(&mut shared, 0, false, &mut out);
    session.begin(&mut shared, 0, true, &mut out);
    out.clear();
    let mut input = &b"\x81\x02hi\x81\x02hi\x89\x00"[..];
    let mut ends = Vec::new();
    while let Some(event) = session.next(&mut shared, &mut input, &mut out, &mut NoHead).unwrap() {
        if let Event::End { place: 0, keep_alive, .. } = event {
            ends.push((keep_alive, out.len()));
        }
    }
    assert_eq!(ends, [(true, 0), (false, 8)]);
    assert_eq!(
        out,
        Frame(0x88, vec![3, 0xe8]).bytes(Some([0xd7, 0x5b, 0x2e, 0x91])),
        "and says nothing more"
    );
    assert!(session.is_closing());
}

#[test]
fn what_is_missing_when_the_connection_ends_is_known() {
    let cases: [(&[u8], Missing, bool); 9] = [
        (b"", Missing::All, true),
        (b"\x81", Missing::Head, false),
        (b"\x82\x7e\x01", Missing::Head, false),
        (b"\x82\x05", Missing::Length { announced: 5 }, false),
        (b"\x82\x05abc", Missing::Length { announced: 5 }, false),
        (b"\x02\x05abc", Missing::LastChunk, false),
        (b"\x02\x01a\x80", Missing::LastChunk, false),
        (b"\x02\x01a\x89\x01", Missing::LastChunk, false),
        (b"\x81\x02hi\x89\x00", Missing::All, true),
    ];
    for (bytes, missing, is_between) in cases {
        let (mut session, mut shared) = opened();
        (0..2).for_each(|_| session.begin(&mut shared, 0, false, &mut Vec::new()));
        let mut input = bytes;
        while session.next(&mut shared, &mut input, &mut Vec::new(), &mut NoHead).unwrap().is_some() {}
        let closed = if is_between { Ok(None) } else { Err(WireError::Truncated) };
        assert_eq!((session.missing(), session.closed()), (missing, closed), "{bytes:?}");
    }
    for (answer, missing) in [(&b""[..], Missing::All), (b"HTTP/1.1 101", Missing::Head)] {
        let (mut shared, mut session) = (shared(&[HI]).unwrap(), WebSocket::default());
        session.open(&mut shared, &mut Vec::new());
        assert_eq!(session.next(&mut shared, &mut &answer[..], &mut Vec::new(), &mut NoHead), Ok(None));
        assert_eq!(session.missing(), missing);
    }
}

#[test]
fn only_binary_payload_can_be_dropped_unread() {
    for (start, expected) in [(0x82, Some(7)), (0x02, Some(7)), (0x81, None), (0x01, None)] {
        let (mut session, mut shared) = opened();
        session.begin(&mut shared, 0, false, &mut Vec::new());
        assert_eq!(session.skippable(), None);
        let mut input = &[start, 7][..];
        while session.next(&mut shared, &mut input, &mut Vec::new(), &mut NoHead).unwrap().is_some() {}
        assert_eq!(session.skippable(), expected);
        session.skip(7);
        let ends = session.next(&mut shared, &mut &[][..], &mut Vec::new(), &mut NoHead).unwrap();
        let is_whole =
            ends == Some(Event::End { place: 0, keep_alive: true, is_early: false, failure: None });
        assert_eq!(is_whole, start & 0x80 != 0);
    }
}

/// What a server makes of a request with these fields, after the usual ones.
fn answer(line: &str, fields: &str) -> Result<String, UpgradeRefusal> {
    let request = format!("{line}\r\n{fields}\r\n");
    let parsed = RequestParser::new().next(&mut request.as_bytes(), UpgradeAnswer::to).unwrap().unwrap();
    let mut out = Vec::new();
    parsed.route.map(|answer| answer.write(&mut out))?;
    Ok(String::from_utf8(out).unwrap())
}

/// The example of RFC 6455, section 1.3.
#[test]
fn a_server_answers_the_handshake() {
    let get = "GET /chat HTTP/1.1";
    let fields = "Host: server.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://example.com\r\nSec-WebSocket-Protocol: chat, superchat\r\nSec-WebSocket-Version: 13\r\n";
    let expected = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    assert_eq!(answer(get, fields).unwrap(), expected);
    let relaxed =
        fields.replace("websocket\r", "foo, WebSocket\r").replace("n: Upgrade", "n: keep-alive, upgrade");
    assert_eq!(answer(get, &relaxed).unwrap(), expected);
    let (malformed, required) = (Err(UpgradeRefusal::Malformed), Err(UpgradeRefusal::Required));
    let changed = [
        ("Upgrade: websocket\r\n", "", &required),
        ("Upgrade: websocket", "Upgrade: h2c", &required),
        ("Connection: Upgrade", "Connection: keep-alive", &required),
        ("Version: 13", "Version: 8", &required),
        ("Sec-WebSocket-Version: 13\r\n", "", &required),
        ("Host", "X-Host", &malformed),
        ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZ", &malformed),
        ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZXM=", &malformed),
        ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZXNlY3JldHM=", &malformed),
        ("dGhlIHNhbXBsZSBub25jZQ==", "", &malformed),
        ("Origin: ", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: ", &malformed),
    ];
    for (from, to, refusal) in changed {
        assert!(fields.contains(from));
        assert_eq!(&answer(get, &fields.replacen(from, to, 1)), refusal, "{from} -> {to}");
    }
    assert_eq!(answer("POST /chat HTTP/1.1", fields), malformed);
    assert_eq!(answer("GET /chat HTTP/1.0", fields), malformed);
    for refusal in [UpgradeRefusal::Required, UpgradeRefusal::Malformed] {
        let mut input = refusal.response();
        let mut parser = wire::ResponseParser::new();
        while let Some(part) = parser.next(&mut input, false).unwrap() {
            assert_ne!(part, wire::Part::End { keep_alive: true });
        }
        assert!(input.is_empty() && parser.is_idle(), "it is a whole answer");
    }
}

/// A message in fragments, control frames among them: whether it is text, the fragments, and what stands before each.
type Message = (bool, Vec<(Vec<u8>, Option<Vec<u8>>)>);

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let ping = || prop::option::weighted(0.3, prop::collection::vec(any::<u8>(), 0..126));
    let lengths = prop_oneof![4 => 0..40_usize, 1 => 120..131_usize, 1 => 65_530..65_541_usize];
    let binary = lengths.prop_flat_map(|length| prop::collection::vec(any::<u8>(), length..=length));
    let binary = prop::collection::vec((binary, ping()), 1..5).prop_map(|fragments| (false, fragments));
    let text = (".{0,40}", prop::collection::vec((any::<prop::sample::Index>(), ping()), 0..5));
    let text = text.prop_map(|(text, cuts)| {
        let bytes = text.into_bytes();
        let mut cuts: Vec<_> = cuts.into_iter().map(|(at, ping)| (at.index(bytes.len() + 1), ping)).collect();
        cuts.push((bytes.len(), None));
        cuts.sort_by_key(|(at, _)| *at);
        let mut from = 0;
        let fragments = cuts.into_iter().map(|(to, ping)| {
            let fragment = bytes[from..to].to_vec();
            from = to;
            (fragment, ping)
        });
        (true, fragments.collect())
    });
    prop::collection::vec(prop_oneof![binary, text], 0..5)
}

/// The frames of these messages with their pings, and what a client hears of them.
fn frames_of(messages: &[Message]) -> (Vec<Frame>, Vec<Seen>) {
    let (mut frames, mut seen) = (Vec::new(), Vec::new());
    for (is_text, fragments) in messages {
        let whole: Vec<u8> = fragments.iter().flat_map(|(fragment, _)| fragment.clone()).collect();
        let length = (fragments.len() == 1).then_some(whole.len() as u64);
        seen.push(Seen::Head(Head { status: 0, length }));
        if !whole.is_empty() {
            seen.push(Seen::Body(whole));
        }
        seen.push(Seen::End(true));
        for (at, (fragment, ping)) in fragments.iter().enumerate() {
            frames.extend(ping.iter().map(|ping| Frame(0x89, ping.clone())));
            let opcode = if at > 0 { 0 } else { 2 - u8::from(*is_text) };
            let is_final = if at + 1 == fragments.len() { 0x80 } else { 0 };
            frames.push(Frame(is_final | opcode, fragment.clone()));
        }
    }
    (frames, seen)
}

fn bytes_of(frames: &[Frame], mask: Option<[u8; 4]>) -> Vec<u8> {
    frames.iter().flat_map(|frame| frame.bytes(mask)).collect()
}

/// Pieces with these lengths, one after the other, and the rest.
fn pieces<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = bytes.split_at((*length).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![3 => 0..20_usize, 1 => 0..5_000_usize], 0..60)
}

proptest! {
    #[test]
    fn any_fragments_in_any_pieces_are_the_same_messages(messages in messages(), lengths in lengths(), skips: bool) {
        let (frames, seen) = frames_of(&messages);
        let pong = |frame: &Frame| (frame.0 == 0x89).then(|| Frame(0x8a, frame.1.clone()));
        let bytes = bytes_of(&frames, None);
        let outcome = client(OPENED, &pieces(&bytes, &lengths), messages.len(), skips);
        prop_assert_eq!(&outcome.error, &None);
        prop_assert!(outcome.events == seen);
        let pongs: Vec<_> = frames.iter().filter_map(pong).collect();
        prop_assert_eq!(outcome.out, bytes_of(&pongs, Some([0xd7, 0x5b, 0x2e, 0x91])));
        prop_assert!(!outcome.is_closed);
    }

    #[test]
    fn a_server_sends_back_what_it_gets(messages in messages(), lengths in lengths(), mask: [u8; 4]) {
        let (frames, seen) = frames_of(&messages);
        let bytes = bytes_of(&frames, Some(mask));
        let outcome = server(&pieces(&bytes, &lengths));
        prop_assert_eq!(&outcome.error, &None);
        let answer = |frame: &Frame| Frame(if frame.0 == 0x89 { 0x8a } else { frame.0 }, frame.1.clone());
        let answers: Vec<_> = frames.iter().map(answer).collect();
        prop_assert!(outcome.out == bytes_of(&answers, None));
        prop_assert!(client(OPENED, &[&outcome.out], messages.len(), false).events == seen);
    }

    #[test]
    fn text_is_utf8_or_an_error_wherever_it_is_cut(
        parts in prop::collection::vec(prop_oneof![
            4 => ".{0,3}".prop_map(String::into_bytes),
            1 => prop::collection::vec(0x80..=0xff_u8, 1..4),
            1 => prop::sample::select(vec![vec![0xed, 0xa0, 0x80], vec![0xf4, 0x90], vec![0xe0, 0x9f], vec![0xf0, 0x8f]]),
        ], 0..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let text = parts.concat();
        let is_text = std::str::from_utf8(&text).is_ok();
        let mut cuts: Vec<_> = cuts.iter().map(|at| at.index(text.len() + 1)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let fragments: Vec<_> = cuts.windows(2).map(|ends| (text[ends[0]..ends[1]].to_vec(), None)).collect();
        let (frames, _) = frames_of(&[(true, fragments)]);
        let error = (!is_text).then_some(WireError::WebSocket(Text));
        for bytes in [bytes_of(&frames, None), Frame(0x81, text).bytes(None)] {
            for length in 1..8 {
                prop_assert_eq!(client(OPENED, &bytes.chunks(length).collect::<Vec<_>>(), 1, false).error, error);
            }
        }
        let bytes = bytes_of(&frames, Some(MASK));
        prop_assert_eq!(server(&bytes.chunks(3).collect::<Vec<_>>()).error, error);
    }

    #[test]
    fn any_bytes_mean_the_same_however_they_are_cut(
        frames in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..9)), 0..6),
        masked: bool,
        end in prop::collection::vec(any::<u8>(), 0..5),
    ) {
        let frames: Vec<_> = frames.into_iter().map(|(start, payload)| {
            // Mostly frames that may be.
            let start = if start & 0x70 == 0x70 { start } else { start & 0x8b };
            Frame(start, payload)
        }).collect();
        check_websocket(&[bytes_of(&frames, masked.then_some(MASK)), end].concat());
    }
}
