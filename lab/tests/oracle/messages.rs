//! What must hold for any bytes at all that come from drome on another machine as a message. The fuzz target and the tests of the
//! corpus use it alike.

#![allow(dead_code, reason = "each user uses a part of it")]

use control::processes::cpu_sampler::CpuUsage;
use control::processes::tree::{ListedClocks, Snapshot};
use control::processes::usage::UsageLook;
use control::remote::messages as servers;
use lab::load_from::messages as loads;
use model::Conditions;
use model::contender::Class;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The most bytes of a text that is shown (`agent`).
const MOST_SHOWN: usize = 4096;

/// Reads JSON as one of the messages, and writes it again. `None`: it is not that message.
type Reader = fn(&Value) -> Option<Value>;

/// What is asked, as an agent reads it, by the name of the request: those about servers are one enum, those about loads another.
pub const QUESTIONS: &[(&str, Reader)] =
    &[("servers", asked::<servers::RemoteRequest>), ("loads", asked::<loads::LoadRequest>)];

/// What is answered, as the side that asks reads it, by the name of the request; and what an installation reports meanwhile.
pub const ANSWERS: &[(&str, Reader)] = &[
    ("servers.Describe", answered::<servers::MachineFacts>),
    ("servers.WriteSources", answered::<servers::SourcesWritten>),
    ("servers.MakeBodies", answered::<()>),
    ("servers.Install", answered::<servers::Installed>),
    ("servers.Install.step", answered::<servers::InstallStep>),
    ("servers.Prepare", answered::<Result<(), String>>),
    ("servers.Start", answered::<Result<servers::Started, String>>),
    ("servers.Ended", answered::<Option<String>>),
    ("servers.Answers", answered::<bool>),
    ("servers.Snapshot", answered::<Snapshot>),
    ("servers.ThreadClocks", answered::<ListedClocks>),
    ("servers.LikelyClass", answered::<Option<Class>>),
    ("servers.BeginSamples", answered::<u64>),
    ("servers.Sample", answered::<CpuUsage>),
    ("servers.Look", answered::<UsageLook>),
    ("servers.EndWatch", answered::<Option<u64>>),
    ("servers.EndConditions", answered::<Option<Conditions>>),
    ("servers.OpenProbe", answered::<servers::Opened>),
    ("servers.Datagrams", answered::<servers::Datagrams>),
    ("loads.Prepare", answered::<loads::Ready>),
    ("loads.Run", answered::<loads::Account>),
];

/// The names of all requests of [`QUESTIONS`], as `NAME.Request`: what serde would rather have had than a name that none has.
pub fn requests() -> Vec<String> {
    let of = |name: &str, error: serde_json::Error| {
        let all = error.to_string();
        let (_, expected) = all.split_once("expected").unwrap();
        expected.split('`').skip(1).step_by(2).map(|request| format!("{name}.{request}")).collect::<Vec<_>>()
    };
    let none = || Value::from("none of them");
    let servers = serde_json::from_value::<servers::RemoteRequest>(none()).unwrap_err();
    let loads = serde_json::from_value::<loads::LoadRequest>(none()).unwrap_err();
    [of("servers", servers), of("loads", loads)].concat()
}

/// What either side can read is read again as the same from what is written of it, and nothing reaches a terminal that it acts upon.
pub fn check(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        // Why a request failed there.
        let shown = agent::cleaned(text);
        assert!(is_plain(&shown) && shown.len() <= MOST_SHOWN, "{shown:?}");
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

/// Whether the bytes are this message: `question-NAME`, `answer-NAME`, or `part` for a part of a load that an agent accepts.
pub fn is(message: &str, bytes: &[u8]) -> bool {
    let among = |all: &[(&str, Reader)], name: &str| {
        let (_, read) = all.iter().find(|(own, _)| *own == name).expect(name);
        serde_json::from_slice::<Value>(bytes).is_ok_and(|json| read(&json).is_some())
    };
    match message.split_once('-') {
        Some(("question", name)) => among(QUESTIONS, name),
        Some(("answer", name)) => among(ANSWERS, name),
        _ => message == "part" && is_accepted(bytes),
    }
}

fn is_accepted(bytes: &[u8]) -> bool {
    let request = serde_json::from_slice(bytes);
    matches!(request, Ok(loads::LoadRequest::Prepare(part)) if lab::load_from::check(&part).is_ok())
}

fn asked<T: Serialize + DeserializeOwned>(json: &Value) -> Option<Value> {
    T::deserialize(json).ok().and_then(written)
}

fn answered<T: Serialize + DeserializeOwned>(json: &Value) -> Option<Value> {
    serde_json::from_value(json.clone()).ok().and_then(written::<T>)
}

fn written<T: Serialize>(message: T) -> Option<Value> {
    serde_json::to_value(message).ok()
}
