//! A contender that is running, ready and verified.

use crate::board;
use crate::prepare::{Prepared, fill_all};
use crate::supervise::{Server, Start};
use crate::verify;
use model::Workload;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often readiness is asked for.
const READY_INTERVAL: Duration = Duration::from_millis(10);

/// What a workload is at run time.
#[derive(Clone, Debug)]
pub struct Work {
    /// Its declaration; none: whatever the server answers, as in a race.
    pub workload: Option<Workload>,
    /// The body that must come back; none: any.
    pub body: Option<Vec<u8>>,
}

/// The workloads of a run, by name.
pub type Works = BTreeMap<String, Work>;

/// Where a contender is started.
#[derive(Clone, Debug)]
pub struct Place {
    /// The cores that it may use.
    pub cpus: Vec<usize>,
    /// The folder of the workloads' files.
    pub assets: PathBuf,
    /// Where its output goes.
    pub log: PathBuf,
}

/// A contender that is running, ready and verified.
#[derive(Debug)]
pub struct Instance {
    /// The server.
    pub server: Server,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Instance {
    /// Starts a contender, waits until it answers, and verifies every workload that it serves.
    /// An error is the contender's, and all that was wrong.
    pub fn start(
        prepared: &Prepared,
        place: &Place,
        works: &Works,
        stop: &AtomicBool,
    ) -> Result<Self, String> {
        let port = board::free_port().map_err(|e| format!("no free port: {e}"))?;
        let start = lay(prepared, place, port).map_err(|e| format!("can't lay out its folder: {e}"))?;
        let server = Server::start(start)?;
        let mut instance = Self { server, address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)) };
        instance.wait_ready(prepared, stop)?;
        let wrong = verify_all(instance.address, prepared, works);
        if wrong.is_empty() {
            Ok(instance)
        } else {
            Err(format!("it fails verification: {}", wrong.join("; ")))
        }
    }

    /// Ready means: it answers its first workload, however. Whether rightly is verified afterwards, once.
    fn wait_ready(&mut self, prepared: &Prepared, stop: &AtomicBool) -> Result<(), String> {
        let path = prepared.contender.serves.values().next().map_or("/", String::as_str);
        let patience = prepared.contender.run.ready;
        let deadline = Instant::now() + patience;
        let host = self.address.to_string();
        loop {
            if let Some(end) = self.server.ended() {
                return Err(end);
            }
            let Err(why) = verify::get(self.address, &host, path) else {
                return Ok(());
            };
            if stop.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            if Instant::now() > deadline {
                return Err(format!("it was not ready within {patience:?} (last: {why})"));
            }
            std::thread::sleep(READY_INTERVAL);
        }
    }
}

fn verify_all(address: SocketAddr, prepared: &Prepared, works: &Works) -> Vec<String> {
    let known = |(name, path)| Some((name, path, works.get(name)?));
    prepared
        .contender
        .serves
        .iter()
        .filter_map(known)
        .filter_map(|(name, path, work)| Some((name, path, work.workload.as_ref()?, work.body.as_ref()?)))
        .flat_map(|(name, path, workload, body)| verify::check(address, path, name, workload, body))
        .collect()
}

fn lay(prepared: &Prepared, place: &Place, port: u16) -> std::io::Result<Start> {
    let dir = tempfile::Builder::new().prefix("drome-").tempdir()?.keep();
    let run = &prepared.contender.run;
    let mut places = prepared.places();
    places.extend([
        ("port", port.to_string()),
        ("workers", run.workers.unwrap_or(1).to_string()),
        ("dir", dir.display().to_string()),
        ("assets", place.assets.display().to_string()),
    ]);
    for (name, text) in prepared.templates(&places)? {
        write_below(&dir, &name, &text)?;
    }
    Ok(Start {
        command: fill_all(&run.command, &places),
        dir,
        log: place.log.clone(),
        cpus: place.cpus.clone(),
        port,
        stop: run.stop,
    })
}

fn write_below(dir: &Path, name: &Path, text: &str) -> std::io::Result<()> {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap_or(dir))?;
    std::fs::write(path, text)
}
