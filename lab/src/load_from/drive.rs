//! The side that drives: hands each machine its part, compares clocks, starts all at one instant, and waits for what they counted.

use super::divide::{DivideError, divide};
use super::messages::{Account, AgentPart, LOADS, LoadRequest, Ready};
use super::{skew, sum};
use agent::{Link, LinkError};
use load::Watch;
use model::machines::{Clock, Machines};
use model::{Plan, Tally, Until};
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// The round trips by which clocks are compared; the shortest decides.
const ROUNDS: usize = 32;

/// How long a machine may take to make a plan ready: its server has a second to accept a connection.
const READY: Duration = Duration::from_secs(30);

/// How much longer than its load a machine may take to answer.
const GRACE: Duration = Duration::from_secs(30);

/// How often the machines are checked while they are at work.
const LOOK_NS: u64 = 20_000_000;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The plan can't be divided.
    #[error(transparent)]
    Divide(#[from] DivideError),
    /// A machine can't do its part.
    #[error("`{name}` can't drive this load: {why}")]
    Machine {
        /// How the machine was named.
        name: String,
        /// The reason.
        why: String,
    },
    /// The instant of the start can't be expressed by a machine's clock.
    #[error("the clock of `{0}` can't be compared with this machine's: measure without it")]
    Clock(String),
}

/// A load from several machines.
pub struct Drive<'a> {
    /// How reports call the machines.
    pub names: &'a [String],
    /// The machines, in the same order.
    pub links: &'a [Link],
    /// The whole load.
    pub plan: &'a Plan,
    /// The number of threads on each machine; `None`: what suits it.
    pub threads: Option<usize>,
    /// Whether machines that were held up, or at their limit, count.
    pub allow_busy: bool,
    /// Whether the latencies of all single exchanges are wanted, to check the sums.
    pub raw: bool,
    /// Set to end the measurement early.
    pub stop: &'a AtomicBool,
}

/// The result of a load from several machines.
#[derive(Debug)]
pub struct Driven {
    /// The sum of all counts.
    pub tally: Tally,
    /// Each machine's part.
    pub machines: Machines,
    /// The latencies of all single exchanges, if they were wanted, in nanoseconds.
    pub raw_ns: Vec<u64>,
}

impl Drive<'_> {
    /// Measures. `watch` is called when the window opens and closes, as far as this machine's clock can tell.
    pub fn run(&self, watch: &dyn Watch) -> Result<Driven, DriveError> {
        let plans = divide(self.plan, self.links.len())?;
        let all: Vec<(&Link, &Plan)> = self.links.iter().zip(&plans).collect();
        let ready = each(&all, |link, plan| self.prepare(link, plan))?;
        let clocks = each(&all, |link, _| clock(link))?;
        let longest_ns = clocks.iter().map(|clock| clock.round_trip_ns).max().unwrap_or(0);
        let agreed_ns = agent::now_ns() + skew::lead(longest_ns).as_nanos() as u64;
        let ended = self.start(&clocks, agreed_ns, watch)?;
        let parts: Vec<sum::MachinePart> = all
            .iter()
            .zip(clocks)
            .zip(ended)
            .zip(self.names)
            .zip(ready)
            .map(|(((((link, plan), clock), ended), name), ready)| sum::MachinePart {
                name: name.clone(),
                host: link.hello().host.clone(),
                cores: link.hello().cores,
                address: ready.address,
                plan: (*plan).clone(),
                clock,
                ended,
            })
            .collect();
        if let Some((name, why)) = none_measured(&parts) {
            return Err(DriveError::Machine { name, why });
        }
        Ok(Driven {
            tally: sum::tally(&parts, self.stop.load(Ordering::Relaxed)),
            machines: sum::machines(&parts, agreed_ns),
            raw_ns: sum::raw_ns(&parts),
        })
    }

    fn prepare(&self, link: &Link, plan: &Plan) -> Result<Ready, DriveError> {
        let part = AgentPart {
            plan: plan.clone(),
            threads: self.threads,
            allow_busy: self.allow_busy,
            raw: self.raw,
        };
        let is_own = plan.target.address.tcp().is_some_and(|address| address.ip().is_loopback());
        let hint = if is_own { "; the URL's address means each machine itself" } else { "" };
        let asked = LoadRequest::Prepare(Box::new(part));
        ask(link, &asked, Some(READY)).map_err(|e| failed(link, &format!("{e}{hint}")))
    }

    /// Has all machines start at the instant, and waits for their accounts. Nothing is sent meanwhile but heartbeats.
    fn start(
        &self,
        clocks: &[Clock],
        agreed_ns: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<Result<Account, String>>, DriveError> {
        let starts: Vec<u64> = self
            .links
            .iter()
            .zip(clocks)
            .map(|(link, clock)| {
                skew::there(*clock, agreed_ns).ok_or_else(|| DriveError::Clock(link.name().to_owned()))
            })
            .collect::<Result<_, _>>()?;
        let patience = self.patience(agreed_ns);
        let has_failed = AtomicBool::new(false);
        Ok(std::thread::scope(|scope| {
            let asked: Vec<_> = self
                .links
                .iter()
                .zip(starts)
                .map(|(link, starts_ns)| {
                    let has_failed = &has_failed;
                    scope.spawn(move || {
                        let ended = ask(link, &LoadRequest::Run { starts_ns }, patience);
                        let ended = ended.map_err(|e| e.to_string());
                        has_failed.fetch_or(ended.is_err(), Ordering::Relaxed);
                        ended
                    })
                })
                .collect();
            let is_over = || asked.iter().all(ScopedJoinHandle::is_finished);
            self.look_on(agreed_ns, is_over, &has_failed, watch);
            let died = || Err("a thread of drome died: this is a bug, please report it".to_owned());
            asked.into_iter().map(|thread| thread.join().unwrap_or_else(|_| died())).collect()
        }))
    }

    /// How long the answer to the start may take, where the load has a length.
    fn patience(&self, agreed_ns: u64) -> Option<Duration> {
        let Until::Elapsed(length) = self.plan.until else { return None };
        let lead = Duration::from_nanos(agreed_ns.saturating_sub(agent::now_ns()));
        Some(lead + self.plan.warmup + length + GRACE)
    }

    /// Reports the window's edges to `watch`, and stops all machines when one of them failed or the user wants it.
    fn look_on(
        &self,
        agreed_ns: u64,
        is_over: impl Fn() -> bool,
        has_failed: &AtomicBool,
        watch: &dyn Watch,
    ) {
        let opens_ns = agreed_ns + self.plan.warmup.as_nanos() as u64;
        let closes_ns = match self.plan.until {
            Until::Elapsed(length) => opens_ns + length.as_nanos() as u64,
            Until::Answered(_) | Until::Closed(_) => u64::MAX,
        };
        let (mut is_open, mut is_closed) = (false, false);
        while !is_over() {
            let now_ns = agent::now_ns();
            if !is_open && now_ns >= opens_ns {
                watch.opened();
                is_open = true;
            }
            if is_open && !is_closed && now_ns >= closes_ns {
                watch.closed();
                is_closed = true;
            }
            let must_stop = self.stop.load(Ordering::Relaxed) || has_failed.load(Ordering::Relaxed);
            // Again and again: the order to start may still be on its way.
            if must_stop {
                self.links.iter().for_each(Link::stop);
            }
            let edge_ns = [opens_ns, closes_ns].into_iter().find(|ns| *ns > now_ns).unwrap_or(u64::MAX);
            std::thread::sleep(Duration::from_nanos((edge_ns - now_ns).min(LOOK_NS)));
        }
        if is_open && !is_closed {
            watch.closed();
        }
    }
}

/// Where no machine measured anything, the first of them and its reason.
fn none_measured(parts: &[sum::MachinePart]) -> Option<(String, String)> {
    if parts.iter().any(|part| part.ended.is_ok()) {
        return None;
    }
    parts.iter().find_map(|part| Some((part.name.clone(), part.ended.as_ref().err()?.clone())))
}

fn clock(link: &Link) -> Result<Clock, DriveError> {
    let offset = link.clock(ROUNDS).map_err(|e| failed(link, &e))?;
    Ok(Clock { offset_ns: offset.offset_ns, bound_ns: offset.bound_ns, round_trip_ns: offset.round_trip_ns })
}

fn ask<A: DeserializeOwned>(
    link: &Link,
    request: &LoadRequest,
    patience: Option<Duration>,
) -> Result<A, LinkError> {
    link.ask(LOADS, request, patience, &mut |_| ())
}

fn failed(link: &Link, why: &dyn std::fmt::Display) -> DriveError {
    DriveError::Machine { name: link.name().to_owned(), why: why.to_string() }
}

/// Does the same with all machines at once, since each may be far away.
fn each<T: Send>(
    all: &[(&Link, &Plan)],
    work: impl Fn(&Link, &Plan) -> Result<T, DriveError> + Sync,
) -> Result<Vec<T>, DriveError> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            all.iter().map(|(link, plan)| (*link, scope.spawn(move || work(link, plan)))).collect();
        let ended = threads.into_iter().map(|(link, thread)| {
            thread.join().unwrap_or_else(|_| {
                Err(failed(link, &"a thread of drome died, which is a bug: please report it"))
            })
        });
        ended.collect()
    })
}
