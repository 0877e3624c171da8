//! Servers that misbehave: each breaks one rule of RFC 9113 or RFC 7541, or does too much of what is allowed, and each has a cause.

use super::*;

fn ok() -> Vec<u8> {
    head(1, ":status 200\ncontent-length 5")
}

/// SETTINGS, then these frames.
fn after_settings(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    std::iter::once(settings(&[])).chain(frames).collect()
}

macro_rules! rows {
    ($($name:literal: [$($frame:expr),* $(,)?] => $expected:literal,)*) => {
        vec![$(($name, after_settings([$($frame),*]), $expected),)*]
    };
}

#[test]
fn first_bytes() {
    let rows: Vec<Row> = vec![
        (
            "HTTP/1",
            vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()],
            "the server answers in HTTP/1: it does not speak HTTP/2 without TLS",
        ),
        (
            "TLS",
            vec![b"\x15\x03\x01\0\x02\x02F".to_vec()],
            "the server speaks TLS: write https:// in the URL",
        ),
        (
            "something else",
            vec![b"SSH-2.0-OpenSSH".to_vec()],
            "HTTP/2: the first frame is not SETTINGS (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        ),
        (
            "nothing",
            vec![],
            "the server closed the connection without a word of HTTP/2, which it may not speak without TLS",
        ),
        (
            "no SETTINGS",
            vec![ok()],
            "HTTP/2: the first frame is not SETTINGS (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        ),
        (
            "PING first",
            vec![frame(kind::PING, 0, 0, &[0; 8])],
            "HTTP/2: the first frame is not SETTINGS (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        ),
        (
            "an answer to SETTINGS first",
            vec![frame(kind::SETTINGS, flag::ACK, 0, &[])],
            "HTTP/2: the first frame is not SETTINGS (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        ),
        (
            "closes in the first frame",
            vec![settings(&[(3, 100)])[..12].to_vec()],
            "closed before the answer was whole",
        ),
    ];
    check_rows(rows);
}

#[test]
fn frames() {
    check_rows(rows! {
        "larger than 16,384 bytes": [frame(kind::DATA, 0, 1, &[0; 16_385])] => "HTTP/2: a frame of more than 16,384 bytes (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "larger, of an unknown type": [frame(77, 0, 0, &[0; 16_385])] => "HTTP/2: a frame of more than 16,384 bytes (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "DATA without a stream": [data(0, "x")] => "HTTP/2: a frame without a stream (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "HEADERS without a stream": [head(0, ":status 200")] => "HTTP/2: a frame without a stream (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "CONTINUATION without a stream": [frame(kind::CONTINUATION, 0, 0, &[])] => "HTTP/2: CONTINUATION without HEADERS (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "RST_STREAM without a stream": [reset(0, ErrorCode::CANCEL)] => "HTTP/2: a frame without a stream (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "PRIORITY without a stream": [frame(kind::PRIORITY, 0, 0, &[0; 5])] => "HTTP/2: a frame without a stream (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "SETTINGS on a stream": [frame(kind::SETTINGS, 0, 1, &[])] => "HTTP/2: a frame of the connection on a stream (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "PING on a stream": [frame(kind::PING, 0, 1, &[0; 8])] => "HTTP/2: a frame of the connection on a stream (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "GOAWAY on a stream": [frame(kind::GOAWAY, 0, 1, &[0; 8])] => "HTTP/2: a frame of the connection on a stream (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "RST_STREAM of 5 bytes": [frame(kind::RST_STREAM, 0, 1, &[0; 5])] => "HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "PRIORITY of 4 bytes": [frame(kind::PRIORITY, 0, 1, &[0; 4])] => "HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "SETTINGS of 7 bytes": [frame(kind::SETTINGS, 0, 0, &[0; 7])] => "HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "an answer to SETTINGS with parameters": [frame(kind::SETTINGS, flag::ACK, 0, &[0; 6])] => "HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "PING of 7 bytes": [frame(kind::PING, 0, 0, &[0; 7])] => "HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "GOAWAY of 7 bytes": [frame(kind::GOAWAY, 0, 0, &[0; 7])] => "HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "WINDOW_UPDATE of 3 bytes": [frame(kind::WINDOW_UPDATE, 0, 1, &[0; 3])] => "HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "PUSH_PROMISE": [frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2])] => "HTTP/2: PUSH_PROMISE, which is not allowed (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "DATA with more padding than bytes": [ok(), frame(kind::DATA, flag::PADDED, 1, &[3, 0, 0])] => "0: 200 of 5, HTTP/2: padding that is longer than its frame (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "DATA with padding and no length of it": [ok(), frame(kind::DATA, flag::PADDED, 1, &[])] => "0: 200 of 5, HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "HEADERS with more padding than bytes": [frame(kind::HEADERS, 0xc, 1, &[9, 0x88])] => "HTTP/2: padding that is longer than its frame (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "HEADERS with priority of 2 bytes": [frame(kind::HEADERS, 0x24, 1, &[0, 0])] => "HTTP/2: a frame whose length does not fit its type (FRAME_SIZE_ERROR), > GOAWAY 0 FRAME_SIZE_ERROR",
        "HEADERS on a stream that depends on itself": [frame(kind::HEADERS, 0x24, 1, &[0, 0, 0, 1, 0, 0x88])] => "HTTP/2: a stream that depends on itself (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "all padding, and all well": [
            ok(), frame(kind::DATA, 9, 1, b"\x03hello\0\0\0"), frame(kind::HEADERS, 0x2d, 3, b"\x02\0\0\0\0\0\x88\0\0"),
        ] => "0: 200 of 5, 0: hello, 0 ends, 0: 200 of 0, 0 ends, closed before the answer was whole",
        "unknown types and flags": [frame(77, 0xff, 3, b"?"), ok(), frame(10, 0, 0, &[]), last_data(1, "hello")] => "0: 200 of 5, 0: hello, 0 ends, closed before the answer was whole",
        "PRIORITY": [frame(kind::PRIORITY, 0, 9, &[0, 0, 0, 3, 0]), ok(), last_data(1, "hello")] => "0: 200 of 5, 0: hello, 0 ends, closed before the answer was whole",
    });
}

#[test]
fn streams() {
    check_rows(rows! {
        "HEADERS on a stream of the server": [head(2, ":status 200")] => "HTTP/2: a frame on a stream that was not opened (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "DATA on a stream that was not opened": [data(7, "x")] => "HTTP/2: a frame on a stream that was not opened (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "RST_STREAM on a stream that was not opened": [reset(7, ErrorCode::CANCEL)] => "HTTP/2: a frame on a stream that was not opened (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "WINDOW_UPDATE on a stream that was not opened": [window_update(2, 1)] => "HTTP/2: a frame on a stream that was not opened (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "DATA before HEADERS": [data(1, "hello")] => "0 malformed: HTTP/2: a body before its head (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "DATA behind the end": [ok(), last_data(1, "hello"), data(1, "x")] => "0: 200 of 5, 0: hello, 0 ends, HTTP/2: a frame on a stream that the server has ended (STREAM_CLOSED), > GOAWAY 0 STREAM_CLOSED",
        "HEADERS behind the end": [ok(), last_data(1, "hello"), ok()] => "0: 200 of 5, 0: hello, 0 ends, HTTP/2: a frame on a stream that the server has ended (STREAM_CLOSED), > GOAWAY 0 STREAM_CLOSED",
        "DATA behind RST_STREAM": [ok(), reset(1, ErrorCode::INTERNAL_ERROR), data(1, "x")] => "0: 200 of 5, 0 reset: INTERNAL_ERROR, HTTP/2: a frame on a stream that the server has ended (STREAM_CLOSED), > GOAWAY 0 STREAM_CLOSED",
        "RST_STREAM and WINDOW_UPDATE behind the end":
            [ok(), last_data(1, "hello"), reset(1, ErrorCode::NO_ERROR), window_update(1, 1)] => "0: 200 of 5, 0: hello, 0 ends, closed before the answer was whole",
        "refused": [reset(3, ErrorCode::REFUSED_STREAM), reset(1, ErrorCode(99))] => "1 refused, 0 reset: error 0x63, closed before the answer was whole",
        "reset without a reason": [reset(1, ErrorCode::NO_ERROR)] => "0 reset: NO_ERROR, closed before the answer was whole",
        "a stream that never ends": [ok(), data(1, "hell")] => "0: 200 of 5, 0: hell, closed before the answer was whole",
        "answers in another order": [last_head(3, ":status 204"), ok(), last_head(5, ":status 413"), last_data(1, "hello")] => "1: 204 of 0, 1 ends, 0: 200 of 5, 1: 413 of 0, 1 ends early, 0: hello, 0 ends, > RST_STREAM 5 CANCEL",
        "an early answer to a body that is not sent": [last_head(5, ":status 413"), reset(5, ErrorCode::NO_ERROR)] => "2: 413 of 0, 2 ends early, closed before the answer was whole, > RST_STREAM 5 CANCEL",
    });
}

#[test]
fn bodies_and_heads() {
    check_rows(rows! {
        "longer than its Content-Length": [ok(), data(1, "hello, you")] => "0: 200 of 5, 0 malformed: HTTP/2: a body that is longer than its head allows (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "longer in the second frame": [ok(), data(1, "hel"), data(1, "lo!")] => "0: 200 of 5, 0: hel, 0 malformed: HTTP/2: a body that is longer than its head allows (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "shorter than its Content-Length": [ok(), last_data(1, "hell")] => "0: 200 of 5, 0 malformed: HTTP/2: a body that is shorter than its head announces (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "no body in spite of its Content-Length": [last_head(1, ":status 200\ncontent-length 5")] => "0 malformed: HTTP/2: a body that is shorter than its head announces (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a Content-Length that is no number": [head(1, ":status 200\ncontent-length +5")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "two of them": [head(1, ":status 200\ncontent-length 5\ncontent-length 6")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "two that are the same": [head(1, ":status 200\ncontent-length 5\ncontent-length 5"), last_data(1, "hello")] => "0: 200 of 5, 0: hello, 0 ends, closed before the answer was whole",
        "a body of an answer to HEAD": [head(3, ":status 200\ncontent-length 5"), last_data(3, "hello")] => "1: 200 of 0, 1 malformed: HTTP/2: a body that is longer than its head allows (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 3 PROTOCOL_ERROR",
        "no body of an answer to HEAD": [last_head(3, ":status 200\ncontent-length 5")] => "1: 200 of 0, 1 ends, closed before the answer was whole",
        "a body of a 204": [head(1, ":status 204"), last_data(1, "hello")] => "0: 204 of 0, 0 malformed: HTTP/2: a body that is longer than its head allows (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "no status": [head(1, "server x")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "two statuses": [head(1, ":status 200\n:status 200")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a status behind a field": [head(1, "server x\n:status 200")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a status of two digits": [head(1, ":status 99")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a status of letters": [head(1, ":status abc")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a pseudo-header of requests": [head(1, ":status 200\n:path /")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "capitals in a name": [head(1, ":status 200\nServer x")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a space in a name": [frame(kind::HEADERS, 4, 1, b"\x88\0\x03a b\x01x")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "no name": [frame(kind::HEADERS, 4, 1, b"\x88\0\0\x01x")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a line end in a value": [frame(kind::HEADERS, 4, 1, b"\x88\0\x01a\x03x\r\n")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a field of the connection": [head(1, ":status 200\nconnection close")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a coding of the transfer": [head(1, ":status 200\ntransfer-encoding chunked")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "a switch of protocols": [head(1, ":status 101")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "an interim answer that ends": [last_head(1, ":status 103")] => "0 malformed: HTTP/2: fields that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "interim answers": [head(1, ":status 100"), head(1, ":status 103\nlink x"), last_head(1, ":status 200")] => "0: 200 of 0, 0 ends, closed before the answer was whole",
        "trailers that don't end": [ok(), data(1, "hello"), head(1, "x y")] => "0: 200 of 5, 0: hello, 0 malformed: HTTP/2: trailers that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "trailers with a status": [ok(), data(1, "hello"), last_head(1, ":status 200")] => "0: 200 of 5, 0: hello, 0 malformed: HTTP/2: trailers that no answer may have (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "trailers before the body is whole": [ok(), data(1, "hell"), last_head(1, "x y")] => "0: 200 of 5, 0: hell, 0 malformed: HTTP/2: a body that is shorter than its head announces (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "trailers": [ok(), data(1, "hello"), last_head(1, "x y")] => "0: 200 of 5, 0: hello, 0 ends, closed before the answer was whole",
    });
}

#[test]
fn header_blocks() {
    let fragment = |kind, flags, stream, bytes: &[u8]| frame(kind, flags, stream, bytes);
    let flood = |count: usize, length: usize| -> Vec<u8> {
        let frames = std::iter::repeat_n(frame(kind::CONTINUATION, 0, 1, &vec![0x88; length]), count);
        [frame(kind::HEADERS, 0, 1, &[0x88])].into_iter().chain(frames).flatten().collect()
    };
    let bomb = [&b"\x40\x01a\x7f\xa1\x1e"[..], &[b'x'; 4000], &[0xbe; 20]].concat();
    check_rows(rows! {
        "DATA within a block": [fragment(kind::HEADERS, 0, 1, &[0x88]), data(1, "x")] => "HTTP/2: another frame within a block of header fields (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "PING within a block": [fragment(kind::HEADERS, 0, 1, &[0x88]), frame(kind::PING, 0, 0, &[0; 8])] => "HTTP/2: another frame within a block of header fields (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "an unknown type within a block": [fragment(kind::HEADERS, 0, 1, &[0x88]), frame(77, 0, 1, &[])] => "HTTP/2: another frame within a block of header fields (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "CONTINUATION on another stream":
            [fragment(kind::HEADERS, 0, 1, &[0x88]), fragment(kind::CONTINUATION, 4, 3, &[])] => "HTTP/2: another frame within a block of header fields (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "CONTINUATION behind a whole block": [ok(), fragment(kind::CONTINUATION, 4, 1, &[])] => "0: 200 of 5, HTTP/2: CONTINUATION without HEADERS (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "a block in four frames": [
            fragment(kind::HEADERS, 1, 1, &[]), fragment(kind::CONTINUATION, 0, 1, &[0x88]),
            fragment(kind::CONTINUATION, 0, 1, &[]), fragment(kind::CONTINUATION, 4, 1, &[0, 1, b'a', 0]),
        ] => "0: 200 of 0, 0 ends, closed before the answer was whole",
        "a flood of empty CONTINUATION": [flood(1000, 0)] => "HTTP/2: a block of header fields in too many frames (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "a flood of large CONTINUATION": [flood(20, 16_384)] => "HTTP/2: header fields of more than 65536 bytes (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "more fields than are taken": [fragment(kind::HEADERS, 4, 1, &[0x88; 129])] => "HTTP/2: more than 128 header fields (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "an HPACK bomb": [fragment(kind::HEADERS, 4, 1, &bomb)] => "HTTP/2: header fields of more than 65536 bytes (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "an index beyond the tables": [fragment(kind::HEADERS, 4, 1, &[0x88, 0xff, 0x7f])] => "HTTP/2: an index beyond the tables of header fields (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
        "an integer without end": [fragment(kind::HEADERS, 4, 1, &[0xff; 20])] => "HTTP/2: an integer of too many bytes in header fields (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
        "a string beyond the block": [fragment(kind::HEADERS, 4, 1, b"\x88\0\x7fa")] => "HTTP/2: a block of header fields that ends within a field (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
        "a block that ends in a field": [fragment(kind::HEADERS, 4, 1, b"\x88\0\x01a")] => "HTTP/2: a block of header fields that ends within a field (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
        "malformed Huffman code": [fragment(kind::HEADERS, 4, 1, b"\x88\0\x01a\x84\xff\xff\xff\xff")] => "HTTP/2: malformed Huffman code in header fields (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
        "a table above its limit": [fragment(kind::HEADERS, 4, 1, b"\x3f\xe2\x1f\x88")] => "HTTP/2: a size of the table of header fields that is not allowed here (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
        "a size of the table behind a field": [fragment(kind::HEADERS, 4, 1, b"\x88\x20")] => "HTTP/2: a size of the table of header fields that is not allowed here (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
        "a malformed block of trailers": [ok(), data(1, "hello"), fragment(kind::HEADERS, 5, 1, &[0x80])] => "0: 200 of 5, 0: hello, HTTP/2: an index beyond the tables of header fields (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
        "an entry of the table, used on the next stream": [
            fragment(kind::HEADERS, 5, 1, b"\x88\x40\x01a\x01b"), fragment(kind::HEADERS, 5, 3, b"\x88\xbe"),
            fragment(kind::HEADERS, 5, 5, b"\x88\xbf"),
        ] => "0: 200 of 0, 0 ends, 0: 200 of 0, 0 ends, HTTP/2: an index beyond the tables of header fields (COMPRESSION_ERROR), > GOAWAY 0 COMPRESSION_ERROR",
    });
}

#[test]
fn windows_and_settings() {
    let parameter = |number, value| settings(&[(number, value)]);
    check_rows(rows! {
        "WINDOW_UPDATE of 0": [window_update(0, 0)] => "HTTP/2: WINDOW_UPDATE of 0 (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "WINDOW_UPDATE of 0 on a stream": [window_update(1, 0)] => "0 malformed: HTTP/2: WINDOW_UPDATE of 0 (PROTOCOL_ERROR), closed before the answer was whole, > RST_STREAM 1 PROTOCOL_ERROR",
        "too large a window": [window_update(0, 0x7fff_ffff), window_update(0, 1)] => "HTTP/2: a window of more than 2^31 - 1 bytes (FLOW_CONTROL_ERROR), > GOAWAY 0 FLOW_CONTROL_ERROR",
        "too large a window of a stream": [window_update(3, 0x7fff_ffff)] => "1 malformed: HTTP/2: a window of more than 2^31 - 1 bytes (FLOW_CONTROL_ERROR), closed before the answer was whole, > RST_STREAM 3 FLOW_CONTROL_ERROR",
        "the largest window": [window_update(0, 0x7fff_ffff), window_update(1, 0x7fff_0000)] => "closed before the answer was whole",
        "SETTINGS that make a window too large": [window_update(1, 1 << 30), parameter(4, 0x7fff_ffff)] => "HTTP/2: a window of more than 2^31 - 1 bytes (FLOW_CONTROL_ERROR), > GOAWAY 0 FLOW_CONTROL_ERROR",
        "a window above the largest": [parameter(4, 1 << 31)] => "HTTP/2: SETTINGS_INITIAL_WINDOW_SIZE is above 2^31 - 1 (FLOW_CONTROL_ERROR), > GOAWAY 0 FLOW_CONTROL_ERROR",
        "a smaller window, then a larger one":
            [parameter(4, 10), window_update(0, 1 << 20), parameter(4, 65_540), window_update(5, 5)] => "closed before the answer was whole, > 65545 bytes",
        "no window at all": [parameter(4, 0)] => "closed before the answer was whole",
        "frames of 16,383 bytes": [parameter(5, 16_383)] => "HTTP/2: SETTINGS_MAX_FRAME_SIZE is not within 2^14 and 2^24 - 1 (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "frames of 2^24 bytes": [parameter(5, 1 << 24)] => "HTTP/2: SETTINGS_MAX_FRAME_SIZE is not within 2^14 and 2^24 - 1 (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "frames of 2^20 bytes": [parameter(5, 1 << 20), parameter(4, 1 << 20), window_update(0, 1 << 20)] => "closed before the answer was whole, > 70000 bytes",
        "pushes": [parameter(2, 1)] => "HTTP/2: SETTINGS_ENABLE_PUSH of a server is 1 (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "pushes, neither 0 nor 1": [parameter(2, 2)] => "HTTP/2: SETTINGS_ENABLE_PUSH is neither 0 nor 1 (PROTOCOL_ERROR), > GOAWAY 0 PROTOCOL_ERROR",
        "an unknown parameter": [parameter(99, 99), last_head(1, ":status 200")] => "0: 200 of 0, 0 ends, closed before the answer was whole",
        "fewer streams than are open": [parameter(3, 1), last_head(3, ":status 200"), last_head(1, ":status 200")] => "1: 200 of 0, 1 ends, 0: 200 of 0, 0 ends, closed before the answer was whole",
        "no streams": [parameter(3, 0), last_head(1, ":status 200")] => "0: 200 of 0, 0 ends, closed before the answer was whole",
        "an answer to SETTINGS too many": [frame(kind::SETTINGS, flag::ACK, 0, &[]), ok(), last_data(1, "hello")] => "0: 200 of 5, 0: hello, 0 ends, closed before the answer was whole",
    });
}

#[test]
fn ends_of_the_connection() {
    check_rows(rows! {
        "GOAWAY in the middle": [ok(), go_away(1, ErrorCode::NO_ERROR), last_data(1, "hello")] => "0: 200 of 5, 2 refused, 1 refused, 0: hello, 0 ends for good",
        "GOAWAY before all": [go_away(0, ErrorCode::ENHANCE_YOUR_CALM)] => "2 refused, 1 refused, 0 refused",
        "GOAWAY in two steps": [
            go_away(0x7fff_ffff, ErrorCode::NO_ERROR), ok(), go_away(3, ErrorCode::NO_ERROR), last_data(1, "hello"),
            last_head(3, ":status 200"),
        ] => "0: 200 of 5, 2 refused, 0: hello, 0 ends for good, 0: 200 of 0, 0 ends for good",
        "GOAWAY that takes back streams": [go_away(1, ErrorCode::NO_ERROR), go_away(5, ErrorCode::NO_ERROR)] => "2 refused, 1 refused, closed before the answer was whole",
        "GOAWAY with a reason, then nothing": [go_away(5, ErrorCode::INTERNAL_ERROR)] => "the server ended the connection with GOAWAY, INTERNAL_ERROR",
        "GOAWAY, then an answer to what it refuses": [go_away(1, ErrorCode::NO_ERROR), last_head(3, ":status 200")] => "2 refused, 1 refused, closed before the answer was whole",
        "GOAWAY with more bytes": [frame(kind::GOAWAY, 0, 0, b"\0\0\0\x05\0\0\0\0enough"), last_head(1, ":status 200")] => "0: 200 of 0, 0 ends for good, closed before the answer was whole",
        "closes without GOAWAY": [ok()] => "0: 200 of 5, closed before the answer was whole",
    });
}

#[test]
fn floods() {
    let many = |frame: Vec<u8>| frame.repeat(5000);
    let interim = [frame(kind::HEADERS, 4, 1, b"\x08\x03103")].concat();
    check_rows(rows! {
        "SETTINGS": [many(settings(&[(4, 1 << 20)]))] => "HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "answers to SETTINGS": [many(frame(kind::SETTINGS, flag::ACK, 0, &[]))] => "HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "PING": [many(frame(kind::PING, 0, 0, &[7; 8]))] => "HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM, 4096 answers to PING",
        "PRIORITY": [many(frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 3, 0]))] => "HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "unknown types": [many(frame(77, 0, 1, &[]))] => "HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "empty DATA": [ok(), many(data(1, ""))] => "0: 200 of 5, HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "padding": [ok(), many(frame(kind::DATA, flag::PADDED, 1, &[1, 0]))] => "0: 200 of 5, HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "interim answers": [many(interim)] => "HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "resets of one stream": [many(reset(1, ErrorCode::CANCEL))] => "0 reset: CANCEL, HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "WINDOW_UPDATE": [many(window_update(1, 1))] => "HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
        "GOAWAY": [many(go_away(5, ErrorCode::NO_ERROR))] => "HTTP/2: a flood of frames that bring nothing (ENHANCE_YOUR_CALM), > GOAWAY 0 ENHANCE_YOUR_CALM",
    });
}
