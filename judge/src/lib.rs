//! Judges what was measured: which turns count, whether a measurement is sound and what bounded it, what a run found, how two runs differ, and
//! what is to be measured next. Pure: the same stored facts give the same judgement, bit for bit.

#[cfg(any(test, feature = "example"))]
#[allow(clippy::wildcard_imports, clippy::unwrap_used, reason = "tests use it")]
pub mod example;
pub mod findings;
pub mod schedule;
pub mod turns;
pub mod verdict;

/// What happens so many times in a row, with nothing else in between, is no chance: a server that fails so often is given up, and one that rests
/// in so many pauses has nothing left to compile.
pub const IN_A_ROW: usize = 3;

/// Whether these are a third of all or more, so that what holds for them is no exception, and the others would be a selection.
pub(crate) fn is_third(these: usize, all: usize) -> bool {
    these > 0 && 3 * these >= all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_is_a_third_or_more_of_some_and_never_none() {
        assert!(is_third(1, 3) && is_third(2, 5) && is_third(1, 1));
        assert!(!is_third(1, 4) && !is_third(0, 3) && !is_third(0, 0));
    }
}
