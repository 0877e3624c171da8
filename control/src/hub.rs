//! The hub: the server that is in every heat and ties heats together. It is the reference with some work for every answer.

use crate::catalog::Catalog;
use crate::prepare::Prepared;
use crate::verify::work::Work;
use model::Protocol;
use model::heat::{HUB, HUB_MESSAGES, HUB_MESSAGES_PER_CONNECTION};
use model::study::REFERENCE;
use std::path::Path;

/// The workloads that the hub is asked for in cells whose workload it does not serve: of those of the cell's protocol, the first.
const PLAINEST: [&str; 3] = ["hello", "message", "call"];

/// The hub, prepared on this machine.
#[derive(Debug)]
pub struct Hub {
    /// Its command, with the work.
    pub prepared: Prepared,
    /// The paths and the workloads that it is asked for in cells whose workload it does not serve.
    plainest: Vec<(String, Work)>,
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
        let plainest = PLAINEST.map(|name| {
            let work =
                Work::of(catalog.workload(name).map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
            let path = prepared.contender.serves.get(name).cloned().unwrap_or_else(|| "/".to_owned());
            Ok::<_, String>((path, work))
        });
        let plainest = plainest.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { prepared, plainest })
    }

    /// What it is asked for in this protocol, in cells whose workload it does not serve: the path and the workload.
    pub fn plainest(&self, protocol: Protocol) -> Option<(&str, &Work)> {
        let is_of = |work: &Work| work.workload.as_ref().is_some_and(|workload| workload.is_of(protocol));
        self.plainest.iter().find(|(_, work)| is_of(work)).map(|(path, work)| (path.as_str(), work))
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
        let plainest = |protocol| hub.plainest(protocol).map(|(path, _)| path);
        assert_eq!((hub.prepared.name.as_str(), plainest(Protocol::Http1)), (HUB, Some("/hello")));
        assert_eq!(plainest(Protocol::WebSocket), Some("/websocket"));
        assert_eq!(plainest(Protocol::Grpc), Some("/drome.Bench/Echo"));
    }
}
