//! What a run needs beside its description, what it reports meanwhile, and why it could not continue.

use control::fault::Fault;
use control::lock::Lock;
use control::locked;
use control::machine::awake::Awake;
use control::machine::cores::Cores;
use control::prepare::Prepared;
use control::remote::RemoteMachine;
use control::server::instance::{self, Instance};
use control::server::prepare_command;
use control::server::starting::ServerPlace;
use control::verify;
use control::verify::origin::Origin;
use control::verify::work::Works;
use model::heat::{Heat, Start, Step};
use model::{Cell, Measured, Run};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use store::StoreError;

/// Everything that a run needs beside its description.
#[derive(Debug)]
pub struct Lab {
    /// The contenders that take part.
    pub prepared: BTreeMap<String, Prepared>,
    /// The workloads that are asked for.
    pub works: Works,
    /// The other machine, where servers are started on one.
    pub remote: Option<RemoteMachine>,
    /// The cores of servers and load generator.
    pub cores: Cores,
    /// The folder of the workloads' files.
    pub assets: PathBuf,
    /// The folder for servers' output, a file a start.
    pub logs: PathBuf,
    /// Set to end the run, in the middle of the current heat or after it.
    pub stop: Arc<AtomicBool>,
    /// Whether measurements count although other programs use much of the machine.
    pub may_be_busy: bool,
    /// The contenders that were verified in full since the lab began.
    pub verified: Mutex<BTreeSet<String>>,
    /// The lock that keeps every other drome from continuing the run.
    pub lock: Lock,
    /// Keeps the cores of this machine awake; `None`: they may sleep.
    pub(crate) _awake: Option<Awake>,
}

impl Lab {
    /// Runs the command that comes before every start of a race, if there is one, where the servers are. Its output goes to a file of a name
    /// with this beginning.
    pub(crate) fn run_prepare(&self, run: &Run, log: &str) -> Result<(), Fault> {
        let Some(command) = run.race.as_ref().and_then(|race| race.prepare.as_deref()) else { return Ok(()) };
        let log = format!("{log}prepare.log");
        match &self.remote {
            Some(remote) => remote.run_prepare(command, &log, &self.stop),
            None => prepare_command::run(command, &self.logs.join(log), &self.stop),
        }
    }

    /// Starts a contender on the servers' cores for these cells, and asks it once for each of their workloads, as each cell does. Its output
    /// goes to the log of this name.
    pub(crate) fn start(&self, prepared: &Prepared, cells: &[&Cell], log: &str) -> Result<Instance, Fault> {
        let place = ServerPlace {
            cpus: self.cores.server.clone(),
            connections: cells.iter().map(|cell| cell.load.connections()).max().unwrap_or(1),
            tls: cells.iter().any(|cell| cell.tls.is_some()),
            assets: self.assets.clone(),
            log: self.logs.join(format!("{log}.log")),
        };
        let instance = Instance::start(prepared, &place, &self.stop)?;
        for cell in cells {
            if let Some(path) = prepared.contender.serves.get(&cell.workload) {
                instance.ensure_right(cell, path, &self.works, &self.stop)?;
            }
        }
        Ok(instance)
    }

    /// Verifies a contender in full, with every workload that it serves, in every protocol of these cells, once in a run.
    pub(crate) fn verify_once(
        &self,
        prepared: &Prepared,
        instance: &Instance,
        cells: &[&Cell],
    ) -> Result<(), Fault> {
        let mut verified = locked(&self.verified);
        if verified.contains(&prepared.name) {
            return Ok(());
        }
        let contender = &prepared.contender;
        let mut origins: Vec<Origin> = Vec::new();
        for at in cells.iter().filter_map(|cell| instance.origin_in(cell)) {
            if origins.contains(&at) {
                continue;
            }
            let wrong = verify::full(&at, &contender.serves, &contender.faults, &self.works)?.wrong();
            if !wrong.is_empty() {
                return Err(Fault::Contender(instance::fails(&wrong)));
            }
            origins.push(at);
        }
        verified.insert(prepared.name.clone());
        Ok(())
    }
}

/// Receives the progress of a run.
pub trait Show {
    /// A step within a heat: a few times a second, between two turns.
    fn step(&mut self, _run: &Run, _heat: &Heat, _step: &Step) {}
    /// A heat is over; `starts` are its own.
    fn heat_over(&mut self, _run: &Run, _heat: &Heat, _starts: &[Start]) {}
    /// Everything measured so far, once after every heat, for estimates that are shown meanwhile.
    fn knows_heats(&mut self, _run: &Run, _measured: &Measured) {}
}

/// Why a run could not continue.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The results can't be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A user asked to stop. What was measured is kept.
    #[error("interrupted; every finished cell is kept")]
    Interrupted,
    /// The lab failed in a heat. Its finished cells are kept.
    #[error("the lab failed in heat {heat} of round {round}: {why}; every finished cell is kept")]
    Heat {
        /// The round, counted from 1.
        round: usize,
        /// The heat, counted from 1.
        heat: usize,
        /// What went wrong.
        why: String,
    },
}
