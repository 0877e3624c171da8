//! Inspects contenders without load: each is started, verified in full, and stopped.

use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::server::instance::{Instance, ServerPlace, Works};
use crate::verify;
use model::Contender;
use model::contender::Faults;
use model::inspection::Inspection;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Starts one contender on its track, verifies every workload that it serves, and stops it. An error is the lab's own failure.
pub fn inspect(
    prepared: &Prepared,
    place: &ServerPlace,
    works: &Works,
    stop: &AtomicBool,
) -> Result<Inspection, String> {
    let begun = Instant::now();
    let mut seen = Inspection {
        name: prepared.name.clone(),
        title: prepared.contender.title.clone(),
        track: prepared.track,
        served: prepared.contender.serves.len(),
        ..Inspection::default()
    };
    match prepared.version() {
        Err(lack) => {
            seen.missing = Some(lack.sentence());
            return Ok(seen);
        }
        Ok(version) => seen.version = Some(version),
    }
    match Instance::start(prepared, place, stop) {
        Err(Fault::Contender(why)) => seen.wrong.push(why),
        Err(Fault::Lab(why)) => return Err(why),
        Ok(mut instance) => {
            verify_all(&prepared.contender, &instance, works, &mut seen).map_err(|own| own.to_string())?;
            seen.wrong.extend(instance.server.ended());
            seen.wrong.extend(instance.server.stop().err());
        }
    }
    seen.elapsed_s = begun.elapsed().as_secs_f64();
    Ok(seen)
}

/// Verifies every workload in everything that the contender declares to speak, with TLS and without. What is wrong by its usual protocol is
/// told as it is; elsewhere, the protocol is told as well.
fn verify_all(
    contender: &Contender,
    instance: &Instance,
    works: &Works,
    seen: &mut Inspection,
) -> Result<(), Fault> {
    let usual = &instance.origin;
    let with_tls = contender.tls.iter().flat_map(|tls| tls.speaks.iter().map(|speaks| (*speaks, true)));
    let plain = contender.speaks.iter().map(|speaks| (*speaks, false));
    let declared = plain.chain(with_tls).filter_map(|(protocol, tls)| instance.origin_by(protocol, tls));
    let mut right: BTreeMap<String, bool> = BTreeMap::new();
    for at in declared {
        let faults = if at.protocol.is_usual() { contender.faults.clone() } else { Faults::default() };
        let verified = verify::full(&at, &contender.serves, &faults, works)?;
        for (name, wrong) in &verified.workloads {
            *right.entry(name.clone()).or_insert(true) &= wrong.is_empty();
        }
        let by = format!("{}{}: ", at.protocol.name(), if at.tls { " with TLS" } else { "" });
        let named = |why: String| if at == *usual { why } else { format!("{by}{why}") };
        seen.wrong.extend(verified.wrong().into_iter().map(named));
        if at == *usual {
            seen.known = verified.known;
            seen.hello_wire_bytes = verified.wire_bytes.get("hello").copied();
        }
    }
    seen.right = right.values().filter(|is_right| **is_right).count();
    Ok(())
}
