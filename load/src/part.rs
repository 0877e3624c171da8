//! Makes one worker of a plan on its back end, and puts its thread on its core.

use crate::share::share;
use crate::turnstile::Turnstile;
use crate::worker::Worker;
use crate::{LoadError, Progress, Watch};
use model::{Plan, Tally};
use net::tls::{ClientTls, Tls};
use net::{Io, Ports};

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
    /// Measures once, as soon as all workers are ready. `io`: makes this worker's back end for a number of connections.
    pub fn work<I: Io>(
        self,
        io: impl FnOnce(usize) -> std::io::Result<I>,
        turnstile: &Turnstile,
        watch: &dyn Watch,
    ) -> Result<Tally, LoadError> {
        let io = io(self.connections());
        match self.tls {
            None => turnstile.run(self.worker(io), watch),
            Some(tls) => turnstile.run(self.worker(encrypted(io, tls)), watch),
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

    /// The local ports of its connections; `None` where connections are so few that the kernel may choose.
    fn ports(&self) -> Option<Ports> {
        let sources = self.plan.connecting.from.len().max(1);
        Ports::of(self.plan.load.connections() / sources, self.index, self.threads)
    }
}

/// Wraps a back end in TLS.
pub fn encrypted<I: Io>(io: std::io::Result<I>, tls: &ClientTls) -> std::io::Result<Tls<I>> {
    io.map(|io| Tls::client(io, tls.with_own_memory()))
}

/// Puts this thread, of worker `index`, where the plan wants it.
pub fn place(plan: &Plan, index: usize) {
    net::cpu::wake_precisely();
    if !plan.cpus.is_empty() {
        // A core that went away since it was chosen is no reason not to measure.
        let _ = net::cpu::pin(&[plan.cpus[index % plan.cpus.len()]]);
    }
}
