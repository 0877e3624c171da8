//! Makes the load engine's plan for a measurement.

use crate::machine::cores::Cores;
use crate::server::instance::Work;
use crate::verify::origin::Origin;
use model::{Ask, Cell, Design, Expect, Plan, Until};
use std::time::Duration;

/// How long a measurement of a study waits for one answer at most.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The plan for one measurement of a cell.
pub fn plan(
    cell: &Cell,
    design: &Design,
    at: &Origin,
    path: &str,
    work: &Work,
    cores: &Cores,
    seed: u64,
) -> Plan {
    let question = work.usual(path);
    let ask = Ask {
        request: question.request(at, true),
        last: question.request(at, false),
        head_only: false,
        expect: Expect { status: Some(200), body: question.body, ..Expect::default() },
        weight: 1.0,
    };
    let target = at.target(&question.path);
    Plan {
        warmup: design.warmup,
        timeout: TIMEOUT,
        // A load generator that sleeps must be woken, and the server's core pays for that, not the same for all servers (docs/decisions.md
        // has figures). With cores of its own it stays awake.
        spin: if cores.client_may_poll { Duration::MAX } else { Duration::ZERO },
        threads: cores.client.len().max(1),
        cpus: cores.client.clone(),
        seed,
        ..Plan::new(target, ask, cell.load.clone(), Until::Elapsed(design.measure))
    }
}
