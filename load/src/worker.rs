//! One worker thread: its connections, its due times, its window. A turn begins what is due, waits, and
//! takes what completed. Nothing here allocates, locks or dispatches dynamically per request.

use crate::connection::{self, Connection, Phase};
use crate::opening::Opening;
use crate::pick::Picker;
use crate::think::Thinkers;
use crate::window::Window;
use crate::{Progress, Share, Watch};
use model::{Address, Loss, Plan, Tally};
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

/// A sleeper is woken so much late by a timer: typical of virtual machines, and more than of most others. In
/// open load it gets up so much earlier, and polls until the request is due.
const OVERSLEEP_NS: u64 = 50_000;

/// One look of a worker that polls takes less than this.
const LONGEST_LOOK_NS: u64 = 10_000;

/// A worker and all that is its own.
pub struct Worker<'p, I> {
    pub(crate) plan: &'p Plan,
    pub(crate) share: Share,
    pub(crate) io: I,
    pub(crate) progress: &'p Progress,
    pub(crate) connections: Vec<Connection>,
    /// Open load: connections with room for a request, the longest free first.
    pub(crate) line: VecDeque<Slot>,
    /// Connections that failed before any answer: tried again at the next housekeeping.
    pub(crate) failed: Vec<Slot>,
    pub(crate) opening: Opening,
    pub(crate) picker: Picker,
    pub(crate) thinkers: Thinkers,
    pub(crate) window: Window,
    /// Requests that leave together.
    pub(crate) out: Vec<u8>,
    /// Bodies that nobody looks at can be dropped by the kernel: it is TCP, and not encrypted.
    pub(crate) can_skip: bool,
    pub(crate) timeout_ns: u64,
    /// Connections that were begun, or wait for it, and are not closed yet.
    pub(crate) live: usize,
    spin_ns: u64,
    housekeeping_ns: u64,
    sweep_ns: u64,
    /// The start of the load: due times count from here.
    pub(crate) origin_ns: u64,
}

impl<'p, I: Io> Worker<'p, I> {
    /// A worker that has not begun.
    pub fn new(plan: &'p Plan, share: Share, io: I, progress: &'p Progress) -> Self {
        let has_digest = plan.asks.iter().any(|ask| ask.expect.sha256.is_some());
        let connections: Vec<_> =
            (0..share.connections).map(|_| Connection::new(plan.pipeline, has_digest)).collect();
        // What is sent together stays together.
        let at_once = if plan.bursts { plan.pipeline } else { 1 };
        let most_bytes = plan.asks.iter().map(|ask| ask.request.len().max(ask.last.len())).max().unwrap_or(0);
        Self {
            plan,
            io,
            progress,
            line: VecDeque::with_capacity(connections.len()),
            failed: Vec::with_capacity(connections.len()),
            opening: Opening::new(plan, share.index, share.threads, share.openings),
            picker: Picker::new(&plan.asks, plan.order, plan.seed, share.index * at_once),
            thinkers: Thinkers::new(plan.think, plan.seed, share.index, connections.len()),
            connections,
            share,
            window: Window::new(plan, progress, 0),
            out: Vec::with_capacity(most_bytes * plan.pipeline),
            can_skip: matches!(plan.target.address, Address::Tcp(_)) && !plan.target.tls,
            timeout_ns: plan.timeout.as_nanos() as u64,
            live: 0,
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
        self.window = Window::new(self.plan, self.progress, now);
        while !self.is_over(now) {
            if !self.window.is_open && now >= self.window.start_ns {
                self.open_window(now);
                watch.opened();
            }
            self.begin_turn(now);
            if now >= self.housekeeping_ns {
                self.keep_house(now);
            }
            self.wait(now)?;
            while let Some(completion) = self.io.next() {
                self.take(completion);
            }
            now = clock::now_ns();
        }
        self.window.close(now, connection::open(&self.connections));
        // Only now: whoever watches may look at the server at once, which is no work of the load generator's.
        watch.closed();
        self.count_unfinished(now);
        self.window.seal();
        self.window.hand_over();
        Ok(self.window.tally)
    }

    /// Waits for completions, or for the next moment that needs this worker.
    fn wait(&mut self, now: u64) -> std::io::Result<()> {
        let moment_ns = self.next_moment_ns();
        let is_open_load = self.share.pace.is_some();
        let spin_ns = if is_open_load { self.spin_ns.max(OVERSLEEP_NS) } else { self.spin_ns };
        if is_open_load && moment_ns.saturating_sub(now) > spin_ns {
            // Sleeps first, so that the last of the time before the next request is due is spent awake.
            let asleep_ns = moment_ns - now - spin_ns;
            return self.io.wait(Some(Duration::from_nanos(asleep_ns))).map(drop);
        }
        let polls_until_ns = now.saturating_add(spin_ns).min(moment_ns);
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
        let closed = self.live == 0 && self.opening.is_spent();
        now >= self.window.end_ns || answered || closed || self.progress.stop.load(Ordering::Relaxed)
    }

    fn open_window(&mut self, now: u64) {
        let sent: usize = self.connections.iter().map(Connection::in_flight).sum();
        let begun: usize = self.connections.iter().map(|c| c.flights.len()).sum();
        let flights = self.connections.iter().flat_map(|c| c.flights.iter().take(c.in_flight()));
        let bytes = flights.map(|flight| self.plan.asks[flight.ask as usize].request.len() as u64).sum();
        let before_ns = self.in_flight_ns(now);
        self.window.open(now, sent as u64, begun as u64, bytes);
        self.window.tally.under_way_before_ns = before_ns;
        self.connections.iter_mut().for_each(|c| c.served = 0);
    }

    /// How long the requests that are in flight have been so, in all.
    fn in_flight_ns(&self, now: u64) -> u64 {
        let flights = self.connections.iter().flat_map(|c| c.flights.iter().take(c.in_flight()));
        flights.map(|flight| now.saturating_sub(flight.sent_ns)).sum()
    }

    /// Begins what is due: connections, requests, requests of those that have thought long enough.
    fn begin_turn(&mut self, now: u64) {
        self.enlist(now);
        self.begin_due(now);
        while let Some(slot) = self.thinkers.done(now) {
            self.connections[slot as usize].is_thinking = false;
            self.fill(slot, now);
        }
        while let Some(slot) = self.opening.due(now) {
            self.open(slot);
        }
    }

    /// When this worker must look up at the latest.
    fn next_moment_ns(&self) -> u64 {
        let edge = if self.window.is_open { self.window.end_ns } else { self.window.start_ns };
        let due = match &self.share.pace {
            Some(pace) if !self.line.is_empty() => self.origin_ns + pace.due_ns(),
            _ => u64::MAX,
        };
        let thought = self.thinkers.next_ns().unwrap_or(u64::MAX);
        let opens = self.opening.next_ns(self.origin_ns, self.wanted());
        edge.min(due).min(self.housekeeping_ns).min(thought).min(opens)
    }

    /// Every 10 ms what failed is tried again; every 100 ms what takes too long is given up.
    fn keep_house(&mut self, now: u64) {
        let connections = &self.connections;
        let interval_ends_ns =
            self.window.tick(now, self.progress.view.as_ref(), || connection::open(connections));
        self.housekeeping_ns = (now + HOUSEKEEPING_NS).min(interval_ends_ns);
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

    /// Requests without an answer when time is up: counted, and those that have already waited longer than
    /// most are shown in the tail at their age, which is the least that their latency can be. The others say
    /// nothing about the tail and are left out of it.
    fn count_unfinished(&mut self, now: u64) {
        let end = now.min(self.window.end_ns);
        let is_open_load = self.share.pace.is_some();
        let at_end_ns = self.in_flight_ns(end);
        let tally = &mut self.window.tally;
        tally.under_way_at_end_ns = at_end_ns;
        if !is_open_load {
            tally.service = tally.latency.clone();
        }
        let typical_ns = tally.latency.quantile_ns(0.5).unwrap_or(0);
        let mut unsent = 0;
        for connection in &self.connections {
            let in_flight = connection.in_flight();
            tally.in_flight_at_end += in_flight as u64;
            if is_open_load {
                unsent += connection.unsent as u64;
            }
            let counted = if is_open_load { connection.flights.len() } else { in_flight };
            for flight in connection.flights.iter().take(counted) {
                let age = end.saturating_sub(flight.due_ns);
                if age > typical_ns {
                    tally.latency.record(age);
                }
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
        self.window.tally.unsent_at_end = is_open_load.then_some(unsent);
    }

    fn sweep(&mut self, now: u64) {
        for slot in 0..self.connections.len() as Slot {
            let connection = &self.connections[slot as usize];
            let waited = |since: u64| now.saturating_sub(since);
            match connection.phase {
                Phase::Open => {
                    let is_late = |sent_ns: u64| sent_ns > 0 && waited(sent_ns) > self.timeout_ns;
                    if connection.flights.front().is_some_and(|flight| is_late(flight.sent_ns)) {
                        self.time_out(slot, now);
                    }
                }
                Phase::Connecting | Phase::Securing if waited(connection.since_ns) > self.timeout_ns => {
                    self.window.tally.errors.connect += connection.flights.len() as u64;
                    self.give_up(slot, now, Loss::Connect, "no connection within the timeout");
                }
                Phase::Draining if waited(connection.since_ns) > crate::begin::DRAIN_NS => {
                    self.shut(slot);
                    self.next(slot, now);
                }
                _ => {}
            }
        }
    }

    /// The wait of a request that is given up is at least as long as this; leaving it out would flatter the tail.
    fn time_out(&mut self, slot: Slot, now: u64) {
        let connection = &self.connections[slot as usize];
        let tally = &mut self.window.tally;
        for flight in connection.flights.iter().take(connection.in_flight()) {
            tally.latency.record(now.saturating_sub(flight.due_ns));
            tally.errors.timeout += 1;
        }
        self.give_up(slot, now, Loss::Timeout, "no whole answer in time");
    }
}
