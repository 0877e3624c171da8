//! The side that does its part: makes a plan ready, starts at the instant that it is told, and answers with all that it counted.

use super::divide::own_load;
use super::messages::{Account, AgentPart, LOADS, LoadRequest, Ready};
use agent::{Call, Handler};
use control::locked;
use control::machine::cores::Cores;
use control::processes::local;
use judge::verdict::{self, Case, Policy};
use load::{Progress, Watch};
#[cfg(test)]
use model::Plan;
use model::{Exchange, Gaps, Until};
use net::clock;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The longest time of any kind in a plan from another machine: no clock overflows.
const LONGEST: Duration = Duration::from_hours(24 * 30);

/// The longest time until a start.
const LONGEST_LEAD_NS: u64 = 120_000_000_000;

/// The maximum number of requests in flight on one connection.
const MOST_PIPELINED: usize = 10_000;

/// The maximum number of further addresses of the target, each of which may be tried for a second.
const MOST_ADDRESSES: usize = 60;

/// Does this machine's part of a load, when it is asked to.
#[derive(Debug, Default)]
pub struct Loads {
    /// The part that was made ready.
    part: Mutex<Option<AgentPart>>,
}

impl Handler for Loads {
    fn answer(&self, call: &Call<'_>) -> Option<Result<Value, String>> {
        (call.name() == LOADS).then(|| match call.question()? {
            LoadRequest::Prepare(part) => self.prepare(*part),
            LoadRequest::Run { starts_ns } => self.run(starts_ns, call),
        })
    }

    /// The stop flag of a request is that of its load, so nothing is left to be ended.
    fn end(&self) {}
}

impl Loads {
    fn prepare(&self, mut part: AgentPart) -> Result<Value, String> {
        check(&part)?;
        load::reach(&mut part.plan.target).map_err(|error| error.to_string())?;
        fit(&mut part);
        load::check(&part.plan).map_err(|error| error.to_string())?;
        // From here on the server is asked for nothing before the start.
        part.plan.probe = false;
        let ready = Ready { threads: part.plan.threads, address: part.plan.target.address.to_string() };
        *locked(&self.part) = Some(part);
        json(&ready)
    }

    fn run(&self, starts_ns: u64, call: &Call<'_>) -> Result<Value, String> {
        let part = locked(&self.part)
            .take()
            .ok_or("no plan was made ready: this is a bug in drome, please report it")?;
        let now_ns = clock::now_ns();
        if starts_ns < now_ns {
            let late_ms = (now_ns - starts_ns) as f64 / 1e6;
            return Err(format!(
                "the order to start came {late_ms:.0} ms after the agreed instant: measure again over a quicker link"
            ));
        }
        if starts_ns - now_ns > LONGEST_LEAD_NS {
            return Err("the start is more than two minutes ahead: this is a bug in drome, please report it"
                .to_owned());
        }
        json(&measure(&part, starts_ns, call.stop())?)
    }
}

/// Drives the load, and judges it.
fn measure(part: &AgentPart, starts_ns: u64, stop: &Arc<AtomicBool>) -> Result<Account, String> {
    let AgentPart { plan, allow_busy, raw, .. } = part;
    let (to, from) = channel::<Vec<Exchange>>();
    let log = raw.then_some(to);
    let progress =
        Progress { starts_ns: Some(starts_ns), stop: Arc::clone(stop), log, ..Progress::default() };
    let edges = Moments::default();
    let tally = load::run(plan, &progress, &edges).map_err(|error| error.to_string())?;
    drop(progress);
    let raw_ns = from.into_iter().flatten().filter(|one| one.status().is_some()).map(latency_ns).collect();
    let own = own_load(plan);
    let verdict = verdict::judge(&Case::new(Policy::single(*allow_busy), &own, &tally));
    Ok(Account { tally, verdict, started_ns: edges.started.get(), opened_ns: edges.opened.get(), raw_ns })
}

fn latency_ns(exchange: Exchange) -> u64 {
    exchange.done_ns.saturating_sub(exchange.due_ns)
}

/// Refuses a plan that no command line gives: it comes from elsewhere, and none of its figures may do harm here.
pub fn check(part: &AgentPart) -> Result<(), String> {
    let plan = &part.plan;
    let lengths = [plan.warmup, plan.timeout, plan.spin, plan.connecting.ramp];
    let length = match plan.until {
        Until::Elapsed(length) => length,
        Until::Answered(_) | Until::Closed(_) => Duration::ZERO,
    };
    let is_sound = !plan.asks.is_empty()
        && (1..=MOST_PIPELINED).contains(&plan.pipeline)
        && plan.target.others.len() <= MOST_ADDRESSES
        && (1..=1000).contains(&plan.one_of.machines)
        && plan.one_of.index < plan.one_of.machines
        && plan.connecting.rate_per_s.is_none_or(|rate| rate > 0.0)
        && !matches!(plan.connecting.gaps, Gaps::Uniform(share) if !(0.0..=1.0).contains(&share))
        && plan.asks.iter().all(|ask| ask.weight.is_finite() && ask.weight >= 0.0)
        && lengths.into_iter().chain([length]).all(|length| length <= LONGEST);
    // Paths of another machine are never opened here.
    let has_paths =
        plan.target.address.tcp().is_none() || plan.tls.cacert.is_some() || plan.tls.identity.is_some();
    if is_sound && !has_paths {
        return Ok(());
    }
    Err("the plan has figures out of range, or files of another machine: start the load with `drome load --load-from`".to_owned())
}

/// Chooses threads and CPUs: all of this machine's that a control group's limit keeps busy, unless the server is here too.
fn fit(part: &mut AgentPart) {
    let AgentPart { plan, threads, .. } = part;
    let is_beside_server = plan.target.address.tcp().is_some_and(|at| local::is_own(at.ip()));
    let cores = if is_beside_server { Cores::deal() } else { Cores::of_load_alone() };
    plan.threads = threads.unwrap_or(cores.client.len()).clamp(1, plan.load.connections().max(1));
    plan.cpus = cores.for_load(plan.threads);
}

fn json(value: &impl serde::Serialize) -> Result<Value, String> {
    serde_json::to_value(value).map_err(|e| format!("the answer can't be written ({e})"))
}

/// A moment of this machine's clock, or none yet.
#[derive(Debug, Default)]
struct Moment(AtomicU64);

impl Moment {
    fn set(&self) {
        self.0.store(clock::now_ns(), Ordering::Relaxed);
    }

    fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
    }
}

/// When the load began and its window opened.
#[derive(Debug, Default)]
struct Moments {
    started: Moment,
    opened: Moment,
}

impl Watch for Moments {
    fn started(&self) {
        self.started.set();
    }

    fn opened(&self) {
        self.opened.set();
    }
}

/// A plan as another machine may send it, checked and fitted to this one.
#[cfg(test)]
pub fn checked(plan: Plan) -> Result<Plan, String> {
    let mut part = AgentPart { plan, threads: None, allow_busy: false, raw: false };
    check(&part)?;
    fit(&mut part);
    Ok(part.plan)
}
