//! Reads the answers on a connection, and counts the complete ones.

use crate::accounts::Accounts;
use crate::check::{BodySampler, SpareDigests, Wrong};
use crate::connection::Connection;
use crate::request_end::Answer;
use model::{Loss, Plan};
use wire::{ClientSession, Event, GrpcStatus, Hearer, WireError};

/// The number of times that a request is sent again after the server refused to look at it.
const MOST_REFUSALS: u32 = 8;

/// How the answers of one worker are checked.
#[derive(Debug)]
pub struct Reader {
    sampler: BodySampler,
    digests: SpareDigests,
}

impl Reader {
    /// A reader of this many connections that has read nothing.
    pub fn new(plan: &Plan, connections: usize) -> Self {
        let needed = if plan.asks.iter().any(|ask| ask.expect.sha256.is_some()) { connections } else { 0 };
        let digests = std::iter::repeat_with(Box::default).take(needed).collect();
        Self { sampler: BodySampler::new(plan.verify), digests }
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
    /// The bytes are not what the protocol allows.
    Malformed(WireError),
}

/// A connection whose answers are read, with all that reading them changes.
pub struct Reading<'w, 'p, S: ClientSession<'p>> {
    pub plan: &'p Plan,
    pub accounts: &'w mut Accounts,
    pub reader: &'w mut Reader,
    pub connection: &'w mut Connection,
    pub session: &'w mut S,
    pub shared: &'w mut S::Shared,
    /// Where what is to be said to the server is written.
    pub out: &'w mut Vec<u8>,
    pub now_ns: u64,
}

/// Who asked: knows which requests were HEAD.
struct Asker<'w> {
    plan: &'w Plan,
    connection: &'w Connection,
}

impl Hearer for Asker<'_> {
    #[inline]
    fn is_head(&self, place: usize) -> bool {
        self.connection.ask(place).is_some_and(|ask| self.plan.asks[ask as usize].head_only)
    }
}

impl<'p, S: ClientSession<'p>> Reading<'_, 'p, S> {
    /// Reads what arrived and counts the completed answers; the last ones may stay unfinished.
    #[inline]
    pub fn read(&mut self, mut bytes: &[u8]) -> Read {
        let mut answers = 0;
        loop {
            // What comes before a request is sent belongs to the opening of the session.
            if S::IN_ORDER && !bytes.is_empty() && self.connection.sent() > 0 {
                self.hear(0);
            }
            match self.next(&mut bytes) {
                Ok(Some(Event::Body(place, body))) => self.body(place, body),
                Ok(Some(Event::Head(place, head))) => self.head(place, head),
                Ok(Some(Event::End { place, keep_alive, is_early, failure })) => {
                    answers += 1;
                    self.whole(place, keep_alive, is_early, failure);
                    let is_last = !keep_alive && (S::IN_ORDER || self.connection.sent() == 0);
                    // What follows the last answer of a connection is not looked at, whenever it comes (RFC 9112 section 6.3).
                    if is_last {
                        return Read::Last;
                    }
                    if bytes.is_empty() {
                        return Read::On(answers);
                    }
                }
                Ok(Some(Event::Refused(place))) => self.refused(place),
                Ok(Some(Event::Reset(place, why))) => self.reset(place, why),
                Ok(Some(Event::Malformed(place, error))) => self.malformed(place, error),
                Ok(None) if self.session.is_closing() && self.connection.sent() == 0 => return Read::Last,
                Ok(None) => return Read::On(answers),
                Err(error) => return self.error(error),
            }
        }
    }

    #[inline]
    fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Event<'a>>, WireError> {
        let mut asker = Asker { plan: self.plan, connection: self.connection };
        self.session.next(self.shared, bytes, self.out, &mut asker)
    }

    /// Records that bytes of the answer to the request at this place have come.
    #[inline]
    fn hear(&mut self, place: usize) {
        if let Some(flight) = self.connection.flight(place) {
            flight.hear(self.now_ns);
        }
    }

    #[inline]
    fn head(&mut self, place: usize, head: wire::Head) {
        let is_first = self.connection.hear_head();
        let Some(flight) = self.connection.flight(place) else { return };
        flight.hear(self.now_ns);
        let expect = &self.plan.asks[flight.ask as usize].expect;
        let looks = self.reader.sampler.looks(expect, head.length, is_first);
        flight.check.head(expect, head.status, looks, &mut self.reader.digests);
    }

    #[inline]
    fn body(&mut self, place: usize, body: &[u8]) {
        self.accounts.body(body.len());
        let Some(flight) = self.connection.flight(place) else { return };
        flight.check.body(&self.plan.asks[flight.ask as usize].expect, body);
    }

    /// Counts the whole answer to the request at this place. `is_early`: it is known to have come before the request was sent whole;
    /// `failure`: what the server says that went wrong, beside the status.
    #[inline]
    pub fn whole(&mut self, place: usize, keeps_alive: bool, is_early: bool, failure: Option<GrpcStatus>) {
        let is_early =
            is_early || self.connection.unsent_bytes > 0 && S::IN_ORDER && is_unsent(self.connection);
        let Some(mut flight) = self.connection.finish(place) else { return };
        self.connection.outage.end(self.now_ns);
        let expect = &self.plan.asks[flight.ask as usize].expect;
        let (status, wrong) = flight.check.end(expect, &mut self.reader.digests);
        let early = if is_early { Some(Wrong::Early) } else { wrong };
        let wrong = failure.map(Wrong::Failed).or(early);
        let now_ns = self.now_ns;
        self.accounts.answered(self.connection, Answer { flight, status, wrong, keeps_alive, now_ns });
    }

    /// Sends a request again that the server did not process; after too many refusals it is lost.
    #[cold]
    fn refused(&mut self, place: usize) {
        if self.connection.flight(place).is_some_and(|flight| flight.refusals < MOST_REFUSALS) {
            self.accounts.unsend(self.connection, place);
        } else {
            let why = format!("the server refused a request {} times", MOST_REFUSALS + 1);
            self.accounts.lose_one(self.connection, place, self.now_ns, Loss::Receive, &why);
        }
    }

    #[cold]
    fn reset(&mut self, place: usize, reason: u32) {
        let why = format!("the server broke off an answer ({})", S::reason(reason));
        self.accounts.lose_one(self.connection, place, self.now_ns, Loss::Receive, &why);
    }

    #[cold]
    fn malformed(&mut self, place: usize, error: WireError) {
        self.accounts.lose_one(self.connection, place, self.now_ns, Loss::Protocol, &error.to_string());
    }

    #[cold]
    fn error(&mut self, error: WireError) -> Read {
        match error {
            WireError::Excess(ending) => self.accounts.spoil(self.connection, ending),
            WireError::Unasked => self.accounts.unasked(&error.to_string()),
            WireError::EndsIdle => {}
            _ => return Read::Malformed(error),
        }
        Read::Excess
    }
}

/// Whether a part of the oldest request has not been sent, not only of those behind it.
#[cold]
fn is_unsent(connection: &Connection) -> bool {
    let sent = |request_bytes: u64| request_bytes + connection.record_bytes;
    let behind = connection.in_flight().skip(1).map(|flight| sent(flight.request_bytes));
    connection.unsent_bytes > behind.sum()
}
