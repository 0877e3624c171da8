//! Judges what was measured: which turns count, whether a measurement is sound and what bounded it, what a run found, how two runs differ, and
//! what is to be measured next. Pure: the same stored facts give the same judgement, bit for bit.

#[cfg(any(test, feature = "example"))]
#[allow(clippy::wildcard_imports, clippy::unwrap_used, reason = "tests use it")]
pub mod example;
pub mod findings;
pub mod schedule;
pub mod turns;
pub mod verdict;
