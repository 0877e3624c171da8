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
        ("HTTP/1", vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()], ""),
        ("TLS", vec![b"\x15\x03\x01\0\x02\x02F".to_vec()], ""),
        ("something else", vec![b"SSH-2.0-OpenSSH".to_vec()], ""),
        ("nothing", vec![], ""),
        ("no SETTINGS", vec![ok()], ""),
        ("PING first", vec![frame(kind::PING, 0, 0, &[0; 8])], ""),
        ("an answer to SETTINGS first", vec![frame(kind::SETTINGS, flag::ACK, 0, &[])], ""),
        ("closes in the first frame", vec![settings(&[(3, 100)])[..12].to_vec()], ""),
    ];
    check_rows(rows);
}

#[test]
fn frames() {
    check_rows(rows! {
        "larger than 16,384 bytes": [frame(kind::DATA, 0, 1, &[0; 16_385])] => "",
        "larger, of an unknown type": [frame(77, 0, 0, &[0; 16_385])] => "",
        "DATA without a stream": [data(0, "x")] => "",
        "HEADERS without a stream": [head(0, ":status 200")] => "",
        "CONTINUATION without a stream": [frame(kind::CONTINUATION, 0, 0, &[])] => "",
        "RST_STREAM without a stream": [reset(0, ErrorCode::CANCEL)] => "",
        "PRIORITY without a stream": [frame(kind::PRIORITY, 0, 0, &[0; 5])] => "",
        "SETTINGS on a stream": [frame(kind::SETTINGS, 0, 1, &[])] => "",
        "PING on a stream": [frame(kind::PING, 0, 1, &[0; 8])] => "",
        "GOAWAY on a stream": [frame(kind::GOAWAY, 0, 1, &[0; 8])] => "",
        "RST_STREAM of 5 bytes": [frame(kind::RST_STREAM, 0, 1, &[0; 5])] => "",
        "PRIORITY of 4 bytes": [frame(kind::PRIORITY, 0, 1, &[0; 4])] => "",
        "SETTINGS of 7 bytes": [frame(kind::SETTINGS, 0, 0, &[0; 7])] => "",
        "an answer to SETTINGS with parameters": [frame(kind::SETTINGS, flag::ACK, 0, &[0; 6])] => "",
        "PING of 7 bytes": [frame(kind::PING, 0, 0, &[0; 7])] => "",
        "GOAWAY of 7 bytes": [frame(kind::GOAWAY, 0, 0, &[0; 7])] => "",
        "WINDOW_UPDATE of 3 bytes": [frame(kind::WINDOW_UPDATE, 0, 1, &[0; 3])] => "",
        "PUSH_PROMISE": [frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2])] => "",
        "DATA with more padding than bytes": [ok(), frame(kind::DATA, flag::PADDED, 1, &[3, 0, 0])] => "",
        "DATA with padding and no length of it": [ok(), frame(kind::DATA, flag::PADDED, 1, &[])] => "",
        "HEADERS with more padding than bytes": [frame(kind::HEADERS, 0xc, 1, &[9, 0x88])] => "",
        "HEADERS with priority of 2 bytes": [frame(kind::HEADERS, 0x24, 1, &[0, 0])] => "",
        "HEADERS on a stream that depends on itself": [frame(kind::HEADERS, 0x24, 1, &[0, 0, 0, 1, 0, 0x88])] => "",
        "all padding, and all well": [
            ok(), frame(kind::DATA, 9, 1, b"\x03hello\0\0\0"), frame(kind::HEADERS, 0x2d, 3, b"\x02\0\0\0\0\0\x88\0\0"),
        ] => "",
        "unknown types and flags": [frame(77, 0xff, 3, b"?"), ok(), frame(10, 0, 0, &[]), last_data(1, "hello")] => "",
        "PRIORITY": [frame(kind::PRIORITY, 0, 9, &[0, 0, 0, 3, 0]), ok(), last_data(1, "hello")] => "",
    });
}

#[test]
fn streams() {
    check_rows(rows! {
        "HEADERS on a stream of the server": [head(2, ":status 200")] => "",
        "DATA on a stream that was not opened": [data(7, "x")] => "",
        "RST_STREAM on a stream that was not opened": [reset(7, ErrorCode::CANCEL)] => "",
        "WINDOW_UPDATE on a stream that was not opened": [window_update(2, 1)] => "",
        "DATA before HEADERS": [data(1, "hello")] => "",
        "DATA behind the end": [ok(), last_data(1, "hello"), data(1, "x")] => "",
        "HEADERS behind the end": [ok(), last_data(1, "hello"), ok()] => "",
        "DATA behind RST_STREAM": [ok(), reset(1, ErrorCode::INTERNAL_ERROR), data(1, "x")] => "",
        "RST_STREAM and WINDOW_UPDATE behind the end":
            [ok(), last_data(1, "hello"), reset(1, ErrorCode::NO_ERROR), window_update(1, 1)] => "",
        "refused": [reset(3, ErrorCode::REFUSED_STREAM), reset(1, ErrorCode(99))] => "",
        "reset without a reason": [reset(1, ErrorCode::NO_ERROR)] => "",
        "a stream that never ends": [ok(), data(1, "hell")] => "",
        "answers in another order": [last_head(3, ":status 204"), ok(), last_head(5, ":status 413"), last_data(1, "hello")] => "",
        "an early answer to a body that is not sent": [last_head(5, ":status 413"), reset(5, ErrorCode::NO_ERROR)] => "",
    });
}

#[test]
fn bodies_and_heads() {
    check_rows(rows! {
        "longer than its Content-Length": [ok(), data(1, "hello, you")] => "",
        "longer in the second frame": [ok(), data(1, "hel"), data(1, "lo!")] => "",
        "shorter than its Content-Length": [ok(), last_data(1, "hell")] => "",
        "no body in spite of its Content-Length": [last_head(1, ":status 200\ncontent-length 5")] => "",
        "a Content-Length that is no number": [head(1, ":status 200\ncontent-length +5")] => "",
        "two of them": [head(1, ":status 200\ncontent-length 5\ncontent-length 6")] => "",
        "two that are the same": [head(1, ":status 200\ncontent-length 5\ncontent-length 5"), last_data(1, "hello")] => "",
        "a body of an answer to HEAD": [head(3, ":status 200\ncontent-length 5"), last_data(3, "hello")] => "",
        "no body of an answer to HEAD": [last_head(3, ":status 200\ncontent-length 5")] => "",
        "a body of a 204": [head(1, ":status 204"), last_data(1, "hello")] => "",
        "no status": [head(1, "server x")] => "",
        "two statuses": [head(1, ":status 200\n:status 200")] => "",
        "a status behind a field": [head(1, "server x\n:status 200")] => "",
        "a status of two digits": [head(1, ":status 99")] => "",
        "a status of letters": [head(1, ":status abc")] => "",
        "a pseudo-header of requests": [head(1, ":status 200\n:path /")] => "",
        "capitals in a name": [head(1, ":status 200\nServer x")] => "",
        "a space in a name": [frame(kind::HEADERS, 4, 1, b"\x88\0\x03a b\x01x")] => "",
        "no name": [frame(kind::HEADERS, 4, 1, b"\x88\0\0\x01x")] => "",
        "a line end in a value": [frame(kind::HEADERS, 4, 1, b"\x88\0\x01a\x03x\r\n")] => "",
        "a field of the connection": [head(1, ":status 200\nconnection close")] => "",
        "a coding of the transfer": [head(1, ":status 200\ntransfer-encoding chunked")] => "",
        "a switch of protocols": [head(1, ":status 101")] => "",
        "an interim answer that ends": [last_head(1, ":status 103")] => "",
        "interim answers": [head(1, ":status 100"), head(1, ":status 103\nlink x"), last_head(1, ":status 200")] => "",
        "trailers that don't end": [ok(), data(1, "hello"), head(1, "x y")] => "",
        "trailers with a status": [ok(), data(1, "hello"), last_head(1, ":status 200")] => "",
        "trailers before the body is whole": [ok(), data(1, "hell"), last_head(1, "x y")] => "",
        "trailers": [ok(), data(1, "hello"), last_head(1, "x y")] => "",
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
        "DATA within a block": [fragment(kind::HEADERS, 0, 1, &[0x88]), data(1, "x")] => "",
        "PING within a block": [fragment(kind::HEADERS, 0, 1, &[0x88]), frame(kind::PING, 0, 0, &[0; 8])] => "",
        "an unknown type within a block": [fragment(kind::HEADERS, 0, 1, &[0x88]), frame(77, 0, 1, &[])] => "",
        "CONTINUATION on another stream":
            [fragment(kind::HEADERS, 0, 1, &[0x88]), fragment(kind::CONTINUATION, 4, 3, &[])] => "",
        "CONTINUATION behind a whole block": [ok(), fragment(kind::CONTINUATION, 4, 1, &[])] => "",
        "a block in four frames": [
            fragment(kind::HEADERS, 1, 1, &[]), fragment(kind::CONTINUATION, 0, 1, &[0x88]),
            fragment(kind::CONTINUATION, 0, 1, &[]), fragment(kind::CONTINUATION, 4, 1, &[0, 1, b'a', 0]),
        ] => "",
        "a flood of empty CONTINUATION": [flood(1000, 0)] => "",
        "a flood of large CONTINUATION": [flood(10, 16_384)] => "",
        "more fields than are taken": [fragment(kind::HEADERS, 4, 1, &[0x88; 129])] => "",
        "an HPACK bomb": [fragment(kind::HEADERS, 4, 1, &bomb)] => "",
        "an index beyond the tables": [fragment(kind::HEADERS, 4, 1, &[0x88, 0xff, 0x7f])] => "",
        "an integer without end": [fragment(kind::HEADERS, 4, 1, &[0xff; 20])] => "",
        "a string beyond the block": [fragment(kind::HEADERS, 4, 1, b"\x88\0\x7fa")] => "",
        "a block that ends in a field": [fragment(kind::HEADERS, 4, 1, b"\x88\0\x01a")] => "",
        "malformed Huffman code": [fragment(kind::HEADERS, 4, 1, b"\x88\0\x01a\x84\xff\xff\xff\xff")] => "",
        "a table above its limit": [fragment(kind::HEADERS, 4, 1, b"\x3f\xe2\x1f\x88")] => "",
        "a size of the table behind a field": [fragment(kind::HEADERS, 4, 1, b"\x88\x20")] => "",
        "a malformed block of trailers": [ok(), data(1, "hello"), fragment(kind::HEADERS, 5, 1, &[0x80])] => "",
        "an entry of the table, used on the next stream": [
            fragment(kind::HEADERS, 5, 1, b"\x88\x40\x01a\x01b"), fragment(kind::HEADERS, 5, 3, b"\x88\xbe"),
            fragment(kind::HEADERS, 5, 5, b"\x88\xbf"),
        ] => "",
    });
}

#[test]
fn windows_and_settings() {
    let parameter = |number, value| settings(&[(number, value)]);
    check_rows(rows! {
        "WINDOW_UPDATE of 0": [window_update(0, 0)] => "",
        "WINDOW_UPDATE of 0 on a stream": [window_update(1, 0)] => "",
        "too large a window": [window_update(0, 0x7fff_ffff)] => "",
        "too large a window of a stream": [window_update(3, 0x7fff_ffff)] => "",
        "the largest window": [window_update(0, 0x7fff_ffff - 65_535), window_update(1, 0x7fff_0000)] => "",
        "SETTINGS that make a window too large": [window_update(1, 1 << 30), parameter(4, 0x7fff_ffff)] => "",
        "a window above the largest": [parameter(4, 1 << 31)] => "",
        "a smaller window, then a larger one":
            [parameter(4, 10), window_update(0, 1 << 20), parameter(4, 65_540), window_update(5, 5)] => "",
        "no window at all": [parameter(4, 0)] => "",
        "frames of 16,383 bytes": [parameter(5, 16_383)] => "",
        "frames of 2^24 bytes": [parameter(5, 1 << 24)] => "",
        "frames of 2^20 bytes": [parameter(5, 1 << 20), parameter(4, 1 << 20), window_update(0, 1 << 20)] => "",
        "pushes": [parameter(2, 1)] => "",
        "pushes, neither 0 nor 1": [parameter(2, 2)] => "",
        "an unknown parameter": [parameter(99, 99), last_head(1, ":status 200")] => "",
        "fewer streams than are open": [parameter(3, 1), last_head(3, ":status 200"), last_head(1, ":status 200")] => "",
        "no streams": [parameter(3, 0), last_head(1, ":status 200")] => "",
        "an answer to SETTINGS too many": [frame(kind::SETTINGS, flag::ACK, 0, &[]), ok(), last_data(1, "hello")] => "",
    });
}

#[test]
fn ends_of_the_connection() {
    check_rows(rows! {
        "GOAWAY in the middle": [ok(), go_away(1, ErrorCode::NO_ERROR), last_data(1, "hello")] => "",
        "GOAWAY before all": [go_away(0, ErrorCode::ENHANCE_YOUR_CALM)] => "",
        "GOAWAY in two steps": [
            go_away(0x7fff_ffff, ErrorCode::NO_ERROR), ok(), go_away(3, ErrorCode::NO_ERROR), last_data(1, "hello"),
            last_head(3, ":status 200"),
        ] => "",
        "GOAWAY that takes back streams": [go_away(1, ErrorCode::NO_ERROR), go_away(5, ErrorCode::NO_ERROR)] => "",
        "GOAWAY with a reason, then nothing": [go_away(5, ErrorCode::INTERNAL_ERROR)] => "",
        "GOAWAY, then an answer to what it refuses": [go_away(1, ErrorCode::NO_ERROR), last_head(3, ":status 200")] => "",
        "GOAWAY with more bytes": [frame(kind::GOAWAY, 0, 0, b"\0\0\0\x05\0\0\0\0enough"), last_head(1, ":status 200")] => "",
        "closes without GOAWAY": [ok()] => "",
    });
}

#[test]
fn floods() {
    let many = |frame: Vec<u8>| frame.repeat(5000);
    let interim = [frame(kind::HEADERS, 4, 1, b"\x08\x03103")].concat();
    check_rows(rows! {
        "SETTINGS": [many(settings(&[(4, 1 << 20)]))] => "",
        "answers to SETTINGS": [many(frame(kind::SETTINGS, flag::ACK, 0, &[]))] => "",
        "PING": [many(frame(kind::PING, 0, 0, &[7; 8]))] => "",
        "PRIORITY": [many(frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 3, 0]))] => "",
        "unknown types": [many(frame(77, 0, 1, &[]))] => "",
        "empty DATA": [ok(), many(data(1, ""))] => "",
        "padding": [ok(), many(frame(kind::DATA, flag::PADDED, 1, &[1, 0]))] => "",
        "interim answers": [many(interim)] => "",
        "resets of one stream": [many(reset(1, ErrorCode::CANCEL))] => "",
        "WINDOW_UPDATE": [many(window_update(1, 1))] => "",
        "GOAWAY": [many(go_away(5, ErrorCode::NO_ERROR))] => "",
    });
}
