//! The measured window: it opens after the warm-up and closes when the plan says so. What was counted
//! before it opened is forgotten; requests in flight at its opening are carried into it.

use crate::Progress;
use crate::course::Watched;
use crate::log::Log;
use crate::pulse::Pulse;
use crate::series::{Series, View};
use model::tally::FIRST_ANSWER_BYTES;
use model::{Plan, Tally, Until};
use net::clock;
use wire::LastHead;

/// When the window opens and closes, and what this worker counted in it.
#[derive(Debug)]
pub struct Window {
    /// When it opens, or opened.
    pub start_ns: u64,
    /// When it closes; never, where answers end it.
    pub end_ns: u64,
    /// It has opened.
    pub is_open: bool,
    /// Requests begun in the window, those in flight at its opening included.
    pub begun: u64,
    /// What was counted.
    pub tally: Tally,
    /// Whole answers by status; an array because it is written per answer.
    pub status: Box<[u64]>,
    duration_ns: u64,
    series: Option<Box<Series>>,
    pulse: Option<Pulse>,
    course: Option<Watched>,
    /// The first answer is to be kept, and is not whole yet.
    pub wants_first: bool,
    /// The connection that brings it.
    first_on: Option<u64>,
    /// The head of the last answer on any of this worker's connections.
    pub last_head: Option<LastHead>,
    /// Every exchange by itself, where somebody wants them.
    pub log: Option<Log>,
    cpu_at_start_ns: u64,
    system_at_start_ns: Option<u64>,
    /// What [`Window::news`] has told.
    told: u64,
}

/// Statuses have three digits.
const STATUSES: usize = 1000;

impl Window {
    /// A window that opens when the warm-up, which begins at `now_ns`, is over.
    pub fn new(plan: &Plan, progress: &Progress, now_ns: u64) -> Self {
        let (duration_ns, course) = match plan.until {
            Until::Elapsed(duration) => (duration.as_nanos() as u64, Some(Watched::new(duration, now_ns))),
            Until::Answered(_) | Until::Closed(_) => (u64::MAX, None),
        };
        Self {
            start_ns: now_ns + plan.warmup.as_nanos() as u64,
            end_ns: u64::MAX,
            is_open: false,
            begun: 0,
            tally: Tally::default(),
            status: vec![0; STATUSES].into_boxed_slice(),
            duration_ns,
            series: Series::new(plan, progress.view.is_some()),
            wants_first: plan.keep_first,
            first_on: None,
            last_head: Some(LastHead::default()),
            pulse: plan.pulse.map(Pulse::new),
            course,
            log: progress.log.clone().map(Log::new),
            cpu_at_start_ns: 0,
            system_at_start_ns: None,
            told: 0,
        }
    }

    /// Opens it: forgets the warm-up. `sent` requests are in flight, `begun` counts those that wait for
    /// their connection too.
    pub fn open(&mut self, now_ns: u64, sent: u64, begun: u64, sent_bytes: u64) {
        self.is_open = true;
        self.start_ns = now_ns;
        self.end_ns = now_ns.saturating_add(self.duration_ns);
        self.tally = Tally { sent, sent_bytes, ..Tally::default() };
        self.status.fill(0);
        self.begun = begun;
        self.cpu_at_start_ns = clock::thread_cpu_ns();
        self.system_at_start_ns = clock::thread_system_ns();
        if let Some(series) = &mut self.series {
            series.open(now_ns);
        }
        if let Some(pulse) = &mut self.pulse {
            pulse.open(now_ns);
        }
        if let Some(course) = &mut self.course {
            course.open(now_ns);
        }
    }

    /// Where the window is looked at in intervals: closes the one under way if it is over, with so many
    /// connections open, and says when the next one will be.
    pub fn tick(&mut self, now_ns: u64, view: Option<&View>, open: impl FnOnce() -> u64) -> u64 {
        self.hand_over();
        let answers = self.answers();
        let beats_ns = self.pulse.as_mut().map_or(u64::MAX, |pulse| pulse.tick(now_ns, answers));
        let beats_ns =
            self.course.as_mut().map_or(u64::MAX, |course| course.tick(now_ns, answers)).min(beats_ns);
        let Some(series) = &mut self.series else { return beats_ns };
        if now_ns >= series.ends_ns() {
            series.close_interval(&mut self.tally, now_ns, open());
            view.into_iter().for_each(|view| series.show(view));
        }
        series.ends_ns().min(beats_ns)
    }

    /// Whole answers, expected or not.
    pub fn answers(&self) -> u64 {
        self.tally.completed + self.tally.errors.status + self.tally.errors.body
    }

    /// Keeps the bytes of the first answer, which comes on the connection that was first to bring any.
    #[cold]
    pub fn keep_first(&mut self, connection: u64, bytes: &[u8]) {
        if self.answers() > 0 {
            self.wants_first = false;
        } else if *self.first_on.get_or_insert(connection) == connection {
            let kept = &mut self.tally.first_answer;
            let room = FIRST_ANSWER_BYTES - kept.len();
            kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// Hands the exchanges over to who wants them.
    pub fn hand_over(&mut self) {
        if let Some(log) = &mut self.log {
            log.hand_over();
        }
    }

    /// Requests of the window that came to an end, well or not.
    pub fn finished(&self) -> u64 {
        let errors = &self.tally.errors;
        self.tally.completed + errors.of_sent() + errors.connect + errors.local
    }

    /// How many more have finished since this was last asked.
    pub fn news(&mut self) -> u64 {
        let finished = self.finished();
        finished - std::mem::replace(&mut self.told, finished)
    }

    /// Closes it, with so many connections open: the tally has all but what is under way.
    pub fn close(&mut self, now_ns: u64, open: u64) {
        if let Some(series) = &mut self.series {
            series.close(&mut self.tally, now_ns.min(self.end_ns), open);
        }
        let (answers, course) = (self.answers(), self.course.take());
        let tally = &mut self.tally;
        tally.course = course.map(|course| course.finish(now_ns, answers));
        tally.duration_ns = now_ns.min(self.end_ns).saturating_sub(self.start_ns);
        tally.client_cpu_ns = clock::thread_cpu_ns() - self.cpu_at_start_ns;
        let system = clock::thread_system_ns().zip(self.system_at_start_ns);
        // The two clocks are read one after the other, and one of them is an estimate.
        tally.client_system_cpu_ns =
            system.map(|(now, then)| now.saturating_sub(then).min(tally.client_cpu_ns));
        tally.threads = 1;
        tally.pulse = self.pulse.take().map_or_else(Vec::new, Pulse::finish);
        tally.client_rss_max_bytes = net::limits::rss_max_bytes();
        tally.status = self.status.iter().zip(0..).filter(|(n, _)| **n > 0).map(|(n, s)| (s, *n)).collect();
    }

    /// The tally is complete, what was under way included.
    pub fn seal(&mut self) {
        if let Some(series) = &mut self.series {
            series.seal(&mut self.tally);
        }
    }
}
