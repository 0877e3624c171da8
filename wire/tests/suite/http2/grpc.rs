//! gRPC: what a client that makes two unary calls says of the answers to the first, right and wrong.

use super::*;
use wire::http2::EncodedRequest;
use wire::{Grpc, GrpcError, WireError};

/// Two calls without a message.
fn told_of(frames: &[Vec<u8>]) -> String {
    let bytes = [settings(&[]), frames.concat()].concat();
    check_http2(&bytes);
    let told = told_to::<Grpc>(&[0, 0], &bytes);
    // The second one waits, and both messages are a prefix.
    let end = ", closed before the answer was whole, > 10 bytes";
    told.strip_suffix(end).unwrap_or_else(|| panic!("{told}")).to_owned()
}

/// DATA with a prefix of this flag and length, then these bytes.
fn message(flag: u8, length: u32, bytes: &str) -> Vec<u8> {
    let payload = [&[flag], &length.to_be_bytes()[..], bytes.as_bytes()].concat();
    frame(kind::DATA, 0, 1, &payload)
}

fn ok() -> Vec<u8> {
    head(1, ":status 200\ncontent-type application/grpc")
}

fn trailers(fields: &str) -> Vec<u8> {
    last_head(1, fields)
}

macro_rules! rows {
    ($($name:literal: [$($frame:expr),* $(,)?] => $expected:literal,)*) => {
        $(assert_eq!(told_of(&[$($frame),*]), $expected, "{}", $name);)*
    };
}

#[test]
fn one_message_and_status_0_are_an_answer() {
    rows! {
        "a message": [ok(), message(0, 5, "hello"), trailers("grpc-status 0")] => "0: 200, 0: hello, 0 ends",
        "an empty one": [ok(), message(0, 0, ""), trailers("grpc-status 0")] => "0: 200, 0 ends",
        "in pieces": [ok(), message(0, 5, ""), data(1, "hel"), data(1, "lo"), trailers("x y\ngrpc-status 0\ngrpc-message fine")] => "0: 200, 0: hello, 0 ends",
        "a prefix in pieces": [ok(), data(1, "\0\0\0"), data(1, "\0"), data(1, "\x02hi"), trailers("grpc-status 0")] => "0: 200, 0: hi, 0 ends",
        "with a length": [head(1, ":status 200\ncontent-length 7"), message(0, 2, "hi"), trailers("grpc-status 0")] => "0: 200, 0: hi, 0 ends",
        "said twice": [ok(), message(0, 0, ""), trailers("grpc-status 0\ngrpc-status 0")] => "0: 200, 0 ends",
    }
}

#[test]
fn each_call_has_its_own_status() {
    let frames = [
        head(3, ":status 200"),
        frame(kind::DATA, 0, 3, b"\0\0\0\0\x01b"),
        ok(),
        message(0, 1, "a"),
        last_head(3, "grpc-status 0"),
        trailers("grpc-status 5"),
    ];
    let bytes = [settings(&[]), frames.concat()].concat();
    check_http2(&bytes);
    assert_eq!(
        told_to::<Grpc>(&[0, 0], &bytes),
        "1: 200, 1: b, 0: 200, 0: a, 1 ends, 0 ends with grpc-status 5 (NOT_FOUND) instead of 0, > 10 bytes"
    );
}

#[test]
fn another_status_is_a_failure_with_a_message_or_without() {
    rows! {
        "in trailers": [ok(), trailers("grpc-status 13\ngrpc-message oh")] => "0: 200, 0 ends with grpc-status 13 (INTERNAL) instead of 0",
        "behind a message": [ok(), message(0, 2, "hi"), trailers("grpc-status 2")] => "0: 200, 0: hi, 0 ends with grpc-status 2 (UNKNOWN) instead of 0",
        "behind nonsense": [ok(), message(7, 9, "hi"), trailers("grpc-status 16")] => "0: 200, 0: hi, 0 ends with grpc-status 16 (UNAUTHENTICATED) instead of 0",
        "trailers only": [last_head(1, ":status 200\ngrpc-status 12")] => "0: 200, 0 ends with grpc-status 12 (UNIMPLEMENTED) instead of 0",
        "without a name": [last_head(1, ":status 200\ngrpc-status 17")] => "0: 200, 0 ends with grpc-status 17 instead of 0",
        "another status of HTTP": [last_head(1, ":status 503\ngrpc-status 14")] => "0: 503, 0 ends with grpc-status 14 (UNAVAILABLE) instead of 0",
        "no number": [ok(), message(0, 0, ""), trailers("grpc-status +0")] => "0: 200, 0 ends with a grpc-status that is no number, or two that differ",
        "nothing": [ok(), message(0, 0, ""), trailers("grpc-status ")] => "0: 200, 0 ends with a grpc-status that is no number, or two that differ",
        "too large a number": [ok(), message(0, 0, ""), trailers("grpc-status 4294967296")] => "0: 200, 0 ends with a grpc-status that is no number, or two that differ",
        "two that differ": [ok(), message(0, 0, ""), trailers("grpc-status 13\ngrpc-status 0")] => "0: 200, 0 ends with a grpc-status that is no number, or two that differ",
    }
}

#[test]
fn what_says_nothing_of_the_call_or_is_not_one_message_is_malformed() {
    rows! {
        "no trailers": [ok(), message(0, 2, "hi"), last_data(1, "")] => "0: 200, 0: hi, 0 malformed: gRPC: no grpc-status at the end of the answer",
        "trailers of something else": [ok(), message(0, 2, "hi"), trailers("x y")] => "0: 200, 0: hi, 0 malformed: gRPC: no grpc-status at the end of the answer",
        "a head alone": [last_head(1, ":status 200")] => "0: 200, 0 malformed: gRPC: no grpc-status at the end of the answer",
        "in a head that is not the end": [head(1, ":status 200\ngrpc-status 0"), message(0, 2, "hi"), last_data(1, "")] => "0: 200, 0: hi, 0 malformed: gRPC: no grpc-status at the end of the answer",
        "no message": [ok(), trailers("grpc-status 0")] => "0: 200, 0 malformed: gRPC: grpc-status 0 and no message",
        "no message, trailers only": [last_head(1, ":status 200\ngrpc-status 0")] => "0: 200, 0 malformed: gRPC: grpc-status 0 and no message",
        "a part of a prefix": [ok(), data(1, "\0\0\0\0"), trailers("grpc-status 0")] => "0: 200, 0 malformed: gRPC: grpc-status 0 and a message that is shorter than its prefix announces",
        "a part of a message": [ok(), message(0, 3, "hi"), trailers("grpc-status 0")] => "0: 200, 0: hi, 0 malformed: gRPC: grpc-status 0 and a message that is shorter than its prefix announces",
        "two": [ok(), message(0, 2, "hi"), message(0, 2, "ho"), trailers("grpc-status 0")] => "0: 200, 0: hi, 0 malformed: gRPC: grpc-status 0 and more than one message",
        "a byte more": [ok(), message(0, 2, "hi!"), trailers("grpc-status 0")] => "0: 200, 0: hi, 0 malformed: gRPC: grpc-status 0 and more than one message",
        "compressed": [ok(), message(1, 2, "hi"), trailers("grpc-status 0")] => "0: 200, 0: hi, 0 malformed: gRPC: a compressed message, although no compression was offered",
        "another flag": [ok(), message(2, 2, "hi"), trailers("grpc-status 0")] => "0: 200, 0: hi, 0 malformed: gRPC: a message whose prefix begins with neither 0 nor 1",
        "the largest length": [ok(), message(0, u32::MAX, "hi"), trailers("grpc-status 0")] => "0: 200, 0: hi, 0 malformed: gRPC: grpc-status 0 and a message that is shorter than its prefix announces",
    }
}

#[test]
fn what_is_no_answer_of_grpc_is_what_http_says() {
    rows! {
        "a body": [head(1, ":status 404\ncontent-length 9"), last_data(1, "not found")] => "0: 404, 0: not found, 0 ends",
        "refused": [reset(1, ErrorCode::REFUSED_STREAM)] => "0 refused",
        "broken off": [ok(), message(0, 2, "h"), reset(1, ErrorCode::INTERNAL_ERROR)] => "0: 200, 0: h, 0 reset: INTERNAL_ERROR",
    }
}

#[test]
fn a_request_is_a_message_with_its_prefix() {
    let fields = |request: &[u8]| {
        let request = EncodedRequest::grpc(request, true).unwrap();
        (requests::written(&request, false), request.body().to_vec())
    };
    let ((head, ends), body) =
        fields(b"GET /a.B/C HTTP/1.1\r\nHost: h\r\nTE: x\r\nContent-Length: 2\r\nX: y\r\n\r\nhi");
    let expected = ":method POST\n:scheme https\n:authority h\n:path /a.B/C\nx y\ncontent-type application/grpc\nte trailers";
    assert_eq!((&*head, ends, &body[..]), (expected, false, &b"\0\0\0\0\x02hi"[..]));
    let ((head, ends), body) =
        fields(b"POST /a.B/C HTTP/1.1\r\nContent-Type: application/grpc+proto\r\n\r\n");
    let expected =
        ":method POST\n:scheme https\n:path /a.B/C\ncontent-type application/grpc+proto\nte trailers";
    assert_eq!((&*head, ends, &body[..]), (expected, false, &[0; 5][..]));
    assert_eq!(WireError::Grpc(GrpcError::TooLong).to_string(), "gRPC: a message of 4 GiB or more");
}

#[test]
fn a_connection_is_small() {
    assert!(size_of::<Grpc>() <= 340, "{}", size_of::<Grpc>());
}
