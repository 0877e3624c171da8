//! Moves contenders to another machine: writes their sources there, installs what they lack, and describes the run.

use super::messages::{Bodies, Install, Installed, SourcesWritten, Step, WriteSources};
use super::probe;
use super::remote_contender::RemoteContender;
use super::remote_machine::{RemoteError, RemoteMachine};
use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::server::instance::Works;
use model::Run;
use model::contender::tuned_name;
use std::sync::atomic::AtomicBool;

/// Writes the sources of these contenders to the other machine. From now on they are started there.
pub fn take(there: &RemoteMachine, works: &Works, all: &mut [Prepared]) -> Result<(), RemoteError> {
    make_bodies(there, works)?;
    for prepared in all {
        write_sources(there, prepared)?;
    }
    Ok(())
}

/// Makes the workloads' files there.
fn make_bodies(there: &RemoteMachine, works: &Works) -> Result<(), Fault> {
    let of = |(name, work): (&String, &crate::server::instance::Work)| {
        Some((name.clone(), work.workload.clone()?))
    };
    there.ask("servers.bodies", &Bodies { workloads: works.iter().filter_map(of).collect() })
}

/// Writes the sources of one contender to the other machine.
pub fn write_sources(there: &RemoteMachine, prepared: &mut Prepared) -> Result<(), Fault> {
    let sources = prepared.sources();
    let blob = there.send(&sources.values().flatten().copied().collect::<Vec<u8>>())?;
    let base = prepared.name.strip_suffix(&tuned_name("")).unwrap_or(&prepared.name);
    let question = WriteSources {
        name: base.to_owned(),
        contender: prepared.contender.clone(),
        sources: sources.iter().map(|(path, bytes)| (path.clone(), bytes.len())).collect(),
        blob,
    };
    let SourcesWritten { id, version } = there.ask("servers.write_sources", &question)?;
    prepared.remote = Some(RemoteContender { machine: there.clone(), id, version });
    Ok(())
}

/// Installs there what these contenders lack. `ask` is shown commands that change the machine, and may refuse; `say` is told each step.
pub fn install(
    there: &RemoteMachine,
    all: &mut [Prepared],
    ask: &dyn Fn(&str) -> bool,
    say: &dyn Fn(&str),
    stop: &AtomicBool,
) -> Result<(), RemoteError> {
    let ids: Vec<u64> = all.iter().filter_map(|prepared| Some(prepared.remote.as_ref()?.id)).collect();
    let first = one_install(there, &ids, false, say, stop)?;
    let consents = first.asked.iter().all(|command| ask(&format!("{}: {command}", there.name())));
    let last =
        if first.asked.is_empty() || !consents { first } else { one_install(there, &ids, true, say, stop)? };
    let contenders = all.iter_mut().filter_map(|prepared| prepared.remote.as_mut());
    for (contender, version) in contenders.zip(last.installed.versions) {
        contender.version = version;
    }
    last.installed.failed.map_or(Ok(()), |why| Err(RemoteError(format!("{}: {why}", there.name()))))
}

struct Tried {
    installed: Installed,
    asked: Vec<String>,
}

fn one_install(
    there: &RemoteMachine,
    ids: &[u64],
    may: bool,
    say: &dyn Fn(&str),
    stop: &AtomicBool,
) -> Result<Tried, Fault> {
    let mut asked = Vec::new();
    let question = Install { ids: ids.to_vec(), may };
    let installed =
        there.ask_at_length(
            "servers.install",
            &question,
            stop,
            &mut |event| match serde_json::from_value(event) {
                Ok(Step::Says(line)) => say(&format!("{}: {}", there.name(), agent::cleaned(&line))),
                Ok(Step::Asks(command)) => asked.push(agent::cleaned(&command)),
                Err(_) => {}
            },
        )?;
    Ok(Tried { installed, asked })
}

/// Measures the network, and describes both machines in the run.
pub fn describe(there: &RemoteMachine, run: &mut Run) -> Result<(), RemoteError> {
    let network = probe::measure(there)?;
    run.environment = there.environment(std::mem::take(&mut run.environment));
    if let Some(on) = &mut run.environment.servers_on {
        on.network = Some(network);
    }
    Ok(())
}
