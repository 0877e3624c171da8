//! The sampler's thread: empties the kernel's buffers in time, and looks for processes that were not there at the beginning.

use super::events::Events;
use crate::frame_name;
use crate::processes;
use crate::recording::Recording;
use crate::symbols::perf_map::PerfMaps;
use crate::trace::record;
use crate::trace::tracer::{News, Tracer};
use crate::trace::unwinder::REGISTERS;
use net::clock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::park_timeout;
use std::time::{Duration, Instant, SystemTime};

/// How often buffers are emptied. The smallest one has room for the samples of some 7 ms, the usual one for 60 ms, with the largest stacks
/// for 16 ms.
const INTERVAL: Duration = Duration::from_millis(5);

/// How often to look for processes that were not started by known ones.
const LOOK: Duration = Duration::from_secs(1);

/// The state of the sampler's thread.
pub struct Recorder {
    /// Lists the processes that exist now.
    pids: Box<dyn Fn() -> Vec<i32> + Send>,
    events: Events,
    tracer: Tracer,
    perf_maps: PerfMaps,
    /// For each process with samples in code that is in no file, by its ID: the name of its program.
    programs: BTreeMap<u32, String>,
    period_ns: u64,
    began: SystemTime,
}

impl Recorder {
    /// `period_ns`: the CPU time between two samples, in nanoseconds.
    pub fn new(
        pids: Box<dyn Fn() -> Vec<i32> + Send>,
        events: Events,
        tracer: Tracer,
        period_ns: u64,
    ) -> Self {
        Self {
            pids,
            events,
            tracer,
            perf_maps: PerfMaps::default(),
            programs: BTreeMap::new(),
            period_ns,
            began: SystemTime::now(),
        }
    }

    /// Records until `is_over` is true.
    pub fn run(mut self, is_over: &AtomicBool) -> Recording {
        let mut looked_at = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            park_timeout(INTERVAL);
            self.drain();
            if self.tracer.reach.take_short() {
                self.enlarge();
            }
            if looked_at.elapsed() >= LOOK {
                looked_at = Instant::now();
                self.attach_late();
                self.open_perf_maps();
            }
        }
        self.finish()
    }

    /// Attaches to threads that are not sampled yet: they began while the events of their parents were opened, or joined the tree of
    /// processes in another way.
    pub fn attach_late(&mut self) {
        // The records that are drained after the list was made tell which of its threads are sampled already.
        let threads = processes::threads(&(self.pids)());
        self.drain();
        for thread in &threads {
            if !self.events.knows(thread.tid) {
                self.tracer.read(u32::try_from(thread.pid).unwrap_or(0), clock::now_ns());
            }
        }
        self.events.attach_late(&threads);
    }

    /// Makes the kernel copy more of each stack from now on.
    fn enlarge(&mut self) {
        if self.events.enlarge(&processes::threads(&(self.pids)())) {
            // What was mapped while events were opened anew has no record.
            for pid in (self.pids)() {
                self.tracer.read(u32::try_from(pid).unwrap_or(0), clock::now_ns());
            }
        }
    }

    fn drain(&mut self) {
        let (tracer, now_ns) = (&mut self.tracer, clock::now_ns());
        let mut news = Vec::new();
        self.events.drain(|kind, misc, bytes| {
            if let Some(record) = record::parse(kind, misc, bytes, REGISTERS.count_ones()) {
                news.extend(tracer.take(record, now_ns));
            }
        });
        for news in news {
            match news {
                News::Started { tid, parent_tid } => self.events.started(tid, parent_tid),
                News::Ended { tid } => self.events.ended(tid),
            }
        }
    }

    fn open_perf_maps(&mut self) {
        for pid in &self.tracer.with_own_code {
            self.perf_maps.open(*pid);
            if !self.programs.contains_key(pid)
                && let Some(program) = processes::program(*pid)
            {
                self.programs.insert(*pid, frame_name::clean(&program));
            }
        }
    }

    fn finish(mut self) -> Recording {
        self.events.stop();
        self.drain();
        self.open_perf_maps();
        for pid in &self.tracer.with_own_code {
            self.programs.entry(*pid).or_insert_with(|| frame_name::UNKNOWN.to_owned());
        }
        Recording {
            lost: self.tracer.lost,
            stacks: self.tracer.stacks.into_counts(),
            images: self.tracer.images,
            perf_maps: self.perf_maps.read(),
            programs: self.programs,
            began: self.began,
            period_ns: self.period_ns,
            has_kernel: self.events.has_kernel(),
            unattached_threads: self.events.unattached(),
        }
    }
}
