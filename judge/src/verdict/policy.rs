//! The policy of verdicts: which disturbances from outside of a measurement void it, and which are only noted.

/// The effect of a circumstance on a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The measurement is left out of every estimate.
    Void,
    /// The measurement counts, and the circumstance is noted.
    Note,
}

/// How strict to be about circumstances outside of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The machine's host took much of its time.
    pub host: Weight,
    /// Other programs used much of the machine.
    pub other_load: Weight,
    /// The load generator was held up, so that requests left after they were due.
    pub lag: Weight,
}

impl Policy {
    /// The policy of a measurement that is compared with others, unless the user allowed a busy machine.
    pub fn compared(may_be_busy: bool) -> Self {
        let weight = if may_be_busy { Weight::Note } else { Weight::Void };
        Self { host: weight, other_load: weight, lag: weight }
    }

    /// The policy of a measurement that is compared with nothing here: other programs are noted, for its reader to judge.
    pub fn single(may_be_busy: bool) -> Self {
        Self { other_load: Weight::Note, ..Self::compared(may_be_busy) }
    }
}
