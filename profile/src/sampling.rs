//! Samples processes in a separate thread: the options, the beginning and the end.

mod events;
mod recorder;

use crate::error::ProfileError;
use crate::permission;
use crate::processes::Target;
use crate::recording::Recording;
use crate::stacks::Profile;
use crate::trace::tracer::Tracer;
use crate::trace::unwinder::MOST_STACK_BYTES;
use crate::window::Window;
use events::{Events, Settings};
use net::clock;
use recorder::Recorder;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// What makes the kernel take a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Event {
    /// A timer of the kernel, which runs while a thread runs. Every machine has it, virtual ones included. It can't interrupt code of the
    /// kernel that has interrupts off; such time is counted where they are switched on again.
    #[default]
    CpuClock,
    /// The processor's cycles, if it counts them; else the timer. The kernel's own time is then seen more exactly.
    Cycles,
}

/// How to sample.
#[derive(Clone, Debug)]
pub struct Options {
    /// What makes the kernel take a sample.
    pub event: Event,
    /// Samples per second of CPU time of each thread; the kernel may allow less. A prime number, so that it does not keep step with timers
    /// of the server.
    pub frequency_hz: u64,
    /// How much of each stack the kernel copies at first, in bytes; at most 65,000. Code without frame pointers is unwound from this copy.
    /// 16 KiB reach the outermost function in most servers: a call takes some hundred bytes, and a path that answers a request is some
    /// dozens of calls deep. More costs the server more time per sample and the machine more memory traffic, so the copies are doubled
    /// only where more than a twentieth of the stacks turn out to go on beyond them.
    pub stack_bytes: u32,
    /// Approximate limit on the memory for distinct stacks, in bytes. Samples whose stacks no longer fit are counted together, as
    /// `[not kept]`.
    pub memory_bytes: usize,
    /// The CPUs on which the sampler's thread may run: best those of the load generator, or idle ones. Empty: all.
    pub cpus: Vec<usize>,
    /// The time in which samples count.
    pub window: Window,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            event: Event::default(),
            frequency_hz: 997,
            stack_bytes: 16 << 10,
            memory_bytes: 256 << 20,
            cpus: Vec::new(),
            window: Window::default(),
        }
    }
}

/// Samples that are being taken. Dropping it ends them without a result.
#[derive(Debug)]
pub struct Sampling {
    stop: Arc<AtomicBool>,
    window: Window,
    has_kernel: bool,
    thread: Option<JoinHandle<Recording>>,
}

impl Sampling {
    /// Begins to sample all threads of the processes, and all that they start from now on.
    ///
    /// # Errors
    /// When the kernel forbids it, none of the processes exists, or descriptors, memory or threads are lacking.
    pub fn begin(target: Target, options: &Options) -> Result<Self, ProfileError> {
        let frequency_hz = permission::frequency(options.frequency_hz);
        let settings = Settings {
            event: options.event,
            frequency_hz,
            stack_bytes: options.stack_bytes.min(MOST_STACK_BYTES) / 8 * 8,
        };
        let mut tracer = Tracer::new(options.window.clone(), options.memory_bytes);
        let events = Events::open(&target, settings)?;
        // Not earlier: from now on every new mapping has a record, whereas one made between an earlier reading and the first record would
        // be missed.
        let now_ns = clock::now_ns();
        for pid in target.pids() {
            tracer.read(u32::try_from(pid).unwrap_or(0), now_ns);
        }
        let has_kernel = events.has_kernel();
        let mut recorder = Recorder::new(target, events, tracer, 1_000_000_000 / frequency_hz);
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
        Ok(Self { stop, window: options.window.clone(), has_kernel, thread })
    }

    /// The time in which samples count.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Whether CPU time in the kernel is sampled, which needs more rights.
    pub fn has_kernel(&self) -> bool {
        self.has_kernel
    }

    /// Ends the sampling. This takes only some milliseconds, because names are not looked up yet.
    ///
    /// # Errors
    /// When the sampler's thread has failed.
    pub fn end(mut self) -> Result<Recording, ProfileError> {
        self.halt();
        self.thread.take().and_then(|thread| thread.join().ok()).ok_or(ProfileError::Failed)
    }

    /// Ends the sampling and looks up names: [`Sampling::end`], then [`Recording::resolve`].
    ///
    /// # Errors
    /// When the sampler's thread has failed.
    pub fn profile(self) -> Result<Profile, ProfileError> {
        Ok(self.end()?.resolve())
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
