//! How requests end: answered, or lost.

use crate::check::Wrong;
use crate::connection::Flight;
use model::Loss;

/// A whole answer, and what is to be known of it.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The request.
    pub flight: Flight,
    /// Its status.
    pub status: u16,
    /// What is wrong with it.
    pub wrong: Option<Wrong>,
    /// The connection goes on.
    pub keeps_alive: bool,
    /// When it was whole.
    pub now_ns: u64,
}

/// Why the requests of a connection are lost.
#[derive(Clone, Copy, Debug)]
pub struct Fate<'a> {
    /// What befell the oldest of those that were sent.
    pub loss: Loss,
    /// In words.
    pub why: &'a str,
    /// What befell those behind it, where that is something else.
    pub behind: Option<&'a str>,
    /// They were given up because they took too long: their latencies are at least their ages.
    pub is_overdue: bool,
}

impl<'a> Fate<'a> {
    /// One fate for all.
    pub fn of_all(loss: Loss, why: &'a str) -> Self {
        Self { loss, why, behind: None, is_overdue: false }
    }
}
