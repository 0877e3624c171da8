//! A load generator for several live servers, one at a time. Its threads keep connections to all of them and wait for
//! orders; between two slices there is no load.
//!
//! A thread has a worker of its own for each target, and each worker its own back end: events of an idle target's sockets
//! wait in that back end, unread, until the target's next slice. So none of them can be mistaken for another target's, or cost
//! another target's slice any time; encrypted targets keep their own names and sessions; and a worker is the same as in a
//! measurement of one target.

use crate::before::{choose, try_out};
use crate::crew::{self, Chosen, Done, Seat, SharedByThreads, SliceOrder, ThreadOrder};
use crate::means::{self, Means};
use crate::slice_edges::SliceEdges;
use crate::slice_plan::{AfterLook, SlicePlan};
use crate::slicing::SliceCounts;
use crate::{LoadError, Progress};
use model::slice_tally::common_time_ns;
use model::{Load, Plan, SliceTally, Until};
use net::tls::ClientTls;
use net::{BackEnd, Io, clock};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Threads that load one of several targets at a time. They end when it is dropped.
pub struct Generator {
    shared: Arc<Shared>,
    threads: Threads,
    /// For each thread, the memory for its next slice.
    counts: Vec<Option<Box<SliceCounts>>>,
    edges: Arc<SliceEdges>,
    io: BackEnd,
    fallback: Option<String>,
    /// The number of slices so far.
    slices: u64,
    last: SliceTally,
}

/// What the threads keep alive: see [`SharedByThreads`].
struct Shared {
    plans: Vec<Plan>,
    progress: Vec<Progress>,
    tls: Vec<Option<ClientTls>>,
    threads: usize,
}

/// The threads. They end when this is dropped.
struct Threads {
    seats: Vec<Seat<'static>>,
    handles: Vec<JoinHandle<()>>,
}

impl Generator {
    /// Starts threads that can load the target of each plan; none is loaded yet. The first plan's threads, cores, back
    /// end and spin hold for all: a worker without an order polls for the spin time before it sleeps. Each plan's load, requests,
    /// pipelining, timeout, TLS and seed are its own; its duration and warm-up are replaced by the slices', and neither seconds nor a pulse
    /// nor the first answer are recorded. A slice that is in progress when `stop` is set ends early.
    ///
    /// Errors: as those of [`crate::run`]; and plans that are not all encrypted or all plain, all closed or all open.
    pub fn start(plans: Vec<Plan>, stop: Arc<AtomicBool>) -> Result<Self, LoadError> {
        check(&plans)?;
        let tls = try_out(&plans)?;
        let threads = threads(&plans);
        let most = plans.iter().map(|plan| plan.load.connections().div_ceil(threads)).max().unwrap_or(1);
        let chosen = choose(plans[0].io, most);
        Self::start_on(plans, tls, stop, chosen, &means::real())
    }

    /// The same with other means, beginning with this back end.
    pub(crate) fn start_on<U: Io, E: Io>(
        plans: Vec<Plan>,
        tls: Vec<Option<ClientTls>>,
        stop: Arc<AtomicBool>,
        chosen: Chosen,
        means: &Means<
            impl Fn(usize, usize) -> io::Result<U> + Clone + Send + 'static,
            impl Fn(usize, usize) -> io::Result<E> + Clone + Send + 'static,
        >,
    ) -> Result<Self, LoadError> {
        let plans: Vec<Plan> = plans.into_iter().map(of_slices).collect();
        let progress = plans.iter().map(|_| Progress::default()).collect();
        let threads = threads(&plans);
        let shared = Arc::new(Shared { plans, progress, tls, threads });
        let (started, (io, fallback)) = crew::on_best(shared.for_threads(), chosen, |io| match io {
            BackEnd::Uring => Threads::start(&shared, &means.uring, means.thread),
            BackEnd::Epoll => Threads::start(&shared, &means.epoll, means.thread),
        })?;
        let counts = (0..threads).map(|_| Some(Box::default())).collect();
        let (edges, last) = (Arc::new(SliceEdges::new(threads, stop)), SliceTally::default());
        Ok(Self { shared, threads: started, counts, edges, io, fallback, slices: 0, last })
    }

    /// Loads one target for one slice. When this returns there is no load any more. The tally stays until the next slice.
    ///
    /// Errors: [`LoadError::Slice`] for an impossible slice; [`LoadError::Worker`] and [`LoadError::Io`] where the load
    /// generator itself failed. What goes wrong with the server is in the tally.
    pub fn slice(&mut self, slice: &SlicePlan) -> Result<&SliceTally, LoadError> {
        self.slice_with_looks(slice, Duration::MAX, &mut |_| AfterLook::GoOn)
    }

    /// Loads one target for one slice, and calls `look` each time that the slice has lasted for another `every`, with the moment at which
    /// its counted part began, if it has. The slice does soon afterwards what the look decides.
    pub fn slice_with_looks(
        &mut self,
        slice: &SlicePlan,
        every: Duration,
        look: &mut dyn FnMut(Option<u64>) -> AfterLook,
    ) -> Result<&SliceTally, LoadError> {
        slice.check(self.shared.plans.len())?;
        self.edges.renew();
        let halted = &self.shared.progress[slice.target].halted;
        halted.store(false, Ordering::Relaxed);
        for (seat, counts) in self.threads.seats.iter().zip(&mut self.counts) {
            let mut counts = counts.take().unwrap_or_default();
            counts.clear();
            let (nth, edges) = (self.slices, Arc::clone(&self.edges));
            seat.order(ThreadOrder::Slice(SliceOrder { slice: *slice, nth, edges, counts }))?;
        }
        self.slices += 1;
        let mut failed = None;
        for (seat, counts) in self.threads.seats.iter().zip(&mut self.counts) {
            let done = loop {
                match seat.done.recv_timeout(every) {
                    Err(RecvTimeoutError::Timeout) => match look(self.edges.begins_ns()) {
                        AfterLook::GoOn => {}
                        AfterLook::End => self.edges.end(clock::now_ns()),
                        AfterLook::Stop => halted.store(true, Ordering::Relaxed),
                    },
                    done => break done,
                }
            };
            match done {
                Ok(Ok(Done::Slice(counted))) => *counts = Some(counted),
                Ok(Err(error)) => failed = Some(LoadError::Io(error)),
                _ => failed = Some(LoadError::Worker),
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
        self.threads.seats.iter().map(|seat| seat.id).collect()
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
        let counts = || self.counts.iter().flatten();
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
        last.held_up_ns = is_awake.then(|| counts().map(|counts| held_up_ns(counts)).sum());
        let is_alone = self.counts.len() == 1;
        for counts in self.counts.iter_mut().flatten() {
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
        last.tally.io = Some(self.io.name().to_owned());
        last.tally.io_fallback.clone_from(&self.fallback);
    }
}

impl Shared {
    fn for_threads(&self) -> SharedByThreads<'_> {
        let Self { plans, progress, tls, threads } = self;
        SharedByThreads { plans, progress, tls, threads: *threads }
    }
}

impl Threads {
    /// Starts the threads and waits until all are ready; if one is not, none is left.
    fn start<I: Io>(
        shared: &Arc<Shared>,
        io: &(impl Fn(usize, usize) -> io::Result<I> + Clone + Send + 'static),
        builder: fn(usize) -> Builder,
    ) -> Result<Self, LoadError> {
        let mut started = Self { seats: Vec::new(), handles: Vec::with_capacity(shared.threads) };
        let (shared, io) = (Arc::clone(shared), io.clone());
        started.seats = crew::start(
            shared.threads,
            builder,
            move |index, orders, tell| {
                shared.for_threads().work(index, |connections| io(index, connections), orders, tell);
            },
            |builder, task| {
                started.handles.push(builder.spawn(task)?);
                Ok(())
            },
        )?;
        Ok(started)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.seats.clear();
        self.handles.drain(..).for_each(|thread| drop(thread.join()));
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
    if plans.iter().any(|plan| plan.protocol != first.protocol) {
        return Err(LoadError::Plans("they speak different protocols"));
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
