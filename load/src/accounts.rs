//! The accounts of one worker's requests: nothing else counts them. A request that was sent is in flight until it is
//! answered or lost, so that `sent = completed + in flight + errors of sent requests` at every moment.

mod losses;

use self::losses::blame;
use crate::Progress;
use crate::check::Wrong;
use crate::connection::Answered;
use crate::connection::{Connection, Phase};
use crate::counted::{Counted, STATUSES};
use crate::heard::Heard;
use crate::log::Log;
use crate::request_end::Answer;
use crate::series::{Series, View};
use model::tally::FIRST_ANSWER_BYTES;
use model::{Agreed, End, Errors, Load, Plan, Tally};
use net::clock;

/// The cause of loss of requests behind one whose connection ended, or was to end, with an earlier answer.
pub const BEHIND: &str = "the server closed the connection before it answered all pipelined requests";

/// The accounts of one worker.
#[derive(Debug, Default)]
pub struct Accounts {
    counted: Counted,
    /// The number of requests that were sent and are neither answered nor lost.
    in_flight: u64,
    /// The number of requests that were begun and wait to be sent.
    unsent: u64,
    /// The number of requests begun in the window, those in flight at its opening included.
    begun: u64,
    /// Open load: requests that were due before this are not the window's.
    window_ns: u64,
    is_open_load: bool,
    /// Whether one latency is recorded for each burst: that of its last answer.
    burst_latency: bool,
    /// Whether the first answer is to be kept, and is not whole yet.
    wants_first: bool,
    /// The connection that brings the first answer.
    first_on: Option<u64>,
    series: Option<Box<Series>>,
    /// The log of single exchanges, if it is wanted.
    log: Option<Log>,
    cpu_at_start_ns: u64,
    system_at_start_ns: Option<u64>,
    /// When the server was last heard.
    pub heard: Heard,
    /// The number of finished requests that [`Accounts::news`] has reported.
    told: u64,
    /// The number of times that the counters were cleared or handed over: what was counted before can't be taken back.
    period: u32,
}

impl Accounts {
    /// Accounts in which nothing has happened.
    pub fn new(plan: &Plan, progress: &Progress) -> Self {
        Self {
            window_ns: u64::MAX,
            is_open_load: matches!(plan.load, Load::Open { .. }),
            burst_latency: plan.burst_latency,
            wants_first: plan.keep_first,
            series: Series::new(plan, progress.view.is_some()),
            log: progress.log.clone().map(Log::new),
            ..Self::default()
        }
    }

    /// Opens the window: clears the counts and carries the requests in flight over. `sent_bytes` is the size of these requests,
    /// `in_flight_ns` the sum of the times for which they have been in flight.
    pub fn open_window(&mut self, now_ns: u64, sent_bytes: u64, in_flight_ns: u64) {
        self.counted.clear();
        self.begin_window(now_ns, sent_bytes, in_flight_ns);
    }

    /// Begins the counted part of a slice, which is a window. `room`, which is empty, becomes the counters; the counts from before
    /// are kept in its place until [`Accounts::leave_slice`].
    pub fn enter_slice(&mut self, room: &mut Counted, now_ns: u64, sent_bytes: u64, in_flight_ns: u64) {
        std::mem::swap(&mut self.counted, room);
        self.begin_window(now_ns, sent_bytes, in_flight_ns);
    }

    /// Ends the counted part, whose window has closed: its counts are in `room` now, and the earlier counts continue.
    pub fn leave_slice(&mut self, room: &mut Counted) {
        std::mem::swap(&mut self.counted, room);
        self.period = self.period.wrapping_add(1);
        self.window_ns = u64::MAX;
        let Self { counted: Counted { tally, .. }, in_flight, .. } = self;
        tally.sent = tally.completed + tally.errors.of_sent() + *in_flight;
    }

    /// Clears the counts outside of counted parts, whose histograms are never used.
    pub fn forget_uncounted(&mut self) {
        self.period = self.period.wrapping_add(1);
        let tally = &mut self.counted.tally;
        (tally.completed, tally.connections_opened, tally.errors) = (0, 0, Errors::default());
        tally.error_causes.clear();
        tally.sent = self.in_flight;
    }

    /// The counts so far.
    pub fn tally(&mut self) -> &mut Tally {
        &mut self.counted.tally
    }

    /// The number of requests that were begun and have not ended.
    pub fn under_way(&self) -> u64 {
        self.in_flight + self.unsent
    }

    fn begin_window(&mut self, now_ns: u64, sent_bytes: u64, in_flight_ns: u64) {
        let tally = &mut self.counted.tally;
        (tally.sent, tally.sent_bytes) = (self.in_flight, sent_bytes);
        tally.under_way_before_ns = in_flight_ns;
        self.begun = self.in_flight + self.unsent;
        self.period = self.period.wrapping_add(1);
        self.told = 0;
        self.window_ns = now_ns;
        if self.is_open_load {
            (tally.carried_in, tally.due) = (Some(0), Some(0));
        }
        self.cpu_at_start_ns = clock::thread_cpu_ns();
        self.system_at_start_ns = clock::thread_system_ns();
        if let Some(series) = &mut self.series {
            series.open(now_ns);
        }
    }

    /// Counts a request that became due at `due_ns`.
    #[inline]
    pub fn due(&mut self, due_ns: u64) {
        if due_ns >= self.window_ns {
            *self.counted.tally.due.get_or_insert(0) += 1;
        }
    }

    /// Counts a request that was begun and waits to be sent.
    #[inline]
    pub fn begun(&mut self) {
        self.begun += 1;
        self.unsent += 1;
    }

    /// Counts requests that were sent, and their bytes.
    #[inline]
    pub fn sent(&mut self, requests: usize, bytes: usize) {
        let requests = requests as u64;
        self.unsent -= requests;
        self.in_flight += requests;
        self.counted.tally.sent += requests;
        self.counted.tally.sent_bytes += bytes as u64;
    }

    /// Takes back bytes that the kernel has not taken.
    #[cold]
    pub fn not_taken(&mut self, bytes: u64) {
        let tally = &mut self.counted.tally;
        tally.sent_bytes = tally.sent_bytes.saturating_sub(bytes);
    }

    /// Records the lag of a request that could have left at `since_ns` and left at `now_ns`.
    #[inline]
    pub fn left(&mut self, since_ns: u64, now_ns: u64) {
        self.counted.tally.schedule_lag.record(now_ns.saturating_sub(since_ns));
    }

    /// Records the time after which a connection was open.
    pub fn connected(&mut self, after_ns: u64) {
        self.counted.tally.connections_opened += 1;
        self.counted.tally.connect.record(after_ns);
    }

    /// Records the time after which a handshake was complete.
    pub fn secured(&mut self, after_ns: u64, is_resumed: bool, agreed: impl FnOnce() -> Option<Agreed>) {
        self.counted.tally.handshake.record(after_ns);
        self.counted.tally.handshakes_resumed += u64::from(is_resumed);
        if self.counted.tally.agreed.is_none() {
            self.counted.tally.agreed = agreed();
        }
    }

    /// Counts bytes that arrived on a connection.
    #[inline]
    pub fn received(&mut self, connection: u64, now_ns: u64, bytes: &[u8]) {
        self.heard.hear(now_ns);
        self.counted.tally.received_bytes += bytes.len() as u64;
        if self.wants_first {
            self.keep_first(connection, bytes);
        }
    }

    /// Counts bytes of a body that arrived and were dropped.
    #[inline]
    pub fn skipped(&mut self, now_ns: u64, bytes: u64) {
        self.heard.hear(now_ns);
        self.counted.tally.received_bytes += bytes;
        self.counted.tally.body_bytes += bytes;
    }

    /// Counts those of the bytes that arrived that belong to a body.
    #[inline]
    pub fn body(&mut self, bytes: usize) {
        self.counted.tally.body_bytes += bytes as u64;
    }

    /// Counts the time that the worker polled without any event.
    #[inline]
    pub fn idle(&mut self, ns: u64) {
        self.counted.tally.client_idle_ns += ns;
    }

    /// Counts the whole answer to a request, which is no longer on its connection.
    #[inline]
    pub fn answered(&mut self, connection: &mut Connection, answer: Answer) {
        let Answer { flight, status, wrong, keeps_alive, now_ns } = answer;
        let mut answered = Answered {
            period: self.period,
            is_right: wrong.is_none(),
            latency_ns: None,
            first_byte_ns: flight.first_byte_ns - flight.sent_ns,
            service_ns: now_ns - flight.sent_ns,
            is_carried_in: self.is_open_load && flight.due_ns < self.window_ns,
        };
        self.in_flight -= 1;
        self.heard.answer(now_ns);
        self.counted.status[usize::from(status).min(STATUSES - 1)] += 1;
        let tally = &mut self.counted.tally;
        tally.verified += u64::from(flight.check.looks());
        match wrong {
            None => {
                tally.completed += 1;
                if !self.burst_latency || connection.begun() == 0 {
                    answered.latency_ns = Some(now_ns - flight.due_ns);
                    tally.latency.record(now_ns - flight.due_ns);
                }
                tally.first_byte.record(answered.first_byte_ns);
                if self.is_open_load {
                    tally.service.record(answered.service_ns);
                    if answered.is_carried_in {
                        *tally.carried_in.get_or_insert(0) += 1;
                    }
                }
            }
            Some(wrong) => {
                let Errors { status: statuses, body, early, .. } = &mut tally.errors;
                let (errors, cause) = match wrong {
                    Wrong::Status => (statuses, format!("status: {status} was not expected")),
                    Wrong::Failed(failure) => (statuses, format!("status: {failure}")),
                    Wrong::Body => (body, "body: not the expected bytes".to_owned()),
                    Wrong::Early => {
                        (early, format!("early: answered with {status} before the request was sent whole"))
                    }
                };
                *errors += 1;
                blame(tally, &cause, 1);
            }
        }
        connection.last = Some(answered);
        if let Some(log) = &mut self.log {
            log.write(connection, &flight, now_ns, End::Answered { status, keeps_alive });
        }
        self.check();
    }

    /// Stops the measurement before its time; the first reason stays.
    #[cold]
    pub fn halt(&mut self, why: impl FnOnce() -> String) {
        self.counted.tally.halted.get_or_insert_with(why);
    }

    /// Keeps the bytes of the first answer, which comes on the connection that was first to bring any.
    #[cold]
    fn keep_first(&mut self, connection: u64, bytes: &[u8]) {
        if self.answers() > 0 {
            self.wants_first = false;
        } else if *self.first_on.get_or_insert(connection) == connection {
            let kept = &mut self.counted.tally.first_answer;
            let room = FIRST_ANSWER_BYTES - kept.len();
            kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// The number of requests begun in the window, those in flight at its opening included.
    #[inline]
    pub fn begun_in_window(&self) -> u64 {
        self.begun
    }

    /// The number of whole answers, expected or not.
    pub fn answers(&self) -> u64 {
        let Errors { status, body, early, .. } = self.counted.tally.errors;
        self.counted.tally.completed + status + body + early
    }

    /// The number of requests of the window that ended, well or not.
    pub fn finished(&self) -> u64 {
        let errors = &self.counted.tally.errors;
        self.counted.tally.completed + errors.of_sent() + errors.connect + errors.local
    }

    /// The number of requests that have finished since the last call.
    pub fn news(&mut self) -> u64 {
        let finished = self.finished();
        finished - std::mem::replace(&mut self.told, finished)
    }

    /// Closes the current interval if it is over, with `open` connections open, and hands over the log of exchanges. Returns when the next
    /// interval ends.
    pub fn tick(&mut self, now_ns: u64, view: Option<&View>, open: impl FnOnce() -> u64) -> u64 {
        self.hand_over();
        let Some(series) = &mut self.series else { return u64::MAX };
        if now_ns >= series.ends_ns() {
            series.close_interval(&mut self.counted.tally, &mut self.counted.ages, now_ns, open());
            self.period = self.period.wrapping_add(1);
            view.into_iter().for_each(|view| series.show(view));
        }
        series.ends_ns()
    }

    fn hand_over(&mut self) {
        if let Some(log) = &mut self.log {
            log.hand_over();
        }
    }

    /// Closes the window after `duration_ns`, with `open` connections open: the tally then has everything but what is in flight.
    pub fn close_window(&mut self, end_ns: u64, duration_ns: u64, open: u64) {
        let Counted { tally, ages, .. } = &mut self.counted;
        if let Some(series) = &mut self.series {
            series.close(tally, ages, end_ns, open);
        } else if !self.is_open_load {
            tally.service.clear();
            tally.service.merge(&tally.latency);
            if let Some(ages) = ages.take() {
                tally.service.subtract(&ages);
            }
        }
        tally.duration_ns = duration_ns;
        tally.client_cpu_ns = clock::thread_cpu_ns() - self.cpu_at_start_ns;
        let system = clock::thread_system_ns().zip(self.system_at_start_ns);
        // The two clocks are read one after the other, and one of them is an estimate.
        tally.client_system_cpu_ns =
            system.map(|(now, then)| now.saturating_sub(then).min(tally.client_cpu_ns));
        tally.threads = 1;
        tally.client_rss_max_bytes = net::limits::rss_max_bytes();
    }

    /// Counts what is unfinished at the end: requests on connections, and due ones that wait for a connection. A request that has already
    /// waited longer than the median latency is counted in the tail with its age, which is the least that its latency can be. The others
    /// say nothing about the tail and are left out.
    pub fn count_unfinished(
        &mut self,
        connections: &[Connection],
        waiting: impl Iterator<Item = u64>,
        end_ns: u64,
    ) {
        let (is_open_load, window_ns) = (self.is_open_load, self.window_ns);
        let (mut waiting_count, mut waiting_in_window) = (0, 0);
        let waiting = waiting.inspect(|due_ns| {
            waiting_count += 1;
            waiting_in_window += u64::from(*due_ns >= window_ns);
        });
        let tally = &mut self.counted.tally;
        tally.in_flight_at_end = self.in_flight;
        self.heard.tell(tally, connections, (window_ns, end_ns), is_open_load);
        tally.under_way_at_end_ns = in_flight_ns(connections, end_ns);
        tally.served.extend(connections.iter().map(Connection::served_or_late));
        let typical_ns = tally.latency.quantile_ns(0.5).unwrap_or(0);
        let age_ns = |due_ns: u64| end_ns.saturating_sub(due_ns);
        let on_connections = connections.iter().flat_map(|connection| {
            connection.flights().take(if is_open_load { connection.begun() } else { connection.sent() })
        });
        let mut carried_out = 0;
        for due_ns in on_connections.map(|flight| flight.due_ns).chain(waiting) {
            carried_out += u64::from(due_ns >= window_ns);
            if age_ns(due_ns) > typical_ns {
                tally.latency.record(age_ns(due_ns));
                tally.unanswered += 1;
            }
        }
        if is_open_load {
            tally.due = Some(tally.due.unwrap_or(0) + waiting_in_window);
            tally.unsent_at_end = Some(self.unsent + waiting_count);
            tally.carried_out = Some(carried_out);
            let has_waited =
                |c: &Connection| c.oldest().is_some_and(|oldest| age_ns(oldest.due_ns) > typical_ns);
            let is_starved = |c: &&Connection| c.served() == 0 && (c.lost() > 0 || has_waited(c));
            tally.connections_starved = Some(connections.iter().filter(is_starved).count() as u64);
        }
    }

    /// Completes the tally and returns it.
    pub fn finish(mut self) -> Tally {
        self.counted.complete();
        if let Some(series) = &mut self.series {
            series.seal(&mut self.counted.tally);
        }
        self.hand_over();
        self.counted.tally
    }

    /// Checks that every sent request is in flight, answered or lost.
    #[inline]
    fn check(&self) {
        let tally = &self.counted.tally;
        debug_assert_eq!(
            tally.sent,
            tally.completed + self.in_flight + tally.errors.of_sent(),
            "{:?}",
            tally.errors
        );
    }

    /// Checks the accounts against the connections. `sends_all`: whether whatever is begun on this connection is sent, if it is open.
    pub fn check_against(&self, connections: &[Connection], sends_all: impl Fn(usize) -> bool) {
        if cfg!(debug_assertions) {
            let sum = |count: fn(&Connection) -> usize| connections.iter().map(count).sum::<usize>() as u64;
            assert_eq!((self.in_flight, self.unsent), (sum(Connection::sent), sum(Connection::unsent)));
            let is_sent = |(at, c): (usize, &Connection)| c.unsent() == 0 || !c.is_open() || !sends_all(at);
            assert!(
                connections.iter().enumerate().all(is_sent),
                "what is begun on an open connection is sent"
            );
            let is_quiet = |c: &Connection| c.phase() != Phase::Closed || c.begun() == 0;
            assert!(connections.iter().all(is_quiet), "a connection is opened when a request needs it");
        }
    }
}

/// The sum of the times for which the requests in flight have been in flight, in nanoseconds.
pub fn in_flight_ns(connections: &[Connection], now_ns: u64) -> u64 {
    let flights = connections.iter().flat_map(Connection::in_flight);
    flights.map(|flight| now_ns.saturating_sub(flight.sent_ns)).sum()
}
