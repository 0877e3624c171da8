//! The end of a request: answered, or lost.

use crate::check::Wrong;
use crate::connection::Flight;
use model::Loss;

/// A whole answer, and what is known about it.
#[derive(Debug)]
pub struct Answer {
    /// The request.
    pub flight: Flight,
    /// Its status.
    pub status: u16,
    /// What is wrong with it.
    pub wrong: Option<Wrong>,
    /// Whether the connection stays open.
    pub keeps_alive: bool,
    /// When the answer was whole.
    pub now_ns: u64,
}

/// Why the requests of a connection are lost.
#[derive(Clone, Copy, Debug)]
pub struct LossCause<'a> {
    /// What happened to the oldest of those that were sent.
    pub loss: Loss,
    /// The reason in words.
    pub why: &'a str,
    /// What happened to those behind it, if it is something else.
    pub behind: Option<&'a str>,
    /// Whether they were given up because they took too long: their latencies are at least their ages.
    pub is_overdue: bool,
}

impl<'a> LossCause<'a> {
    /// The same cause for all requests.
    pub fn of_all(loss: Loss, why: &'a str) -> Self {
        Self { loss, why, behind: None, is_overdue: false }
    }
}
