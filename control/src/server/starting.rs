//! Starts a contender, in a container if it has one, on a free port and waits until it answers there by itself.

use crate::containers::{ContainerError, Launch, new_name};
use crate::fault::Fault;
use crate::machine::ports;
use crate::prepare::{Prepared, fill_all, folders, identity, write_below};
use crate::processes::local;
use crate::supervise::{GuardedProcess, GuardedStart};
use crate::verify::{self, Answer};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often readiness is polled.
const READY_INTERVAL: Duration = Duration::from_millis(10);

/// How long a connection to its port with TLS may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// How many ports are tried for one start. More than a few that were taken meanwhile are no accident.
const MAX_PORTS: usize = 5;

/// The descriptors that a server needs beside those of connections: listeners, poll sets, files, logs, libraries.
const SPARE_DESCRIPTORS: u64 = 512;

/// Readiness is polled with this workload where it is served, because its answer costs the least.
const PLAINEST: &str = "hello";

/// Where a contender is started.
#[derive(Clone, Debug)]
pub struct ServerPlace {
    /// The cores that it may use.
    pub cpus: Vec<usize>,
    /// How many connections it will have at the same time.
    pub connections: usize,
    /// Whether it must listen with TLS.
    pub tls: bool,
    /// The folder of the workloads' files.
    pub assets: PathBuf,
    /// The file for its output.
    pub log: PathBuf,
}

/// A server that answers.
#[derive(Debug)]
pub struct Listening {
    /// The server.
    pub server: GuardedProcess,
    /// Where it listens.
    pub address: SocketAddr,
    /// Its port with TLS, if it has one beside that.
    pub tls_port: Option<u16>,
}

/// A server that was started and may not answer yet.
struct Starting<'p> {
    prepared: &'p Prepared,
    place: &'p ServerPlace,
    server: GuardedProcess,
    /// The addresses at which it may listen.
    hosts: &'p [IpAddr],
    /// Where it listens, or is expected to.
    at: SocketAddr,
    /// Its port with TLS, if it is to have one.
    tls_port: Option<u16>,
    /// How its container is run, and the container's name; `None`: it runs in none.
    container: Option<(&'p Launch, String)>,
}

/// Starts a contender and waits until it answers at one of these addresses of the machine. Whether it answers correctly is verified
/// afterwards.
pub fn start(
    prepared: &Prepared,
    place: &ServerPlace,
    hosts: &[IpAddr],
    stop: &AtomicBool,
) -> Result<Listening, Fault> {
    let mut tried = 1;
    loop {
        let mut starting = Starting::on_free_port(prepared, place, hosts)?;
        match starting.wait_ready(stop) {
            Ok(()) => {
                let Starting { server, at: address, tls_port, .. } = starting;
                return Ok(Listening { server, address, tls_port });
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
    fn on_free_port(
        prepared: &'p Prepared,
        place: &'p ServerPlace,
        hosts: &'p [IpAddr],
    ) -> Result<Self, Fault> {
        let host =
            *hosts.first().ok_or_else(|| Fault::Lab("a server has no address to listen at".to_owned()))?;
        let unable = |e| Fault::unable(&format!("no port of {host} is free"), &e);
        let [plain, encrypted] = ports::two_free_ports_of(hosts).map_err(unable)?;
        let (at, tls_port) = (
            SocketAddr::new(host, plain),
            (place.tls && !prepared.contender.is_encrypted_instead()).then_some(encrypted),
        );
        let (log, cpus, stop) = (place.log.clone(), place.cpus.clone(), prepared.contender.run.stop);
        let descriptors = descriptors(place.connections, net::limits::descriptors_at_start());
        let container = prepared.launch.as_ref().map(|launch| (launch, new_name()));
        let removal = container.as_ref().map(|(launch, name)| launch.removal(name)).unwrap_or_default();
        let env = prepared.env.clone();
        let start = GuardedStart { log, cpus, descriptors, address: Some(at), env, stop, removal };
        let server = GuardedProcess::start(start, |dir| match &container {
            Some((launch, name)) => Ok(launch.command(name, &place.cpus, at.port())),
            None => lay(prepared, place, at, encrypted, dir),
        })?;
        Ok(Self { prepared, place, server, hosts, at, tls_port, container })
    }

    /// Waits until the contender answers a request. As long as it answers with a status that servers have while they start, it is asked
    /// again; what it still answers when its time is over is left to the verification, which names everything that is wrong.
    fn wait_ready(&mut self, stop: &AtomicBool) -> Result<(), Fault> {
        let prepared = self.prepared;
        let path = plainest_path(&prepared.contender.serves);
        let patience = prepared.contender.run.ready;
        let deadline = Instant::now() + patience;
        loop {
            if let Some(end) = self.server.ended() {
                return Err(Fault::Contender(end));
            }
            let (asked, is_late) = (self.ask(path), Instant::now() > deadline);
            // What answers may be a daemon whose command ended meanwhile.
            if let Some(end) = self.server.ended().filter(|_| asked.is_ok()) {
                return Err(Fault::Contender(end));
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Fault::interrupted());
            }
            match asked {
                Ok(answer) if is_late || !may_still_start(answer.status) => {
                    self.find_container(stop)?;
                    self.ensure_pinned()?;
                    self.sees_its_own(self.at)?;
                    return self.wait_for_tls(deadline, stop);
                }
                Err(why) if is_late => return Err(self.not_ready(patience, &why, stop)),
                _ => std::thread::sleep(READY_INTERVAL),
            }
        }
    }

    /// Waits until it listens with TLS, too, if it is to.
    fn wait_for_tls(&mut self, deadline: Instant, stop: &AtomicBool) -> Result<(), Fault> {
        let Some(port) = self.tls_port else { return Ok(()) };
        let at = SocketAddr::new(self.at.ip(), port);
        loop {
            let Err(why) = TcpStream::connect_timeout(&at, CONNECT_PATIENCE) else {
                return self.sees_its_own(at);
            };
            if let Some(end) = self.server.ended() {
                return Err(Fault::Contender(end));
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Fault::interrupted());
            }
            if Instant::now() > deadline {
                let told = format!("it answers at {}, but can't be reached with TLS at {at}: {why}", self.at);
                let must = "its command or its files must use {tls_port} where they set that port";
                return Err(Fault::own(&why).unwrap_or_else(|| Fault::Contender(format!("{told}; {must}"))));
            }
            std::thread::sleep(READY_INTERVAL);
        }
    }

    /// Asks it at each of its addresses until one answers.
    fn ask(&mut self, path: &str) -> std::io::Result<Answer> {
        let mut first = None;
        for host in self.hosts {
            let at = SocketAddr::new(*host, self.at.port());
            let origin = self.prepared.origin(at, self.place.tls);
            match verify::get(&origin, path) {
                Ok(answer) => {
                    self.at = at;
                    return Ok(answer);
                }
                Err(why) => first = first.or(Some(why)),
            }
        }
        Err(first.unwrap_or_else(|| std::io::ErrorKind::AddrNotAvailable.into()))
    }

    /// Why it does not answer after so long.
    fn not_ready(&mut self, patience: Duration, why: &std::io::Error, stop: &AtomicBool) -> Fault {
        if let Some(own) = Fault::own(why) {
            return own;
        }
        // Under docker, a listener on another port is seen only if the container's processes are known.
        let _ = self.find_container(stop);
        let is_refused = why.kind() == std::io::ErrorKind::ConnectionRefused;
        Fault::Contender(match elsewhere(&local::listening(&self.server.tree()), self.at, is_refused) {
            Some(where_it_is) => format!("it was not ready within {patience:?}: {where_it_is}"),
            None => format!("it was not ready within {patience:?} (last error: {why})"),
        })
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
        let allowed = net::cpu::allowed_to(self.server.pid());
        if allowed.iter().all(|cpu| cpus.contains(cpu)) {
            return Ok(());
        }
        Err(Fault::Lab(format!(
            "a container runs on the cores {allowed:?}, not only on those of servers, {cpus:?}, because the tool could not set its \
             cores: run drome as root, or let users have the control group controller `cpuset`"
        )))
    }

    /// Checks that what listens there is the contender: another server may have taken the port first, and may answer alike.
    fn sees_its_own(&self, at: SocketAddr) -> Result<(), Fault> {
        let port = at.port();
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
        match local::foreign_listener(&self.server.tree(), at) {
            None => Ok(()),
            Some(pid) => Err(Fault::Contender(format!("process {pid} answers on port {port}, but {owner}"))),
        }
    }

    /// Whether a process that is not the server's listens on one of its ports.
    fn is_port_taken(&self) -> bool {
        let is_taken = |port: u16| {
            local::listens(&self.server.tree(), port) != Some(true) && !ports::is_free(self.hosts, port)
        };
        is_taken(self.at.port()) || self.tls_port.is_some_and(is_taken)
    }
}

/// Whether a server that answers with this status may still be starting: a proxy whose server is not there yet and a gate for health checks
/// answer 502, 503 or 504, an application server has no such path until its application is deployed.
fn may_still_start(status: u16) -> bool {
    matches!(status, 404 | 425 | 429 | 500..=599)
}

/// Where a server listens, process by process, if that is not where it is asked, `at`; and what to change. A listener of all addresses of IPv6
/// hears those of IPv4 too, unless it was set otherwise: then they refuse connections (`is_refused`).
fn elsewhere(listeners: &[(i32, SocketAddr)], at: SocketAddr, is_refused: bool) -> Option<String> {
    let is_all =
        |own: &SocketAddr| own.ip().is_unspecified() && (own.is_ipv4() == at.is_ipv4() || !is_refused);
    let hears = |own: &SocketAddr| own.port() == at.port() && (is_all(own) || own.ip() == at.ip());
    if listeners.iter().any(|(_, own)| hears(own)) {
        return None;
    }
    let port = at.port();
    Some(match (listeners.iter().find(|(_, own)| own.port() == port), listeners.first()?) {
        (Some((pid, own)), _) => format!(
            "drome asks it at {at}, but its process {pid} listens only on {own}: its command or its files must use {{host}} \
             where they set the address; or name the address at which to ask it, as --url http://[::1]:{{port}}/ of a race does"
        ),
        (None, (pid, own)) => format!(
            "nothing listens on port {port}, but its process {pid} listens on {own}: its command or its files must use \
             {{port}} where they set the port"
        ),
    })
}

/// Writes its files into its folder, with every placeholder filled in; returns its command.
fn lay(
    prepared: &Prepared,
    place: &ServerPlace,
    at: SocketAddr,
    tls_port: u16,
    dir: &Path,
) -> std::io::Result<Vec<String>> {
    let mut places = prepared.places();
    let run = prepared.contender.start(place.tls);
    if place.tls {
        let (cert, key) = identity::files(&folders::cache())?;
        let text = |file: PathBuf| file.display().to_string();
        places.extend([("tls_port", tls_port.to_string()), ("cert", text(cert)), ("key", text(key))]);
    }
    places.extend([
        ("host", at.ip().to_string()),
        ("port", at.port().to_string()),
        ("workers", run.workers.map_or(1, |workers| workers.on(place.cpus.len())).to_string()),
        ("dir", dir.display().to_string()),
        ("assets", place.assets.display().to_string()),
    ]);
    for (name, text) in prepared.templates(&run.files, &places)? {
        write_below(dir, &name, text.as_bytes())?;
    }
    Ok(fill_all(&run.command, &places))
}

/// The soft limit of descriptors for a server: the one that drome itself was started with, or enough for the connections that it
/// will have, because servers that do not raise it themselves would refuse the rest.
fn descriptors(connections: usize, at_start: Option<u64>) -> Option<u64> {
    Some(at_start?.max(connections as u64 + SPARE_DESCRIPTORS))
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
        let at = SocketAddr::from(([127, 0, 0, 1], 8080));
        let place = ServerPlace { cpus: cpus.to_vec(), connections: 1, tls: false, assets, log };
        lay(&prepared, &place, at, 8443, cache.path()).unwrap()
    }

    #[test]
    fn a_server_may_still_start_whatever_its_gate_answers_meanwhile() {
        assert!([404, 425, 429, 500, 502, 503, 504, 599].into_iter().all(may_still_start));
        assert!(![200, 204, 301, 400, 401, 403, 405, 428, 600].into_iter().any(may_still_start));
    }

    #[test]
    fn a_server_that_listens_elsewhere_is_told_which_placeholder_it_lacks() {
        let at = SocketAddr::from(([10, 0, 0, 2], 8080));
        let elsewhere = |own: &[&str]| {
            let listeners: Vec<(i32, SocketAddr)> = own.iter().map(|own| (7, own.parse().unwrap())).collect();
            super::elsewhere(&listeners, at, false)
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
        let of_ipv6 = super::elsewhere(&[(7, "[::]:8080".parse().unwrap())], at, true).unwrap();
        assert!(
            of_ipv6.contains("listens only on [::]:8080") && of_ipv6.contains("--url http://[::1]:{port}/")
        );
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
