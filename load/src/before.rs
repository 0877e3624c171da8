//! What is found out before a load: whether a plan is possible here, whether a server is there, which back end drives the sockets.

use crate::crew::Chosen;
use crate::error::LoadError;
use crate::protocol;
use crate::sources;
use model::{Address, IoChoice, Plan, Resumption, Target, TlsVersion};
use net::tls::{ClientOptions, ClientTls, IdentityFiles, Version};
use net::{BackEnd, Endpoint, Errno, Sizes, limits};
use std::net::TcpStream;
use std::time::Duration;

/// The time within which one connection must be established before a measurement starts.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// The descriptors needed besides those of connections: standard streams, poll sets, the store, logs.
const SPARE_DESCRIPTORS: u64 = 64;

/// Checks each plan first, whether or not a server is there, and then whether one accepts connections. Returns the plans' TLS
/// configurations.
pub fn try_out(plans: &[Plan]) -> Result<Vec<Option<ClientTls>>, LoadError> {
    ensure_descriptors(plans.iter().map(|plan| plan.load.connections()).sum())?;
    let try_one = |plan: &Plan| {
        sources::check(plan)?;
        protocol::check(plan)?;
        let tls = secure(plan)?;
        if plan.probe {
            probe(&plan.target)?;
        }
        Ok(tls)
    };
    plans.iter().map(try_one).collect()
}

/// The TLS configuration of the plan, where the target is encrypted.
fn secure(plan: &Plan) -> Result<Option<ClientTls>, LoadError> {
    if !plan.target.tls {
        return Ok(None);
    }
    let identity = plan.tls.identity.clone();
    let options = ClientOptions {
        insecure: plan.tls.insecure,
        cacert: plan.tls.cacert.clone(),
        identity: identity.map(|(certificate, key)| IdentityFiles { certificate, key }),
        resume: plan.tls.resumption != Resumption::Off,
        sni: !plan.tls.no_sni,
        version: plan.tls.version.map(|version| match version {
            TlsVersion::Tls12 => Version::Tls12,
            TlsVersion::Tls13 => Version::Tls13,
        }),
        alpn: protocol::offered(plan.protocol),
    };
    Ok(Some(ClientTls::new(&options, plan.target.name())?))
}

/// The back end to begin with, for threads of this number of connections, and why it is not the best one, if that is asked for.
pub fn choose(choice: IoChoice, connections: usize) -> Chosen {
    let wanted = match choice {
        IoChoice::Best => None,
        IoChoice::Epoll => Some(BackEnd::Epoll),
        IoChoice::Uring => Some(BackEnd::Uring),
    };
    net::choose(wanted, Sizes::of(connections))
}

/// Raises the limit of descriptors to what the system allows: a ring's table of files counts against it too, however few are open.
fn ensure_descriptors(connections: usize) -> Result<(), LoadError> {
    let needed = connections as u64 + SPARE_DESCRIPTORS;
    match limits::raise_descriptors(u64::MAX) {
        Some(limit) if limit < needed => Err(LoadError::Descriptors { connections, needed, limit }),
        _ => Ok(()),
    }
}

/// Tries the addresses of the target's host in turn, and keeps the first that accepts a connection. Nothing is tried if there is only one.
pub fn reach(target: &mut Target) -> Result<(), LoadError> {
    if target.others.is_empty() {
        return Ok(());
    }
    let (mut first, mut more) = (None, String::new());
    for address in target.addresses().collect::<Vec<_>>() {
        match (connect(&address), &first) {
            (Ok(()), _) => {
                (target.address, target.others) = (address, Vec::new());
                return Ok(());
            }
            (Err(source), None) => first = Some(source),
            (Err(why), Some(_)) => more.push_str(&format!(", nor to {address} ({why})")),
        }
    }
    let source = first.unwrap_or_else(|| Errno::ADDRNOTAVAIL.into());
    Err(LoadError::Connect { address: target.address.clone(), more, source })
}

/// Tries whether the target's address accepts a connection.
pub fn probe(target: &Target) -> Result<(), LoadError> {
    let address = &target.address;
    connect(address).map_err(|source| LoadError::Connect {
        address: address.clone(),
        more: String::new(),
        source,
    })
}

fn connect(address: &Address) -> std::io::Result<()> {
    match address {
        Address::Tcp(address) => TcpStream::connect_timeout(address, PROBE_TIMEOUT).map(drop),
        // A full queue belongs to a server that is there; a connection that blocks would wait for room in it without end.
        Address::Unix(path) => match net::socket::connecting(&Endpoint::Unix(path.clone()), None) {
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(errno) => Err(errno.into()),
        },
    }
}
