//! Whether a server resumes TLS sessions: asked by the load engine, because that remembers the sessions of its connections.

use crate::fault::Fault;
use load::{LoadError, Progress};
use model::{Load, Plan, Until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long all requests may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of requests, each on a connection of its own: a server may hand out its tickets after its first answer.
const REQUESTS: u64 = 4;

/// Asks a few times, one after the other, as this plan of a cell does; what is wrong if no session was resumed. An error means that the lab
/// itself failed.
pub fn no_resumption(plan: &Plan, stop: &Arc<AtomicBool>) -> Result<Option<String>, Fault> {
    let few = Plan {
        load: Load::Closed { connections: 1, per_connection: Some(1) },
        until: Until::Elapsed(PATIENCE),
        most_requests: Some(REQUESTS),
        timeout: PATIENCE / 2,
        ..plan.clone()
    };
    let progress = Progress { stop: Arc::clone(stop), ..Progress::default() };
    let tally = match load::run(&few, &progress, &()) {
        Ok(tally) => tally,
        Err(LoadError::Connect { source, .. }) if Fault::own(&source).is_some() => {
            return Err(Fault::own(&source).unwrap_or_else(Fault::interrupted));
        }
        Err(error) => return Ok(Some(format!("new connections: {error}"))),
    };
    if stop.load(Ordering::Relaxed) {
        return Err(Fault::interrupted());
    }
    if let Some(cause) = tally.main_cause() {
        return Ok(Some(format!("new connections: {cause}")));
    }
    let all = tally.handshake.count();
    let none = || format!("it resumed the TLS session in none of {all} handshakes");
    Ok((tally.handshakes_resumed == 0).then(none))
}
