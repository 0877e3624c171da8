//! The worker, driven by scripts instead of servers: no sockets, no time.

mod fake;
mod faults;
mod random;

use crate::worker::Worker;
use crate::{Progress, share};
use fake::{Call, Fake, MS, SECOND, Seen, What};
use model::{Ask, Exchange, Load, Plan, Tally, Target, Until};
use std::sync::mpsc::channel;
use std::time::Duration;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn plan(load: Load, elapsed: Duration) -> Plan {
    let target = Target::resolve("http://127.0.0.1:1/").unwrap();
    let ask = Ask { request: REQUEST.to_vec(), last: REQUEST.to_vec(), weight: 1.0, ..Ask::default() };
    Plan { timeout: Duration::from_millis(500), ..Plan::new(target, ask, load, Until::Elapsed(elapsed)) }
}

fn closed(connections: usize) -> Plan {
    plan(Load::Closed { connections, per_connection: None }, Duration::from_secs(2))
}

fn open(rate_per_s: f64, connections: usize) -> Plan {
    let (rate_per_s, arrivals) = (rate_per_s.into(), model::Arrivals::Constant);
    plan(Load::Open { rate_per_s, connections, arrivals, per_connection: None }, Duration::from_secs(2))
}

/// What a run of one worker came to.
struct Ran {
    tally: Tally,
    told: Vec<Exchange>,
    seen: Seen,
}

fn run<'s>(plan: &Plan, script: impl FnMut(Call) -> Vec<(u64, What)> + 's) -> Ran {
    run_with(plan, 0, script)
}

fn run_with<'s>(plan: &Plan, send_takes_ns: u64, script: impl FnMut(Call) -> Vec<(u64, What)> + 's) -> Ran {
    let (to, told) = channel();
    let progress = Progress { log: Some(to), ..Progress::default() };
    let (mut io, seen) = Fake::new(REQUEST.len(), Box::new(script));
    io.send_takes_ns = send_takes_ns;
    let tally = Worker::new(plan, share(plan, 0, 1), io, &progress).run(&()).unwrap();
    drop(progress);
    let seen = seen.borrow().clone();
    Ran { tally, told: told.iter().flatten().collect(), seen }
}

/// So many answers, one after the other.
fn answers(n: usize) -> What {
    What::Bytes(ANSWER.repeat(n))
}

#[track_caller]
fn assert_accounted(tally: &Tally) {
    let Tally { sent, completed, in_flight_at_end, errors, .. } = tally;
    assert_eq!(
        *sent,
        completed + in_flight_at_end + errors.of_sent(),
        "{errors:?}, {completed} completed, {in_flight_at_end} in flight"
    );
    assert_eq!(
        tally.error_causes.values().sum::<u64>(),
        errors.total(),
        "{:?}, {errors:?}",
        tally.error_causes
    );
}
