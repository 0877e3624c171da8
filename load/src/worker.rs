//! One worker thread: its connections, its due times, its window. Each pass of its loop begins what
//! is due, waits, and takes what completed. Nothing here allocates, locks or dispatches dynamically per request.

use crate::accounts::{Accounts, in_flight_ns};
use crate::connection::{self, Connection, Phase};
use crate::deadlines::Deadlines;
use crate::offered::Offered;
use crate::opening::Opening;
use crate::pick::Picker;
use crate::protocol;
use crate::reader::Reader;
use crate::request_end::LossCause;
use crate::share::Share;
use crate::think::Thinkers;
use crate::window::Window;
use crate::{Progress, Watch};
use model::{Address, Loss, Plan, Tally};
use net::{Io, Slot, clock};
use std::sync::atomic::Ordering;
use std::time::Duration;
use wire::{ClientSession, WireError};

/// How often connections that failed are tried again and observers get the count.
const HOUSEKEEPING_NS: u64 = 10_000_000;

/// How often the accounts are checked, where they are checked at all.
const CHECK_NS: u64 = 100_000_000;

/// The number of pauses between two looks of a worker that polls: a few hundred nanoseconds.
const PAUSES: usize = 16;

/// How late a timer wakes a sleeping thread: a typical value of virtual machines, and more than on most other machines. In open load a
/// worker wakes this much earlier, and polls until the request is due.
const OVERSLEEP_NS: u64 = 50_000;

/// The longest look of a worker that polls.
const LONGEST_LOOK_NS: u64 = 10_000;

/// The longest time between two looks at a connection on which something is waited for.
const LOOK_NS: u64 = 1_000_000_000;

/// A worker and everything that is its own. Each part keeps its own state right: [`Accounts`] what is counted, [`Connection`]
/// its phase, [`Offered`] what is due and which connections have room, [`Opening`] which connections are opened when.
pub struct Worker<'p, I, S: ClientSession<'p>> {
    pub(crate) plan: &'p Plan,
    pub(crate) share: Share,
    pub(crate) io: I,
    pub(crate) progress: &'p Progress,
    pub(crate) connections: Vec<Connection>,
    /// What is said on each of them.
    pub(crate) sessions: Vec<S>,
    /// What all sessions have in common.
    pub(crate) shared: S::Shared,
    /// Connections that failed before any answer, to be tried again at the next housekeeping.
    pub(crate) failed: Vec<Slot>,
    pub(crate) opening: Opening,
    /// The offered load, in open load only.
    pub(crate) offered: Option<Offered>,
    pub(crate) picker: Picker,
    pub(crate) thinkers: Thinkers,
    pub(crate) accounts: Accounts,
    pub(crate) window: Window,
    pub(crate) reader: Reader,
    /// Closed load: connections on which requests were sent that are not in the kernel's hands yet.
    pub(crate) queued: Vec<Slot>,
    /// The bytes of requests that are sent together.
    pub(crate) out: Vec<u8>,
    /// Whether the kernel can drop bodies that are not verified: on TCP, without encryption.
    pub(crate) can_skip: bool,
    /// Whether the last request on a connection says so, where their number is limited.
    pub(crate) says_last: bool,
    /// Until when connections that can't be opened for want of ports or descriptors are tried again: some have just been given back.
    pub(crate) scarce_until_ns: u64,
    /// Whether requests are begun; between slices none are.
    pub(crate) is_asking: bool,
    /// When the uncounted first part of a slice began: a server may have closed what was opened before. 0: it is over.
    pub(crate) renews_before_ns: u64,
    /// The next moment of a slice for which this worker must be awake.
    pub(crate) wakes_ns: u64,
    /// The start of the load.
    pub(crate) origin_ns: u64,
    /// The deadlines of connections.
    pub(crate) deadlines: Deadlines,
    pub(crate) look_ns: u64,
    timeout_ns: u64,
    spin_ns: u64,
    housekeeping_ns: u64,
    check_ns: u64,
}

impl<'p, I: Io, S: ClientSession<'p>> Worker<'p, I, S> {
    /// A worker that has not begun. Errors: the protocol can't say one of the plan's requests.
    pub fn new(plan: &'p Plan, mut share: Share, io: I, progress: &'p Progress) -> Result<Self, WireError> {
        let connections: Vec<_> = (0..share.connections).map(|_| Connection::new(plan.pipeline)).collect();
        // The requests of a burst stay together.
        let at_once = if plan.bursts { plan.pipeline } else { 1 };
        let most_bytes = plan.asks.iter().map(|ask| ask.request.len().max(ask.last.len())).max().unwrap_or(0);
        let timeout_ns = clock::ns_of(plan.timeout);
        Ok(Self {
            plan,
            io,
            progress,
            failed: Vec::with_capacity(connections.len()),
            opening: Opening::new(plan, share.index, share.threads, share.openings),
            offered: share.pace.take().map(|pace| Offered::new(pace, connections.len())),
            picker: Picker::new(&plan.asks, plan.order, plan.seed, (share.index, share.threads), at_once),
            thinkers: Thinkers::new(plan.think, plan.seed, share.index, connections.len()),
            accounts: Accounts::new(plan, progress),
            window: Window::on_orders(),
            reader: Reader::new(plan, connections.len()),
            sessions: connections.iter().map(|_| S::default()).collect(),
            shared: S::shared(protocol::requests(plan))?,
            deadlines: Deadlines::new(connections.len()),
            queued: Vec::with_capacity(connections.len()),
            look_ns: LOOK_NS.min(timeout_ns),
            connections,
            share,
            out: Vec::with_capacity(most_bytes * plan.pipeline),
            can_skip: matches!(plan.target.address, Address::Tcp(_)) && !plan.target.tls,
            says_last: S::IN_ORDER && plan.asks.iter().all(|ask| !keeps_alive(&ask.last)),
            scarce_until_ns: 0,
            is_asking: true,
            renews_before_ns: 0,
            wakes_ns: u64::MAX,
            origin_ns: 0,
            timeout_ns,
            spin_ns: clock::ns_of(plan.spin),
            housekeeping_ns: 0,
            check_ns: 0,
        })
    }

    /// Runs warm-up and window, and returns the tally.
    pub fn run(mut self, watch: &dyn Watch) -> std::io::Result<Tally> {
        let start_ns = self.wait_for_start()?;
        self.start(start_ns);
        watch.started();
        let mut now = self.io.now_ns();
        while !self.is_over(now) {
            if self.window.is_due(now) {
                // Without a warm-up it opens with the load, so that what is due at once is due in the window.
                self.open_window(if self.plan.warmup.is_zero() { start_ns } else { now });
                watch.opened();
            }
            now = self.pass(now)?;
        }
        Ok(self.finish(now, watch))
    }

    /// Waits for the moment at which the load is to start. The load counts from that moment, however late this thread wakes.
    fn wait_for_start(&mut self) -> std::io::Result<u64> {
        let mut now = self.io.now_ns();
        let Some(start_ns) = self.progress.starts_ns else { return Ok(now) };
        while now < start_ns && !self.progress.stop.load(Ordering::Relaxed) {
            self.io.wait(Some(Duration::from_nanos((start_ns - now).min(HOUSEKEEPING_NS))))?;
            now = self.io.now_ns();
        }
        Ok(start_ns.min(now))
    }

    /// Begins what is due, waits, and handles what completed. Returns the time after that.
    #[inline]
    pub(crate) fn pass(&mut self, now: u64) -> std::io::Result<u64> {
        self.begin_pass(now);
        if now >= self.housekeeping_ns {
            self.keep_house(now);
        }
        self.wait(now)?;
        while let Some(completion) = self.io.next() {
            self.take(completion);
        }
        let now = self.io.now_ns();
        // It leaves with the next wait, which is all that comes now.
        self.hand_over(now);
        if self.io.retired_until_ns().is_some_and(|until_ns| until_ns <= now) {
            self.io.close_retired(now);
        }
        Ok(now)
    }

    fn start(&mut self, now: u64) {
        self.origin_ns = now;
        self.progress.expected_ns.fetch_max(now, Ordering::Relaxed);
        self.window = Window::new(self.plan, now);
        if let Some(offered) = &mut self.offered {
            offered.start(now);
        }
    }

    /// Waits for completions, or for the next moment that needs this worker.
    fn wait(&mut self, now: u64) -> std::io::Result<()> {
        self.hand_over(now);
        let now = self.tell_lag(now)?;
        let moment_ns = self.next_moment_ns();
        let is_open_load = self.offered.is_some();
        let spin_ns = if is_open_load { self.spin_ns.max(OVERSLEEP_NS) } else { self.spin_ns };
        if is_open_load && moment_ns.saturating_sub(now) > spin_ns {
            // Sleeps first, so that the last of the time before the next request is due is spent awake.
            let asleep_ns = moment_ns - now - spin_ns;
            return self.io.wait(Some(Duration::from_nanos(asleep_ns))).map(drop);
        }
        let polls_until_ns = now.saturating_add(spin_ns).min(moment_ns);
        let (mut at, mut is_first) = (now, true);
        while at < polls_until_ns {
            let is_ready = self.io.wait(Some(Duration::ZERO))?;
            if is_ready {
                return Ok(());
            }
            // Polling without a pause would slow down the side that is to answer.
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
            let then = self.io.now_ns();
            // The first look hands over what was asked for, which is work. A longer look was an interruption: this thread
            // did not run, so it did not idle either.
            if !std::mem::take(&mut is_first) {
                self.accounts.idle((then - at).min(LONGEST_LOOK_NS));
            }
            at = then;
        }
        self.io.wait(Some(Duration::from_nanos(moment_ns.saturating_sub(at)))).map(drop)
    }

    /// Open load: lets the requests that were given to free connections leave now, and records their lag, with one look at the clock for
    /// all of a pass. Returns the time after that.
    #[inline]
    fn tell_lag(&mut self, now: u64) -> std::io::Result<u64> {
        let Some(offered) = self.offered.as_mut().filter(|offered| offered.has_leaving()) else {
            return Ok(now);
        };
        self.io.flush()?;
        let now = self.io.now_ns();
        offered.handed_over().for_each(|since_ns| self.accounts.left(since_ns, now));
        Ok(now)
    }

    fn is_over(&self, now: u64) -> bool {
        let answered =
            self.share.answers.is_some_and(|n| self.window.is_open() && self.accounts.finished() >= n);
        let Progress { stop, halted, .. } = self.progress;
        let is_stopped = stop.load(Ordering::Relaxed) || halted.load(Ordering::Relaxed);
        self.window.is_over(now) || answered || self.opening.is_over() || is_stopped
    }

    fn open_window(&mut self, now: u64) {
        let (bytes, ns) = self.under_way(now);
        S::take_held_back(&mut self.shared);
        self.accounts.open_window(now, bytes, ns);
        self.window.open(now);
        for connection in &mut self.connections {
            connection.open_window();
            connection.outage.restart(now);
        }
    }

    /// The bytes of the requests in flight, and the sum of the times for which they have been in flight, in nanoseconds.
    pub(crate) fn under_way(&self, now: u64) -> (u64, u64) {
        let requests = self.connections.iter().flat_map(Connection::in_flight);
        let bytes = requests.map(|flight| flight.request_bytes).sum();
        (bytes, in_flight_ns(&self.connections, now))
    }

    /// Begins what is due: connections, requests, requests of connections whose wait has ended.
    fn begin_pass(&mut self, now: u64) {
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

    /// When this worker must act at the latest.
    fn next_moment_ns(&self) -> u64 {
        let due = self.offered.as_ref().filter(|_| self.requests_left() > 0).and_then(Offered::wakes_ns);
        let due = due.unwrap_or(u64::MAX);
        let thought = self.thinkers.next_ns().unwrap_or(u64::MAX);
        let opens = self.opening.next_ns(self.origin_ns, self.wanted());
        let retires = self.io.retired_until_ns().unwrap_or(u64::MAX);
        let ends = self.window.edge_ns().min(self.housekeeping_ns).min(self.wakes_ns);
        ends.min(due).min(thought).min(opens).min(retires)
    }

    /// Every 10 ms, tries again what failed, and gives up what takes too long.
    fn keep_house(&mut self, now: u64) {
        let steps_ns = self.window.tick(now, self.accounts.answers());
        let connections = &self.connections;
        let open = || connection::open(connections);
        let interval_ns = self.accounts.tick(now, self.progress.view.as_ref(), open);
        self.housekeeping_ns = (now + HOUSEKEEPING_NS).min(interval_ns).min(steps_ns);
        if self.window.is_open() {
            self.progress.completed.fetch_add(self.accounts.news(), Ordering::Relaxed);
        }
        self.accounts.heard.look(now);
        self.end_if_gone(now);
        while let Some(slot) = self.failed.pop() {
            if self.connections[slot as usize].phase() == Phase::Queued && !self.opening.is_paced() {
                self.open(slot);
            } else {
                self.next(slot, now);
            }
        }
        self.give_up_overdue(now);
        if now >= self.check_ns {
            self.check_ns = now + CHECK_NS;
            self.check_accounts();
        }
    }

    /// Returns the tally at the end, unfinished requests included.
    fn finish(mut self, now: u64, watch: &dyn Watch) -> Tally {
        let (end_ns, duration_ns) = (self.window.end_ns(now), self.window.duration_ns(now));
        self.accounts.close_window(end_ns, duration_ns, connection::open(&self.connections));
        // Only now: a watcher may look at the server at once, which must not count as the load generator's work.
        watch.closed();
        self.count_unfinished(end_ns);
        self.see_off(now);
        let pulse = self.window.finish();
        Tally { pulse, ..self.accounts.finish() }
    }

    /// Waits, after the measurement, until the servers have closed the connections that were given up, or their time is up: nobody looks
    /// after them later.
    fn see_off(&mut self, mut now: u64) {
        while let Some(until_ns) = self.io.retired_until_ns() {
            self.io.close_retired(now);
            if self.io.wait(Some(Duration::from_nanos(until_ns.saturating_sub(now)))).is_err() {
                return;
            }
            while self.io.next().is_some() {}
            now = self.io.now_ns();
        }
    }

    /// A session may have no room until its handshake is answered.
    fn check_accounts(&self) {
        let sends_all = |at: usize| S::IN_ORDER && self.sessions[at].room() > 0;
        self.accounts.check_against(&self.connections, sends_all);
    }

    /// Counts the requests without a whole answer at the end.
    pub(crate) fn count_unfinished(&mut self, end_ns: u64) {
        self.check_accounts();
        for (_, slot) in self.connections.iter().zip(0..).filter(|(connection, _)| connection.is_sending) {
            self.accounts.not_taken(self.io.unsent(slot));
        }
        let allowed =
            self.sessions.iter().filter_map(S::max_open).filter(|most| *most < self.plan.pipeline).min();
        let held_back = S::take_held_back(&mut self.shared);
        let tally = self.accounts.tally();
        (tally.streams_allowed, tally.held_back) = (allowed.map(|most| most as u64), held_back);
        let left = usize::try_from(self.requests_left()).unwrap_or(usize::MAX);
        let offered = &mut self.offered;
        // What is due when the window ends is due after it.
        let waiting = std::iter::from_fn(|| offered.as_mut()?.take_due(end_ns.saturating_sub(1))).take(left);
        self.accounts.count_unfinished(&self.connections, waiting, end_ns);
    }

    /// Gives up requests and connections that take too long.
    fn give_up_overdue(&mut self, now: u64) {
        while let Some(slot) = self.deadlines.due(now) {
            let connection = &self.connections[slot as usize];
            let Some(by_ns) = connection.overdue_ns(self.timeout_ns) else { continue };
            if by_ns > now {
                self.deadlines.watch(slot, by_ns.min(now + self.look_ns));
                continue;
            }
            match connection.phase() {
                Phase::Open => self.give_up_request(slot, now),
                Phase::Securing => {
                    let why = "no TLS handshake within the timeout: does the server speak TLS (https) on this port?";
                    self.give_up(slot, now, overdue(Loss::Handshake, why));
                }
                _ => self.give_up(slot, now, overdue(Loss::Connect, "no connection within the timeout")),
            }
        }
    }

    /// Gives up the oldest request of an open connection, alone if the protocol allows that.
    #[cold]
    fn give_up_request(&mut self, slot: Slot, now: u64) {
        let why = self.unfinished(slot) + " when time ran out";
        let Self { connections, sessions, out, .. } = self;
        let connection = &mut connections[slot as usize];
        if connection.sent() == 0 || !sessions[slot as usize].cancel(0, out) {
            return self.give_up(slot, now, overdue(Loss::Timeout, &why));
        }
        self.accounts.lose_one(connection, 0, now, Loss::Timeout, &why);
        self.send_written(slot);
        if self.sessions[slot as usize].is_closing() && self.connections[slot as usize].sent() == 0 {
            return self.ask_anew(slot, now);
        }
        self.deadlines.watch(slot, now);
        self.next(slot, now);
    }
}

/// Whether the connection outlives this request, as far as its head says.
fn keeps_alive(request: &[u8]) -> bool {
    let parsed = wire::RequestParser::new().next(&mut &*request, |_| ());
    parsed.is_ok_and(|request| request.is_some_and(|request| request.keep_alive))
}

/// The cause of the loss of requests that are given up. Their ages count as latencies: leaving them out would make the tail look better
/// than it is.
fn overdue(loss: Loss, why: &str) -> LossCause<'_> {
    LossCause { is_overdue: true, ..LossCause::of_all(loss, why) }
}
