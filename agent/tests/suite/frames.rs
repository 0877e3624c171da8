//! Frames: every message comes back as it was; what is cut, too long or malformed is told.

use agent::{Broken, MOST_FRAME_BYTES, Message, hello};
use serde_json::json;
use std::io::Read;

fn all() -> Vec<Message> {
    vec![
        Message::Hello(hello("0.1.0 abc")),
        Message::Request { id: 1, name: "servers.start".to_owned(), json: json!({"a": [1, 2.5, null]}) },
        Message::Reply { id: u64::MAX, json: json!("ä") },
        Message::Failed { id: 2, text: "no room".to_owned() },
        Message::Event { id: 3, json: json!(true) },
        Message::ClockAsk { id: 5 },
        Message::ClockAnswer { id: 5, ns: u64::MAX },
        Message::Beat,
        Message::Stop,
        Message::Goodbye,
    ]
}

#[test]
fn every_message_comes_back_as_it_was() {
    let bytes: Vec<u8> = all().iter().flat_map(Message::frame).collect();
    let mut input = &bytes[..];
    let read = std::iter::from_fn(|| Message::read(&mut input, MOST_FRAME_BYTES).unwrap());
    assert_eq!(read.collect::<Vec<_>>(), all());
}

#[test]
fn a_message_that_is_cut_anywhere_is_no_message() {
    for message in all() {
        let frame = message.frame();
        for length in 1..frame.len() {
            let read = Message::read(&mut &frame[..length], MOST_FRAME_BYTES);
            assert!(matches!(read, Err(Broken::Cut)), "{message:?} cut at {length}: {read:?}");
        }
        assert!(matches!(Message::read(&mut &frame[..0], MOST_FRAME_BYTES), Ok(None)));
    }
}

/// An input without an end that counts what is read from it.
struct Endless(usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0 += buffer.len();
        buffer.fill(0xff);
        Ok(buffer.len())
    }
}

#[test]
fn a_frame_that_is_too_long_is_refused_before_it_is_read() {
    let mut endless = Endless(0);
    assert!(matches!(Message::read(&mut endless, MOST_FRAME_BYTES), Err(Broken::TooLong(0xffff_ffff))));
    assert!(endless.0 <= 64, "{} bytes were read", endless.0);
}

#[test]
fn what_is_no_message_is_told() {
    for (body, why) in [
        (&b""[..], "EOF"),
        (b"null", "expected"),
        (b"\"\\u001b[31mred\"", "unknown variant `red`"),
        (b"{\"clock_ask\":{}}", "missing field `id`"),
        (b"{\"clock_ask\":{\"id\":1,\"ns\":2}}", "unknown field `ns`"),
        (b"{\"clock_ask\":{\"id\":-1}}", "invalid value"),
        (b"\"beat\"1", "trailing"),
        (b"{\"failed\":{\"id\":1,\"text\":\"\xff\"}}", "invalid unicode"),
        (b"{\"reply\":{\"id\":1,\"json\":{", "EOF"),
    ] {
        let bytes = [&(body.len() as u32).to_le_bytes()[..], body].concat();
        let told = Message::read(&mut &bytes[..], MOST_FRAME_BYTES).unwrap_err().to_string();
        assert!(
            told.starts_with("what came is no message of drome") && told.contains(why),
            "{body:?}: {told}"
        );
    }
}
