//! Reads the answers on a connection, and counts the complete ones.

use crate::accounts::{Accounts, Answer};
use crate::check::Sampler;
use crate::connection::Connection;
use model::Plan;
use wire::LastHead;

/// How the answers of one worker are read.
#[derive(Debug)]
pub struct Reader {
    /// The head of the last answer on any of this worker's connections.
    last_head: Option<LastHead>,
    sampler: Sampler,
}

impl Reader {
    /// A reader that has read nothing.
    pub fn new(plan: &Plan) -> Self {
        Self { last_head: Some(LastHead::default()), sampler: Sampler::new(plan.verify) }
    }
}

/// The result of reading the bytes at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Everything was read, and the connection stays open; the number of answers that were completed.
    On(usize),
    /// The last answer was whole: the connection is not used again.
    Last,
    /// Bytes came that no request asked for.
    Unasked,
    /// The bytes are not HTTP.
    Malformed(wire::WireError),
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
    if connection.sent() == 0 {
        return Read::Unasked;
    }
    connection.hear(now);
    while let Some(flight) = connection.oldest() {
        let ask = &plan.asks[flight.ask as usize];
        match connection.parser.next_after(&mut bytes, ask.head_only, &mut reader.last_head) {
            Ok(Some(wire::Event::Body(body))) => {
                accounts.body(body.len());
                connection.check.body(&ask.expect, body);
            }
            Ok(Some(wire::Event::Head(head))) => {
                let is_first = connection.hears_first();
                let looks = reader.sampler.looks(&ask.expect, head.length, is_first);
                connection.check.head(head.status, looks);
            }
            Ok(Some(wire::Event::End { keep_alive })) => {
                answers += 1;
                whole(plan, accounts, connection, now, keep_alive);
                if !keep_alive {
                    let is_over = bytes.is_empty() || connection.sent() > 0;
                    return if is_over { Read::Last } else { Read::Unasked };
                }
                if bytes.is_empty() {
                    return Read::On(answers);
                }
                if connection.sent() == 0 {
                    return Read::Unasked;
                }
                connection.hear(now);
            }
            Ok(None) => return Read::On(answers),
            Err(error) => return Read::Malformed(error),
        }
    }
    Read::On(answers)
}

/// Counts the whole answer to the oldest request.
#[inline]
pub fn whole(
    plan: &Plan,
    accounts: &mut Accounts,
    connection: &mut Connection,
    now_ns: u64,
    keeps_alive: bool,
) {
    let Some(flight) = connection.finish_oldest() else { return };
    connection.outage.end(now_ns);
    let (status, wrong) = connection.check.end(&plan.asks[flight.ask as usize].expect);
    accounts.answered(connection, Answer { flight, status, wrong, keeps_alive, now_ns });
    connection.forget_answer();
}
