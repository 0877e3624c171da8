//! The plan that the examples share, with `IO=epoll`, `CPU=1` and `URL_PATH=/hello` from the environment.

use model::{Ask, IoChoice, Load, Plan, Target, Until};
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
