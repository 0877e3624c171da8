//! Inspects contenders without load: each is started, verified in full, and stopped.

use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::server::instance::{Instance, ServerPlace, Works};
use crate::verify;
use model::inspection::Inspection;
use model::study::Handshake;
use model::{Cell, Contender, Load};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Starts one contender on its track, verifies every workload that it serves, and stops it. An error is the lab's own failure.
pub fn inspect(
    prepared: &Prepared,
    place: &ServerPlace,
    works: &Works,
    stop: &Arc<AtomicBool>,
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
    match Instance::start(prepared, place, &Works::new(), stop) {
        Err(Fault::Contender(why)) => seen.wrong.push(why),
        Err(Fault::Lab(why)) => return Err(why),
        Ok(mut instance) => {
            let contender = &prepared.contender;
            let verified = verify::full(&instance.origin, &contender.serves, &contender.faults, works)
                .map_err(|own| own.to_string())?;
            seen.right = verified.right();
            seen.wrong = verified.wrong();
            seen.wrong.extend(in_other_protocols(contender, &instance, works, stop)?);
            seen.known = verified.known;
            seen.hello_wire_bytes = verified.wire_bytes.get("hello").copied();
            seen.wrong.extend(instance.server.ended());
            seen.wrong.extend(instance.server.stop().err());
        }
    }
    seen.elapsed_s = begun.elapsed().as_secs_f64();
    Ok(seen)
}

/// What is wrong where a contender is asked by another protocol than HTTP/1.1, or with TLS: every workload, in everything that it declares.
fn in_other_protocols(
    contender: &Contender,
    instance: &Instance,
    works: &Works,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<String>, String> {
    let with_tls =
        contender.tls.iter().flat_map(|tls| tls.speaks.iter().map(|speaks| (*speaks, Some(Handshake::Full))));
    let all = contender.speaks.iter().map(|speaks| (*speaks, None)).chain(with_tls);
    let mut wrong = Vec::new();
    for (protocol, tls) in all {
        for (name, path) in &contender.serves {
            let Some(work) = works.get(name) else { continue };
            let load = Load::Closed { connections: 1, per_connection: None };
            let cell = Cell { protocol, tls, ..Cell::plain(String::new(), name.clone(), load) };
            if cell.is_plain_http1() {
                continue;
            }
            match instance.answers_in(&cell, path, work, stop) {
                Ok(()) => {}
                Err(Fault::Contender(why)) => wrong.push(format!("{name}: {why}")),
                Err(Fault::Lab(why)) => return Err(why),
            }
        }
    }
    Ok(wrong)
}
