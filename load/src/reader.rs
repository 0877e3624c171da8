//! Reads the answers on a connection, and counts the complete ones.

use crate::accounts::Accounts;
use crate::check::{BodySampler, SpareDigests, Wrong};
use crate::connection::Connection;
use crate::request_end::Answer;
use model::Plan;
use wire::{Ending, LastHead, ResponseParser, WireError};

/// The cause of bytes that belong to no request.
const UNASKED: &str = "bytes that no request asked for";

/// How the answers of one worker are read.
#[derive(Debug)]
pub struct Reader {
    /// The head of the last answer on any of this worker's connections.
    last_head: LastHead,
    sampler: BodySampler,
    digests: SpareDigests,
}

impl Reader {
    /// A reader of this many connections that has read nothing.
    pub fn new(plan: &Plan, connections: usize) -> Self {
        let needed = if plan.asks.iter().any(|ask| ask.expect.sha256.is_some()) { connections } else { 0 };
        let digests = std::iter::repeat_with(Box::default).take(needed).collect();
        Self { last_head: LastHead::default(), sampler: BodySampler::new(plan.verify), digests }
    }
}

/// The result of reading the bytes at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Everything was read, and the connection stays open; the number of answers that were completed.
    On(usize),
    /// The last answer was whole: the connection is not used again.
    Last,
    /// More bytes came than belong to the last answer, which is counted as wrong if any was.
    Excess,
    /// The bytes are not HTTP.
    Malformed(WireError),
}

/// Reads what arrived and counts the completed answers; the last one may stay unfinished.
#[inline]
pub fn read(
    plan: &Plan,
    accounts: &mut Accounts,
    reader: &mut Reader,
    connection: &mut Connection,
    now: u64,
    mut bytes: &[u8],
) -> Read {
    let mut answers = 0;
    connection.parser.skip_empty_lines(&mut bytes);
    if connection.sent() == 0 {
        return read_unasked(accounts, connection, bytes);
    }
    while let Some((flight, parser, has_heard)) = connection.reading() {
        let ask = &plan.asks[flight.ask as usize];
        if !bytes.is_empty() {
            flight.hear(now);
        }
        match parser.next_after(&mut bytes, ask.head_only, &mut reader.last_head) {
            Ok(Some(wire::Event::Body(body))) => {
                accounts.body(body.len());
                flight.check.body(&ask.expect, body);
            }
            Ok(Some(wire::Event::Head(head))) => {
                let is_first = !std::mem::replace(has_heard, true);
                let looks = reader.sampler.looks(&ask.expect, head.length, is_first);
                flight.check.head(&ask.expect, head.status, looks, &mut reader.digests);
            }
            Ok(Some(wire::Event::End { keep_alive })) => {
                answers += 1;
                connection.parser.skip_empty_lines(&mut bytes);
                // What follows the last answer of a connection is not looked at, whenever it comes (RFC 9112 section 6.3).
                let is_excess = keep_alive && !bytes.is_empty() && connection.sent() == 1;
                let excess = if is_excess { connection.parser.excess(bytes) } else { None };
                whole(plan, accounts, reader, connection, now, keep_alive, excess);
                match (keep_alive, excess) {
                    (false, _) => return Read::Last,
                    (true, Some(_)) => return Read::Excess,
                    (true, None) if bytes.is_empty() => return Read::On(answers),
                    (true, None) => {}
                }
            }
            Ok(None) => return Read::On(answers),
            Err(WireError::Excess(ending)) => {
                accounts.spoil(connection, ending);
                return Read::Excess;
            }
            Err(error) => return Read::Malformed(error),
        }
    }
    Read::On(answers)
}

/// Handles bytes that came while no request was in flight: they make the answer before them wrong.
#[cold]
fn read_unasked(accounts: &mut Accounts, connection: &mut Connection, bytes: &[u8]) -> Read {
    if bytes.is_empty() {
        return Read::On(0);
    }
    if ResponseParser::ends_idle(bytes) {
        return Read::Excess;
    }
    match connection.parser.excess(bytes) {
        Some(excess) => accounts.spoil(connection, excess),
        None => accounts.unasked(UNASKED),
    }
    Read::Excess
}

/// Counts the whole answer to the oldest request. `excess`: more bytes followed than belong to it, and what said where it ends.
#[inline]
pub fn whole(
    plan: &Plan,
    accounts: &mut Accounts,
    reader: &mut Reader,
    connection: &mut Connection,
    now_ns: u64,
    keeps_alive: bool,
    excess: Option<Ending>,
) {
    let is_early = connection.unsent_bytes > 0 && is_early(plan, connection);
    let Some(mut flight) = connection.finish_oldest() else { return };
    connection.outage.end(now_ns);
    let (status, wrong) = flight.check.end(&plan.asks[flight.ask as usize].expect, &mut reader.digests);
    let wrong = if is_early { Some(Wrong::Early) } else { wrong.or(excess.map(Wrong::Excess)) };
    accounts.answered(connection, Answer { flight, status, wrong, keeps_alive, now_ns });
}

/// Whether a part of the oldest request has not been sent, not only of those behind it.
#[cold]
fn is_early(plan: &Plan, connection: &Connection) -> bool {
    let sent = |request: &[u8]| request.len() as u64 + connection.record_bytes;
    let behind = connection.sent_requests(plan).skip(1).map(sent);
    connection.unsent_bytes > behind.sum()
}
