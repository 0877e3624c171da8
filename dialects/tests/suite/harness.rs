//! What the tests of all tools share: command lines, exchanges, and readings that are compared with what they must be.

use dialects::{Call, Found, Job, Printed, named, readers};
use model::{End, Exchange, Reading};
use std::net::TcpListener;

pub const MS: u64 = 1_000_000;

pub const OK: End = End::Answered { status: 200, keeps_alive: true };

/// The `nth` exchange of a connection. `times_ns`: when the connection was begun and open, when the request was sent, and when the first
/// byte and the last one came.
pub fn exchange(connection: u64, nth: u32, times_ns: [u64; 5], body_bytes: u64, end: End) -> Exchange {
    let [connect_ns, connected_ns, sent_ns, first_byte_ns, done_ns] = times_ns;
    Exchange {
        connection,
        nth,
        ask: 0,
        connect_ns,
        connected_ns,
        due_ns: sent_ns,
        sent_ns,
        first_byte_ns,
        done_ns,
        body_bytes,
        end,
    }
}

/// What a tool makes of these words.
pub fn parse(tool: &str, args: &[&str]) -> Result<Box<dyn Job>, Printed> {
    (named(tool).unwrap().parse)(&Call::new(tool, args))
}

/// What a tool makes of a line of words without blanks in them.
pub fn parse_line(tool: &str, line: &str) -> Result<Box<dyn Job>, Printed> {
    parse(tool, &line.split_whitespace().collect::<Vec<_>>())
}

/// The job of a line.
#[track_caller]
pub fn job(tool: &str, line: &str) -> Box<dyn Job> {
    parse_line(tool, line).unwrap_or_else(|printed| panic!("{tool} {line}: {printed:?}"))
}

/// What is printed for a line of which no measurement comes.
#[track_caller]
pub fn printed(tool: &str, line: &str) -> Printed {
    parse_line(tool, line).err().unwrap_or_else(|| panic!("{tool} {line} was taken"))
}

/// A port at which somebody listens, as wrk wants before it begins, and a URL there.
pub fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    (listener, url)
}

/// A file with this text, and its path.
pub fn file(text: &str) -> (tempfile::NamedTempFile, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let path = file.path().display().to_string();
    (file, path)
}

/// A tool's reports in a text.
pub fn read(tool: &str, text: &str) -> Vec<Found> {
    assert!(readers().any(|name| name == tool), "{tool}");
    dialects::read(text, tool)
}

/// The only one of them.
#[track_caller]
pub fn one(tool: &str, text: &str) -> Found {
    let mut found = read(tool, text);
    assert_eq!(found.len(), 1, "{tool}: {found:?}\nof\n{text}");
    found.remove(0)
}

/// Checks that these are a reading's figures, and all of them.
#[track_caller]
pub fn assert_figures(reading: &Reading, expected: &[(&str, f64)]) {
    for (name, value) in expected {
        let found = reading.get(name).unwrap_or_else(|| panic!("no {name}: {reading:?}"));
        assert!((found - value).abs() <= value * 1e-12, "{name} is {found}, not {value}");
    }
    assert_eq!(reading.figures.len(), expected.len(), "{reading:?}");
}
