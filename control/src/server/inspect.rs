//! Inspects contenders without load: each is started, verified in full, and stopped.

use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::server::instance::{Instance, ServerPlace, Works};
use crate::verify;
use model::inspection::Inspection;
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
    match Instance::start(prepared, place, &Works::new(), stop) {
        Err(Fault::Contender(why)) => seen.wrong.push(why),
        Err(Fault::Lab(why)) => return Err(why),
        Ok(mut instance) => {
            let contender = &prepared.contender;
            let verified = verify::full(&instance.origin, &contender.serves, &contender.faults, works)
                .map_err(|own| own.to_string())?;
            seen.right = verified.right();
            seen.wrong = verified.wrong();
            seen.known = verified.known;
            seen.hello_wire_bytes = verified.wire_bytes.get("hello").copied();
            seen.wrong.extend(instance.server.ended());
            seen.wrong.extend(instance.server.stop().err());
        }
    }
    seen.elapsed_s = begun.elapsed().as_secs_f64();
    Ok(seen)
}
