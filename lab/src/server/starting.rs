//! Starts a contender, in a container if it has one, on a free port and waits until it answers there by itself.

use crate::containers::{ContainerError, Launch, new_name};
use crate::fault::Fault;
use crate::prepare::{Prepared, fill_all};
use crate::server::local;
use crate::server::origin::Origin;
use crate::server::ports;
use crate::server::supervise::{Server, Start};
use crate::server::verify;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often readiness is polled.
const READY_INTERVAL: Duration = Duration::from_millis(10);

/// How many ports are tried for one start. More than a few that were taken meanwhile are no accident.
const MAX_PORTS: usize = 5;

/// The descriptors that a server needs beside those of connections: listeners, poll sets, files, logs, libraries.
const SPARE_DESCRIPTORS: u64 = 512;

/// Readiness is polled with this workload where it is served, because its answer costs the least.
const PLAINEST: &str = "hello";

/// Where a contender is started.
#[derive(Clone, Debug)]
pub struct Place {
    /// The cores that it may use.
    pub cpus: Vec<usize>,
    /// How many connections it will have at the same time.
    pub connections: usize,
    /// The folder of the workloads' files.
    pub assets: PathBuf,
    /// The file for its output.
    pub log: PathBuf,
}

/// A server that was started and may not answer yet.
struct Starting<'p> {
    prepared: &'p Prepared,
    place: &'p Place,
    server: Server,
    at: SocketAddrV4,
    /// How its container is run, and the container's name; `None`: it runs in none.
    container: Option<(&'p Launch, String)>,
}

/// Starts a contender on this address of the machine and waits until it answers, with whatever status and body; returns the server and its
/// address.
pub fn start(
    prepared: &Prepared,
    place: &Place,
    host: Ipv4Addr,
    stop: &AtomicBool,
) -> Result<(Server, SocketAddr), Fault> {
    let mut tried = 1;
    loop {
        let mut starting = Starting::on_free_port(prepared, place, host)?;
        match starting.wait_ready(stop) {
            Ok(()) => {
                let address = starting.address();
                return Ok((starting.server, address));
            }
            // Another process may have taken the port after it was chosen and before the server listened on it.
            Err(Fault::Contender(_)) if tried < MAX_PORTS && starting.is_port_taken() => tried += 1,
            Err(fault) => return Err(fault),
        }
    }
}

/// The path by which readiness is polled: that of the workload whose answer costs the least, where it is served.
pub fn plainest_path(serves: &BTreeMap<String, String>) -> &str {
    serves.get(PLAINEST).or_else(|| serves.values().next()).map_or("/", String::as_str)
}

impl<'p> Starting<'p> {
    fn address(&self) -> SocketAddr {
        SocketAddr::V4(self.at)
    }

    fn on_free_port(prepared: &'p Prepared, place: &'p Place, host: Ipv4Addr) -> Result<Self, Fault> {
        let unable = |e| Fault::unable(&format!("no port of {host} is free"), &e);
        let at = SocketAddrV4::new(host, ports::free_port_of(host).map_err(unable)?);
        let (log, cpus, stop) = (place.log.clone(), place.cpus.clone(), prepared.contender.run.stop);
        let descriptors = descriptors(place.connections, net::limits::descriptors_at_start());
        let container = prepared.launch.as_ref().map(|launch| (launch, new_name()));
        let removal = container.as_ref().map(|(launch, name)| launch.removal(name)).unwrap_or_default();
        let env = prepared.env.clone();
        let start = Start { log, cpus, descriptors, address: at, env, stop, removal };
        let server = Server::start(start, |dir| match &container {
            Some((launch, name)) => Ok(launch.command(name, &place.cpus, at.port())),
            None => lay(prepared, place, at, dir),
        })?;
        Ok(Self { prepared, place, server, at, container })
    }

    /// Waits until the contender answers a request, with whatever status and body. Whether it answers correctly is verified afterwards,
    /// once.
    fn wait_ready(&mut self, stop: &AtomicBool) -> Result<(), Fault> {
        let prepared = self.prepared;
        let (origin, path) = (Origin::from(self.address()), plainest_path(&prepared.contender.serves));
        let patience = prepared.contender.run.ready;
        let deadline = Instant::now() + patience;
        loop {
            if let Some(end) = self.server.ended() {
                return Err(Fault::Contender(end));
            }
            let Err(why) = verify::get(&origin, path) else {
                self.find_container(stop)?;
                self.ensure_pinned()?;
                return self.sees_its_own_answer();
            };
            if stop.load(Ordering::Relaxed) {
                return Err(Fault::interrupted());
            }
            if Instant::now() > deadline {
                if let Some(own) = Fault::own(&why) {
                    return Err(own);
                }
                // Under docker, a listener on another port is seen only if the container's processes are known.
                let _ = self.find_container(stop);
                return Err(Fault::Contender(match self.elsewhere() {
                    Some(where_it_is) => format!("it was not ready within {patience:?}: {where_it_is}"),
                    None => format!("it was not ready within {patience:?} (last error: {why})"),
                }));
            }
            std::thread::sleep(READY_INTERVAL);
        }
    }

    /// Finds the processes of its container, once.
    fn find_container(&mut self, stop: &AtomicBool) -> Result<(), Fault> {
        let Some((launch, name)) = &self.container else { return Ok(()) };
        if self.server.has_container() {
            return Ok(());
        }
        match launch.first_process(name, stop) {
            Ok(pid) => {
                self.server.runs_in(pid);
                Ok(())
            }
            Err(ContainerError::Interrupted) => Err(Fault::interrupted()),
            Err(error) => {
                Err(Fault::Contender(format!("the processes of its container can't be found: {error}")))
            }
        }
    }

    /// Checks that its container has no other cores than those of servers: under docker, it does not inherit the guard's.
    fn ensure_pinned(&self) -> Result<(), Fault> {
        let cpus = &self.place.cpus;
        if cpus.is_empty() || !self.server.has_container() {
            return Ok(());
        }
        let allowed = local::cpus(self.server.pid());
        if allowed.iter().all(|cpu| cpus.contains(cpu)) {
            return Ok(());
        }
        Err(Fault::Lab(format!(
            "a container runs on the cores {allowed:?}, not only on those of servers, {cpus:?}, because the tool could not set its \
             cores: run drome as root, or let users have the control group controller `cpuset`"
        )))
    }

    /// Checks that the answer is the contender's: another server may have taken the port first, and may answer alike.
    fn sees_its_own_answer(&self) -> Result<(), Fault> {
        let port = self.at.port();
        if local::listens(&self.server.tree(), port) != Some(false) {
            return Ok(());
        }
        let owner = if self.container.is_some() {
            "the container did not start it: the container must have the machine's network (--network host), and its own server \
             must listen there"
        } else {
            "the command did not start it: the command must run the server itself"
        };
        // A listener that no process is seen to hold may be the server's own: a ring of io_uring can hold it.
        match local::foreign_listener(&self.server.tree(), self.address()) {
            None => Ok(()),
            Some(pid) => Err(Fault::Contender(format!("process {pid} answers on port {port}, but {owner}"))),
        }
    }

    /// Whether a process that is not the server's listens on its port.
    fn is_port_taken(&self) -> bool {
        let port = self.at.port();
        local::listens(&self.server.tree(), port) != Some(true) && !ports::is_free(*self.at.ip(), port)
    }

    /// Where it listens instead of on its port.
    fn elsewhere(&self) -> Option<String> {
        elsewhere(&local::listening(&self.server.tree()), self.at)
    }
}

/// Where a server listens, process by process, if that is not where it is asked, `at`; and what to change.
fn elsewhere(listeners: &[(i32, SocketAddr)], at: SocketAddrV4) -> Option<String> {
    let at = SocketAddr::V4(at);
    let hears =
        |own: &SocketAddr| own.port() == at.port() && (own.ip().is_unspecified() || own.ip() == at.ip());
    if listeners.iter().any(|(_, own)| hears(own)) {
        return None;
    }
    let port = at.port();
    Some(match (listeners.iter().find(|(_, own)| own.port() == port), listeners.first()?) {
        (Some((pid, own)), _) => format!(
            "drome asks it at {at}, but its process {pid} listens only on {own}: its command or its files must use {{host}} \
             where they set the address"
        ),
        (None, (pid, own)) => format!(
            "nothing listens on port {port}, but its process {pid} listens on {own}: its command or its files must use \
             {{port}} where they set the port"
        ),
    })
}

/// Writes its files into its folder, with every placeholder filled in; returns its command.
fn lay(prepared: &Prepared, place: &Place, at: SocketAddrV4, dir: &Path) -> std::io::Result<Vec<String>> {
    let run = &prepared.contender.run;
    let mut places = prepared.places();
    places.extend([
        ("host", at.ip().to_string()),
        ("port", at.port().to_string()),
        ("workers", run.workers.map_or(1, |workers| workers.on(place.cpus.len())).to_string()),
        ("dir", dir.display().to_string()),
        ("assets", place.assets.display().to_string()),
    ]);
    for (name, text) in prepared.templates(&places)? {
        write_below(dir, &name, &text)?;
    }
    Ok(fill_all(&run.command, &places))
}

/// The soft limit of descriptors for a server: the one that drome itself was started with, or enough for the connections that it
/// will have, because servers that do not raise it themselves would refuse the rest.
fn descriptors(connections: usize, at_start: Option<u64>) -> Option<u64> {
    Some(at_start?.max(connections as u64 + SPARE_DESCRIPTORS))
}

fn write_below(dir: &Path, name: &Path, text: &str) -> std::io::Result<()> {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap_or(dir))?;
    std::fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;
    use model::study::REFERENCE;

    /// The reference's command on these CPUs.
    fn command(cpus: &[usize]) -> Vec<String> {
        let cache = tempfile::tempdir().unwrap();
        let catalog = Catalog::built_in().unwrap();
        let prepared =
            Prepared::write_sources(REFERENCE, catalog.contender(REFERENCE).unwrap(), cache.path()).unwrap();
        let (assets, log) = (cache.path().to_owned(), cache.path().join("log"));
        let at = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8080);
        lay(&prepared, &Place { cpus: cpus.to_vec(), connections: 1, assets, log }, at, cache.path()).unwrap()
    }

    #[test]
    fn a_server_that_listens_elsewhere_is_told_which_placeholder_it_lacks() {
        let at = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 8080);
        let elsewhere = |own: &[&str]| {
            let listeners: Vec<(i32, SocketAddr)> = own.iter().map(|own| (7, own.parse().unwrap())).collect();
            super::elsewhere(&listeners, at)
        };
        for sound in [
            &[][..],
            &["10.0.0.2:8080"],
            &["0.0.0.0:8080"],
            &["[::]:8080"],
            &["127.0.0.1:8080", "0.0.0.0:8080"],
        ] {
            assert_eq!(elsewhere(sound), None, "{sound:?}");
        }
        let lacks_host = elsewhere(&["127.0.0.1:9", "127.0.0.1:8080"]).unwrap();
        assert!(
            lacks_host.contains("listens only on 127.0.0.1:8080") && lacks_host.contains("must use {host}")
        );
        let lacks_port = elsewhere(&["127.0.0.1:9"]).unwrap();
        assert!(
            lacks_port.contains("nothing listens on port 8080") && lacks_port.contains("must use {port}")
        );
    }

    #[test]
    fn the_reference_has_a_thread_for_each_cpu_of_servers() {
        for (cpus, threads) in [(&[3][..], "1"), (&[0, 1, 64, 65], "4"), (&[], "1")] {
            let command = command(cpus);
            let at = command.iter().position(|word| word == "--threads").unwrap();
            assert_eq!(command[at + 1], threads, "{command:?}");
        }
    }

    #[test]
    fn a_server_has_the_descriptors_that_drome_was_started_with_or_what_its_connections_take() {
        assert_eq!(descriptors(10, Some(1024)), Some(1024));
        assert_eq!(descriptors(1000, Some(1024)), Some(1512));
        assert_eq!(descriptors(1000, None), None, "no limit");
    }
}
