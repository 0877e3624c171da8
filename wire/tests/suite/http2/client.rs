//! What a client does besides reading one server's bytes: room, windows, cancelled streams, memory.

use super::*;
use wire::http2::{Http2, Http2Shared, RECEIVE_WINDOW};
use wire::{ClientSession, Event, Hearer, RequestBytes};
use wire::{Head, Missing};

/// Keeps the fields that it hears, one a line.
#[derive(Default)]
struct Ears(String);

impl Hearer for Ears {
    const HEARS_FIELDS: bool = true;

    fn is_head(&self, _: usize) -> bool {
        false
    }

    fn field(&mut self, place: usize, name: &[u8], value: &[u8]) {
        let (name, value) = (String::from_utf8_lossy(name), String::from_utf8_lossy(value));
        self.0 += &format!("{place} {name}: {value}\n");
    }
}

/// Hears nothing.
struct Deaf;

impl Hearer for Deaf {
    fn is_head(&self, _: usize) -> bool {
        false
    }
}

/// What a thread shares whose connections send this one request.
fn shared(request: &[u8]) -> Http2Shared {
    Http2::shared(vec![RequestBytes { request, last: request, is_encrypted: false }]).unwrap()
}

/// A client that has begun this number of GETs.
fn begun(count: usize) -> (Http2, Http2Shared, Vec<u8>) {
    let get = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    let (mut client, mut shared, mut out) = (Http2::default(), shared(get), Vec::new());
    client.open(&mut shared, &mut out);
    for _ in 0..count {
        client.begin(&mut shared, 0, false, &mut out);
    }
    out.clear();
    (client, shared, out)
}

type Connection = (Http2, Http2Shared, Vec<u8>);

/// Reads all of it; the events.
fn read<'a>((client, shared, out): &mut Connection, mut bytes: &'a [u8]) -> Vec<Event<'a>> {
    let mut events = Vec::new();
    while let Some(event) = client.next(shared, &mut bytes, out, &mut Deaf).unwrap() {
        events.push(event);
    }
    events
}

#[test]
fn room_is_what_the_server_takes() {
    let mut connection = begun(3);
    assert_eq!(connection.0.room(), 97, "before SETTINGS");
    read(&mut connection, &settings(&[]));
    assert!(connection.0.room() > 1_000_000, "no limit");
    read(&mut connection, &settings(&[(3, 4)]));
    assert_eq!(connection.0.room(), 1);
    read(&mut connection, &settings(&[(3, 1)]));
    assert_eq!(connection.0.room(), 0, "fewer than are open");
    read(&mut connection, &last_head(3, ":status 200"));
    assert_eq!(connection.0.room(), 0);
    read(&mut connection, &[last_head(1, ":status 200"), last_head(5, ":status 200")].concat());
    assert_eq!((connection.0.room(), connection.0.closed()), (1, Ok(None)));
    read(&mut connection, &go_away(5, ErrorCode::NO_ERROR));
    assert_eq!((connection.0.room(), connection.0.is_closing()), (0, true));
}

#[test]
fn windows_are_renewed_when_half_is_used() {
    let mut connection = begun(2);
    let head = [settings(&[]), head(1, ":status 200"), head(3, ":status 200")].concat();
    read(&mut connection, &head);
    connection.2.clear();
    let frames = [frame(kind::DATA, 0, 1, &[0; 16_384]), frame(kind::DATA, 8, 3, &[255; 16_384])];
    let (mut sent, mut renewed) = ([0_u64; 2], [0_u64; 3]);
    while sent[0] < u64::from(RECEIVE_WINDOW) + 100_000 {
        for (frame, sent) in frames.iter().zip(&mut sent) {
            assert!(matches!(read(&mut connection, frame)[..], [Event::Body(..)]));
            *sent += 16_384;
        }
        for (head, payload) in written_frames(&connection.2) {
            assert_eq!(head.kind, kind::WINDOW_UPDATE);
            let increment = u32::from_be_bytes(payload.try_into().unwrap());
            renewed[head.stream as usize / 2 + usize::from(head.stream > 0)] += u64::from(increment);
        }
        connection.2.clear();
        // What the server may still send: it never has to wait.
        for (sent, renewed) in [(sent[0] + sent[1], renewed[0]), (sent[0], renewed[1]), (sent[1], renewed[2])]
        {
            let left = u64::from(RECEIVE_WINDOW) + renewed - sent;
            assert!(left > u64::from(RECEIVE_WINDOW) / 2 - 16_384 && left <= u64::from(RECEIVE_WINDOW));
        }
    }
    assert!(renewed.iter().all(|bytes| *bytes > 0));
}

#[test]
fn the_body_of_a_request_keeps_to_the_windows() {
    let bytes = format!("POST / HTTP/1.1\r\nContent-Length: 200000\r\n\r\n{}", "x".repeat(200_000));
    let (mut client, mut shared, mut out) = (Http2::default(), shared(bytes.as_bytes()), Vec::new());
    client.open(&mut shared, &mut out);
    client.begin(&mut shared, 0, false, &mut out);
    client.begin(&mut shared, 0, true, &mut out);
    assert_eq!([Http2::take_held_back(&mut shared), Http2::take_held_back(&mut shared)], [2, 0]);
    let mut connection = (client, shared, out);
    let mut sent = [0; 2];
    // What the server says, and what it has then received of both.
    let steps = [
        (vec![], [65_535, 0]),
        (settings(&[(4, 70_000)]), [65_535, 0]),
        (window_update(0, 10_000), [70_000, 5_535]),
        (window_update(0, 100_000), [70_000, 70_000]),
        (settings(&[(4, 0)]), [70_000, 70_000]),
        (window_update(1, 70_001), [70_001, 70_000]),
        (settings(&[(4, 70_000), (5, 65_536)]), [105_535, 70_000]),
        (window_update(3, 200_000), [105_535, 70_000]),
        (window_update(0, 1 << 30), [140_001, 200_000]),
        (window_update(1, 1 << 30), [200_000, 200_000]),
    ];
    for (frame, expected) in steps {
        read(&mut connection, &frame);
        for (head, payload) in written_frames(&connection.2) {
            if head.kind == kind::DATA {
                let sent = &mut sent[head.stream as usize / 2];
                *sent += payload.len();
                assert_eq!(head.has(flag::END_STREAM), *sent == 200_000);
            }
        }
        connection.2.clear();
        assert_eq!(sent, expected, "{frame:?}");
    }
}

#[test]
fn cancelled_streams_are_passed_over_but_for_tables_and_windows() {
    let mut connection = begun(3);
    read(&mut connection, &settings(&[]));
    read(&mut connection, &head(3, ":status 200"));
    connection.2.clear();
    assert!(connection.0.cancel(1, &mut connection.2));
    assert_eq!(connection.2, reset(3, ErrorCode::CANCEL));
    // An entry of the table comes on the cancelled stream, and is used on another one.
    let entry = frame(kind::HEADERS, 4, 3, b"\x40\x01a\x01b");
    let user = frame(kind::HEADERS, 5, 5, b"\x88\xbe");
    let frames = [data(3, "hello"), entry, last_data(3, ""), reset(3, ErrorCode::CANCEL), user].concat();
    let expected = [
        Event::Head(1, Head { status: 200, length: Some(0) }),
        Event::End { place: 1, keep_alive: true, is_early: false, failure: None },
    ];
    assert_eq!(read(&mut connection, &frames), expected);
    // Half of what is read, of any stream, is renewed.
    connection.2.clear();
    let frame = frame(kind::DATA, 0, 3, &[0; 16_384]);
    while connection.2.is_empty() {
        assert_eq!(read(&mut connection, &frame), []);
    }
    assert!(connection.2.starts_with(&[0, 0, 4, kind::WINDOW_UPDATE, 0, 0, 0, 0, 0]));
    // Between the head and the end of an answer.
    let mut bytes = &last_head(1, ":status 200")[..];
    let (client, shared, out) = &mut connection;
    assert!(matches!(client.next(shared, &mut bytes, out, &mut Deaf), Ok(Some(Event::Head(0, _)))));
    out.clear();
    assert!(client.cancel(0, out) && out.is_empty(), "the server has ended it already");
    assert_eq!((client.next(shared, &mut bytes, out, &mut Deaf), client.closed()), (Ok(None), Ok(None)));
}

#[test]
fn a_smaller_table_is_answered_once() {
    let mut connection = begun(0);
    let mut first_bytes = |parameters: &[(u16, u32)]| {
        read(&mut connection, &settings(parameters));
        let (client, shared, out) = &mut connection;
        out.clear();
        client.begin(shared, 0, false, out);
        out[FRAME_HEAD_BYTES]
    };
    assert_eq!(first_bytes(&[(1, 4096)]), 0x82);
    assert_eq!(first_bytes(&[(1, 0)]), 0x20);
    assert_eq!(first_bytes(&[]), 0x82);
}

#[test]
fn fields_of_heads_and_trailers_are_heard() {
    let (mut client, mut shared, mut out) = begun(2);
    let frames = [
        settings(&[]),
        head(3, ":status 103\nlink no"),
        head(3, ":status 200\nserver  a b \ndate now"),
        data(3, "x"),
        last_head(3, "grpc-status 0"),
        last_head(1, ":status 200\nx "),
    ]
    .concat();
    let (mut input, mut ears) = (&frames[..], Ears::default());
    while client.next(&mut shared, &mut input, &mut out, &mut ears).unwrap().is_some() {}
    assert_eq!(ears.0, "1 server: a b\n1 date: now\n1 grpc-status: 0\n0 x: \n");
}

#[test]
fn what_is_missing() {
    let mut connection = begun(2);
    read(&mut connection, &settings(&[]));
    assert_eq!(connection.0.missing(), Missing::All);
    read(&mut connection, &head(3, ":status 200"));
    assert_eq!(connection.0.missing(), Missing::All, "of the first");
    read(&mut connection, &head(1, ":status 200\ncontent-length 9"));
    assert_eq!(connection.0.missing(), Missing::Length { announced: 9 });
    read(&mut connection, &last_data(1, "123456789"));
    assert_eq!(connection.0.missing(), Missing::EndOfStream);
}

#[test]
fn a_connection_is_small() {
    assert!(size_of::<Http2>() <= 300, "{}", size_of::<Http2>());
}
