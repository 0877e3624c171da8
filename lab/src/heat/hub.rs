//! The hub: the server that is in every heat and ties heats together. It is the reference with a service time.

use crate::catalog::Catalog;
use crate::instance::Work;
use crate::prepare::Prepared;
use model::heat::HUB;
use model::study::REFERENCE;
use std::path::Path;
use std::time::Duration;

/// The hub works so long for each answer. An answer of the reference takes 5 to 7 µs of a core at its best, the load generator's part
/// on a core of its own no more, on machines on which it was measured; with 12 µs more the hub is at about a third of what the
/// reference does, so that it, and not the load generator, is the bound in whatever state the machine is. It is the same in every
/// heat of every run, so that nothing of it depends on the moment at which a run began.
const SERVICE: Duration = Duration::from_micros(12);

/// What the hub is asked for where it does not serve a cell's workload.
const PLAINEST: &str = "hello";

/// The hub, laid out on this machine.
#[derive(Debug)]
pub struct Hub {
    /// Its command has the service time.
    pub prepared: Prepared,
    /// What it is asked for where it does not serve a cell's workload, and where that is.
    pub plainest: (String, Work),
}

impl Hub {
    /// Lays it out in the cache folder, from what drome brings along.
    pub fn lay_out(cache: &Path) -> Result<Self, String> {
        let catalog = Catalog::built_in().map_err(|e| e.to_string())?;
        let mut entry = catalog.contender(REFERENCE).map_err(|e| e.to_string())?.clone();
        let spin = ["--spin-ns".to_owned(), SERVICE.as_nanos().to_string()];
        entry.contender.run.command.extend(spin);
        let prepared = Prepared::lay_out(HUB, &entry, cache)
            .map_err(|e| format!("can't write the cache folder {}: {e}", cache.display()))?;
        let workload = catalog.workload(PLAINEST).map_err(|e| e.to_string())?;
        let work = Work::of(workload).map_err(|e| e.to_string())?;
        let path = prepared.contender.serves.get(PLAINEST).cloned();
        Ok(Self { prepared, plainest: (path.unwrap_or_else(|| "/".to_owned()), work) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_is_the_reference_with_a_service_time() {
        let hub = Hub::lay_out(tempfile::tempdir().unwrap().path()).unwrap();
        let command = &hub.prepared.contender.run.command;
        assert_eq!(command[command.len() - 2..], ["--spin-ns", "12000"]);
        assert_eq!((hub.prepared.name.as_str(), hub.plainest.0.as_str()), (HUB, "/hello"));
    }
}
