//! Any split of any valid answer gives the same events; what is not HTTP is refused, never a panic.

use proptest::prelude::*;
use wire::{Head, MAX_HEAD_BYTES, Part, ResponseParser, WireError};

/// An answer as events: heads, joined bodies, ends.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Head(Head),
    Body(Vec<u8>),
    End(bool),
}

fn read(pieces: &[&[u8]], close: bool, head_only: bool) -> Result<Vec<Seen>, WireError> {
    let (mut parser, mut seen) = (ResponseParser::new(), Vec::new());
    for piece in pieces {
        let mut input = *piece;
        while let Some(event) = parser.next(&mut input, head_only)? {
            match event {
                Part::Head(head) => seen.push(Seen::Head(head)),
                Part::Body(bytes) => match seen.last_mut() {
                    Some(Seen::Body(body)) => body.extend_from_slice(bytes),
                    _ => seen.push(Seen::Body(bytes.to_vec())),
                },
                Part::End { keep_alive } => seen.push(Seen::End(keep_alive)),
            }
        }
        assert!(input.is_empty(), "a parser that wants more has used all it was given");
    }
    if close && let Some(Part::End { keep_alive }) = parser.closed()? {
        seen.push(Seen::End(keep_alive));
    }
    Ok(seen)
}

/// One valid answer and the events that it stands for; `true`: it ends when the peer closes.
fn answer() -> impl Strategy<Value = (Vec<u8>, Vec<Seen>, bool)> {
    let field = ("[A-Z][a-z]{1,8}-[A-Z][a-z]{1,6}", "[ -~]{0,20}");
    let status = prop_oneof![Just(200_u16), Just(404), Just(503), Just(204), Just(304)];
    let body = prop::collection::vec(any::<u8>(), 0..300);
    (status, prop::collection::vec(field, 0..6), body, 0..3_usize, any::<bool>(), 1..40_usize, any::<bool>())
        .prop_map(|(status, fields, body, framing, informed, chunk, close)| {
            let mut bytes = Vec::new();
            if informed {
                bytes.extend_from_slice(
                    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
                );
            }
            bytes.extend_from_slice(format!("HTTP/1.1 {status} Some Reason\r\n").as_bytes());
            for (name, value) in fields {
                bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
            }
            if close {
                bytes.extend_from_slice(b"Connection: close\r\n");
            }
            let bodiless = status == 204 || status == 304;
            let (length, mut until_close) = match framing {
                0 => {
                    bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
                    (Some(body.len() as u64), false)
                }
                1 => {
                    bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                    (None, false)
                }
                _ => {
                    bytes.extend_from_slice(b"\r\n");
                    (None, true)
                }
            };
            until_close &= !bodiless;
            if !bodiless && framing == 1 {
                for part in body.chunks(chunk) {
                    bytes.extend_from_slice(format!("{:X};e=1\r\n", part.len()).as_bytes());
                    bytes.extend_from_slice(part);
                    bytes.extend_from_slice(b"\r\n");
                }
                bytes.extend_from_slice(b"0\r\nTrail: er\r\n\r\n");
            } else if !bodiless {
                bytes.extend_from_slice(&body);
            }
            let length = if bodiless { Some(0) } else { length };
            let mut seen = vec![Seen::Head(Head { status, length })];
            if !bodiless && !body.is_empty() {
                seen.push(Seen::Body(body));
            }
            seen.push(Seen::End(!close && !until_close));
            (bytes, seen, until_close)
        })
}

proptest! {
    #[test]
    fn any_split_of_valid_answers_gives_the_same_events(
        answers in prop::collection::vec(answer(), 1..4),
        cuts in prop::collection::vec(0..2000_usize, 0..12),
    ) {
        let (mut bytes, mut expected, mut until_close) = (Vec::new(), Vec::new(), false);
        for (answer, seen, closes) in answers {
            if until_close { break; }
            bytes.extend(answer);
            expected.extend(seen);
            until_close = closes;
        }
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c % (bytes.len() + 1)).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
        prop_assert_eq!(read(&pieces, true, false), Ok(expected.clone()));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(read(&single, true, false), Ok(expected));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), start in 0..3_usize) {
        let start = ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"][start];
        let whole = [start.as_bytes(), &bytes].concat();
        let _ = read(&[&whole], true, false);
    }

    #[test]
    fn a_cut_answer_is_truncated_not_whole(answer in answer(), keep in 0.0..1.0_f64) {
        let (bytes, expected, until_close) = answer;
        let cut = (bytes.len() as f64 * keep) as usize;
        match read(&[&bytes[..cut]], true, false) {
            Ok(seen) if until_close => prop_assert!(seen.len() <= expected.len()),
            Ok(seen) => prop_assert!(seen != expected),
            Err(error) => prop_assert_eq!(error, WireError::Truncated),
        }
    }
}

#[test]
fn an_answer_to_head_has_no_body() {
    let bytes =
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let one = [Seen::Head(Head { status: 200, length: Some(0) }), Seen::End(true)];
    assert_eq!(read(&[bytes], false, true).unwrap(), [one.clone(), one].concat());
}

#[test]
fn the_version_and_the_connection_field_decide_what_becomes_of_the_connection() {
    let cases = [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "connection: Foo, CLOSE\r\n", false),
        ("1.0", "", false),
        ("1.0", "Connection: Keep-Alive\r\n", true),
        ("1.0", "Connection: close, keep-alive\r\n", false),
        ("1.0", "Connection: keep-alive, close\r\n", false),
        ("1.0", "Connection: close\r\nConnection: keep-alive\r\n", false),
        ("1.1", "Connection: close, keep-alive\r\n", false),
    ];
    for (version, field, alive) in cases {
        let bytes = format!("HTTP/{version} 200 OK\r\n{field}Content-Length: 0\r\n\r\n");
        assert_eq!(
            read(&[bytes.as_bytes()], false, false).unwrap().last(),
            Some(&Seen::End(alive)),
            "{bytes}"
        );
    }
}

#[test]
fn what_frames_a_message_twice_or_badly_is_refused() {
    for length in [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: -1",
        "Content-Length: +5",
        "Content-Length: 5 5",
        "Content-Length:",
        "Content-Length: 99999999999999999999",
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{length}\r\n\r\n");
        assert_eq!(read(&[bytes.as_bytes()], false, false), Err(WireError::ContentLength), "{length}");
    }
    let both =
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    let seen = [Seen::Head(Head { status: 200, length: None }), Seen::Body(b"x".to_vec()), Seen::End(false)];
    assert_eq!(read(&[both], false, false).unwrap(), seen, "the transfer coding overrides the length");
}

#[test]
fn what_is_not_http_is_refused() {
    let bad: [(&[u8], WireError); 4] = [
        (b"hello\r\n\r\n", WireError::NotHttp),
        (b"\0\0\0\0", WireError::NotHttp),
        (b"\x15\x03\x01\0\x02\x02\x46", WireError::Tls),
        (b"\0\0\x12\x04\0\0\0\0\0", WireError::Http2),
    ];
    for (bytes, error) in bad {
        assert_eq!(read(&[bytes], false, false), Err(error), "{}", String::from_utf8_lossy(bytes));
    }
    // A line that ends before it is known whether it begins a frame of HTTP/2.
    for bytes in [&b"\0\0\n\x02"[..], b"\0\0\n\x04\0\0\0\0\0", b"\0\0\nHTTP/1.1 200 OK\r\n\r\n"] {
        for cut in 0..bytes.len() {
            let (start, rest) = bytes.split_at(cut);
            assert_eq!(read(&[start, rest], false, false), Err(WireError::NotHttp), "{bytes:?} {cut}");
        }
    }
    assert!(matches!(read(&[b"HTTP/2 200\r\n\r\n"], false, false), Err(WireError::Head(_))));
    assert_eq!(read(&[b"HTTP/1.1 101 Switching Protocols\r\n\r\n"], false, false), Err(WireError::Upgrade));
}

#[test]
fn a_head_without_end_is_bounded() {
    let line = [b'a'; 1000];
    let mut pieces: Vec<&[u8]> = vec![b"HTTP/1.1 200 OK\r\nX: "];
    pieces.extend(std::iter::repeat_n(&line[..], MAX_HEAD_BYTES / 1000 + 2));
    assert_eq!(read(&pieces, false, false), Err(WireError::HeadTooLong));
    let many: String = (0..200).map(|i| format!("F{i}: x\r\n")).collect();
    let bytes = format!("HTTP/1.1 200 OK\r\n{many}\r\n");
    assert_eq!(read(&[bytes.as_bytes()], false, false), Err(WireError::TooManyFields));
}

/// RFC 9112 section 6.1: a message that is framed twice, and a coding in HTTP/1.0, end the connection.
#[test]
fn ambiguous_framing_ends_the_connection() {
    let body = "1\r\nx\r\n0\r\n\r\n";
    let cases = [
        ("1.1", "Transfer-Encoding: chunked\r\n", false),
        ("1.1", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", true),
        ("1.1", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", true),
        ("1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n", true),
    ];
    for (version, fields, is_ambiguous) in cases {
        let bytes = format!("HTTP/{version} 200 OK\r\n{fields}\r\n{body}");
        let (mut parser, mut input, mut end) = (ResponseParser::new(), bytes.as_bytes(), None);
        while let Some(event) = parser.next(&mut input, false).unwrap() {
            if let Part::End { keep_alive } = event {
                end = Some(keep_alive);
            }
        }
        assert_eq!(end, Some(!is_ambiguous), "{bytes}");
    }
}

#[test]
fn a_body_of_more_bytes_than_32_bits_count_is_read_to_its_end() {
    const LENGTH: u64 = (1 << 32) + 5;
    let piece = vec![b'x'; 1 << 20];
    for (framing, end) in [
        (format!("Content-Length: {LENGTH}\r\n\r\n"), ""),
        (format!("Transfer-Encoding: chunked\r\n\r\n{LENGTH:x}\r\n"), "\r\n0\r\n\r\n"),
    ] {
        let (mut parser, mut seen) = (ResponseParser::new(), 0);
        let mut take = |mut input: &[u8]| {
            let mut has_ended = false;
            while let Some(event) = parser.next(&mut input, false).unwrap() {
                match event {
                    Part::Head(_) => {}
                    Part::Body(bytes) => seen += bytes.len() as u64,
                    Part::End { keep_alive } => has_ended = keep_alive,
                }
            }
            (seen, has_ended)
        };
        take(format!("HTTP/1.1 200 OK\r\n{framing}").as_bytes());
        for _ in 0..LENGTH >> 20 {
            assert!(!take(&piece).1, "{framing}");
        }
        take(b"xxxx");
        assert_eq!(take(format!("x{end}").as_bytes()), (LENGTH, true), "{framing}");
    }
}

#[test]
fn the_size_of_a_chunk_has_at_most_sixteen_digits() {
    let chunked = |size: &str| {
        let bytes = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\nx\r\n0\r\n\r\n");
        read(&[bytes.as_bytes()], false, false).map(|seen| seen.len())
    };
    assert_eq!(chunked("0000000000000001"), Ok(3));
    assert_eq!(chunked("00000000000000001"), Err(WireError::ChunkSize));
    assert_eq!(chunked("10000000000000000"), Err(WireError::ChunkSize));
    let endless = "0".repeat(1000);
    assert_eq!(chunked(&endless), Err(WireError::ChunkSize));
}

#[test]
fn a_head_that_came_before_is_known_and_one_that_differs_in_a_byte_is_not() {
    let answers: [&[u8]; 5] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes",
        b"HTTP/1.1 404 No\r\nContent-Length: 3\r\n\r\nyes",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nend",
    ];
    let mut last = wire::LastHead::default();
    for answer in answers.into_iter().chain(answers).chain([answers[0]; 3]) {
        let (mut parser, mut input, mut seen) = (ResponseParser::new(), answer, Vec::new());
        while let Some(event) = parser.next_after(&mut input, false, &mut last).unwrap() {
            seen.push(match event {
                Part::Head(head) => Seen::Head(head),
                Part::Body(bytes) => Seen::Body(bytes.to_vec()),
                Part::End { keep_alive } => Seen::End(keep_alive),
            });
        }
        assert_eq!(seen, read(&[answer], false, false).unwrap());
    }
}

#[test]
fn the_fields_of_the_answer_are_told_and_not_those_of_interim_ones() {
    let bytes = b"HTTP/1.1 103 Hints\r\nContent-Type: a/b\r\n\r\nHTTP/1.1 200 OK\r\nX:\r\nContent-Length:  0 \r\n\r\n";
    for cut in 1..bytes.len() {
        let (mut parser, mut told) = (ResponseParser::new(), Vec::new());
        for mut piece in [&bytes[..cut], &bytes[cut..]] {
            let mut tell = |name: &str, value: &[u8]| told.push((name.to_owned(), value.to_vec()));
            while parser.next_with(&mut piece, false, &mut tell).unwrap().is_some() {}
        }
        let expected = [("X".to_owned(), b"".to_vec()), ("Content-Length".to_owned(), b"0".to_vec())];
        assert_eq!(told, expected, "cut at {cut}");
    }
}
