//! The errors of a measurement, or of a part of it, by kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        self.connect + self.local + self.unasked + self.of_sent()
    }

    /// The number of errors that ended a request that had been sent.
    pub fn of_sent(&self) -> u64 {
        self.send + self.receive + self.timeout + self.status + self.body + self.protocol
    }

    /// The number of answers, or surplus bytes, that were not as expected.
    pub fn wrong_work(&self) -> u64 {
        self.status + self.body + self.protocol + self.unasked
    }

    /// The difference from an `earlier` state of the same errors.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            connect: self.connect.saturating_sub(earlier.connect),
            send: self.send.saturating_sub(earlier.send),
            receive: self.receive.saturating_sub(earlier.receive),
            timeout: self.timeout.saturating_sub(earlier.timeout),
            status: self.status.saturating_sub(earlier.status),
            body: self.body.saturating_sub(earlier.body),
            protocol: self.protocol.saturating_sub(earlier.protocol),
            unasked: self.unasked.saturating_sub(earlier.unasked),
            local: self.local.saturating_sub(earlier.local),
        }
    }

    /// Each kind with its name.
    pub fn by_kind(&self) -> [(&'static str, u64); 9] {
        [
            ("connect", self.connect),
            ("send", self.send),
            ("receive", self.receive),
            ("timeout", self.timeout),
            ("status", self.status),
            ("body", self.body),
            ("protocol", self.protocol),
            ("unasked", self.unasked),
            ("local", self.local),
        ]
    }

    /// Adds the errors of another thread, or of a later interval.
    pub fn merge(&mut self, other: &Self) {
        self.connect += other.connect;
        self.send += other.send;
        self.receive += other.receive;
        self.timeout += other.timeout;
        self.status += other.status;
        self.body += other.body;
        self.protocol += other.protocol;
        self.unasked += other.unasked;
        self.local += other.local;
    }
}
