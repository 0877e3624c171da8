//! What must hold for any bytes at all that come from drome on another machine as a message or a blob. The fuzz target and the tests of the
//! corpus use it alike.

#![allow(dead_code, reason = "each user uses a part of it")]

use lab::agent_messages::{ANSWERS, QUESTIONS, Reader, part};
use serde_json::Value;

/// The most bytes of a text that is shown (`agent`).
const MOST_SHOWN: usize = 4096;

/// What either side can read is read again as the same from what is written of it, and nothing reaches a terminal that it acts upon.
pub fn check(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        // Why a request failed there.
        let shown = agent::cleaned(text);
        assert!(is_plain(&shown) && shown.len() <= MOST_SHOWN, "{shown:?}");
    }
    if let Ok(written) = part(bytes) {
        let again = part(&serde_json::to_vec(&written).unwrap());
        assert_eq!(again, Ok(written), "a part of a load comes back as it was");
    }
    let Ok(mut json) = serde_json::from_slice::<Value>(bytes) else { return };
    check_each(QUESTIONS, &json);
    // Whoever asks reads nothing before this.
    agent::clean_json(&mut json);
    assert!(is_clean(&json), "{json:?}");
    check_each(ANSWERS, &json);
}

fn check_each(all: &[(&str, Reader)], json: &Value) {
    for (name, read) in all {
        let Some(written) = read(json) else { continue };
        assert_eq!(read(&written).as_ref(), Some(&written), "{name} comes back as it was");
    }
}

fn is_clean(json: &Value) -> bool {
    match json {
        Value::String(text) => is_plain(text),
        Value::Array(items) => items.iter().all(is_clean),
        Value::Object(fields) => fields.iter().all(|(name, value)| is_plain(name) && is_clean(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// No terminal acts upon it: it has no control characters but ends of lines and tabs, and nothing that turns text around.
fn is_plain(text: &str) -> bool {
    let is_harmless = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
    text.chars().all(|c| is_harmless(c) && !matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// Whether the bytes are this message: `question-NAME`, `answer-NAME` or `part`.
pub fn is(message: &str, bytes: &[u8]) -> bool {
    let among = |all: &[(&str, Reader)], name: &str| {
        let (_, read) = all.iter().find(|(own, _)| *own == name).expect(name);
        serde_json::from_slice::<Value>(bytes).is_ok_and(|json| read(&json).is_some())
    };
    match message.split_once('-') {
        Some(("question", name)) => among(QUESTIONS, name),
        Some(("answer", name)) => among(ANSWERS, name),
        _ => message == "part" && part(bytes).is_ok(),
    }
}
