//! HTTP/2: a server's connection. What clients send is put together from frames here.

use super::{data, frame, head, last_data, last_head, reset, settings, window_update};
use crate::oracle::http2_server::{Server, check_http2_server};
use proptest::prelude::*;
use wire::http2::frame::{ErrorCode, PREFACE, flag, kind};
use wire::http2::server::{MAX_OPEN_STREAMS, RECEIVE_WINDOW, ServerShared};

const GET: &str = ":method GET\n:scheme http\n:path /\n:authority h";
const POST: &str = ":method POST\n:scheme http\n:path /\n:authority h";

fn get(stream: u32) -> Vec<u8> {
    last_head(stream, GET)
}

fn get_bytes(stream: u32, length: usize) -> Vec<u8> {
    last_head(stream, &format!(":method GET\n:scheme http\n:path /{length}\n:authority h"))
}

/// What a server tells a client that sends these frames after SETTINGS, in words.
fn told(frames: &[Vec<u8>]) -> String {
    let bytes = [settings(&[]), frames.concat()].concat();
    let mut server = Server::new();
    server.read(&mut ServerShared::default(), &[PREFACE, &bytes].concat());
    server.send_bodies();
    if bytes.len() <= 4096 {
        check_http2_server(&bytes);
    }
    let told = server.told();
    let words = told.iter().skip(1).map(|(stream, word)| match stream {
        0 => word.clone(),
        stream => format!("{stream}: {word}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A field that is written as it is, into the dynamic table, with names in capitals and the like.
fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

/// A GET with these further bytes in its block.
fn get_with(stream: u32, more: &[u8]) -> Vec<u8> {
    let block = [&super::block(GET), more].concat();
    frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, stream, &block)
}

type Case = (&'static str, Vec<Vec<u8>>, &'static str);

#[track_caller]
fn check(cases: Vec<Case>) {
    for (name, frames, expected) in cases {
        assert_eq!(told(&frames), expected, "{name}");
    }
}

#[test]
fn requests_are_answered() {
    check(vec![
        ("one", vec![get(1)], "1: 2 bytes"),
        ("many", vec![get(1), get(3), get(9)], "1: 2 bytes, 3: 2 bytes, 9: 2 bytes"),
        ("a large one", vec![get_bytes(1, 60_000)], "1: 60000 bytes"),
        ("a body", vec![head(1, POST), data(1, "ab"), last_data(1, "c")], "1: 3 bytes"),
        ("an empty body", vec![head(1, POST), last_data(1, "")], "1: no body"),
        (
            "two bodies in turns",
            vec![head(1, POST), head(3, POST), data(1, "a"), last_data(3, "bc"), last_data(1, "d")],
            "1: 2 bytes, 3: 2 bytes",
        ),
        ("trailers", vec![head(1, POST), data(1, "ab"), last_head(1, "x-sum 1")], "1: 2 bytes"),
        (
            "a length that is right",
            vec![head(1, &format!("{POST}\ncontent-length 2")), last_data(1, "ab")],
            "1: 2 bytes",
        ),
        (
            "in pieces",
            vec![
                frame(kind::HEADERS, flag::END_STREAM, 1, &super::block(GET)[..3]),
                frame(kind::CONTINUATION, flag::END_HEADERS, 1, &super::block(GET)[3..]),
            ],
            "1: 2 bytes",
        ),
        ("te: trailers", vec![last_head(1, &format!("{GET}\nte trailers"))], "1: 2 bytes"),
        ("CONNECT", vec![last_head(1, ":method CONNECT\n:authority h:1")], "1: 2 bytes"),
        ("ping", vec![frame(kind::PING, 0, 0, &[7; 8])], "pong"),
        (
            "unknown frames and settings",
            vec![frame(77, 9, 5, b"any"), settings(&[(99, 1)]), get(1)],
            "settings known, 1: 2 bytes",
        ),
    ]);
}

#[test]
fn malformed_requests_end_their_streams_only() {
    const MALFORMED: &str = "1: PROTOCOL_ERROR, 3: 2 bytes";
    let fields = [
        ":method GET\n:scheme http\n:authority h",
        ":method GET\n:path /\n:authority h",
        ":scheme http\n:path /\n:authority h",
        ":method GET\n:method GET\n:scheme http\n:path /\n:authority h",
        ":method GET\n:scheme http\n:path /\n:path /\n:authority h",
        ":method GET\n:scheme http\n:path \n:authority h",
        ":method GET\n:scheme http\n:path /a b\n:authority h",
        ":method GET\n:scheme http\n:path /\nx-a b\n:authority h",
        ":method GET\n:scheme http\n:path /\n:authority h\n:status 200",
        ":method GET\n:scheme http\n:path /\n:authority h\n:own x",
        ":method GET\n:scheme http\n:path /\n:authority h\nhost other",
        ":method CONNECT\n:scheme http\n:path /\n:authority h",
        ":method GET\n:scheme http\n:path /\n:authority h\nconnection close",
        ":method GET\n:scheme http\n:path /\n:authority h\ntransfer-encoding chunked",
        ":method GET\n:scheme http\n:path /\n:authority h\nte gzip",
        ":method GET\n:scheme http\n:path /\n:authority h\ncontent-length 1",
    ];
    for fields in fields {
        assert_eq!(told(&[last_head(1, fields), get(3)]), MALFORMED, "{fields}");
    }
    let literals =
        [("X-Capital", "a"), ("x\0", "a"), ("", "a"), ("x", "a\rb"), ("x", " a"), ("x", "a\t"), ("x", "a\0")];
    for (name, value) in literals {
        assert_eq!(told(&[get_with(1, &literal(name, value)), get(3)]), MALFORMED, "{name:?} {value:?}");
    }
    check(vec![
        (
            "a body that is too short",
            vec![head(1, &format!("{POST}\ncontent-length 3")), last_data(1, "ab"), get(3)],
            MALFORMED,
        ),
        (
            "a body that is too long",
            vec![head(1, &format!("{POST}\ncontent-length 1")), data(1, "ab"), get(3)],
            MALFORMED,
        ),
        ("trailers that do not end", vec![head(1, POST), head(1, "x-sum 1"), get(3)], MALFORMED),
        ("trailers with a path", vec![head(1, POST), last_head(1, ":path /"), get(3)], MALFORMED),
        ("a window of 0 more", vec![head(1, POST), window_update(1, 0), get(3)], MALFORMED),
        (
            "too wide a window",
            vec![head(1, POST), window_update(1, (1 << 31) - 1), get(3)],
            "1: FLOW_CONTROL_ERROR, 3: 2 bytes",
        ),
        (
            "DATA behind the end",
            vec![get(1), data(1, "ab"), get(3)],
            "1: 2 bytes, 1: STREAM_CLOSED, 3: 2 bytes",
        ),
        (
            "DATA on its way to a stream that was reset",
            vec![last_head(1, ":method GET"), data(1, "a"), last_head(1, "x y"), get(3)],
            "1: PROTOCOL_ERROR, 1: STREAM_CLOSED, 3: 2 bytes",
        ),
    ]);
}

/// A field of 4,000 bytes that goes into the table, and a byte for each time that it comes again.
fn growing(times: usize) -> Vec<u8> {
    [&[0x40, 1, b'x', 0x7f, 0x80 + 33, 0x1e][..], &[b'v'; 4000], &vec![0xbe; times]].concat()
}

#[test]
fn fields_that_are_too_much_cost_their_request_and_no_other() {
    // Refers to the field that came with the request before.
    let again = |stream| get_with(stream, &[0xbe]);
    let trailers = |stream, fields: &[u8]| frame(kind::HEADERS, 5, stream, fields);
    let many = literal("x", "y").repeat(200);
    check(vec![
        ("many", vec![get_with(1, &many), get(3)], "1: 7 bytes, 3: 2 bytes"),
        ("long", vec![get_with(1, &growing(50)), again(3)], "1: 7 bytes, 3: 2 bytes"),
        (
            "with a body",
            vec![
                frame(kind::HEADERS, flag::END_HEADERS, 1, &[super::block(POST), many.clone()].concat()),
                data(1, "x"),
                last_data(1, "y"),
                get(3),
            ],
            "3: 2 bytes, 1: 7 bytes",
        ),
        ("behind a body", vec![head(1, POST), trailers(1, &many), get(3)], "1: PROTOCOL_ERROR, 3: 2 bytes"),
    ]);
}

#[test]
fn clients_that_misbehave_are_told_and_left() {
    let goaway = |last, code: &str| -> &'static str { format!("GOAWAY {last} {code}").leak() };
    let [protocol, size, flow] =
        ["PROTOCOL_ERROR", "FRAME_SIZE_ERROR", "FLOW_CONTROL_ERROR"].map(|code| goaway(0, code));
    let calm = "ENHANCE_YOUR_CALM";
    check(vec![
        ("an even stream", vec![get(2)], protocol),
        ("stream 0", vec![get(0)], protocol),
        ("DATA on an idle stream", vec![data(1, "x")], protocol),
        ("DATA on the connection", vec![data(0, "x")], protocol),
        ("RST_STREAM of an idle stream", vec![reset(1, ErrorCode::CANCEL)], protocol),
        ("WINDOW_UPDATE on an idle stream", vec![window_update(1, 1)], protocol),
        ("WINDOW_UPDATE of 0", vec![window_update(0, 0)], protocol),
        ("too wide a window", vec![window_update(0, (1 << 31) - 1)], flow),
        ("a lower stream", vec![get(3), get(1)], "3: 2 bytes, GOAWAY 3 PROTOCOL_ERROR"),
        ("a stream twice", vec![get(1), get(1)], "1: 2 bytes, GOAWAY 1 STREAM_CLOSED"),
        ("PUSH_PROMISE", vec![frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0; 4])], protocol),
        ("CONTINUATION of nothing", vec![frame(kind::CONTINUATION, flag::END_HEADERS, 1, b"")], protocol),
        (
            "a frame within a block",
            vec![frame(kind::HEADERS, 0, 1, b""), frame(kind::PING, 0, 0, &[0; 8])],
            protocol,
        ),
        ("a ping of 7 bytes", vec![frame(kind::PING, 0, 0, &[0; 7])], size),
        ("too long a frame", vec![frame(77, 0, 0, &[0; 16_385])], size),
        ("SETTINGS of 5 bytes", vec![frame(kind::SETTINGS, 0, 0, &[0; 5])], size),
        ("too large an initial window", vec![settings(&[(4, 1 << 31)])], flow),
        ("too small frames", vec![settings(&[(5, 16_383)])], protocol),
        (
            "an index that no table has",
            vec![frame(kind::HEADERS, 5, 1, &[0xff, 0x7f])],
            goaway(0, "COMPRESSION_ERROR"),
        ),
        ("fields that grow in the table", vec![get_with(1, &growing(70))], goaway(0, calm)),
        (
            "fields without end",
            (0..20)
                .map(|at| {
                    frame(if at == 0 { kind::HEADERS } else { kind::CONTINUATION }, 0, 1, &[0x82; 16_384])
                })
                .collect(),
            goaway(0, calm),
        ),
        (
            "a flood of CONTINUATION",
            [vec![frame(kind::HEADERS, 0, 1, b"")], vec![frame(kind::CONTINUATION, 0, 1, b""); 99]].concat(),
            goaway(0, calm),
        ),
    ]);
}

#[test]
fn floods_are_ended() {
    let calm = |frames: Vec<Vec<u8>>| {
        let told = told(&frames);
        assert!(told.ends_with("ENHANCE_YOUR_CALM"), "{}", &told[told.len().saturating_sub(60)..]);
    };
    calm(vec![frame(kind::PING, 0, 0, &[0; 8]); 5_000]);
    calm(vec![settings(&[]); 5_000]);
    calm(vec![frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 9, 1]); 5_000]);
    calm([vec![head(1, POST)], vec![data(1, ""); 5_000]].concat());
    // Rapid resets: large answers, none of which is waited for.
    let gives_up = |n: u32| [get_bytes(2 * n + 1, 1 << 20), reset(2 * n + 1, ErrorCode::CANCEL)];
    let without_window = vec![settings(&[(4, 0)])];
    calm(
        [
            without_window,
            (0..5_000).flat_map(|n| [head(2 * n + 1, POST), reset(2 * n + 1, ErrorCode::CANCEL)]).collect(),
        ]
        .concat(),
    );
    let told = told(&(0..500).flat_map(gives_up).collect::<Vec<_>>());
    assert_eq!(told, "", "some may be given up");
}

#[test]
fn more_streams_than_allowed_are_refused_and_windows_are_returned() {
    let all = MAX_OPEN_STREAMS as u32;
    let mut frames: Vec<_> = (0..=all).map(|n| head(2 * n + 1, POST)).collect();
    assert_eq!(told(&frames), format!("{}: REFUSED_STREAM", 2 * all + 1));
    frames.extend([last_data(1, ""), get(2 * all + 3)]);
    assert!(told(&frames).ends_with(&format!("1: no body, {}: 2 bytes", 2 * all + 3)));
    // More than a window's bytes, but never more at once: the windows follow.
    let piece = "x".repeat(16_000);
    let body = [vec![head(1, POST)], vec![data(1, &piece); 100], vec![last_data(1, "")]].concat();
    let windowed = [settings(&[(4, 1 << 30)]), window_update(0, 1 << 30)];
    assert!(told(&[&windowed[..], &body].concat()).ends_with("1: 1600000 bytes"));
    const { assert!(RECEIVE_WINDOW < 1_600_000) };
}

#[test]
fn bodies_keep_to_the_windows_and_take_turns() {
    let mut server = Server::new();
    let mut shared = ServerShared::default();
    let first = [
        PREFACE,
        &settings(&[(4, 40_000)]),
        &get_bytes(1, 100_000),
        &get_bytes(3, 100_000),
        &get_bytes(5, 5),
    ]
    .concat();
    server.read(&mut shared, &first);
    server.send_bodies();
    assert_eq!(
        server.told(),
        [(0, "settings known".to_owned()), (5, "5 bytes".to_owned())],
        "the small one does not wait"
    );
    let lengths = |server: &Server, stream: u32| -> Vec<usize> {
        let frames = crate::oracle::http2::written_frames(&server.written);
        let of = frames.iter().filter(|(head, _)| head.kind == kind::DATA && head.stream == stream);
        of.map(|(_, payload)| payload.len()).collect()
    };
    // 65,535 for the connection, of which 5 are gone, in turns of a frame.
    assert_eq!(lengths(&server, 1), [16_384, 16_384]);
    assert_eq!(lengths(&server, 3), [16_384, 16_378]);
    // A smaller window may be below what was sent (RFC 9113 section 6.9.2): nothing leaves until it is above 0 again.
    let more = [window_update(0, 1 << 20), settings(&[(4, 10_000)]), window_update(1, 22_768)].concat();
    server.read(&mut shared, &more);
    server.send_bodies();
    assert_eq!(lengths(&server, 1).iter().sum::<usize>(), 32_768);
    server.read(&mut shared, &window_update(1, 1));
    server.send_bodies();
    assert_eq!(lengths(&server, 1).last(), Some(&1));
}

#[test]
fn a_request_that_came_before_is_not_read_again_unless_its_bytes_mean_something_else() {
    let mut shared = ServerShared::default();
    let serve = |shared: &mut _, frames: &[Vec<u8>]| {
        let mut server = Server::new();
        server.read(shared, &[PREFACE, &settings(&[]), &frames.concat()].concat());
        let routes: Vec<String> = server.seen.iter().map(|(_, route)| route.clone()).collect();
        (server.looks, routes)
    };
    let fixed = "GET / host=h".to_owned();
    assert_eq!(serve(&mut shared, &[get(1), get(3), get(5)]), (1, vec![fixed.clone(); 3]));
    assert_eq!(serve(&mut shared, &[get(1)]), (0, vec![fixed.clone()]), "on another connection, too");
    // A field in the table, by which the same bytes mean something else on each connection.
    let insert = |value: &str| {
        let mut block = super::block(":method GET\n:scheme http\n:path /");
        block.extend_from_slice(&[0x40, 1, b'x', value.len() as u8]);
        block.extend_from_slice(value.as_bytes());
        block
    };
    let request =
        |stream, block: &[u8]| frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, stream, block);
    let mut uses = super::block(":method GET\n:scheme http\n:path /");
    uses.push(0xbe);
    for value in ["one", "two", "two", "one"] {
        let frames = [request(1, &insert(value)), request(3, &uses), request(5, &uses), request(7, &uses)];
        assert_eq!(serve(&mut shared, &frames), (2, vec![format!("GET / x={value}"); 4]));
    }
    let frames = [
        request(1, &insert("one")),
        request(3, &uses),
        request(5, &insert("two")),
        request(7, &uses),
        request(9, &uses),
    ];
    let (_, routes) = serve(&mut shared, &frames);
    assert_eq!(routes, ["one", "one", "two", "two", "two"].map(|value| format!("GET / x={value}")));
    // With a body it is another request.
    assert_eq!(
        serve(&mut shared, &[get(1), head(3, GET), last_data(3, "b")]).1[1..],
        [fixed, "b".to_owned()]
    );
}

proptest! {
    #[test]
    fn whatever_windows_a_client_grants_every_body_comes_whole_and_none_is_exceeded(
        lengths in prop::collection::vec(0_usize..200_000, 1..12),
        grants in prop::collection::vec((0_usize..12, 1_u32..70_000), 0..60),
        initial in 0_u32..70_000,
    ) {
        let (mut server, mut shared) = (Server::new(), ServerShared::default());
        let asks: Vec<u8> = lengths.iter().zip(0..).flat_map(|(length, n)| get_bytes(2 * n + 1, *length)).collect();
        server.read(&mut shared, &[PREFACE, &settings(&[(4, initial)]), &asks].concat());
        let mut allowed = vec![u64::from(initial); lengths.len()];
        let mut of_all = 65_535_u64;
        let last = lengths.iter().enumerate().map(|(n, length)| (n + 1, *length as u32 + 1));
        let end = [(0, 1 << 30)].into_iter().chain(last);
        for (at, increment) in grants.into_iter().filter(|(at, _)| *at <= lengths.len()).chain(end) {
            let stream = if at == 0 { 0 } else { 2 * at as u32 - 1 };
            server.read(&mut shared, &window_update(stream, increment));
            server.send_bodies();
            if at == 0 { of_all += u64::from(increment) } else { allowed[at - 1] += u64::from(increment) }
            let mut sent = vec![0_u64; lengths.len()];
            for (head, payload) in crate::oracle::http2::written_frames(&server.written) {
                if head.kind == kind::DATA {
                    sent[head.stream as usize / 2] += payload.len() as u64;
                }
            }
            prop_assert!(sent.iter().sum::<u64>() <= of_all);
            prop_assert!(sent.iter().zip(&allowed).all(|(sent, allowed)| sent <= allowed));
        }
        for (n, length) in lengths.iter().enumerate() {
            let expected = if *length == 0 { "no body".to_owned() } else { format!("{length} bytes") };
            prop_assert!(server.told().contains(&(2 * n as u32 + 1, expected)));
        }
        prop_assert!(server.session.is_idle() && server.error.is_none());
    }

    #[test]
    fn any_frames_are_survived_however_they_are_cut(
        frames in prop::collection::vec((0_u8..11, any::<u8>(), 0_u32..8, prop::collection::vec(any::<u8>(), 0..40)), 0..12),
    ) {
        let frames: Vec<u8> = frames.iter().flat_map(|(kind, flags, stream, payload)| match kind {
            10 => get(*stream),
            1 => head(*stream, POST),
            kind => frame(*kind, *flags, *stream, payload),
        }).collect();
        check_http2_server(&[settings(&[]), frames].concat());
    }
}

#[test]
fn a_preface_in_pieces_is_one_and_another_text_is_none() {
    for wrong in ["PRI * HTTP/2.0\r\n\r\nSX\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
        let mut server = Server::new();
        server.read(&mut ServerShared::default(), wrong.as_bytes());
        assert_eq!(server.error, Some(ErrorCode::PROTOCOL_ERROR));
    }
}
