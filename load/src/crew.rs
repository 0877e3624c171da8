//! The threads of one measurement. All of them begin, or none: a worker that lacks something says so before any request is sent. One that
//! fails later ends the others, because what they count would be thrown away.

use crate::means::Means;
use crate::part::{self, Part};
use crate::turnstile::Turnstile;
use crate::{LoadError, Progress, Watch, ran_out};
use model::{IoChoice, Plan, Tally};
use net::tls::ClientTls;
use net::{Errno, Io};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// The threads' common ground.
pub struct Crew<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The state that is shared with observers.
    pub progress: &'a Progress,
    /// The TLS configuration, if the target is encrypted.
    pub tls: Option<&'a ClientTls>,
    /// The number of threads.
    pub threads: usize,
}

/// One thread, as seen from outside.
struct Member<'s> {
    ready: Receiver<std::io::Result<()>>,
    opens: SyncSender<()>,
    thread: ScopedJoinHandle<'s, Result<Tally, LoadError>>,
}

impl Crew<'_> {
    /// Measures with this back end, or with epoll where rings are only one choice and not every worker can have one. Returns each worker's
    /// tally, the back end that was used, and why it is not the first one.
    pub fn measure<U: Io, E: Io>(
        &self,
        io: IoChoice,
        means: &Means<
            impl Fn(usize, usize) -> std::io::Result<U> + Sync,
            impl Fn(usize, usize) -> std::io::Result<E> + Sync,
        >,
        watch: &dyn Watch,
    ) -> Result<(Vec<Tally>, IoChoice, Option<String>), LoadError> {
        if io != IoChoice::Uring {
            let tallies = self.run(&means.epoll, means.thread, watch).map_err(LoadError::unready)?;
            return Ok((tallies, IoChoice::Epoll, None));
        }
        match self.run(&means.uring, means.thread, watch) {
            Err(LoadError::Unready(error)) if self.plan.io == IoChoice::Best => {
                let why = format!("one io_uring for each of {} threads: {error}", self.threads);
                let tallies = self.run(&means.epoll, means.thread, watch).map_err(LoadError::unready)?;
                Ok((tallies, IoChoice::Epoll, Some(why)))
            }
            Err(LoadError::Unready(error)) => Err(LoadError::NoUring(error.to_string())),
            tallies => Ok((tallies?, IoChoice::Uring, None)),
        }
    }

    fn run<I: Io>(
        &self,
        io: &(impl Fn(usize, usize) -> std::io::Result<I> + Sync),
        builder: fn(usize) -> Builder,
        watch: &dyn Watch,
    ) -> Result<Vec<Tally>, LoadError> {
        std::thread::scope(|scope| {
            let mut members = Vec::with_capacity(self.threads);
            let started = self.start(scope, io, builder, watch, &mut members);
            let begun = started.and_then(|()| all_ready(&members));
            // Where one is not ready, dropping the turnstiles' other sides sends the others home.
            let threads: Vec<_> = members
                .into_iter()
                .map(|member| {
                    if begun.is_ok() {
                        let _ = member.opens.send(());
                    }
                    member.thread
                })
                .collect();
            let ended: Vec<_> =
                threads.into_iter().map(|thread| thread.join().unwrap_or(Err(LoadError::Worker))).collect();
            begun?;
            ended.into_iter().collect()
        })
    }

    fn start<'s, I: Io>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        io: &'s (impl Fn(usize, usize) -> std::io::Result<I> + Sync),
        builder: fn(usize) -> Builder,
        watch: &'s dyn Watch,
        members: &mut Vec<Member<'s>>,
    ) -> Result<(), LoadError> {
        for index in 0..self.threads {
            let Self { plan, progress, tls, threads } = *self;
            let (ready, is_ready) = sync_channel(1);
            let (opens, is_open) = sync_channel(1);
            let turnstile = Turnstile { ready, opens: is_open, halted: &progress.halted };
            let work = move || {
                part::place(plan, index);
                let first: &dyn Watch = if index == 0 { watch } else { &() };
                let part = Part { plan, progress, tls, index, threads };
                part.work(|connections| io(index, connections), &turnstile, first)
            };
            let thread = builder(index).spawn_scoped(scope, work).map_err(LoadError::Thread)?;
            members.push(Member { ready: is_ready, opens, thread });
        }
        Ok(())
    }
}

fn all_ready(members: &[Member<'_>]) -> Result<(), LoadError> {
    for member in members {
        member.ready.recv().map_err(|_| LoadError::Worker)?.map_err(LoadError::Unready)?;
    }
    Ok(())
}

impl LoadError {
    /// The error of a worker that could not be made, in words: where the machine ran out of something, with the remedy.
    pub(crate) fn unready(self) -> Self {
        let Self::Unready(error) = self else { return self };
        match Errno::from_io_error(&error).filter(|errno| net::is_local(*errno)) {
            Some(errno) => Self::RanOut(ran_out(errno)),
            None => Self::Io(error),
        }
    }
}
