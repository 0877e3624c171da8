//! How a call went.

use crate::head::number;
use std::fmt;

/// The names of the statuses, from 0.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// A `grpc-status`: 0 is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrpcStatus(u32);

impl GrpcStatus {
    pub(super) const OK: Self = Self(0);
    /// Stands for a field whose value is no number, or two that differ.
    const UNREADABLE: Self = Self(u32::MAX);

    /// Reads the field's value, of which there may have been an `earlier` one.
    pub(crate) fn read(value: &[u8], earlier: Option<Self>) -> Self {
        let number = number(value).and_then(|number| u32::try_from(number).ok());
        let status = number.map_or(Self::UNREADABLE, Self);
        if earlier.is_some_and(|earlier| earlier != status) { Self::UNREADABLE } else { status }
    }
}

impl fmt::Display for GrpcStatus {
    /// As the cause of an error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(self.0 as usize) {
            _ if *self == Self::UNREADABLE => {
                write!(f, "a grpc-status that is no number, or two that differ")
            }
            Some(name) => write!(f, "grpc-status {} ({name}) instead of 0", self.0),
            None => write!(f, "grpc-status {} instead of 0", self.0),
        }
    }
}
