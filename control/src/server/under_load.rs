//! Puts a contender under load: drives it, watches it, stops it.

use crate::fault::Fault;
use crate::machine::cores::Cores;
use crate::processes::usage::Sampler;
use crate::remote::RemoteMachine;
use crate::remote::remote_server::RemoteServer;
use crate::server::instance::Instance;
use load::{LoadError, Progress};
use model::{Plan, Tally, Usage};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a contender's time under load yielded.
#[derive(Debug)]
pub struct Loaded {
    /// What the client counted.
    pub tally: Tally,
    /// What the server used; `None` where its processes could not be watched.
    pub usage: Option<Usage>,
    /// What went wrong when it was stopped. What was measured before is not affected.
    pub stopping: Option<String>,
}

/// Loads a contender by the plan, then stops it. If drome started it, it runs on the servers' part of these cores.
pub fn load(
    mut instance: Instance,
    plan: &Plan,
    cores: &Cores,
    stop: &Arc<AtomicBool>,
) -> Result<Loaded, Fault> {
    let progress = Progress { stop: Arc::clone(stop), ..Progress::default() };
    // A window can last for minutes, and it can take as long until data sent into a dead network comes back as an error.
    let machine = instance.server.remote().map(RemoteServer::machine);
    let (tally, usage) = Sampler::around(instance.server.sampler(cores), &(), |watch| {
        let run = || load::run(plan, &progress, watch);
        match machine {
            Some(machine) => machine.while_linked(&progress.halted, run),
            None => run(),
        }
    });
    if let Some(lost) = machine.and_then(RemoteMachine::lost) {
        return Err(lost);
    }
    if let Some(end) = instance.server.ended() {
        return Err(Fault::Contender(format!("under load {end}")));
    }
    let stopping = instance.server.stop().err();
    Ok(Loaded { tally: counted(tally)?, usage, stopping })
}

/// Returns the counts if they say something about the server, else whose fault it is that they do not.
pub fn counted(tally: Result<Tally, LoadError>) -> Result<Tally, Fault> {
    let tally = tally.map_err(|error| fault(&error))?;
    match &tally.halted {
        Some(why) if tally.errors.local > 0 => Err(Fault::Lab(why.clone())),
        // The window had not opened yet.
        Some(why) if tally.duration_ns == 0 => Err(Fault::Contender(why.clone())),
        _ => Ok(tally),
    }
}

fn fault(error: &LoadError) -> Fault {
    match error {
        LoadError::Connect { source, .. } => {
            Fault::own(source).unwrap_or_else(|| Fault::Contender(error.to_string()))
        }
        LoadError::Halted(_) => Fault::Contender(error.to_string()),
        own => Fault::Lab(own.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Address, Errors};
    use std::io::Error;

    #[test]
    fn whoever_ran_out_of_something_is_who_failed() {
        let connect = |errno: net::Errno| LoadError::Connect {
            address: Address::Tcp(([127, 0, 0, 1], 1).into()),
            more: String::new(),
            source: Error::from_raw_os_error(errno.raw_os_error()),
        };
        let is_own = |error| matches!(counted(Err(error)), Err(Fault::Lab(_)));
        assert!(is_own(connect(net::Errno::MFILE)) && is_own(connect(net::Errno::ADDRNOTAVAIL)));
        assert!(!is_own(connect(net::Errno::CONNREFUSED)));
        assert!(is_own(LoadError::RanOut(String::new())) && !is_own(LoadError::Halted(String::new())));
    }

    #[test]
    fn a_halt_is_the_servers_unless_this_machine_ran_out_and_no_measurement_before_the_window() {
        let halted = |duration_ns, local| Tally {
            halted: Some("why".to_owned()),
            duration_ns,
            errors: Errors { local, ..Errors::default() },
            ..Tally::default()
        };
        let of = |duration_ns, local| counted(Ok(halted(duration_ns, local))).map(|tally| tally.duration_ns);
        assert_eq!(of(0, 0), Err(Fault::Contender("why".to_owned())), "in the warm-up");
        assert_eq!(
            (of(0, 1), of(9, 1)),
            (Err(Fault::Lab("why".to_owned())), Err(Fault::Lab("why".to_owned())))
        );
        assert_eq!(of(9, 0), Ok(9), "void, with its reason");
        assert!(counted(Ok(Tally::default())).is_ok());
    }
}
