//! The errors of a measurement, or of a part of it, by kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Errors by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Errors {
    /// The connection could not be established.
    pub connect: u64,
    /// The request could not be sent whole.
    pub send: u64,
    /// The connection broke before the answer was whole.
    pub receive: u64,
    /// No whole answer within the timeout.
    pub timeout: u64,
    /// A whole answer with a status that was not expected.
    pub status: u64,
    /// A whole answer with a body that was not expected.
    pub body: u64,
    /// A whole answer before the request was sent whole: it can't depend on the whole request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub early: u64,
    /// An answer that is not HTTP.
    pub protocol: u64,
    /// Bytes that no request asked for.
    pub unasked: u64,
    /// The load generator's own machine ran out of something: ports, descriptors.
    pub local: u64,
}

impl Errors {
    /// The number of all errors.
    pub fn total(&self) -> u64 {
        sum([self.connect, self.local, self.unasked, self.of_sent()])
    }

    /// The number of errors that ended a request that had been sent.
    pub fn of_sent(&self) -> u64 {
        sum([self.send, self.receive, self.timeout, self.status, self.body, self.early, self.protocol])
    }

    /// The number of answers, or surplus bytes, that were not as expected.
    pub fn wrong_work(&self) -> u64 {
        sum([self.status, self.body, self.early, self.protocol, self.unasked])
    }

    /// The difference from an `earlier` state of the same errors.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        for ((_, own), (_, before)) in self.each().into_iter().zip(earlier.by_kind()) {
            *own = own.saturating_sub(before);
        }
        self
    }

    /// Each kind with its name.
    pub fn by_kind(mut self) -> [(&'static str, u64); 10] {
        self.each().map(|(name, count)| (name, *count))
    }

    /// Adds the errors of another thread, of another machine, or of a later interval.
    pub fn merge(&mut self, other: &Self) {
        for ((_, own), (_, others)) in self.each().into_iter().zip(other.by_kind()) {
            *own = sum([*own, others]);
        }
    }

    fn each(&mut self) -> [(&'static str, &mut u64); 10] {
        [
            ("connect", &mut self.connect),
            ("send", &mut self.send),
            ("receive", &mut self.receive),
            ("timeout", &mut self.timeout),
            ("status", &mut self.status),
            ("body", &mut self.body),
            ("early", &mut self.early),
            ("protocol", &mut self.protocol),
            ("unasked", &mut self.unasked),
            ("local", &mut self.local),
        ]
    }
}

/// Adds how often each cause occurred elsewhere.
pub(crate) fn add_causes(all: &mut BTreeMap<String, u64>, others: &BTreeMap<String, u64>) {
    for (cause, times) in others {
        let all = all.entry(cause.clone()).or_default();
        *all = sum([*all, *times]);
    }
}

/// Whether a count is left out: most are read by versions that don't know it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Adds counts. Another machine may send any: a sum that is too large stays at the largest number.
fn sum<const N: usize>(counts: [u64; N]) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_another_machine_add_up_and_never_overflow() {
        let mut errors = Errors { send: 2, local: 1, ..Errors::default() };
        errors.merge(&Errors { send: 3, unasked: 4, ..Errors::default() });
        assert_eq!((errors.send, errors.unasked, errors.local), (5, 4, 1));
        assert_eq!((errors.total(), errors.of_sent(), errors.wrong_work()), (10, 5, 4));
        errors.merge(&Errors { send: u64::MAX, status: u64::MAX, unasked: u64::MAX, ..Errors::default() });
        assert_eq!((errors.send, errors.status, errors.local), (u64::MAX, u64::MAX, 1));
        assert_eq!((errors.total(), errors.of_sent(), errors.wrong_work()), (u64::MAX, u64::MAX, u64::MAX));
    }
}
