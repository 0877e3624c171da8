//! Verifies that a server does the work, over connections of its own, never under load. Everything that is wrong is reported, not only the
//! first thing.

mod ask;
pub mod origin;
mod resumption;
pub mod work;

pub use ask::{Answer, Pace, ask, get};
pub use resumption::no_resumption;

use crate::fault::Fault;
use crate::verify::origin::Origin;
use crate::verify::work::{Question, Work, Works};
use model::Protocol;
use model::contender::Faults;
use model::workload::Recipe;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The sizes of bodies that are sent where they are echoed: a byte, less and more than a packet.
const SIZES: [usize; 3] = [1, 100, 70_000];

/// How often a server that is declared to fail with fragments is asked in fragments, before it is reported that it does not fail.
const ASKED_IN_FRAGMENTS: usize = 3;

/// The report on a declared fault that does not occur: a wrong declaration is as wrong as a wrong server.
const MENDED: &str = "it answers a request in fragments, but its declaration says that it does not: remove `fragments` \
                      from [faults]";

/// The result of a full verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Everything that is wrong with each workload, by its name.
    pub workloads: BTreeMap<String, Vec<String>>,
    /// The faults that occurred as they are declared.
    pub known: Vec<String>,
    /// What is wrong with the answer for an unknown path, which must be a 404.
    pub unknown_path: Option<String>,
    /// The size of head and body of each workload's usual answer.
    pub wire_bytes: BTreeMap<String, usize>,
}

impl Verified {
    /// Everything that is wrong.
    pub fn wrong(&self) -> Vec<String> {
        self.workloads.values().flatten().chain(&self.unknown_path).cloned().collect()
    }

    /// The number of workloads that are served correctly.
    pub fn right(&self) -> usize {
        self.workloads.values().filter(|wrong| wrong.is_empty()).count()
    }
}

/// Asks once for each known workload, as under load. The list has everything that is wrong; an error means that the lab itself failed and
/// could not ask.
pub fn brief(at: &Origin, serves: &BTreeMap<String, String>, works: &Works) -> Result<Vec<String>, Fault> {
    let mut wrong = Vec::new();
    for (name, path, work) in known(at, serves, works) {
        wrong.extend(once(at, name, work, &work.usual(path), Pace::AtOnce)?.1);
    }
    Ok(wrong)
}

/// Asks in every way that a client may: with unforeseeable queries, numbers and bodies, in fragments, and for a path that does not
/// exist. The faults are those of HTTP/1.1. An error means that the lab itself failed and could not ask.
pub fn full(
    at: &Origin,
    serves: &BTreeMap<String, String>,
    faults: &Faults,
    works: &Works,
) -> Result<Verified, Fault> {
    let none = Faults::default();
    let faults = if at.protocol.is_usual() { faults } else { &none };
    let mut verified = Verified::default();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    for (name, path, work) in known(at, serves, works) {
        let usual = work.usual(path);
        let (answer, mut wrong) = once(at, name, work, &usual, Pace::AtOnce)?;
        if let Some(answer) = answer {
            verified.wire_bytes.insert(name.to_owned(), answer.wire_bytes);
            for question in variations(work, path, seed) {
                wrong.extend(once(at, name, work, &question, Pace::AtOnce)?.1);
            }
            let mut in_fragments = Vec::new();
            // If the machine stalls for longer than the pauses between fragments, they arrive in one piece.
            let times = if faults.fragments.is_some() { ASKED_IN_FRAGMENTS } else { 1 };
            for _ in 0..times {
                in_fragments = once(at, name, work, &usual, Pace::InFragments)?.1;
                if !in_fragments.is_empty() {
                    break;
                }
            }
            match &faults.fragments {
                None => wrong.extend(in_fragments),
                Some(_) if in_fragments.is_empty() => wrong.push(format!("{name} ({path}): {MENDED}")),
                Some(fault) => {
                    verified.known.extend(in_fragments.iter().map(|why| format!("{why}: {fault}")));
                }
            }
        }
        verified.workloads.insert(name.to_owned(), wrong);
    }
    if !verified.workloads.is_empty() && matches!(at.protocol, Protocol::Http1 | Protocol::Http2) {
        verified.unknown_path = unknown_path(at, &format!("/drome-no-such-path-{}", chance(seed, 0)))?;
    }
    Ok(verified)
}

/// The workloads that are served, can be asked in the origin's protocol, and whose answers are known.
fn known<'w>(
    at: &Origin,
    serves: &'w BTreeMap<String, String>,
    works: &'w Works,
) -> impl Iterator<Item = (&'w str, &'w str, &'w Work)> {
    let protocol = at.protocol;
    let is_of = move |work: &&Work| work.workload.as_ref().is_some_and(|workload| workload.is_of(protocol));
    let work = move |name: &String| works.get(name).filter(is_of);
    serves.iter().filter_map(move |(name, path)| Some((name.as_str(), path.as_str(), work(name)?)))
}

/// Other requests for the same work.
fn variations(work: &Work, path: &str, seed: u64) -> Vec<Question> {
    let numbers = [0, chance(seed, 1), chance(seed, 2)].map(|n| work.with_number(path, n));
    let sent = SIZES.map(|size| {
        let bytes = bodies::body(&Recipe::Bytes(size)).unwrap_or_default();
        work.with_bytes(path, bytes.iter().map(|byte| byte ^ seed as u8).collect())
    });
    let query = work.with_query(path, &format!("q={}", chance(seed, 3)));
    numbers.into_iter().chain(sent).chain([query]).flatten().collect()
}

fn chance(seed: u64, k: u64) -> u64 {
    stats::random::derive(&[seed, k]) % 1_000_000
}

/// Asks one question; returns the answer, if there was one, and everything that is wrong with it. An error is the lab's own.
fn once(
    at: &Origin,
    name: &str,
    work: &Work,
    asked: &Question,
    pace: Pace,
) -> Result<(Option<Answer>, Vec<String>), Fault> {
    let size =
        if asked.send == work.send { String::new() } else { format!(", {} bytes sent", asked.send.len()) };
    let how = if pace == Pace::InFragments { ", in fragments" } else { "" };
    let what = format!("{name} ({}{size}{how})", asked.path);
    match ask(at, asked, pace) {
        Ok(answer) => {
            let content_type = work.workload.as_ref().map(|w| w.content_type.as_str());
            let wrong = differences(&answer, asked, content_type.filter(|_| has_head(at)), has_head(at));
            Ok((Some(answer), wrong.into_iter().map(|why| format!("{what}: {why}")).collect()))
        }
        Err(error) => match Fault::own(&error) {
            Some(own) => Err(own),
            None => Ok((None, vec![format!("{what}: no answer: {error}")])),
        },
    }
}

/// Whether each answer has a head: messages have none.
fn has_head(at: &Origin) -> bool {
    at.protocol != Protocol::WebSocket
}

/// What is wrong with an answer.
fn differences(
    answer: &Answer,
    asked: &Question,
    content_type: Option<&str>,
    has_status: bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    if has_status && answer.status != 200 {
        wrong.push(format!("status {} instead of 200", answer.status));
    }
    if let Some(wanted) = content_type {
        let got = answer.content_type.as_deref();
        if !got.is_some_and(|got| is_type(got, wanted)) {
            wrong.push(format!("content type {} instead of {wanted}", got.unwrap_or("none")));
        }
    }
    if let Some(encoding) = answer.content_encoding.as_deref().filter(|encoding| *encoding != "identity") {
        wrong.push(format!("content encoding {encoding}, but none was asked for"));
    }
    if answer.surplus_bytes > 0 {
        wrong.push("more bytes after the end of the answer: its Content-Length is too small".to_owned());
    }
    let Some(body) = &asked.body else { return wrong };
    if answer.body.len() != body.len() {
        wrong.push(format!("{} bytes instead of {}", answer.body.len(), body.len()));
    } else if let Some(at) = answer.body.iter().zip(body).position(|(got, expected)| got != expected) {
        wrong.push(format!("the body differs from byte {at} on"));
    }
    wrong
}

/// Whether a content type is this one. That of gRPC may add how messages are written (`application/grpc+proto`).
fn is_type(got: &str, wanted: &str) -> bool {
    match got.strip_prefix(wanted) {
        Some(rest) => rest.is_empty() || wanted == "application/grpc" && rest.starts_with('+'),
        None => false,
    }
}

/// What is wrong with the answer for an unknown path.
fn unknown_path(at: &Origin, path: &str) -> Result<Option<String>, Fault> {
    let why = match get(at, path) {
        Ok(Answer { status: 404, .. }) => return Ok(None),
        Ok(answer) => format!("status {} instead of 404", answer.status),
        Err(error) => match Fault::own(&error) {
            Some(own) => return Err(own),
            None => format!("no answer: {error}"),
        },
    };
    Ok(Some(format!("an unknown path ({path}): {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_a_call_may_name_its_coding_and_no_other_may() {
        let all = ["application/grpc", "application/grpc+proto", "application/grpc-web", "text/plain"];
        assert_eq!(all.map(|got| is_type(got, "application/grpc")), [true, true, false, false]);
        assert!(!is_type("text/plain+x", "text/plain"));
    }
}
