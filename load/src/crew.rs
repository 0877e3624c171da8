//! The threads of a load, whether they measure once or slice by slice. All of them begin, or none: a thread that lacks something says so
//! before any request is sent. One that fails later ends the others, because what they count would be thrown away.

use crate::means::Means;
use crate::share::share;
use crate::slice_edges::SliceEdges;
use crate::slice_plan::SlicePlan;
use crate::slicing::SliceCounts;
use crate::worker::Worker;
use crate::{LoadError, Progress, Watch};
use model::{IoChoice, Plan, Protocol, Tally};
use net::tls::{ClientTls, Tls};
use net::{BackEnd, Io, Ports, clock};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::Builder;
use std::time::Duration;
use wire::{ClientSession, Grpc, Http1, Http2, WebSocket};

/// The number of pauses between two looks of a thread that polls for orders.
const PAUSES: usize = 16;

/// What all threads of a load use.
#[derive(Clone, Copy)]
pub struct SharedByThreads<'a> {
    /// The plans, one for each target. The threads, cores, back end and spin of the first one hold for all.
    pub plans: &'a [Plan],
    /// For each plan, the state that is shared with observers.
    pub progress: &'a [Progress],
    /// For each plan, the TLS configuration, if the target is encrypted: all are, or none.
    pub tls: &'a [Option<ClientTls>],
    /// The number of threads.
    pub threads: usize,
}

/// What a thread is to do.
pub enum ThreadOrder<'a> {
    /// Measure the only target once, and end.
    Once(&'a dyn Watch),
    /// Carry out a slice of one target.
    Slice(SliceOrder),
}

/// A slice to carry out.
pub struct SliceOrder {
    pub slice: SlicePlan,
    /// Its number among all slices of the load, from 0.
    pub nth: u64,
    pub edges: Arc<SliceEdges>,
    /// The memory for its counts, which is empty.
    pub counts: Box<SliceCounts>,
}

/// What comes of an order.
pub enum Done {
    /// The thread, with this ID, is ready for the first one.
    Ready(i32),
    Once(Box<Tally>),
    Slice(Box<SliceCounts>),
}

/// One thread, as seen from outside. The thread ends when this is dropped.
pub struct Seat<'a> {
    orders: SyncSender<ThreadOrder<'a>>,
    pub done: Receiver<io::Result<Done>>,
    /// The kernel's ID of the thread.
    pub id: i32,
}

/// All that a thread does.
pub type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// A back end, and why it is not the best one, if it is not.
pub type Chosen = (BackEnd, Option<String>);

impl<'a> Seat<'a> {
    /// Gives the thread its next order.
    pub fn order(&self, order: ThreadOrder<'a>) -> Result<(), LoadError> {
        self.orders.send(order).map_err(|_| LoadError::Worker)
    }
}

/// Measures the only target once; one of the threads tells `watch`. Returns the tally of each.
pub fn measure<U: Io, E: Io>(
    shared: SharedByThreads<'_>,
    chosen: Chosen,
    means: &Means<
        impl Fn(usize, usize) -> io::Result<U> + Sync,
        impl Fn(usize, usize) -> io::Result<E> + Sync,
    >,
    watch: &dyn Watch,
) -> Result<(Vec<Tally>, Chosen), LoadError> {
    on_best(shared, chosen, |io| match io {
        BackEnd::Uring => measure_on(shared, &means.uring, means.thread, watch),
        BackEnd::Epoll => measure_on(shared, &means.epoll, means.thread, watch),
    })
}

fn measure_on<I: Io>(
    shared: SharedByThreads<'_>,
    io: &(impl Fn(usize, usize) -> io::Result<I> + Sync),
    builder: fn(usize) -> Builder,
    watch: &dyn Watch,
) -> Result<Vec<Tally>, LoadError> {
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(shared.threads);
        let seats = start(
            shared.threads,
            builder,
            move |index, orders, tell| shared.work(index, |connections| io(index, connections), orders, tell),
            |builder, task| {
                threads.push(builder.spawn_scoped(scope, task)?);
                Ok(())
            },
        );
        let tallies = seats.and_then(|seats| measure_in(seats, watch));
        // Of a thread that panicked, its channel has told.
        threads.into_iter().for_each(|thread| drop(thread.join()));
        tallies
    })
}

fn measure_in<'a>(seats: Vec<Seat<'a>>, watch: &'a dyn Watch) -> Result<Vec<Tally>, LoadError> {
    for (index, seat) in seats.iter().enumerate() {
        seat.order(ThreadOrder::Once(if index == 0 { watch } else { &() }))?;
    }
    let tally = |seat: Seat<'_>| match seat.done.recv() {
        Ok(Ok(Done::Once(tally))) => Ok(*tally),
        Ok(Err(error)) => Err(LoadError::Io(error)),
        _ => Err(LoadError::Worker),
    };
    let tallies: Vec<_> = seats.into_iter().map(tally).collect();
    tallies.into_iter().collect()
}

/// Calls `begin` with the chosen back end, and with epoll where rings are only one choice and not every thread can have one. Returns the
/// one that was used.
pub fn on_best<T>(
    shared: SharedByThreads<'_>,
    (io, mut why): Chosen,
    begin: impl Fn(BackEnd) -> Result<T, LoadError>,
) -> Result<(T, Chosen), LoadError> {
    if io == BackEnd::Uring {
        match begin(io) {
            Err(LoadError::Unready(error)) if shared.plans[0].io == IoChoice::Best => {
                let (targets, threads) = (shared.plans.len(), shared.threads);
                let targets = if targets > 1 { format!("{targets} targets and ") } else { String::new() };
                why = Some(format!("one io_uring for each of {targets}{threads} threads: {error}"));
            }
            Err(LoadError::Unready(error)) => return Err(LoadError::NoUring(error.to_string())),
            result => return Ok((result?, (io, why))),
        }
    }
    Ok((begin(BackEnd::Epoll).map_err(LoadError::unready)?, (BackEnd::Epoll, why)))
}

/// Starts threads that do `work`, each with its index, its orders and where to tell what comes of them; waits until all are ready. If one
/// is not, the others end.
pub fn start<'a>(
    threads: usize,
    builder: fn(usize) -> Builder,
    work: impl Fn(usize, &Receiver<ThreadOrder<'a>>, &SyncSender<io::Result<Done>>) + Clone + Send + 'a,
    mut spawn: impl FnMut(Builder, Task<'a>) -> io::Result<()>,
) -> Result<Vec<Seat<'a>>, LoadError> {
    let mut seats = Vec::with_capacity(threads);
    for index in 0..threads {
        let (orders, ordered) = sync_channel(1);
        let (tell, done) = sync_channel(1);
        let work = work.clone();
        spawn(builder(index), Box::new(move || work(index, &ordered, &tell))).map_err(LoadError::Thread)?;
        seats.push(Seat { orders, done, id: 0 });
    }
    for seat in &mut seats {
        let ready = seat.done.recv().map_err(|_| LoadError::Worker)?;
        let Done::Ready(id) = ready.map_err(LoadError::Unready)? else { return Err(LoadError::Worker) };
        seat.id = id;
    }
    Ok(seats)
}

impl<'a> SharedByThreads<'a> {
    /// Does the work of thread `index`: makes a worker for each target, each with a back end that `io` makes for its number of connections,
    /// and carries out orders until there are no more.
    pub fn work<I: Io>(
        self,
        index: usize,
        io: impl Fn(usize) -> io::Result<I>,
        orders: &Receiver<ThreadOrder<'_>>,
        tell: &SyncSender<io::Result<Done>>,
    ) {
        pin_thread(&self.plans[0], index);
        match self.plans[0].protocol {
            Protocol::Http1 => self.speak::<I, Http1>(index, io, orders, tell),
            Protocol::Http2 => self.speak::<I, Http2>(index, io, orders, tell),
            Protocol::Grpc => self.speak::<I, Grpc>(index, io, orders, tell),
            Protocol::WebSocket => self.speak::<I, WebSocket>(index, io, orders, tell),
        }
    }

    fn speak<I: Io, S: ClientSession<'a>>(
        self,
        index: usize,
        io: impl Fn(usize) -> io::Result<I>,
        orders: &Receiver<ThreadOrder<'_>>,
        tell: &SyncSender<io::Result<Done>>,
    ) {
        if self.tls.iter().any(Option::is_some) {
            let encrypted = |connections, tls: Option<&ClientTls>| {
                let tls = tls.ok_or_else(|| io::Error::other("an encrypted target without TLS"))?;
                Ok(Tls::client(io(connections)?, tls.with_own_memory()))
            };
            self.obey::<_, S>(self.workers(index, encrypted), orders, tell);
        } else {
            self.obey::<_, S>(self.workers(index, |connections, _| io(connections)), orders, tell);
        }
    }

    fn workers<I: Io, S: ClientSession<'a>>(
        self,
        index: usize,
        io: impl Fn(usize, Option<&ClientTls>) -> io::Result<I>,
    ) -> io::Result<Vec<Worker<'a, I, S>>> {
        let targets = self.plans.iter().zip(self.progress).zip(self.tls);
        let worker = |((plan, progress), tls): ((&'a Plan, &'a Progress), &Option<ClientTls>)| {
            let connections = plan.load.connections();
            let mut io = io(connections.div_ceil(self.threads), tls.as_ref())?;
            let sources = plan.connecting.from.len().max(1);
            if let Some(ports) = Ports::of(connections / sources, index, self.threads) {
                io.choose_ports(ports);
            }
            Worker::new(plan, share(plan, index, self.threads), io, progress).map_err(io::Error::other)
        };
        targets.map(worker).collect()
    }

    fn obey<I: Io, S: ClientSession<'a>>(
        self,
        workers: io::Result<Vec<Worker<'a, I, S>>>,
        orders: &Receiver<ThreadOrder<'_>>,
        tell: &SyncSender<io::Result<Done>>,
    ) {
        let mut workers = match workers {
            Ok(workers) => workers,
            Err(error) => {
                let _ = tell.send(Err(error));
                return;
            }
        };
        let mut done = Ok(Done::Ready(clock::own_thread()));
        // The first order comes when all threads are ready: who polled for it would be in the way of those that are not.
        let mut spin = Duration::ZERO;
        // A worker that has measured once is gone.
        while tell.send(done).is_ok() && !workers.is_empty() {
            let Some(order) = next(orders, spin) else { return };
            spin = self.plans[0].spin;
            done = self.carry_out(order, &mut workers);
        }
    }

    fn carry_out<I: Io, S: ClientSession<'a>>(
        self,
        order: ThreadOrder<'_>,
        workers: &mut Vec<Worker<'a, I, S>>,
    ) -> io::Result<Done> {
        let target = match &order {
            ThreadOrder::Once(_) => 0,
            ThreadOrder::Slice(order) => order.slice.target,
        };
        let others = EndsOthers(&self.progress[target].halted);
        let done = match order {
            ThreadOrder::Once(watch) => Done::Once(Box::new(workers.swap_remove(target).run(watch)?)),
            ThreadOrder::Slice(SliceOrder { slice, nth, edges, mut counts }) => {
                workers[target].slice(&slice, nth, &edges, &mut counts)?;
                Done::Slice(counts)
            }
        };
        std::mem::forget(others);
        Ok(done)
    }
}

/// Ends the work of the other threads when it is dropped: when this one failed, or panicked.
struct EndsOthers<'a>(&'a AtomicBool);

impl Drop for EndsOthers<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits for the next order: polling for `spin`, then asleep. `None`: there will be none.
fn next<'a>(orders: &Receiver<ThreadOrder<'a>>, spin: Duration) -> Option<ThreadOrder<'a>> {
    let until_ns = clock::now_ns().saturating_add(clock::ns_of(spin));
    while clock::now_ns() < until_ns {
        match orders.try_recv() {
            Ok(order) => return Some(order),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => (0..PAUSES).for_each(|_| std::hint::spin_loop()),
        }
    }
    orders.recv().ok()
}

/// Puts this thread, of worker `index`, where the plan wants it.
fn pin_thread(plan: &Plan, index: usize) {
    net::cpu::wake_precisely();
    if !plan.cpus.is_empty() {
        // A core that went away since it was chosen is no reason not to measure.
        let _ = net::cpu::pin(&[plan.cpus[index % plan.cpus.len()]]);
    }
}
