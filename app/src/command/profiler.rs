//! Samples the processes of a server under load, and counts what they do, between the edges of the measured window.

use control::processes::tree::{self, Tree};
use load::Watch;
use profile::{Counters, Counting, Options, ProfileError, Recording, Report, Sampling, Window, Work};
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
    /// Begins to sample the processes of a server, from a thread on these CPUs. Nothing counts before the window opens.
    pub fn begin(tree: &Tree, cpus: &[usize]) -> Result<Self, ProfileError> {
        let options = Options { cpus: cpus.to_vec(), window: Window::closed() };
        let sampled = tree.clone();
        let sampling = Sampling::begin(move || tree::listed(&sampled), &options)?;
        let counts = Counts { counting: Counting::begin(&tree::listed(tree)).ok(), ..Counts::default() };
        Ok(Self { sampling, window: options.window, counts: Mutex::new(counts) })
    }

    /// Ends the sampling; called while the processes still run. Counts that could not be read are `None`.
    pub fn end(self) -> Result<Sampled, ProfileError> {
        let counts = self.counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counters = counts.closed.zip(counts.opened).map(|(closed, opened)| closed.since(&opened));
        Ok(Sampled { recording: self.sampling.end()?, counters: counters.unwrap_or_default() })
    }
}

/// What was sampled and counted. Names are not looked up yet.
#[derive(Debug)]
pub struct Sampled {
    /// The samples.
    pub recording: Recording,
    counters: Counters,
}

impl Sampled {
    /// Looks up names. `cpu_ns`: the exact CPU time of the server for these answers.
    pub fn report(self, answers: u64, cpu_ns: Option<u64>, received_bytes: u64) -> Report {
        let profile = self.recording.resolve();
        // The exact time includes time in the kernel, so it fits only a profile that has the kernel's part.
        let cpu_ns = cpu_ns.filter(|_| profile.has_kernel);
        let counters = Counters { received_bytes: Some(received_bytes), ..self.counters };
        Report { schema: Report::SCHEMA, work: Work { answers, cpu_ns }, counters, profile }
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
