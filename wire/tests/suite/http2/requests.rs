//! Requests that are written as HTTP/1, as HTTP/2 writes them.

use super::*;
use crate::oracle::http2::decode;
use wire::WireError;
use wire::http2::EncodedRequest;
use wire::http2::hpack::HpackDecoder;

/// The fields, one a line, and whether the stream ends with them; read from the frames that are written.
pub fn written(request: &EncodedRequest, announces_table: bool) -> (String, bool) {
    let mut out = settings(&[]);
    request.append_head(&mut out, 0x0102_0305, announces_table);
    let (mut input, mut reader) = (&out[..], FrameReader::default());
    assert!(matches!(reader.next(&mut input), Ok(Some(Frame::Settings(_)))));
    let Ok(Some(Frame::Headers { stream: 0x0102_0305, block, ends_stream })) = reader.next(&mut input) else {
        panic!("not HEADERS");
    };
    assert_eq!((input.len(), block.starts_with(&[0x20])), (0, announces_table));
    let fields = decode(&mut HpackDecoder::default(), block).unwrap().0;
    let line = |(name, value): &(Vec<u8>, Vec<u8>)| {
        format!("{} {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
    };
    (fields.iter().map(line).collect::<Vec<_>>().join("\n"), ends_stream)
}

#[test]
fn fields_that_belong_to_a_connection_go() {
    let request = b"GET /a?b HTTP/1.1\r\nAccept: */*\r\nHost: example.com:81\r\nConnection: keep-alive, X-Mine, TE\r\n\
        Keep-Alive: 5\r\nX-Mine: 1\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\nProxy-Connection: x\r\nTE: trailers\r\nCookie: a=b\r\n\r\n";
    for (is_https, scheme) in [(false, "http"), (true, "https")] {
        let request = EncodedRequest::from_http1(request, is_https).unwrap();
        let expected = format!(
            ":method GET\n:scheme {scheme}\n:authority example.com:81\n:path /a?b\naccept */*\nte trailers\ncookie a=b"
        );
        for announces_table in [false, true] {
            assert_eq!(written(&request, announces_table), (expected.clone(), true));
        }
        assert_eq!(request.body(), b"");
    }
}

#[test]
fn chunks_are_joined() {
    let request = b"POST / HTTP/1.1\r\nHost: h\r\nTE: gzip\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n";
    let request = EncodedRequest::from_http1(request, false).unwrap();
    assert_eq!(
        written(&request, false),
        (":method POST\n:scheme http\n:authority h\n:path /".to_owned(), false)
    );
    assert_eq!(request.body(), b"hello");
}

#[test]
fn a_long_head_takes_several_frames() {
    for length in [16_000, 16_384, 20_000, 40_000, 60_000] {
        // No code is shorter than these bytes.
        let value = "\u{fc}".repeat(length / 2);
        let request = format!("POST /x HTTP/1.1\r\nContent-Length: 2\r\nX: {value}\r\n\r\nhi");
        let request = EncodedRequest::from_http1(request.as_bytes(), false).unwrap();
        let expected = format!(":method POST\n:scheme http\n:path /x\ncontent-length 2\nx {value}");
        for announces_table in [false, true] {
            assert_eq!(written(&request, announces_table), (expected.clone(), false), "{length}");
        }
    }
}

#[test]
fn what_is_no_request_is_refused() {
    let rows: &[(&[u8], WireError)] = &[
        (b"", WireError::Truncated),
        (b"GET / HTTP/1.1\r\n", WireError::Truncated),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhell", WireError::Truncated),
        (b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", WireError::ContentLength),
    ];
    for (request, error) in rows {
        assert_eq!(EncodedRequest::from_http1(request, false), Err(*error));
    }
}
