//! The hub: the server that is in every heat and ties heats together. It is the reference with some work for every answer.

use crate::catalog::Catalog;
use crate::prepare::Prepared;
use crate::server::instance::Work;
use model::heat::HUB;
use model::study::REFERENCE;
use std::path::Path;

/// How many messages the hub sends itself for each answer: some 12 µs of work, which lowers its rate to about a third of the reference's
/// (measured: 54,700 and 151,500 requests/s), so that the hub, and not the load generator, is the bottleneck, whatever state the machine is
/// in. It is work and not a fixed time: a hub that spun for 60 µs by the clock stayed as fast as it was when the machine slowed all others
/// by a fifth. And it is no more than this: when the machine changed the rates of the other servers, the hub's changed by a third as much
/// with 30 messages, and by nine tenths as much with 6. It is the same in every heat of every run, so that nothing depends on the moment at
/// which a run began.
const MESSAGES: u32 = 6;

/// How many messages the hub sends itself for each new connection. The load generator takes 40 µs or more for a connection, so that it
/// would be the bottleneck; with this work, the hub accepts about half as many connections a second as the reference.
const MESSAGES_PER_CONNECTION: u32 = 24;

/// Describes the hub's work per answer: runs whose hubs do the same work can be compared by them.
pub fn work() -> String {
    format!("{MESSAGES} messages for a request, {MESSAGES_PER_CONNECTION} for a connection")
}

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
        entry.contender.run.command.extend(messages("--messages", MESSAGES));
        entry.contender.run.command.extend(messages("--messages-per-connection", MESSAGES_PER_CONNECTION));
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
