//! A contender that is running, ready and verified.

use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::remote::messages::StartServer;
use crate::remote::remote_server::RemoteServer;
use crate::server::any_server::AnyServer;
use crate::server::plan;
pub use crate::server::starting::ServerPlace;
use crate::server::starting::{self, Listening};
use crate::verify;
use crate::verify::origin::Origin;
pub use crate::verify::work::{Work, Works};
use model::Cell;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A contender that is running, ready and verified.
#[derive(Debug)]
pub struct Instance {
    /// The server.
    pub server: Box<dyn AnyServer>,
    /// Where requests to it go.
    pub origin: Origin,
    /// Where encrypted ones go, if it listens with TLS as well.
    pub with_tls: Option<Origin>,
}

impl Instance {
    /// Starts a contender, or takes one that already runs, waits until it answers, and asks it once for each of these workloads that
    /// it serves; a contender's fault names everything that was wrong.
    pub fn start(
        prepared: &Prepared,
        place: &ServerPlace,
        works: &Works,
        stop: &AtomicBool,
    ) -> Result<Self, Fault> {
        let serves = &prepared.contender.serves;
        let path = starting::plainest_path(serves);
        let instance = if let Some(running) = &prepared.running {
            if let Some(end) = running.ended() {
                return Err(Fault::Contender(end));
            }
            Self { server: Box::new(running.clone()), origin: running.origin.clone(), with_tls: None }
                .answering(path)?
        } else if let Some(contender) = &prepared.remote {
            let log =
                place.log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let (there, cpus) = (&contender.machine, place.cpus.clone());
            let start = StartServer {
                id: contender.id,
                host: there.host(),
                cpus,
                connections: place.connections,
                tls: place.tls,
                log,
            };
            let remote = RemoteServer::start(there, start, stop)?;
            let (origin, tls_port) = (remote.origin(), remote.tls_port);
            Self::listening(Box::new(remote), origin, tls_port).answering(path)?
        } else {
            let asked_at = prepared.asked_at.as_ref();
            let usual = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
            let hosts = asked_at.map_or(&usual[..], |asked_at| &asked_at.hosts);
            let Listening { server, address, tls_port } = starting::start(prepared, place, hosts, stop)?;
            let origin = asked_at.map_or_else(|| Origin::from(address), |asked_at| asked_at.origin(address));
            Self::listening(Box::new(server), origin, tls_port)
        };
        let wrong = verify::brief(&instance.origin, serves, works)?;
        if wrong.is_empty() { Ok(instance) } else { Err(Fault::Contender(fails(&wrong))) }
    }

    fn listening(server: Box<dyn AnyServer>, origin: Origin, tls_port: Option<u16>) -> Self {
        Self { server, with_tls: tls_port.map(|port| origin.with_tls(port)), origin }
    }

    /// Where requests go in this cell; `None`: it is encrypted, and the server does not listen with TLS.
    pub fn origin_in(&self, cell: &Cell) -> Option<&Origin> {
        if cell.tls.is_some() { self.with_tls.as_ref() } else { Some(&self.origin) }
    }

    /// Asks by the load engine, once, as under load in this cell, for a workload at this path; a contender's fault says what was wrong.
    pub fn answers_in(
        &self,
        cell: &Cell,
        path: &str,
        work: &Work,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), Fault> {
        let lacks_tls = || Fault::Contender("it does not listen with TLS".to_owned());
        let at = self.origin_in(cell).ok_or_else(lacks_tls)?;
        let wrong = verify::in_cell(&plan::asked(cell, at, path, work), stop)?;
        wrong.map_or(Ok(()), |wrong| Err(Fault::Contender(fails(&[wrong]))))
    }

    /// Checks that it answers a request for this path, with whatever status and body: one that already runs answers at once,
    /// and one that answers on another machine must answer here, too.
    fn answering(self, path: &str) -> Result<Self, Fault> {
        let Err(why) = verify::get(&self.origin, path) else { return Ok(self) };
        let fault = Fault::own(&why).or_else(|| self.server.unreachable(path, &why.to_string()));
        let told = || Fault::Contender(format!("it does not answer at {}: {why}", self.origin.address));
        Err(fault.unwrap_or_else(told))
    }
}

/// Everything that is wrong, in one sentence.
pub fn fails(wrong: &[String]) -> String {
    format!("it fails verification: {}", wrong.join("; "))
}
