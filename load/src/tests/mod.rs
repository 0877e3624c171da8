//! The worker, driven by scripts instead of servers: no sockets, and a clock that moves only when the worker waits.

mod closing;
mod cuts;
mod early;
mod fake;
mod faults;
mod hand_over;
mod late;
mod numbered;
mod open_slices;
mod random;
mod refused;
mod silence;
mod slices;
mod streams;
mod unbiased;

use crate::Progress;
use crate::share::share;
use crate::slice_edges::SliceEdges;
use crate::slice_plan::SlicePlan;
use crate::slicing::SliceCounts;
use crate::worker::Worker;
use fake::{Call, Fake, MS, SECOND, Seen, What};
use model::{Ask, Exchange, Load, Plan, Tally, Target, Until};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use wire::Http1;

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

/// A server that answers on its first two connections only, each after a millisecond.
fn serves_two(call: Call) -> Vec<(u64, What)> {
    match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { nth: 2.., .. } => vec![],
        Call::Send { requests, .. } => vec![(MS, answers(requests))],
    }
}

/// The result of a run of one worker.
struct Ran {
    tally: Tally,
    told: Vec<Exchange>,
    seen: Seen,
}

fn run<'s>(plan: &Plan, script: impl FnMut(Call) -> Vec<(u64, What)> + 's) -> Ran {
    run_with(plan, 0, script)
}

fn run_with<'s>(plan: &Plan, send_takes_ns: u64, script: impl FnMut(Call) -> Vec<(u64, What)> + 's) -> Ran {
    let mut io = Fake::new(REQUEST.len(), Box::new(script));
    io.send_takes_ns = send_takes_ns;
    run_on(plan, None, io)
}

/// Drives one worker on this back end until the plan's end, from a moment or at once.
fn run_on(plan: &Plan, starts_ns: Option<u64>, io: Fake<'_>) -> Ran {
    let (to, told) = channel();
    let progress = Progress { starts_ns, log: Some(to), ..Progress::default() };
    let seen = Rc::clone(&io.seen);
    let worker = Worker::<_, Http1>::new(plan, share(plan, 0, 1), io, &progress).unwrap();
    let tally = worker.run(&()).unwrap();
    drop(progress);
    let seen = seen.borrow().clone();
    Ran { tally, told: told.iter().flatten().collect(), seen }
}

/// Several targets on one clock, loaded one at a time by one worker each.
struct Heat<'s> {
    clock: Rc<Cell<u64>>,
    workers: Vec<Worker<'s, Fake<'s>, Http1>>,
    slices: u64,
}

/// What the targets of a heat borrow, so that it must live longer than the heat.
struct Ground {
    plans: Vec<Plan>,
    progress: Vec<Progress>,
    told: Receiver<Vec<Exchange>>,
}

impl Ground {
    fn new(plans: Vec<Plan>) -> Self {
        let (to, told) = channel();
        let progress =
            plans.iter().map(|_| Progress { log: Some(to.clone()), ..Progress::default() }).collect();
        Self { plans, progress, told }
    }
}

impl<'s> Heat<'s> {
    fn new(ground: &'s Ground, scripts: Vec<fake::Script<'s>>) -> Self {
        Self::on(Rc::new(Cell::new(fake::START)), ground, scripts)
    }

    fn on(clock: Rc<Cell<u64>>, ground: &'s Ground, scripts: Vec<fake::Script<'s>>) -> Self {
        let worker = |((plan, progress), script): ((&'s Plan, &'s Progress), _)| {
            let io = Fake::on(Rc::clone(&clock), REQUEST.len(), script);
            Worker::new(plan, share(plan, 0, 1), io, progress).unwrap()
        };
        let workers = ground.plans.iter().zip(&ground.progress).zip(scripts).map(worker).collect();
        Self { clock, workers, slices: 0 }
    }

    /// Measures one slice and checks its accounts.
    #[track_caller]
    fn slice(&mut self, slice: SlicePlan) -> Box<SliceCounts> {
        self.slice_until(slice, false)
    }

    #[track_caller]
    fn slice_until(&mut self, slice: SlicePlan, is_stopped: bool) -> Box<SliceCounts> {
        let mut counts = Box::<SliceCounts>::default();
        let worker = &mut self.workers[slice.target];
        worker.progress.halted.store(false, Ordering::Relaxed);
        let edges = SliceEdges::new(1, Arc::new(is_stopped.into()));
        worker.slice(&slice, self.slices, &edges, &mut counts).unwrap();
        self.slices += 1;
        counts.counted.complete();
        assert_accounted(&counts.counted.tally);
        let uncounted = &counts.uncounted;
        assert_eq!(uncounted.error_causes.values().sum::<u64>(), uncounted.errors.total(), "{uncounted:?}");
        counts
    }

    /// Hands over all single exchanges that the workers have recorded.
    fn finish(self) {
        self.workers.into_iter().for_each(|worker| drop(worker.accounts.finish()));
    }

    /// Lets this time pass without load.
    fn rest(&self, ns: u64) {
        self.clock.set(self.clock.get() + ns);
    }
}

/// This number of answers, one after the other.
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
