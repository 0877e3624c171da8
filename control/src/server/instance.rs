//! A contender that is running, ready and verified.

use crate::fault::Fault;
use crate::prepare::Prepared;
use crate::remote::messages::StartServer;
use crate::remote::remote_server::RemoteServer;
use crate::server::any_server::AnyServer;
use crate::server::plan;
use crate::server::starting::{self, Listening, ServerPlace};
use crate::verify;
use crate::verify::origin::Origin;
use crate::verify::work::Works;
use model::study::Handshake;
use model::{Cell, Protocol};
use std::collections::BTreeMap;
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
    /// Where encrypted ones go, if it listens with TLS at a port beside.
    pub with_tls: Option<Origin>,
}

impl Instance {
    /// Starts a contender, or takes one that already runs, and waits until it answers.
    pub fn start(prepared: &Prepared, place: &ServerPlace, stop: &AtomicBool) -> Result<Self, Fault> {
        let path = starting::plainest_path(&prepared.contender.serves);
        if let Some(running) = &prepared.running {
            if let Some(end) = running.ended() {
                return Err(Fault::Contender(end));
            }
            let origin = running.origin.by(prepared.contender.usual_protocol());
            return Self::listening(Box::new(running.clone()), origin, None).answering(path);
        }
        if let Some(contender) = &prepared.remote {
            let log = place.log.file_name();
            let there = &contender.machine;
            let start = StartServer {
                id: contender.id,
                host: there.host(),
                cpus: place.cpus.clone(),
                connections: place.connections,
                tls: place.tls,
                log: log.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            };
            let remote = RemoteServer::start(there, start, stop)?;
            let (origin, tls_port) = (prepared.origin(remote.address(), place.tls), remote.tls_port);
            return Self::listening(Box::new(remote), origin, tls_port).answering(path);
        }
        let usual = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
        let hosts = prepared.asked_at.as_ref().map_or(&usual[..], |asked_at| &asked_at.hosts);
        let Listening { server, address, tls_port } = starting::start(prepared, place, hosts, stop)?;
        Ok(Self::listening(Box::new(server), prepared.origin(address, place.tls), tls_port))
    }

    fn listening(server: Box<dyn AnyServer>, origin: Origin, tls_port: Option<u16>) -> Self {
        Self { server, with_tls: tls_port.map(|port| origin.with_tls(port)), origin }
    }

    /// Where requests go that are encrypted or not, in this protocol; `None`: it does not listen so.
    pub fn origin_by(&self, protocol: Protocol, tls: bool) -> Option<Origin> {
        let at = if tls && !self.origin.tls { self.with_tls.as_ref()? } else { &self.origin };
        (at.tls == tls).then(|| at.by(protocol))
    }

    /// Where requests go in this cell; `None`: it does not listen so.
    pub fn origin_in(&self, cell: &Cell) -> Option<Origin> {
        self.origin_by(cell.protocol, cell.tls.is_some())
    }

    /// Asks once for a cell's workload, which is served at this path, as it is asked for under load; a contender's fault names everything
    /// that was wrong.
    pub fn ensure_right(
        &self,
        cell: &Cell,
        path: &str,
        works: &Works,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), Fault> {
        let lacks = || Fault::Contender("it does not listen as the cell asks".to_owned());
        let at = self.origin_in(cell).ok_or_else(lacks)?;
        let serves = BTreeMap::from([(cell.workload.clone(), path.to_owned())]);
        let mut wrong = verify::brief(&at, &serves, works)?;
        if cell.tls == Some(Handshake::Resumed)
            && wrong.is_empty()
            && let Some(work) = works.get(&cell.workload)
        {
            wrong.extend(verify::no_resumption(&plan::asked(cell, &at, path, work), stop)?);
        }
        if wrong.is_empty() { Ok(()) } else { Err(Fault::Contender(fails(&wrong))) }
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
