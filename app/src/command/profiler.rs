//! Samples the processes of a server under load, and counts what they do, between the edges of the measured window.

use load::Watch;
use profile::{Counters, Counting, Options, ProfileError, Recording, Sampling, Target, Window};
use std::sync::{Mutex, PoisonError};

/// A server that is being sampled.
#[derive(Debug)]
pub struct Profiler {
    sampling: Sampling,
    window: Window,
    counts: Mutex<Counts>,
}

/// Counters at the edges of the window; `None`: they can't be read, or that edge has not come.
#[derive(Debug, Default)]
struct Counts {
    counting: Option<Counting>,
    opened: Option<Counters>,
    closed: Option<Counters>,
}

impl Profiler {
    /// Begins to sample these processes, from a thread on these CPUs. Nothing counts before the window opens.
    pub fn begin(target: &Target, cpus: &[usize]) -> Result<Self, ProfileError> {
        let options = Options { cpus: cpus.to_vec(), window: Window::closed(), ..Options::default() };
        let sampling = Sampling::begin(target.clone(), &options)?;
        let counts = Counts { counting: Counting::begin(target).ok(), ..Counts::default() };
        Ok(Self { sampling, window: options.window, counts: Mutex::new(counts) })
    }

    /// Ends the sampling; called while the processes still run. Names are not looked up yet. Counts that could not be read are `None`.
    pub fn end(self) -> Result<(Recording, Counters), ProfileError> {
        let counts = self.counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counters = counts.closed.zip(counts.opened).map(|(closed, opened)| closed.since(&opened));
        Ok((self.sampling.end()?, counters.unwrap_or_default()))
    }
}

impl Watch for Profiler {
    fn opened(&self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.opened = counts.counting.as_mut().map(Counting::read);
        self.window.open();
    }

    fn closed(&self) {
        self.window.close();
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.closed = counts.counting.as_mut().map(Counting::read);
    }
}
