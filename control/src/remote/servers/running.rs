//! The servers that run on this machine and that another machine measures.

use super::super::messages::{Answers, Prepare, Start, Started};
use super::{file_name, locked, no_number};
use crate::fault::Fault;
use crate::machine::awake::Awake;
use crate::machine::cores::Cores;
use crate::machine::digest;
use crate::prepare::{Prepared, folders};
use crate::random_bits;
use crate::server::guard;
use crate::server::origin::Origin;
use crate::server::prepare_command;
use crate::server::starting::{self, Place};
use crate::server::supervise::Server;
use crate::server::tree::Tree;
use crate::server::verify;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{LazyLock, Mutex};

/// Servers by number.
#[derive(Debug, Default)]
pub struct Running {
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    servers: BTreeMap<u64, One>,
    /// The link is over: nothing may stay.
    is_over: bool,
}

#[derive(Debug)]
struct One {
    server: Server,
    address: SocketAddr,
    /// Keeps the cores awake for as long as the server runs.
    _awake: Option<Awake>,
}

impl Running {
    /// Starts a contender and waits until it answers here.
    pub fn start(
        &self,
        asked: &Start,
        prepared: &Prepared,
        assets: PathBuf,
        number: u64,
        stop: &AtomicBool,
    ) -> Result<Started, Fault> {
        let log = log(&asked.log)?;
        let place = Place { cpus: asked.cpus.clone(), connections: asked.connections, assets, log };
        let (server, address) = starting::start(prepared, &place, &[asked.host.into()], stop)?;
        let program = digest::executable(server.pid());
        let mut all = locked(&self.all);
        if all.is_over {
            // It is dropped here, and with it all that it started.
            return Err(Fault::Lab("the link is over".to_owned()));
        }
        let awake = Cores::deal().keep_awake();
        all.servers.insert(number, One { server, address, _awake: awake });
        Ok(Started { server: number, port: address.port(), program })
    }

    /// How a server has ended, if it has.
    pub fn ended(&self, id: u64) -> Result<Option<String>, String> {
        self.with(id, |one| one.server.ended())
    }

    /// The processes of a server.
    pub fn tree(&self, id: u64) -> Result<Tree, String> {
        self.with(id, |one| one.server.tree())
    }

    /// Whether a server answers on its own machine.
    pub fn answers(&self, asked: &Answers) -> Result<bool, String> {
        let address = self.with(asked.server, |one| one.address)?;
        Ok(verify::get(&Origin::from(address), &asked.path).is_ok())
    }

    /// Asks a server to stop.
    pub fn ask_to_stop(&self, id: u64) -> Result<(), String> {
        self.with(id, |one| one.server.ask_to_stop())
    }

    /// Stops a server, and says what was wrong at its end.
    pub fn stop(&self, id: u64) -> Option<String> {
        let one = locked(&self.all).servers.remove(&id)?;
        one.server.stop().err()
    }

    /// Ends everything that was started here, at once; it is called while requests still run, and once more when none does.
    pub fn end(&self) {
        let (servers, is_last) = {
            let mut all = locked(&self.all);
            let is_last = std::mem::replace(&mut all.is_over, true);
            (std::mem::take(&mut all.servers), is_last)
        };
        drop(servers);
        // Builds and other commands that were under way. A server that is being started is ended by its own request, whose stop flag is
        // set: a guard that is killed leaves its folder.
        if is_last {
            guard::kill_all();
        } else {
            guard::kill_unguarded();
        }
    }

    fn with<T>(&self, id: u64, what: impl FnOnce(&mut One) -> T) -> Result<T, String> {
        locked(&self.all).servers.get_mut(&id).map(what).ok_or_else(|| no_number("server", id))
    }
}

/// Runs the command that comes before a start.
pub fn prepare(asked: &Prepare, stop: &AtomicBool) -> Result<(), Fault> {
    prepare_command::run(&asked.command, &log(&asked.log)?, stop)
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
