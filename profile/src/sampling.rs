//! Samples processes in a separate thread: the options, the beginning and the end.

mod events;
mod recorder;

use crate::error::ProfileError;
use crate::permission;
use crate::recording::Recording;
use crate::trace::tracer::Tracer;
use crate::window::Window;
use events::Events;
use net::clock;
use recorder::Recorder;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Samples per second of CPU time of each thread; the kernel may allow less. A prime number, so that it does not keep step with timers of
/// the server.
const FREQUENCY_HZ: u64 = 997;

/// Approximate limit on the memory for distinct stacks, in bytes. Samples whose stacks no longer fit are counted together, as
/// `[not kept]`.
const MEMORY_BYTES: usize = 256 << 20;

/// How to sample.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The CPUs on which the sampler's thread may run: best those of the load generator, or idle ones. Empty: all.
    pub cpus: Vec<usize>,
    /// The time in which samples count.
    pub window: Window,
}

/// Samples that are being taken. Dropping it ends them without a result.
#[derive(Debug)]
pub struct Sampling {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Recording>>,
}

impl Sampling {
    /// Begins to sample all threads of the processes, and all that they start from now on. `pids` lists the processes that exist when it is
    /// called, which happens about once a second.
    ///
    /// # Errors
    /// When the kernel forbids it, none of the processes exists, or descriptors, memory or threads are lacking.
    pub fn begin(
        pids: impl Fn() -> Vec<i32> + Send + 'static,
        options: &Options,
    ) -> Result<Self, ProfileError> {
        let frequency_hz = permission::frequency(FREQUENCY_HZ);
        let mut tracer = Tracer::new(options.window.clone(), MEMORY_BYTES);
        let events = Events::open(&pids(), frequency_hz)?;
        // Not earlier: from now on every new mapping has a record, whereas one made between an earlier reading and the first record would
        // be missed.
        let now_ns = clock::now_ns();
        for pid in pids() {
            tracer.read(u32::try_from(pid).unwrap_or(0), now_ns);
        }
        let mut recorder = Recorder::new(Box::new(pids), events, tracer, 1_000_000_000 / frequency_hz);
        recorder.attach_late();
        let stop = Arc::new(AtomicBool::new(false));
        let (is_over, cpus) = (Arc::clone(&stop), options.cpus.clone());
        let thread = std::thread::Builder::new().name("profile".to_owned());
        let thread = thread.spawn(move || {
            if !cpus.is_empty() {
                // If that is refused, the thread runs on any CPU.
                let _ = net::cpu::pin(&cpus);
            }
            recorder.run(&is_over)
        });
        let thread = Some(thread.map_err(ProfileError::NoThread)?);
        Ok(Self { stop, thread })
    }

    /// Ends the sampling. This takes only some milliseconds, because names are not looked up yet.
    ///
    /// # Errors
    /// When the sampler's thread has failed.
    pub fn end(mut self) -> Result<Recording, ProfileError> {
        self.halt();
        self.thread.take().and_then(|thread| thread.join().ok()).ok_or(ProfileError::Failed)
    }

    fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        self.halt();
    }
}
