//! Adds up what the machines counted, and says what their own verdicts mean for the whole. Pure.

use super::messages::Account;
use super::skew;
use model::machines::{Clock, Counted, Machine, Machines};
use model::{Bound, Plan, Tally, Verdict};

/// One machine's part of a load, and how it ended.
#[derive(Clone, Debug)]
pub struct MachinePart {
    /// How the machine was named.
    pub name: String,
    /// Its own host name.
    pub host: String,
    /// The number of its CPUs.
    pub cores: usize,
    /// The address that it asked.
    pub address: String,
    /// Its plan.
    pub plan: Plan,
    /// How its clock differs.
    pub clock: Clock,
    /// What it did, or why there is nothing.
    pub ended: Result<Account, String>,
}

/// The sum of all that the machines counted; `is_interrupted`: whether the user stopped them. When a machine is lost, drome stops the
/// others, which is no interruption.
pub fn tally(parts: &[MachinePart], is_interrupted: bool) -> Tally {
    let mut total = Tally::default();
    accounts(parts).for_each(|account| total.merge(&account.tally));
    total.interrupted = is_interrupted;
    total
}

/// The latencies of all single exchanges of all machines, where they were wanted.
pub fn raw_ns(parts: &[MachinePart]) -> Vec<u64> {
    accounts(parts).flat_map(|account| account.raw_ns.iter().copied()).collect()
}

fn accounts(parts: &[MachinePart]) -> impl Iterator<Item = &Account> {
    parts.iter().filter_map(|part| part.ended.as_ref().ok())
}

/// Each machine's part, and how closely together they started at the agreed instant of this machine's clock.
pub fn machines(parts: &[MachinePart], agreed_ns: u64) -> Machines {
    let each: Vec<Machine> = parts.iter().map(|part| machine(part, agreed_ns)).collect();
    let starts: Option<Vec<(i64, Clock)>> =
        each.iter().map(|machine| Some((machine.start_late_ns?, machine.clock?))).collect();
    let skew = starts.and_then(|starts| skew::skew(&starts));
    Machines { each, skew_ns: skew.map(|skew| skew.0), skew_bound_ns: skew.map(|skew| skew.1) }
}

fn machine(part: &MachinePart, agreed_ns: u64) -> Machine {
    let account = part.ended.as_ref().ok();
    let started_ns = account.and_then(|account| account.started_ns);
    let load = &part.plan.load;
    let share = load.rate_per_s().map(|rate| rate.shared_by(part.plan.one_of.machines));
    let window_ns = account.map_or(0, |account| account.tally.duration_ns);
    Machine {
        name: part.name.clone(),
        host: part.host.clone(),
        cores: part.cores,
        address: part.address.clone(),
        connections: load.connections(),
        rate_per_s: share.map(|rate| rate.mean_per_s(window_ns)),
        clock: Some(part.clock),
        start_late_ns: started_ns.map(|there_ns| skew::late_ns(part.clock, there_ns, agreed_ns)),
        counted: account.map(|account| counted(&account.tally)),
        verdict: account.map(|account| account.verdict.clone()),
        failed: part.ended.as_ref().err().cloned(),
    }
}

fn counted(tally: &Tally) -> Counted {
    Counted {
        threads: tally.threads,
        sent: tally.sent,
        completed: tally.completed,
        errors: tally.errors.total(),
        latency_p50_ns: tally.latency_ns(0.5),
        latency_p99_ns: tally.latency_ns(0.99),
        schedule_lag_p99_ns: tally.schedule_lag.quantile_ns(0.99),
        busiest_thread_use: tally.client_busiest_use(),
    }
}

/// The verdict on the whole: void where a machine was lost, where its own verdict voids its part, or where it was at its limit, since then
/// the load was not the one that was asked for; with `allow_busy` that is only noted.
pub fn verdict(whole: Verdict, machines: &Machines, allow_busy: bool) -> Verdict {
    let (mut void, mut notes) = (Vec::new(), Vec::new());
    for machine in &machines.each {
        if let Some(why) = &machine.failed {
            void.push(format!("`{}` did not do its part: {why}", machine.name));
        }
    }
    // If a machine was lost, the verdicts of the others say only that they were told to stop.
    let is_complete = void.is_empty();
    for machine in machines.each.iter().filter(|_| is_complete) {
        let Some(own) = &machine.verdict else { continue };
        match own.reasons.first().filter(|_| !own.valid) {
            Some(why) => void.push(format!("`{}`: {why}", machine.name)),
            None if is_busy(own) && !allow_busy => void.push(at_its_limit(machine)),
            None if is_busy(own) => notes.push(at_its_limit(machine)),
            None => {}
        }
    }
    let valid = whole.valid && void.is_empty();
    let reasons = void.into_iter().chain(whole.reasons).chain(notes).collect();
    Verdict { valid, reasons, ..whole }
}

fn is_busy(own: &Verdict) -> bool {
    matches!(own.bound, Bound::Client | Bound::Both)
}

fn at_its_limit(machine: &Machine) -> String {
    let share = machine.counted.and_then(|counted| counted.busiest_thread_use);
    let busy = share.map_or_else(String::new, |share| {
        format!(": its busiest thread was busy for {:.0} % of the time", share * 100.0)
    });
    format!("`{}` was at its limit{busy}; give it more threads (-t), or name more machines", machine.name)
}
