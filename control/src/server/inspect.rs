//! Inspects contenders without load: each is started, verified in full, and stopped.

use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::server::instance::Instance;
use crate::server::starting::ServerPlace;
use crate::verify;
use crate::verify::work::Works;
use model::Contender;
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
    let mut right = BTreeMap::new();
    for tls in [false, true] {
        if tls && prepared.contender.tls.is_none() {
            continue;
        }
        let place = ServerPlace { tls, ..place.clone() };
        match Instance::start(prepared, &place, stop) {
            Err(Fault::Contender(why)) => seen.wrong.push(why),
            Err(Fault::Lab(why)) => return Err(why),
            Ok(mut instance) => {
                let contender = &prepared.contender;
                let verified = verify_all(contender, &instance, (tls, works), &mut seen, &mut right);
                verified.map_err(|own| own.to_string())?;
                seen.wrong.extend(instance.server.ended());
                seen.wrong.extend(instance.server.stop().err());
            }
        }
    }
    // That it serves them, but can't be asked, is a wrong declaration.
    let is_unasked = |name: &&String| works.contains_key(*name) && !right.contains_key(*name);
    let unasked = prepared.contender.serves.keys().filter(is_unasked);
    if seen.wrong.is_empty() {
        seen.wrong
            .extend(unasked.map(|name| format!("{name}: it speaks no protocol in which this can be asked")));
    }
    seen.right = right.values().filter(|is_right| **is_right).count();
    seen.elapsed_s = begun.elapsed().as_secs_f64();
    Ok(seen)
}

/// Verifies every workload that can be asked so in every protocol that the contender declares, with TLS or without; `right` has whether each
/// workload is served correctly so far. What is wrong by its usual protocol is told as it is; elsewhere, the protocol is told as well.
fn verify_all(
    contender: &Contender,
    instance: &Instance,
    (tls, works): (bool, &Works),
    seen: &mut Inspection,
    right: &mut BTreeMap<String, bool>,
) -> Result<(), Fault> {
    let with_tls = contender.tls.as_ref().map_or(&[][..], |tls| &tls.speaks);
    let speaks = if tls { with_tls } else { &contender.speaks };
    for at in speaks.iter().filter_map(|protocol| instance.origin_by(*protocol, tls)) {
        let verified = verify::full(&at, &contender.serves, &contender.faults, works)?;
        for (name, wrong) in &verified.workloads {
            *right.entry(name.clone()).or_insert(true) &= wrong.is_empty();
        }
        let is_usual = !tls && at.protocol == contender.usual_protocol();
        let by = format!("{}{}: ", at.protocol.name(), if tls { " with TLS" } else { "" });
        let named = |why: String| if is_usual { why } else { format!("{by}{why}") };
        seen.wrong.extend(verified.wrong().into_iter().map(named));
        if is_usual {
            seen.known = verified.known;
            seen.hello_wire_bytes = verified.wire_bytes.get("hello").copied();
        }
    }
    Ok(())
}
