//! One worker's part of a plan: its connections, its due times, its core.

use crate::pace::Pace;
use crate::worker::Worker;
use crate::{LoadError, Progress, Watch};
use model::{Load, Plan, Tally, Until};
use net::tls::{ClientTls, Tls};
use net::{Io, Ports};
use std::sync::Barrier;

/// One worker's part of a plan.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The state that is shared with observers.
    pub progress: &'a Progress,
    /// The TLS configuration, if the target is encrypted.
    pub tls: Option<&'a ClientTls>,
    /// The number of the worker, from 0.
    pub index: usize,
    /// The number of workers.
    pub threads: usize,
}

impl<'a> Part<'a> {
    /// Measures once, on a back end for so many connections.
    pub fn work<I: Io>(
        self,
        io: impl FnOnce(usize) -> std::io::Result<I>,
        barrier: &Barrier,
        watch: &dyn Watch,
    ) -> Result<Tally, LoadError> {
        let io = io(self.connections());
        match self.tls {
            None => run(self.worker(io), barrier, watch),
            Some(tls) => run(self.worker(encrypted(io, tls)), barrier, watch),
        }
    }

    /// The number of this worker's connections.
    pub fn connections(&self) -> usize {
        self.plan.load.connections().div_ceil(self.threads)
    }

    /// Makes the worker, which has not begun.
    pub fn worker<I: Io>(self, io: std::io::Result<I>) -> std::io::Result<Worker<'a, I>> {
        let share = share(self.plan, self.index, self.threads);
        io.map(|mut io| {
            if let Some(ports) = self.ports() {
                io.choose_ports(ports);
            }
            Worker::new(self.plan, share, io, self.progress)
        })
    }

    /// The local ports of its connections, where they are many.
    fn ports(&self) -> Option<Ports> {
        let sources = self.plan.connecting.from.len().max(1);
        Ports::of(self.plan.load.connections() / sources, self.index, self.threads)
    }
}

/// Wraps a back end in TLS.
pub fn encrypted<I: Io>(io: std::io::Result<I>, tls: &ClientTls) -> std::io::Result<Tls<I>> {
    io.map(|io| Tls::client(io, tls.with_own_memory()))
}

fn run<I: Io>(
    worker: std::io::Result<Worker<'_, I>>,
    barrier: &Barrier,
    watch: &dyn Watch,
) -> Result<Tally, LoadError> {
    // Even a worker that could not be made must come here: the others wait for it.
    barrier.wait();
    Ok(worker?.run(watch)?)
}

/// The share of one worker.
#[derive(Clone, Debug)]
pub struct Share {
    /// The number of the worker, from 0.
    pub index: usize,
    /// The number of workers.
    pub threads: usize,
    /// The number of its connections.
    pub connections: usize,
    /// The number of answers that it waits for, where answers end the measurement.
    pub answers: Option<u64>,
    /// The number of times that it opens a connection, where that ends the measurement.
    pub openings: Option<u64>,
    /// Its due times, in open load.
    pub pace: Option<Pace>,
}

/// Computes the share of worker `index` of `threads`.
pub fn share(plan: &Plan, index: usize, threads: usize) -> Share {
    let part = |whole: usize| whole / threads + usize::from(index < whole % threads);
    let part_of = |whole: u64| whole / threads as u64 + u64::from((index as u64) < whole % threads as u64);
    let (answers, openings) = match plan.until {
        Until::Elapsed(_) => (None, None),
        Until::Answered(n) => (Some(n), None),
        Until::Closed(n) => (None, Some(part_of(n))),
    };
    let answers = [answers, plan.most_requests].into_iter().flatten().min().map(part_of);
    let pace = match &plan.load {
        Load::Closed { .. } => None,
        Load::Open { rate_per_s, arrivals, .. } => {
            Some(Pace::new(rate_per_s.profile(plan.warmup), *arrivals, plan.seed, index, threads))
        }
    };
    Share { index, threads, connections: part(plan.load.connections()), answers, openings, pace }
}

/// Puts this thread, of worker `index`, where the plan wants it.
pub fn place(plan: &Plan, index: usize) {
    net::cpu::wake_precisely();
    if !plan.cpus.is_empty() {
        // A core that went away since it was chosen is no reason not to measure.
        let _ = net::cpu::pin(&[plan.cpus[index % plan.cpus.len()]]);
    }
}
