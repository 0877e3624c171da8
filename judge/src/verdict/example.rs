//! A measurement for the tests of the criteria.

use super::{Case, Policy, judge};
use model::{Arrivals, Ask, Load, Plan, Tally, Target, Until, Usage, Verdict};
use std::time::Duration;

fn plan(load: Load) -> Plan {
    let target = Target::resolve("http://127.0.0.1:1/").unwrap();
    Plan::new(target, Ask::default(), load, Until::Elapsed(Duration::from_secs(1)))
}

pub fn closed() -> Plan {
    plan(Load::Closed { connections: 10, per_connection: None })
}

pub fn open() -> Plan {
    plan(Load::Open {
        rate_per_s: 10_000.0.into(),
        connections: 10,
        arrivals: Arrivals::Constant,
        per_connection: None,
    })
}

/// 10 connections, 1 ms each, for 1 s: 10,000 answers, as Little's law has it.
pub fn tally(client_use: f64) -> Tally {
    let mut tally = Tally {
        duration_ns: 1_000_000_000,
        sent: 10_000,
        completed: 10_000,
        threads: 1,
        client_cpu_ns: (client_use * 1e9) as u64,
        served: vec![1000; 10],
        ..Tally::default()
    };
    for _ in 0..10_000 {
        tally.service.record(1_000_000);
        tally.latency.record(1_000_000);
    }
    tally
}

pub fn usage(share: f64) -> Usage {
    Usage { wall_ns: 1_000_000_000, cpu_ns: (share * 1e9) as u64, cores: 1, ..Usage::default() }
}

/// Judged as a measurement that is compared with others.
pub fn judged(plan: &Plan, tally: &Tally, usage: Option<&Usage>) -> Verdict {
    judge(&Case { usage, ..Case::new(Policy::compared(false), plan, tally) })
}
