//! Everything that was measured in heats, as it is stored and as it grows.

use judge::findings::analyse;
use model::heat::{Heat, Slice, Start};
use model::{Findings, Run};
use store::{Store, StoreError};

/// Everything that was measured in heats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// All heats that have begun.
    pub heats: Vec<Heat>,
    /// All starts.
    pub starts: Vec<Start>,
    /// All slices.
    pub slices: Vec<Slice>,
}

impl Measured {
    /// Reads what the store has of a run.
    pub fn of(store: &Store, run: &str) -> Result<Self, StoreError> {
        Ok(Self { heats: store.heats(run)?, starts: store.starts(run)?, slices: store.slices(run)? })
    }

    /// Computes the findings; `ended` is why the run ended.
    pub fn findings(&self, run: &Run, ended: Option<&str>) -> Findings {
        analyse::heats::findings(run, &self.heats, &self.starts, &self.slices, ended)
    }

    /// Takes in the starts of a heat as they are now.
    pub(super) fn take(&mut self, starts: &[Start]) {
        let is = |a: &Start, b: &Start| {
            (a.round, a.heat, a.copy, &a.contender) == (b.round, b.heat, b.copy, &b.contender)
        };
        for start in starts {
            match self.starts.iter_mut().find(|known| is(known, start)) {
                Some(known) => known.clone_from(start),
                None => self.starts.push(start.clone()),
            }
        }
    }
}
