//! Requests as the reference server reads them.

use proptest::prelude::*;
use wire::{MAX_HEAD_BYTES, MAX_HEAD_FIELDS, MAX_TARGET_BYTES};
use wire::{Request, RequestHead, RequestParser, WireError};

fn read(pieces: &[&[u8]]) -> Result<Vec<Request<String>>, WireError> {
    let (mut parser, mut seen) = (RequestParser::new(), Vec::new());
    for piece in pieces {
        let mut input = *piece;
        while let Some(request) =
            parser.next(&mut input, |head| format!("{} {}", head.method, head.target))?
        {
            seen.push(request);
        }
    }
    Ok(seen)
}

const PIPELINE: &[u8] = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz\
    PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nGET /d HTTP/1.0\r\n\r\n";

#[test]
fn a_pipeline_is_read_in_order() {
    let seen = read(&[PIPELINE]).unwrap();
    let routes: Vec<&str> = seen.iter().map(|r| r.route.as_str()).collect();
    assert_eq!(routes, ["GET /a", "POST /b", "PUT /c", "GET /d"]);
    assert_eq!(
        seen.iter().map(|r| (r.keep_alive, r.http10)).collect::<Vec<_>>()[2..],
        [(true, false), (false, true)]
    );
}

/// The first request, and the fields that were seen of it.
fn fields(bytes: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let see = |head: &RequestHead<'_>| {
        assert_eq!((head.method, head.target, head.minor), ("GET", "/x?y", 1));
        head.fields().map(|(name, value)| (name.to_owned(), text(value))).collect::<Vec<_>>()
    };
    RequestParser::new().next(&mut &bytes[..], see).unwrap().unwrap().route
}

#[test]
fn the_whole_head_is_shown() {
    let seen = fields(b"GET /x?y HTTP/1.1\r\nHost: h\r\nRANGE:  bytes=0-1 \r\nrange:\r\n\r\n");
    let expected = [("Host", "h"), ("RANGE", "bytes=0-1"), ("range", "")];
    assert_eq!(seen, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn between_two_requests_a_parser_is_idle() {
    let mut parser = RequestParser::new();
    let mut is_idle_after = |mut bytes: &[u8]| {
        while parser.next(&mut bytes, |_| ()).unwrap().is_some() {}
        parser.is_idle()
    };
    assert!(is_idle_after(b"GET / HTTP/1.1\r\n\r\n"));
    assert!(!is_idle_after(b"POST / HTTP"));
    assert!(!is_idle_after(b"/1.1\r\nContent-Length: 2\r\n\r\nx"));
    assert!(is_idle_after(b"y"));
    assert!(!is_idle_after(b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"));
    assert!(is_idle_after(b"\r\n"));
}

#[test]
fn what_is_too_long_or_of_another_time_is_told_apart() {
    let long = "x".repeat(MAX_TARGET_BYTES);
    let with_target = |target: &str| read(&[format!("GET /{target} HTTP/1.1\r\n\r\n").as_bytes()]);
    assert_eq!(with_target(&long[1..]).unwrap().len(), 1);
    assert_eq!(with_target(&long), Err(WireError::TargetTooLong));
    let endless = "x".repeat(MAX_HEAD_BYTES);
    assert_eq!(read(&[b"GET /", endless.as_bytes()]), Err(WireError::TargetTooLong));
    assert_eq!(read(&[b"GET / HTTP/1.1\r\nA: ", endless.as_bytes()]), Err(WireError::HeadTooLong));
    let many = "A: b\r\n".repeat(MAX_HEAD_FIELDS + 1);
    assert_eq!(read(&[format!("GET / HTTP/1.1\r\n{many}\r\n").as_bytes()]), Err(WireError::TooManyFields));
    assert_eq!(read(&[b"GET / HTTP/2.0\r\n\r\n"]), Err(WireError::Version));
    for bad in [&b"GET / nonsense\r\n\r\n"[..], b"GET /a b HTTP/1.1\r\n\r\n"] {
        assert!(matches!(read(&[bad]), Err(WireError::Head(_))));
    }
}

/// RFC 9112 section 6.1: what comes after such a request could be the smuggled part of it.
#[test]
fn a_request_that_is_framed_twice_is_the_last_of_its_connection() {
    let body = "1\r\nx\r\n0\r\n\r\n";
    let coded = |version: &str, fields: &str| {
        let head = format!("PUT / HTTP/{version}\r\n{fields}Transfer-Encoding: chunked\r\n\r\n{body}");
        read(&[head.as_bytes()]).unwrap()[0].keep_alive
    };
    assert!(coded("1.1", ""));
    assert!(!coded("1.1", "Content-Length: 3\r\n"));
    assert!(!coded("1.0", "Connection: keep-alive\r\n"));
}

#[test]
fn a_request_may_wait_for_leave_to_send_its_body() {
    let expects = |head: &str| read(&[head.as_bytes()]).unwrap()[0].expects_continue;
    assert!(expects("PUT / HTTP/1.1\r\nContent-Length: 3\r\nexpect: 100-Continue\r\n\r\n"));
    assert!(expects("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"));
    // Nothing to wait for (RFC 9110 section 10.1.1).
    assert!(!expects("PUT / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n"));
    assert!(!expects("PUT / HTTP/1.1\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n"));
    assert!(!expects("PUT / HTTP/1.0\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
    assert!(!expects("PUT / HTTP/1.1\r\nContent-Length: 3\r\nExpect: other\r\n\r\n"));
}

/// Found by fuzzing: whether this was malformed or of another version depended on how it was cut.
#[test]
fn another_version_is_one_wherever_its_line_is_cut() {
    let line = b"GET /x HTTP/0.1 and more\r\n";
    for cut in 0..line.len() {
        assert_eq!(read(&[&line[..cut], &line[cut..]]), Err(WireError::Version), "{cut}");
    }
}

proptest! {
    #[test]
    fn any_split_gives_the_same_requests(cuts in prop::collection::vec(0..PIPELINE.len(), 0..8)) {
        let mut cuts: Vec<usize> = cuts.into_iter().chain([0, PIPELINE.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &PIPELINE[w[0]..w[1]]).collect();
        prop_assert_eq!(read(&pieces), read(&[PIPELINE]));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&[&[b"POST / HTTP/1.1\r\n", &bytes[..]].concat()]);
        let _ = read(&[&bytes]);
    }
}
