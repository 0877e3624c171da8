//! A contender that is running, ready and verified.

use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::remote::remote_server::{RemoteServer, Wanted};
use crate::server::any_server::AnyServer;
use crate::server::origin::Origin;
use crate::server::running::Running;
use crate::server::starting;
pub use crate::server::starting::Place;
use crate::server::verify;
pub use crate::server::work::{Work, Works};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::AtomicBool;

/// A contender that is running, ready and verified.
#[derive(Debug)]
pub struct Instance {
    /// The server.
    pub server: AnyServer,
    /// Where requests to it go.
    pub origin: Origin,
}

impl Instance {
    /// Starts a contender, or takes one that already runs, waits until it answers, and asks it once for each of these workloads that
    /// it serves; a contender's fault names everything that was wrong.
    pub fn start(
        prepared: &Prepared,
        place: &Place,
        works: &Works,
        stop: &AtomicBool,
    ) -> Result<Self, Fault> {
        let serves = &prepared.contender.serves;
        let instance = if let Some(running) = &prepared.running {
            Self::of_running(running, starting::plainest_path(serves))?
        } else if let Some(contender) = &prepared.remote {
            let log =
                place.log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let wanted = Wanted { cpus: &place.cpus, connections: place.connections, log: &log };
            Self::of_remote(RemoteServer::start(contender, wanted, stop)?, starting::plainest_path(serves))?
        } else {
            let asked_at = prepared.asked_at.as_ref();
            let usual = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
            let hosts = asked_at.map_or(&usual[..], |asked_at| &asked_at.hosts);
            let (owned, address) = starting::start(prepared, place, hosts, stop)?;
            let origin = asked_at.map_or_else(|| Origin::from(address), |asked_at| asked_at.origin(address));
            Self { server: AnyServer::Owned(Box::new(owned)), origin }
        };
        let wrong = verify::brief(&instance.origin, serves, works)?;
        if wrong.is_empty() { Ok(instance) } else { Err(Fault::Contender(fails(&wrong))) }
    }

    /// Takes a server on another machine, which answers there and must answer here.
    fn of_remote(remote: RemoteServer, path: &str) -> Result<Self, Fault> {
        let origin = remote.origin();
        if let Err(why) = verify::get(&origin, path) {
            let fault = Fault::own(&why).or_else(|| remote.unreachable(path, &why.to_string()));
            let told = || Fault::Contender(format!("it does not answer at {}: {why}", origin.address));
            return Err(fault.unwrap_or_else(told));
        }
        Ok(Self { server: AnyServer::Remote(remote), origin })
    }

    /// Takes a server that already runs, which must answer a request for this path at once, with whatever status and body.
    fn of_running(running: &Running, path: &str) -> Result<Self, Fault> {
        if let Some(end) = running.ended() {
            return Err(Fault::Contender(end));
        }
        let origin = running.origin.clone();
        if let Err(why) = verify::get(&origin, path) {
            let told = || Fault::Contender(format!("it does not answer at {}: {why}", origin.address));
            return Err(Fault::own(&why).unwrap_or_else(told));
        }
        Ok(Self { server: AnyServer::Running(running.clone()), origin })
    }
}

/// Everything that is wrong, in one sentence.
pub fn fails(wrong: &[String]) -> String {
    format!("it fails verification: {}", wrong.join("; "))
}
