//! The hub: the server that is in every heat and ties heats together. It is the reference with some work for every answer.

use crate::catalog::Catalog;
use crate::prepare::Prepared;
use crate::verify::work::Work;
use model::heat::{HUB, HUB_MESSAGES, HUB_MESSAGES_PER_CONNECTION};
use model::study::REFERENCE;
use std::path::Path;

/// The workload that the hub is asked for in cells whose workload it does not serve.
const PLAINEST: &str = "hello";

/// The hub, prepared on this machine.
#[derive(Debug)]
pub struct Hub {
    /// Its command, with the work.
    pub prepared: Prepared,
    /// The path and the workload that it is asked for in cells whose workload it does not serve.
    pub plainest: (String, Work),
}

impl Hub {
    /// Prepares the hub in the cache folder, from the catalog that drome contains.
    pub fn prepare(cache: &Path) -> Result<Self, String> {
        let catalog = Catalog::built_in().map_err(|e| e.to_string())?;
        let mut entry = catalog.contender(REFERENCE).map_err(|e| e.to_string())?.clone();
        let messages = |option: &str, n: u32| [option.to_owned(), n.to_string()];
        entry.contender.run.command.extend(messages("--messages", HUB_MESSAGES));
        entry
            .contender
            .run
            .command
            .extend(messages("--messages-per-connection", HUB_MESSAGES_PER_CONNECTION));
        let prepared = Prepared::write_sources(HUB, &entry, cache)
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
    fn the_hub_is_the_reference_with_work_for_every_answer() {
        let cache = tempfile::tempdir().unwrap();
        let hub = Hub::prepare(cache.path()).unwrap();
        let command = hub.prepared.contender.run.command.join(" ");
        assert!(command.ends_with("--messages 6 --messages-per-connection 24"), "{command}");
        assert_eq!((hub.prepared.name.as_str(), hub.plainest.0.as_str()), (HUB, "/hello"));
    }
}
