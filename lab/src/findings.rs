//! Reads a run's findings from the store.

use crate::heat::Measured;
use crate::heat::observed::observed;
use model::{Findings, Observation, Run};
use store::{Store, StoreError};

/// Computes the findings of a run; `ended`: why it ended ([`Store::run`]).
pub fn of(store: &Store, run: &Run, ended: Option<&str>) -> Result<Findings, StoreError> {
    let mut findings = Measured::of(store, &run.id)?.findings(run, ended);
    findings.origin = store.origin(&run.id)?;
    Ok(findings)
}

/// All starts of a run, in the form of trials.
pub fn all(store: &Store, run: &str) -> Result<Vec<Observation>, StoreError> {
    Ok(observed(&store.heats(run)?, &store.starts(run)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::example::in_heats;
    use store::shared::{Writer, read};

    #[test]
    fn findings_tell_where_a_run_is_from() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| Store::open(&folder.path().join(name)).unwrap());
        let run = in_heats::run(&["a"]);
        one.add_run(&run).unwrap();
        let mut bytes = Vec::new();
        let mut writer = Writer::begin(&mut bytes, "0.1.0").unwrap();
        writer.entry(Some("ci-1")).unwrap();
        one.export(&run.id, &mut |row| writer.row(&row)).unwrap();
        writer.end().unwrap();
        two.pull(&read(&bytes[..]).unwrap(), "2026-02-01T00:00:00Z").unwrap();
        let (own, mut pulled) = (of(&one, &run, None).unwrap(), of(&two, &run, None).unwrap());
        assert_eq!(pulled.origin.take().map(|origin| origin.machine).as_deref(), Some("ci-1"));
        assert_eq!(own, pulled, "the same figures, and its own have no origin");
    }
}
