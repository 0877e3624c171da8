//! A load generator for several live servers, one at a time. Its threads keep connections to all of them and wait for
//! orders; between two slices there is no load.
//!
//! A thread has a [`Worker`] of its own for each target, and each worker its own back end: events of an idle target's sockets
//! wait in that back end, unread, until the target's next slice. So none of them can be mistaken for another target's, or cost
//! another target's slice any time; encrypted targets keep their own names and sessions; and a worker is the same as in a
//! measurement of one target.

use crate::means::{self, Means};
use crate::part::{self, Part};
use crate::slice::{AfterLook, Slice};
use crate::slice_edges::SliceEdges;
use crate::slicing::SliceCounts;
use crate::worker::Worker;
use crate::{LoadError, Progress, choose, ensure_descriptors, probe, secure, sources};
use model::slice::common_time_ns;
use model::{IoChoice, Load, Plan, SliceTally, Until};
use net::tls::ClientTls;
use net::{Io, clock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The number of pauses between two looks of a worker that polls for orders.
const PAUSES: usize = 16;

/// Threads that load one of several targets at a time. They end when it is dropped.
pub struct Generator {
    shared: Arc<Shared>,
    seats: Seats,
    io: &'static str,
    fallback: Option<String>,
    /// The number of slices so far.
    slices: u64,
    last: SliceTally,
}

/// The state that all threads share.
struct Shared {
    plans: Vec<Plan>,
    /// One progress for each plan.
    progress: Vec<Progress>,
    tls: Vec<Option<ClientTls>>,
    edges: SliceEdges,
    threads: usize,
    /// The kernel's IDs of the threads, by index; 0: it does not run yet.
    ids: Box<[AtomicI32]>,
}

/// The threads. They end when this is dropped.
struct Seats(Vec<Seat>);

/// One thread, as seen from outside.
struct Seat {
    orders: SyncSender<Ordered>,
    done: Receiver<Done>,
    thread: JoinHandle<()>,
    /// The memory for its next slice.
    counts: Option<Box<SliceCounts>>,
}

struct Ordered {
    slice: Slice,
    nth: u64,
    counts: Box<SliceCounts>,
}

/// A slice as a thread measured it; `None`: the thread is ready for the first one.
type Done = std::io::Result<Option<Box<SliceCounts>>>;

impl Generator {
    /// Starts threads that can load the target of each plan; none is loaded yet. The first plan's threads, cores, back
    /// end and spin hold for all: a worker without an order polls for the spin time before it sleeps. Each plan's load, requests,
    /// pipelining, timeout, TLS and seed are its own; its duration and warm-up are replaced by the slices', and neither seconds nor a pulse
    /// nor the first answer are recorded. A slice that is in progress when `stop` is set ends early.
    ///
    /// Errors: as those of [`crate::run`]; and plans that are not all encrypted or all plain, all closed or all open.
    pub fn start(plans: Vec<Plan>, stop: Arc<AtomicBool>) -> Result<Self, LoadError> {
        check(&plans)?;
        ensure_descriptors(plans.iter().map(|plan| plan.load.connections()).sum())?;
        for plan in &plans {
            sources::check(plan)?;
            if plan.probe {
                probe(&plan.target)?;
            }
        }
        let threads = threads(&plans);
        let most = plans.iter().map(|plan| plan.load.connections().div_ceil(threads)).max().unwrap_or(1);
        let io = choose(plans[0].io, most)?;
        Self::start_on(plans, stop, io, &means::real())
    }

    /// The same with other means. `io`: the back end to begin with, and why it is not the best one.
    pub(crate) fn start_on<U: Io, E: Io>(
        plans: Vec<Plan>,
        stop: Arc<AtomicBool>,
        (io, mut fallback): (IoChoice, Option<String>),
        means: &Means<
            impl Fn(usize, usize) -> std::io::Result<U> + Clone + Send + 'static,
            impl Fn(usize, usize) -> std::io::Result<E> + Clone + Send + 'static,
        >,
    ) -> Result<Self, LoadError> {
        let plans: Vec<Plan> = plans.into_iter().map(of_slices).collect();
        let tls = plans.iter().map(secure).collect::<Result<_, _>>()?;
        let (threads, is_open_to_both) = (threads(&plans), plans[0].io == IoChoice::Best);
        let progress = plans.iter().map(|_| Progress::default()).collect();
        let edges = SliceEdges::new(threads, stop);
        let ids = (0..threads).map(|_| AtomicI32::new(0)).collect();
        let shared = Arc::new(Shared { plans, progress, tls, edges, threads, ids });
        let first = match io {
            IoChoice::Uring => Seats::start(&shared, &means.uring, means.thread),
            _ => Seats::start(&shared, &means.epoll, means.thread),
        };
        let (seats, io) = match first {
            // One ring could be made, but not one for each target and thread.
            Err(LoadError::Unready(error)) if io == IoChoice::Uring && is_open_to_both => {
                let (targets, threads) = (shared.plans.len(), shared.threads);
                fallback = Some(format!(
                    "one io_uring for each of {targets} targets and {threads} threads: {error}"
                ));
                let seats = Seats::start(&shared, &means.epoll, means.thread);
                (seats.map_err(LoadError::unready)?, IoChoice::Epoll)
            }
            Err(LoadError::Unready(error)) if io == IoChoice::Uring => {
                return Err(LoadError::NoUring(error.to_string()));
            }
            seats => (seats.map_err(LoadError::unready)?, io),
        };
        let io = if io == IoChoice::Uring { "uring" } else { "epoll" };
        Ok(Self { shared, seats, io, fallback, slices: 0, last: SliceTally::default() })
    }

    /// Loads one target for one slice. When this returns there is no load any more. The tally stays until the next slice.
    ///
    /// Errors: [`LoadError::Slice`] for an impossible slice; [`LoadError::Worker`] and [`LoadError::Io`] where the load
    /// generator itself failed. What goes wrong with the server is in the tally.
    pub fn slice(&mut self, slice: &Slice) -> Result<&SliceTally, LoadError> {
        self.slice_with_looks(slice, Duration::MAX, &mut |_| AfterLook::GoOn)
    }

    /// Loads one target for one slice, and calls `look` each time that the slice has lasted for another `every`, with the moment at which
    /// its counted part began, if it has. The slice does soon afterwards what the look decides.
    pub fn slice_with_looks(
        &mut self,
        slice: &Slice,
        every: Duration,
        look: &mut dyn FnMut(Option<u64>) -> AfterLook,
    ) -> Result<&SliceTally, LoadError> {
        slice.check(self.shared.plans.len())?;
        let edges = &self.shared.edges;
        edges.renew();
        let halted = &self.shared.progress[slice.target].halted;
        halted.store(false, Ordering::Relaxed);
        for seat in &mut self.seats.0 {
            let mut counts = seat.counts.take().unwrap_or_else(SliceCounts::new);
            counts.clear();
            let ordered = Ordered { slice: *slice, nth: self.slices, counts };
            seat.orders.send(ordered).map_err(|_| LoadError::Worker)?;
        }
        self.slices += 1;
        let mut failed = None;
        for seat in &mut self.seats.0 {
            let done = loop {
                match seat.done.recv_timeout(every) {
                    Err(RecvTimeoutError::Timeout) => match look(edges.begins_ns()) {
                        AfterLook::GoOn => {}
                        AfterLook::End => edges.end(clock::now_ns()),
                        AfterLook::Stop => halted.store(true, Ordering::Relaxed),
                    },
                    done => break done,
                }
            };
            match done {
                Ok(Ok(counts)) => seat.counts = counts,
                Ok(Err(error)) => failed = Some(LoadError::Io(error)),
                Err(_) => failed = Some(LoadError::Worker),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        self.sum_up(slice.target);
        Ok(&self.last)
    }

    /// The tally of the last slice.
    pub fn last(&self) -> &SliceTally {
        &self.last
    }

    /// The kernel's IDs of its threads.
    pub fn threads(&self) -> Vec<i32> {
        self.shared.ids.iter().map(|id| id.load(Ordering::Relaxed)).collect()
    }

    /// The plans, as [`Generator::start`] took them.
    pub fn plans(&self) -> &[Plan] {
        &self.shared.plans
    }

    /// Adds up the counts of all threads.
    fn sum_up(&mut self, target: usize) {
        let plan = &self.shared.plans[target];
        let is_open_load = matches!(plan.load, Load::Open { .. });
        let last = &mut self.last;
        last.clear();
        last.target = target;
        let counts = || self.seats.0.iter().filter_map(|seat| seat.counts.as_deref());
        let common_ns = common_time_ns(counts().map(|counts| {
            let tally = &counts.counted.tally;
            (tally.completed, tally.duration_ns)
        }));
        last.began_ns = counts().filter_map(|counts| counts.began_ns).min();
        last.opened_ns = counts().filter_map(|counts| counts.opened_ns).min();
        last.closed_ns = counts().filter_map(|counts| counts.closed_ns).max();
        last.ended_ns = counts().map(|counts| counts.ended_ns).max().unwrap_or(0);
        last.is_cut = counts().any(|counts| counts.is_cut);
        last.carried_over = counts().map(|counts| counts.carried_over).sum();
        let is_awake =
            plan.spin == Duration::MAX && counts().all(|counts| counts.counted.tally.completed > 0);
        last.held_up_ns = is_awake.then(|| counts().map(held_up_ns).sum());
        let is_alone = self.seats.0.len() == 1;
        for counts in self.seats.0.iter_mut().filter_map(|seat| seat.counts.as_deref_mut()) {
            counts.counted.complete();
            last.uncounted.merge(&counts.uncounted);
            if is_alone {
                std::mem::swap(&mut last.tally, &mut counts.counted.tally);
            } else {
                last.tally.merge(&counts.counted.tally);
            }
        }
        if !is_open_load {
            last.tally.duration_ns = common_ns;
        }
        last.tally.io = Some(self.io.to_owned());
        last.tally.io_fallback.clone_from(&self.fallback);
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        for Seat { orders, done, thread, .. } in self.0.drain(..) {
            drop((orders, done));
            let _ = thread.join();
        }
    }
}

/// How long a worker that never sleeps did not run in the counted part.
fn held_up_ns(counts: &SliceCounts) -> u64 {
    counts.counted.tally.duration_ns.saturating_sub(counts.counted.tally.client_cpu_ns)
}

fn check(plans: &[Plan]) -> Result<(), LoadError> {
    let Some(first) = plans.first() else { return Err(LoadError::Plans("there are none")) };
    let is_open_load = |plan: &Plan| matches!(plan.load, Load::Open { .. });
    if plans.iter().any(|plan| plan.target.tls != first.target.tls) {
        return Err(LoadError::Plans("some are encrypted and some are not"));
    }
    if plans.iter().any(|plan| is_open_load(plan) != is_open_load(first)) {
        return Err(LoadError::Plans("some are under closed load and some under open load"));
    }
    if plans.iter().any(|plan| plan.asks.is_empty() || plan.load.connections() == 0) {
        return Err(LoadError::Plans("one of them has no requests or no connections"));
    }
    Ok(())
}

/// The number of threads, each of which has at least one connection to each target.
fn threads(plans: &[Plan]) -> usize {
    let fewest = plans.iter().map(|plan| plan.load.connections()).min().unwrap_or(1);
    plans[0].threads.clamp(1, fewest)
}

/// Removes from a plan what belongs to a single measurement and not to slices.
fn of_slices(plan: Plan) -> Plan {
    let until = Until::Elapsed(Duration::MAX);
    Plan {
        until,
        most_requests: None,
        warmup: Duration::ZERO,
        // Who orders the slices knows how many of a server's turns may be without an answer.
        abort_after: None,
        per_second: false,
        pulse: None,
        keep_first: false,
        ..plan
    }
}

impl Seats {
    /// Starts the threads and waits until all are ready; if one is not, none is left.
    fn start<I: Io>(
        shared: &Arc<Shared>,
        io: &(impl Fn(usize, usize) -> std::io::Result<I> + Clone + Send + 'static),
        builder: fn(usize) -> Builder,
    ) -> Result<Self, LoadError> {
        let mut seats = Self(Vec::with_capacity(shared.threads));
        for index in 0..shared.threads {
            let (orders, ordered) = sync_channel(1);
            let (tell, done) = sync_channel(1);
            let (shared, io) = (Arc::clone(shared), io.clone());
            let own = move || {
                part::place(&shared.plans[0], index);
                shared.ids[index].store(clock::own_thread(), Ordering::Relaxed);
                work(&shared, index, |connections| io(index, connections), &ordered, &tell);
            };
            let thread = builder(index).spawn(own).map_err(LoadError::Thread)?;
            seats.0.push(Seat { orders, done, thread, counts: Some(SliceCounts::new()) });
        }
        for seat in &seats.0 {
            seat.done.recv().map_err(|_| LoadError::Worker)?.map_err(LoadError::Unready)?;
        }
        Ok(seats)
    }
}

/// Runs one thread.
fn work<I: Io>(
    shared: &Shared,
    index: usize,
    io: impl Fn(usize) -> std::io::Result<I>,
    orders: &Receiver<Ordered>,
    tell: &SyncSender<Done>,
) {
    let parts = shared.plans.iter().zip(&shared.progress).zip(&shared.tls).map(|((plan, progress), tls)| {
        let tls = tls.as_ref();
        Part { plan, progress, tls, index, threads: shared.threads }
    });
    if shared.plans[0].target.tls {
        let encrypted = |part: Part<'_>| match part.tls {
            Some(tls) => part::encrypted(io(part.connections()), tls),
            None => Err(std::io::Error::other("an encrypted target without TLS")),
        };
        obey(shared, parts.map(|part| part.worker(encrypted(part))).collect(), orders, tell);
    } else {
        obey(shared, parts.map(|part| part.worker(io(part.connections()))).collect(), orders, tell);
    }
}

/// Carries out orders with a worker for each target.
fn obey<I: Io>(
    shared: &Shared,
    workers: std::io::Result<Vec<Worker<'_, I>>>,
    orders: &Receiver<Ordered>,
    tell: &SyncSender<Done>,
) {
    let mut workers = match workers {
        Ok(workers) => workers,
        Err(error) => {
            let _ = tell.send(Err(error));
            return;
        }
    };
    let mut done = Ok(None);
    while tell.send(done).is_ok() {
        let Some(Ordered { slice, nth, mut counts }) = next(orders, shared.plans[0].spin) else { return };
        let worker = &mut workers[slice.target];
        done = worker.slice(&slice, nth, &shared.edges, &mut counts).map(|()| Some(counts));
        if done.is_err() {
            // The others would wait for this one.
            shared.progress[slice.target].halted.store(true, Ordering::Relaxed);
        }
    }
}

/// Waits for the next order: polling for `spin`, then asleep. `None`: there will be none.
fn next(orders: &Receiver<Ordered>, spin: Duration) -> Option<Ordered> {
    let spin_ns: u64 = spin.as_nanos().try_into().unwrap_or(u64::MAX);
    let until_ns = clock::now_ns().saturating_add(spin_ns);
    while clock::now_ns() < until_ns {
        match orders.try_recv() {
            Ok(ordered) => return Some(ordered),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => (0..PAUSES).for_each(|_| std::hint::spin_loop()),
        }
    }
    orders.recv().ok()
}
