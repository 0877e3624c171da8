//! Moves contenders to another machine: writes their sources there, installs what they lack, and describes the run.

use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::remote::messages::{InstallStep, Installed, RemoteRequest, Source, SourcesWritten, WriteSources};
use crate::remote::probe;
use crate::remote::remote_server::RemoteContender;
use crate::remote::{RemoteError, RemoteMachine};
use crate::verify::work::{Work, Works};
use model::Run;
use model::contender::tuned_name;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Writes the sources of these contenders to the other machine. From now on they are started there.
pub fn take(there: &RemoteMachine, works: &Works, all: &mut [Prepared]) -> Result<(), RemoteError> {
    let workload = |(name, work): (&String, &Work)| Some((name.clone(), work.workload.clone()?));
    let () = there.ask(&RemoteRequest::MakeBodies(works.iter().filter_map(workload).collect()))?;
    for prepared in all {
        write_sources(there, prepared)?;
    }
    Ok(())
}

/// Writes the sources of one contender to the other machine.
pub fn write_sources(there: &RemoteMachine, prepared: &mut Prepared) -> Result<(), Fault> {
    let source = |(path, bytes): (&PathBuf, &Vec<u8>)| Source { path: path.clone(), bytes: bytes.clone() };
    let base = prepared.name.strip_suffix(&tuned_name("")).unwrap_or(&prepared.name);
    let asked = WriteSources {
        name: base.to_owned(),
        contender: prepared.contender.clone(),
        sources: prepared.sources().iter().map(source).collect(),
    };
    let SourcesWritten { id, version } = there.ask(&RemoteRequest::WriteSources(Box::new(asked)))?;
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
    let (mut installed, asked) = one_install(there, &ids, false, say, stop)?;
    let consents = asked.iter().all(|command| ask(&format!("{}: {command}", there.name())));
    if consents && !asked.is_empty() {
        (installed, _) = one_install(there, &ids, true, say, stop)?;
    }
    let contenders = all.iter_mut().filter_map(|prepared| prepared.remote.as_mut());
    for (contender, version) in contenders.zip(installed.versions) {
        contender.version = version;
    }
    installed.failed.map_or(Ok(()), |why| Err(RemoteError(format!("{}: {why}", there.name()))))
}

/// Tries once; returns how it ended, and the commands that the agent asked to run.
fn one_install(
    there: &RemoteMachine,
    ids: &[u64],
    may: bool,
    say: &dyn Fn(&str),
    stop: &AtomicBool,
) -> Result<(Installed, Vec<String>), Fault> {
    let mut asked = Vec::new();
    let mut hear = |event| match serde_json::from_value(event) {
        Ok(InstallStep::Says(line)) => say(&format!("{}: {}", there.name(), agent::cleaned(&line))),
        Ok(InstallStep::Asks(command)) => asked.push(agent::cleaned(&command)),
        Err(_) => {}
    };
    let installed =
        there.ask_at_length(&RemoteRequest::Install { ids: ids.to_vec(), may }, stop, &mut hear)?;
    Ok((installed, asked))
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
