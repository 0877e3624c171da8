//! Makes the load engine's plan for a measurement.

use crate::machine::cores::Cores;
use crate::verify::origin::Origin;
use crate::verify::work::Work;
use model::study::{Handshake, Transport};
use model::{Ask, Cell, Design, Expect, Plan, Protocol, Resumption, TlsChoice, TlsVersion, Until};
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
    Plan {
        warmup: design.warmup,
        until: Until::Elapsed(design.measure),
        // A load generator that sleeps must be woken, and the server's core pays for that, not the same for all servers (docs/decisions.md
        // has figures). With cores of its own it stays awake.
        spin: if cores.client_may_poll { Duration::MAX } else { Duration::ZERO },
        threads: cores.client.len().max(1),
        cpus: cores.client.clone(),
        seed,
        ..asked(cell, at, path, work)
    }
}

/// What is asked of a server in a cell, and how; everything else is as in `drome load` by default.
pub fn asked(cell: &Cell, at: &Origin, path: &str, work: &Work) -> Plan {
    let question = work.usual(path);
    // A message has no status.
    let is_message = cell.protocol == Protocol::WebSocket;
    let ask = Ask {
        request: question.request(at, true),
        last: question.request(at, false),
        head_only: false,
        expect: Expect {
            status: (!is_message).then_some(200),
            any_status: is_message,
            body: question.body,
            ..Expect::default()
        },
        weight: 1.0,
    };
    let plan = Plan::new(at.target(&question.path), ask, cell.load.clone(), Until::Elapsed(Duration::ZERO));
    Plan { timeout: TIMEOUT, ..over(cell.transport(), plan) }
}

/// The plan over these connections.
pub fn over(transport: Transport, plan: Plan) -> Plan {
    Plan {
        protocol: transport.protocol,
        pipeline: transport.streams.unwrap_or(1),
        tls: transport.tls.map(tls).unwrap_or_default(),
        ..plan
    }
}

/// All servers are asked for the same version, and whoever made their certificates made them for this: none is checked.
fn tls(handshake: Handshake) -> TlsChoice {
    let resumption = match handshake {
        Handshake::Full => Resumption::Off,
        Handshake::Resumed => Resumption::Required,
    };
    TlsChoice { insecure: true, resumption, version: Some(TlsVersion::Tls13), ..TlsChoice::default() }
}
