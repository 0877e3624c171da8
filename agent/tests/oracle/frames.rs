//! What must hold for any bytes that come over a link: frames are bounded, what can be read comes back the same, and both sides end.

use agent::{Call, Handler, Hello, Link, MOST_FRAME_BYTES, Message, hello, obey};
use serde_json::{Value, json};
use std::io::{Cursor, sink};
use std::time::Duration;

/// Answers with all that a call can do.
struct Echo;

impl Handler for Echo {
    fn answer(&self, call: &Call<'_>) -> Option<Result<Value, String>> {
        call.event(&call.name());
        match call.name() {
            "" => None,
            "fail" => Some(Err("\u{1b}[31mno".to_owned())),
            _ => Some(Ok(json!({"asked": call.question::<u64>().ok()}))),
        }
    }

    fn end(&self) {}
}

/// Checks any bytes.
pub fn check(bytes: &[u8]) {
    let mut input = bytes;
    while let Ok(Some(message)) = Message::read(&mut input, MOST_FRAME_BYTES) {
        let again = Message::read(&mut &message.frame()[..], MOST_FRAME_BYTES);
        assert_eq!(again.ok().flatten(), Some(message), "a message comes back as it was");
    }
    let own = hello("0.0.0 fuzz");
    for bytes in [bytes.to_vec(), after_hello(&own, bytes)] {
        let _ = obey(&own, &[&Echo], Cursor::new(bytes.clone()), sink());
        let link = Link::over("fuzz", Cursor::new(bytes), sink(), &own, Duration::from_mins(1));
        let Ok(link) = link else { continue };
        let mut told = Vec::new();
        let _ = link
            .ask::<_, Value>("x", &Value::Null, Some(Duration::from_mins(1)), &mut |event| told.push(event));
        let shown: String = told.iter().map(ToString::to_string).collect();
        assert!(!shown.contains('\u{1b}') && !shown.contains("\\u001b"), "{shown}");
        assert!(link.clock(1).is_err() || link.lost().is_none());
    }
}

fn after_hello(own: &Hello, bytes: &[u8]) -> Vec<u8> {
    [&Message::Hello(own.clone()).frame()[..], bytes].concat()
}
