//! One worker thread: its connections, its due times, its window. A turn begins what is due, waits, and
//! takes what completed. Nothing here allocates, locks or dispatches dynamically per request.

use crate::connection::{Connection, Phase};
use crate::window::Window;
use crate::{Progress, Share, Watch};
use model::{Plan, Tally};
use net::{Io, Slot, clock};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often connections that failed are tried again and the count is told to who looks on.
const HOUSEKEEPING_NS: u64 = 10_000_000;

/// How often timeouts are looked for.
const SWEEP_NS: u64 = 100_000_000;

/// Between two looks of a worker that polls: a few hundred nanoseconds.
const PAUSES: usize = 16;

/// One look of a worker that polls takes less than this.
const LONGEST_LOOK_NS: u64 = 10_000;

/// So many connections are put to work in one turn at the start.
const ENLIST: usize = 8;

/// A server that said it would close has so long to do it.
const DRAIN_NS: u64 = 1_000_000_000;

/// A worker and all that is its own.
pub struct Worker<'p, I> {
    pub(crate) plan: &'p Plan,
    pub(crate) share: Share,
    pub(crate) io: I,
    progress: &'p Progress,
    pub(crate) connections: Vec<Connection>,
    /// Open load: connections that no request holds, the longest free first.
    pub(crate) free: VecDeque<Slot>,
    /// Connections that failed before any answer: tried again at the next housekeeping.
    pub(crate) failed: Vec<Slot>,
    pub(crate) window: Window,
    /// How many connections have been put to work.
    enlisted: usize,
    timeout_ns: u64,
    spin_ns: u64,
    housekeeping_ns: u64,
    sweep_ns: u64,
    /// The start of the load: due times count from here.
    origin_ns: u64,
}

impl<'p, I: Io> Worker<'p, I> {
    /// A worker that has not begun.
    pub fn new(plan: &'p Plan, share: Share, io: I, progress: &'p Progress) -> Self {
        let connections: Vec<_> = (0..share.connections).map(|_| Connection::new(&plan.expect)).collect();
        Self {
            plan,
            io,
            progress,
            free: VecDeque::with_capacity(connections.len()),
            failed: Vec::with_capacity(connections.len()),
            connections,
            share,
            enlisted: 0,
            window: Window::new(plan, 0),
            timeout_ns: plan.timeout.as_nanos() as u64,
            spin_ns: plan.spin.as_nanos().try_into().unwrap_or(u64::MAX),
            housekeeping_ns: 0,
            sweep_ns: 0,
            origin_ns: 0,
        }
    }

    /// Warm-up, window, tally.
    pub fn run(mut self, watch: &dyn Watch) -> std::io::Result<Tally> {
        let mut now = clock::now_ns();
        self.origin_ns = now;
        self.window = Window::new(self.plan, now);
        while !self.is_over(now) {
            if !self.window.is_open && now >= self.window.start_ns {
                self.open_window(now);
                watch.opened();
            }
            self.enlist(now);
            self.begin_due(now);
            if now >= self.housekeeping_ns {
                self.keep_house(now);
            }
            self.wait(now)?;
            while let Some(completion) = self.io.next() {
                self.take(completion);
            }
            now = clock::now_ns();
        }
        watch.closed();
        self.window.close(now);
        self.count_unfinished(now);
        Ok(self.window.tally)
    }

    /// Waits for completions, or for the next moment that needs this worker.
    fn wait(&mut self, now: u64) -> std::io::Result<()> {
        let moment_ns = self.next_moment_ns();
        let polls_until_ns = now.saturating_add(self.spin_ns).min(moment_ns);
        let mut at = now;
        while at < polls_until_ns {
            let is_ready = self.io.wait(Some(Duration::ZERO))?;
            if is_ready {
                return Ok(());
            }
            // Looking without a pause would slow down the side that has something to say.
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
            let then = clock::now_ns();
            // A longer look was an interruption: this thread did not run, so it did not idle either.
            self.window.tally.client_idle_ns += (then - at).min(LONGEST_LOOK_NS);
            at = then;
        }
        self.io.wait(Some(Duration::from_nanos(moment_ns.saturating_sub(at)))).map(drop)
    }

    fn is_over(&self, now: u64) -> bool {
        let answered = self.share.answers.is_some_and(|n| self.window.is_open && self.window.finished() >= n);
        now >= self.window.end_ns || answered || self.progress.stop.load(Ordering::Relaxed)
    }

    fn open_window(&mut self, now: u64) {
        let in_phase = |phase| self.connections.iter().filter(|c| c.phase == phase).count() as u64;
        let sent = in_phase(Phase::Waiting);
        let bytes = sent * self.plan.request.len() as u64;
        self.window.open(now, sent, sent + in_phase(Phase::Connecting), bytes);
        self.connections.iter_mut().for_each(|c| c.served = 0);
    }

    /// At the start, puts connections to work a few at a time, so that the first ones are not left waiting
    /// while the last ones are opened.
    fn enlist(&mut self, now: u64) {
        let end = self.connections.len().min(self.enlisted + ENLIST);
        for slot in self.enlisted..end {
            self.next(slot as Slot, now);
        }
        self.enlisted = end;
    }

    /// When this worker must look up at the latest.
    fn next_moment_ns(&self) -> u64 {
        if self.enlisted < self.connections.len() {
            return 0;
        }
        let edge = if self.window.is_open { self.window.end_ns } else { self.window.start_ns };
        let due = match &self.share.pace {
            Some(pace) if !self.free.is_empty() => self.origin_ns + pace.due_ns(),
            _ => u64::MAX,
        };
        edge.min(due).min(self.housekeeping_ns)
    }

    /// Open load: gives requests that are due to connections that are free, in order of both.
    fn begin_due(&mut self, now: u64) {
        while let Some(slot) = self.free.front().copied() {
            let Some(due_ns) = self.take_due(now) else { return };
            self.free.pop_front();
            let free_ns = self.connections[slot as usize].since_ns;
            // The lag is the generator's own: a request that waited for a connection waited for the server.
            self.window.tally.schedule_lag.record(now - due_ns.max(free_ns).min(now));
            self.begin(slot, due_ns, now);
        }
    }

    /// Open load: takes the next request if it is due.
    fn take_due(&mut self, now: u64) -> Option<u64> {
        let pace = self.share.pace.as_mut()?;
        let due_ns = self.origin_ns + pace.due_ns();
        if due_ns > now {
            return None;
        }
        pace.advance();
        if due_ns >= self.window.start_ns {
            *self.window.tally.due.get_or_insert(0) += 1;
        }
        Some(due_ns)
    }

    /// A connection has no request any more: gives it its next one.
    pub(crate) fn next(&mut self, slot: Slot, now: u64) {
        if self.share.pace.is_none() {
            return self.begin(slot, now, now);
        }
        let due_ns = if self.free.is_empty() { self.take_due(now) } else { None };
        if let Some(due_ns) = due_ns {
            return self.begin(slot, due_ns, now);
        }
        self.connections[slot as usize].since_ns = now;
        self.free.push_back(slot);
    }

    /// Begins a request: sends it, on a new connection if there is none.
    fn begin(&mut self, slot: Slot, due_ns: u64, now: u64) {
        if self.window.is_open && self.share.answers.is_some_and(|n| self.window.begun >= n) {
            return;
        }
        self.window.begun += 1;
        let connection = &mut self.connections[slot as usize];
        connection.due_ns = due_ns;
        if connection.phase == Phase::Idle {
            self.ask(slot, now);
        } else {
            connection.phase = Phase::Connecting;
            connection.since_ns = clock::now_ns();
            self.io.connect(slot, &self.plan.target.address);
        }
    }

    #[inline]
    pub(crate) fn ask(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.phase = Phase::Waiting;
        connection.sent_ns = now;
        connection.first_byte_ns = 0;
        connection.asked += 1;
        if self.share.pace.is_none() {
            connection.due_ns = now;
        }
        self.window.tally.sent += 1;
        self.window.tally.sent_bytes += self.plan.request.len() as u64;
        self.io.send(slot, &self.plan.request);
    }

    /// Every 10 ms what failed is tried again; every 100 ms what takes too long is given up.
    fn keep_house(&mut self, now: u64) {
        self.housekeeping_ns = now + HOUSEKEEPING_NS;
        if self.window.is_open {
            self.progress.completed.fetch_add(self.window.news(), Ordering::Relaxed);
        }
        while let Some(slot) = self.failed.pop() {
            self.next(slot, now);
        }
        if now >= self.sweep_ns {
            self.sweep_ns = now + SWEEP_NS;
            self.sweep(now);
        }
    }

    fn sweep(&mut self, now: u64) {
        for slot in 0..self.connections.len() as Slot {
            let connection = &self.connections[slot as usize];
            let waited = |since: u64| now.saturating_sub(since);
            match connection.phase {
                Phase::Waiting if waited(connection.sent_ns) > self.timeout_ns => {
                    // The wait is at least as long as this; leaving it out would flatter the tail.
                    self.window.tally.latency.record(waited(connection.due_ns));
                    self.window.tally.errors.timeout += 1;
                    self.give_up(slot, now, "timeout: no whole answer in time");
                }
                Phase::Connecting if waited(connection.since_ns) > self.timeout_ns => {
                    self.window.tally.errors.connect += 1;
                    self.give_up(slot, now, "connect: no connection within the timeout");
                }
                Phase::Draining if waited(connection.since_ns) > DRAIN_NS => {
                    self.shut(slot);
                    self.next(slot, now);
                }
                _ => {}
            }
        }
    }

    /// Requests without an answer when time is up: counted, and those that have already waited longer than
    /// most are shown in the tail at their age, which is the least that their latency can be. The others say
    /// nothing about the tail and are left out of it.
    fn count_unfinished(&mut self, now: u64) {
        let end = now.min(self.window.end_ns);
        let tally = &mut self.window.tally;
        if self.share.pace.is_none() {
            tally.service = tally.latency.clone();
        }
        let typical_ns = tally.latency.quantile_ns(0.5).unwrap_or(0);
        let mut censor = |due_ns: u64| {
            let age = end.saturating_sub(due_ns);
            if age > typical_ns {
                tally.latency.record(age);
            }
        };
        let mut unsent = 0;
        for connection in &self.connections {
            match connection.phase {
                Phase::Waiting => {
                    tally.in_flight_at_end += 1;
                    censor(connection.due_ns);
                }
                Phase::Connecting if self.share.pace.is_some() => {
                    unsent += 1;
                    censor(connection.due_ns);
                }
                _ => {}
            }
        }
        tally.served = self.connections.iter().map(|c| c.served).collect();
        while let Some(due_ns) = self.take_due(end) {
            unsent += 1;
            let age = end - due_ns;
            if age > typical_ns {
                self.window.tally.latency.record(age);
            }
        }
        self.window.tally.unsent_at_end = self.share.pace.is_some().then_some(unsent);
    }
}
