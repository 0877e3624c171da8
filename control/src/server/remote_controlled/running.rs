//! The servers that run on this machine and that another machine measures.

use super::file_name;
use super::numbered::Numbered;
use crate::fault::Fault;
use crate::locked;
use crate::machine::awake::Awake;
use crate::machine::cores::Cores;
use crate::machine::digest;
use crate::prepare::{Prepared, folders};
use crate::processes::tree::Tree;
use crate::random_bits;
use crate::remote::messages::{StartServer, Started};
use crate::server::prepare_command;
use crate::server::starting::{self, Listening, ServerPlace};
use crate::supervise::GuardedProcess;
use crate::supervise::guard;
use crate::verify;
use crate::verify::origin::Origin;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{LazyLock, Mutex};

/// Servers by number.
#[derive(Debug, Default)]
pub struct RunningServers {
    all: Numbered<One>,
    /// Whether the link is over: then nothing may stay. Nothing that starts is kept while it is set.
    is_over: Mutex<bool>,
}

/// A server, and where it answers.
#[derive(Debug)]
pub struct One {
    pub server: GuardedProcess,
    origin: Origin,
    /// Keeps the cores awake for as long as the server runs.
    _awake: Option<Awake>,
}

impl RunningServers {
    /// Starts a contender and waits until it answers here.
    pub fn start(
        &self,
        asked: &StartServer,
        prepared: &Prepared,
        assets: PathBuf,
        stop: &AtomicBool,
    ) -> Result<Started, Fault> {
        let log = log(&asked.log)?;
        let StartServer { connections, tls, .. } = *asked;
        let place = ServerPlace { cpus: asked.cpus.clone(), connections, tls, assets, log };
        let started = starting::start(prepared, &place, &[asked.host.into()], stop)?;
        let Listening { server, address, tls_port } = started;
        let program = digest::executable(server.pid());
        let is_over = locked(&self.is_over);
        if *is_over {
            // It is dropped here, and with it all that it started.
            return Err(Fault::Lab("the link is over".to_owned()));
        }
        let origin = prepared.origin(address, tls);
        let server = self.all.add(One { server, origin, _awake: Cores::deal().keep_awake() });
        Ok(Started { server, port: address.port(), tls_port, program })
    }

    /// Does something with a server.
    pub fn with<T>(&self, id: u64, work: impl FnOnce(&mut One) -> T) -> Result<T, String> {
        self.all.with(id, work)
    }

    /// The processes of a server.
    pub fn tree(&self, id: u64) -> Result<Tree, String> {
        self.with(id, |one| one.server.tree())
    }

    /// Whether a server answers on its own machine.
    pub fn answers(&self, id: u64, path: &str) -> Result<bool, String> {
        let origin = self.with(id, |one| one.origin.clone())?;
        Ok(verify::get(&origin, path).is_ok())
    }

    /// Stops a server, and says what was wrong at its end.
    pub fn stop(&self, id: u64) -> Option<String> {
        self.all.take(id)?.server.stop().err()
    }

    /// Ends everything that was started here, at once; it is called while requests still run, and once more when none does.
    pub fn end(&self) {
        let is_last = std::mem::replace(&mut *locked(&self.is_over), true);
        drop(self.all.take_all());
        // Builds and other commands that were under way. A server that is being started is ended by its own request, whose stop flag is
        // set: a guard that is killed leaves its folder.
        if is_last {
            guard::kill_all();
        } else {
            guard::kill_unguarded();
        }
    }
}

/// Runs the command that comes before a start.
pub fn prepare(command: &str, to: &str, stop: &AtomicBool) -> Result<(), Fault> {
    prepare_command::run(command, &log(to)?, stop)
}

/// What tells the logs of this agent from those of any other, which may have had the same PID.
static OWN: LazyLock<u64> = LazyLock::new(random_bits);

/// The file for some output, in a folder of this agent's own.
fn log(name: &str) -> Result<PathBuf, Fault> {
    let name = file_name(name).map_err(Fault::Lab)?;
    let folder = folders::cache().join("logs").join(format!("agent-{:016x}", *OWN));
    let unable =
        |e: std::io::Error| Fault::Lab(format!("can't write the cache folder {}: {e}", folder.display()));
    std::fs::create_dir_all(&folder).map_err(unable)?;
    Ok(folder.join(name))
}
