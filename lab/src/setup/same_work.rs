//! Checks that all contenders of a race give the same answer: otherwise the race would be of unequal work.

use super::{RACED, SetupError};
use crate::fault::Fault;
use crate::lab::Lab;
use crate::server::instance::{Instance, Place, Work, Works};
use crate::server::likely_class;
use crate::server::prepare_command;
use crate::server::verify;
use model::Run;
use model::contender::Class;
use model::observation::Raced;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// What was learned by asking every contender once.
struct Asked {
    /// The answer that all of them give.
    work: Work,
    /// The likely class of each, by name.
    classes: BTreeMap<String, Class>,
}

/// Starts every contender once and asks it: all must give the same body, or the race is of unequal work. From then on
/// that body is expected of all; the run keeps its size, and the likely class of each contender.
pub fn same_work(lab: &mut Lab, run: &mut Run, path: &str) -> Result<(), SetupError> {
    let asked = ask_all(lab, run, path);
    // Whatever came of it then.
    if lab.stop.load(Ordering::Relaxed) {
        return Err(SetupError::Interrupted);
    }
    let Asked { work, classes } = asked?;
    let body_bytes = work.body.as_ref().map(Vec::len);
    run.race = Some(Raced { body_bytes, ..run.race.take().unwrap_or_default() });
    for (name, class) in classes {
        if let Some(entrant) = run.contenders.get_mut(&name) {
            entrant.class = entrant.class.or(Some(class));
        }
    }
    lab.works.insert(RACED.to_owned(), work);
    Ok(())
}

fn ask_all(lab: &Lab, run: &Run, path: &str) -> Result<Asked, SetupError> {
    let (mut first, mut classes): (Option<(String, Vec<u8>)>, _) = (None, BTreeMap::new());
    for (name, prepared) in &lab.prepared {
        let place = Place {
            cpus: lab.cores.server.clone(),
            connections: 1,
            assets: lab.assets.clone(),
            log: lab.logs.join(format!("{name}.log")),
        };
        let trouble =
            |why: String| SetupError::Race(format!("{name} (`{}`): {why}", prepared.contender.title));
        let fault = |fault| match fault {
            Fault::Contender(why) => trouble(why),
            Fault::Lab(why) => SetupError::Lab(why),
        };
        if let Some(command) = run.race.as_ref().and_then(|race| race.prepare.as_deref()) {
            let log = lab.logs.join("prepare.log");
            prepare_command::run(command, &log, &lab.stop).map_err(|fault| match fault {
                Fault::Contender(why) => SetupError::Race(why),
                Fault::Lab(why) => SetupError::Lab(why),
            })?;
        }
        let instance = Instance::start(prepared, &place, &Works::new(), &lab.stop).map_err(fault)?;
        let answer = verify::get(instance.address, path);
        let names = likely_class::names(&instance.server.tree());
        classes.insert(name.clone(), likely_class::class(names.iter().map(String::as_str)));
        instance.server.stop().map_err(trouble)?;
        let answer = answer.map_err(|e| match Fault::own(&e) {
            Some(own) => SetupError::Lab(own.to_string()),
            None => trouble(format!("no answer for {path}: {e}")),
        })?;
        if answer.status != 200 {
            return Err(trouble(format!("status {} for {path}, not 200", answer.status)));
        }
        match &first {
            None => first = Some((name.clone(), answer.body)),
            Some((other, body)) if *body != answer.body => {
                return Err(SetupError::Race(format!(
                    "{other} answers {path} with {} bytes, {name} with {} {}: that is not the same work; make them answer \
                     alike, or use --any-body",
                    body.len(),
                    answer.body.len(),
                    if body.len() == answer.body.len() { "others" } else { "bytes" },
                )));
            }
            Some(_) => {}
        }
    }
    Ok(Asked { work: Work { body: first.map(|(_, body)| body), ..Work::default() }, classes })
}
