//! Asks a server as the load engine asks it in a cell: by the cell's protocol, with its TLS.

use crate::fault::Fault;
use load::{LoadError, Progress};
use model::{Load, Plan, Resumption, Until, Verify};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the whole exchange may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of requests, each on a connection of its own where sessions are to be resumed: a server may hand out its tickets after its
/// first answer.
const REQUESTS: u64 = 4;

/// Asks a few times, as this plan of a cell does; returns what is wrong. An error means that the lab itself failed.
pub fn in_cell(plan: &Plan, stop: &Arc<AtomicBool>) -> Result<Option<String>, Fault> {
    let per_connection = plan.load.per_connection();
    let few = Plan {
        load: Load::Closed { connections: 1, per_connection },
        pipeline: 1,
        until: Until::Elapsed(PATIENCE),
        most_requests: Some(REQUESTS),
        warmup: Duration::ZERO,
        timeout: PATIENCE / 2,
        verify: Verify::All,
        threads: 1,
        spin: Duration::ZERO,
        ..plan.clone()
    };
    let progress = Progress { stop: Arc::clone(stop), ..Progress::default() };
    let over = if plan.target.tls { " over TLS 1.3" } else { "" };
    let what = format!("{}{over}, {}", plan.protocol.name(), plan.target.url);
    let wrong = |why: &str| Ok(Some(format!("{what}: {why}")));
    let tally = match load::run(&few, &progress, &()) {
        Ok(tally) => tally,
        Err(LoadError::Connect { source, .. }) if Fault::own(&source).is_some() => {
            return Err(Fault::own(&source).unwrap_or_else(Fault::interrupted));
        }
        Err(error) => return wrong(&error.to_string()),
    };
    if stop.load(Ordering::Relaxed) {
        return Err(Fault::interrupted());
    }
    if let Some(cause) = tally.main_cause() {
        return wrong(cause);
    }
    if tally.completed < REQUESTS {
        return wrong(&format!("{} answers to {REQUESTS} requests in {PATIENCE:?}", tally.completed));
    }
    if plan.tls.resumption == Resumption::Required && tally.handshakes_resumed == 0 {
        let all = tally.handshake.count();
        return wrong(&format!("it resumed the TLS session in none of {all} handshakes"));
    }
    Ok(None)
}
