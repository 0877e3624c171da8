//! What voids a measurement is not the same everywhere: what others did to it only matters where it is compared.

/// What a circumstance does to a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It is left out of every estimate.
    Void,
    /// It counts, and the circumstance is told.
    Note,
}

/// How strict to be about what a measurement can't help.
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
    /// A trial, whose figure is compared with those of others, unless somebody said that the machine may be busy.
    pub fn trial(may_be_busy: bool) -> Self {
        let weight = if may_be_busy { Weight::Note } else { Weight::Void };
        Self { host: weight, other_load: weight, lag: weight }
    }

    /// A measurement that is compared with nothing here: other programs are told, for its reader to judge.
    pub fn single(may_be_busy: bool) -> Self {
        Self { other_load: Weight::Note, ..Self::trial(may_be_busy) }
    }
}
