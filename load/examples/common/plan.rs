//! What the examples share: the plan, with `IO=epoll`, `CPU=1` and `URL_PATH=/hello` from the environment, and means.

use model::{Ask, IoChoice, Load, Plan, Target, Until};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::time::Duration;

/// A plan of closed load on this port. `spin`: how long it polls before it sleeps.
pub fn plan(port: u16, connections: usize, spin: Duration) -> Plan {
    let set = |name: &str| std::env::var(name).ok();
    let path = set("URL_PATH").unwrap_or_else(|| "/hello".to_owned());
    let target = Target::resolve(&format!("http://127.0.0.1:{port}{path}")).unwrap();
    let ask = Ask::get(&target);
    let load = Load::Closed { connections, per_connection: None };
    let io = match set("IO").as_deref() {
        Some("epoll") => IoChoice::Epoll,
        Some("uring") => IoChoice::Uring,
        _ => IoChoice::Best,
    };
    let cpus = set("CPU").map_or_else(Vec::new, |cpus| cpus.split(',').map(|n| n.parse().unwrap()).collect());
    let threads = cpus.len().max(1);
    let until = Until::Elapsed(Duration::from_secs(1));
    Plan { io, cpus, threads, spin, ..Plan::new(target, ask, load, until) }
}

/// The mean of at least one value, and half of its 95 % interval (Student's t).
pub fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let student = StudentsT::new(0.0, 1.0, (n - 1.0).max(1.0)).unwrap();
    (mean, student.inverse_cdf(0.975) * (variance / n).sqrt())
}
