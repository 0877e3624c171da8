//! Carries out a worker's slice, stage by stage. After each pass of the worker's loop it checks whether the next stage begins. The
//! counted part begins and ends between two passes, so a request costs no more than in a measurement of one target.

use crate::accounts::Accounts;
use crate::connection::{self, Connection};
use crate::counted::Counted;
use crate::slice::{Enough, Slice};
use crate::slice_edges::SliceEdges;
use crate::worker::Worker;
use model::Uncounted;
use net::Io;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The longest time for which events since the last slice are handled before the next one begins.
const LONGEST_DRAIN_NS: u64 = 10_000_000;

/// The number of answers per connection after which one without any is not waited for, under closed load. The server is not cold then: it
/// serves some connections many times before others, or drops some that are opened, and would otherwise spend a second on each slice. A
/// server that goes to another connection after ten answers (Puma) has the same rate with four as with sixteen; see docs/decisions.md.
const STARVING: u64 = 4;

/// The same under open load: there, the queue must have come to its usual length before latencies count.
const STARVING_AT_A_RATE: u64 = 16;

/// How much longer than allowed a worker waits for the others to be ready before it begins without them, because one of them died.
const GRACE_NS: u64 = 1_000_000_000;

/// The counts of one worker in a slice. The memory goes back and forth between the worker and the thread that orders slices.
#[derive(Debug)]
pub struct SliceCounts {
    /// The counted part.
    pub counted: Counted,
    /// The rest of the slice.
    pub uncounted: Uncounted,
    /// When the first request was sent.
    pub began_ns: Option<u64>,
    /// When the counted part began.
    pub opened_ns: Option<u64>,
    /// When the counted part ended.
    pub closed_ns: Option<u64>,
    /// When the server had no more work, as far as its answers show: the last one came, and no request followed.
    pub ended_ns: u64,
    /// The number of requests without a whole answer by then.
    pub carried_over: u64,
    /// Whether the counted part ended at its limit.
    pub is_cut: bool,
}

impl SliceCounts {
    /// Memory for a slice.
    pub fn new() -> Box<Self> {
        Box::new(Self {
            counted: Counted::new(),
            uncounted: Uncounted::default(),
            began_ns: None,
            opened_ns: None,
            closed_ns: None,
            ended_ns: 0,
            carried_over: 0,
            is_cut: false,
        })
    }

    /// Clears all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.counted.clear();
        self.uncounted.clear();
        (self.began_ns, self.opened_ns, self.closed_ns) = (None, None, None);
        (self.ended_ns, self.carried_over, self.is_cut) = (0, 0, false);
    }
}

/// The stage of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before its start.
    Waiting,
    /// The first part, which is not counted; whether this worker could begin to count.
    Settling {
        is_ready: bool,
    },
    /// Before the next answer, with which the counted part begins.
    Opening,
    /// The counted part.
    Counting,
    /// After the last request: outstanding answers are waited for.
    Finishing,
    Over,
}

/// A slice that a worker is carrying out.
pub struct ActiveSlice<'s> {
    slice: &'s Slice,
    /// Its number among all slices of the generator, from 0.
    nth: u64,
    edges: &'s SliceEdges,
    stage: Stage,
    now_ns: u64,
    began_ns: u64,
    /// The moment from which all workers count.
    from_ns: u64,
    opened_ns: u64,
    closed_ns: u64,
    /// The counter of answers when the load began; `starves_some` counts from here. It is not 0 if late answers to the previous slice's
    /// requests came in.
    answers_before: u64,
    /// Connections below this slot have been answered, or are not waited for.
    answered: usize,
    /// The number of answers that are enough.
    wanted: u64,
    has_enough: bool,
}

impl ActiveSlice<'_> {
    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }
}

impl<I: Io> Worker<'_, I> {
    /// Carries out the `nth` slice, counted in `counts`, which is empty.
    pub fn slice(
        &mut self,
        slice: &Slice,
        nth: u64,
        edges: &SliceEdges,
        counts: &mut SliceCounts,
    ) -> std::io::Result<()> {
        let mut active = self.begin_slice(slice, nth, edges)?;
        while !active.is_over() {
            self.step(&mut active, counts)?;
        }
        Ok(())
    }

    /// Handles what came since the last slice: late answers, and the ends of connections.
    pub fn begin_slice<'s>(
        &mut self,
        slice: &'s Slice,
        nth: u64,
        edges: &'s SliceEdges,
    ) -> std::io::Result<ActiveSlice<'s>> {
        self.is_asking = false;
        self.accounts.forget_uncounted();
        let begun_ns = self.io.now_ns();
        while self.io.wait(Some(Duration::ZERO))? && self.io.now_ns() < begun_ns + LONGEST_DRAIN_NS {
            while let Some(completion) = self.io.next() {
                self.take(completion);
            }
        }
        Ok(ActiveSlice {
            slice,
            nth,
            edges,
            stage: Stage::Waiting,
            now_ns: self.io.now_ns(),
            began_ns: 0,
            from_ns: 0,
            opened_ns: 0,
            closed_ns: 0,
            answers_before: 0,
            answered: 0,
            wanted: 0,
            has_enough: false,
        })
    }

    /// Runs one pass of the loop and moves the slice on accordingly.
    pub fn step(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) -> std::io::Result<()> {
        if at.stage == Stage::Waiting && at.now_ns >= at.slice.begins_ns {
            self.begin_load(at, counts);
        }
        let before = self.accounts.answers();
        at.now_ns = self.pass(at.now_ns)?;
        let has_answer = self.accounts.answers() > before;
        if at.edges.is_stopped() || self.progress.halted.load(Ordering::Relaxed) {
            self.stop_slice(at, counts);
            return Ok(());
        }
        match at.stage {
            Stage::Waiting | Stage::Over => {}
            Stage::Settling { .. } => self.settle(at, counts),
            Stage::Opening => self.open_counted(at, counts, has_answer),
            Stage::Counting => self.count(at, counts, has_answer),
            Stage::Finishing => self.wait_for_last(at, counts),
        }
        self.wakes_ns = Some(moment_ns(at)).filter(|ns| *ns > at.now_ns).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Begins requests on all connections that can have some, and reopens those that the server has closed.
    fn begin_load(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) {
        let now = at.now_ns;
        self.connections.iter_mut().for_each(Connection::begin_slice);
        self.is_asking = true;
        self.renews_before_ns = now;
        self.origin_ns = now;
        self.opening.restart();
        if let Some(offered) = &mut self.offered {
            offered.restart(now, at.nth);
        }
        counts.began_ns = Some(now);
        at.answers_before = self.accounts.answers();
        (at.began_ns, at.stage) = (now, Stage::Settling { is_ready: false });
    }

    fn settle(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) {
        let (now, since_ns) = (at.now_ns, at.now_ns - at.began_ns);
        let is_long = since_ns >= ns(at.slice.longest_settle);
        if at.stage == (Stage::Settling { is_ready: false })
            && since_ns >= ns(at.slice.settle)
            && (is_long || self.have_all_answered(&mut at.answered) || self.starves_some(at.answers_before))
        {
            at.stage = Stage::Settling { is_ready: true };
            let is_served = self.connections.iter().any(|connection| connection.served() > 0);
            at.edges.ready(now.saturating_add(at.slice.jitter_ns(since_ns)), is_served);
        }
        let is_alone = since_ns >= ns(at.slice.longest_settle).saturating_add(GRACE_NS);
        let from_ns = at.edges.begins_ns().or(is_alone.then_some(now));
        let Some(from_ns) = from_ns.filter(|from_ns| *from_ns <= now) else { return };
        (at.from_ns, at.stage) = (from_ns, Stage::Opening);
        if at.edges.is_served() && self.connections.iter().all(|connection| connection.served() == 0) {
            // The server is busy with the other workers' connections: they need not wait for this one's.
            be_content(at);
        }
        if self.offered.is_some() {
            // Due times do not depend on answers: the window may begin at any moment.
            self.enter_counted(at, counts);
        }
    }

    /// Whether some connections wait while the others are answered again and again, which is how the server works, not a cold start.
    fn starves_some(&self, answers_before: u64) -> bool {
        let answers = self.accounts.answers().saturating_sub(answers_before);
        let enough = if self.offered.is_some() { STARVING_AT_A_RATE } else { STARVING };
        answers >= enough.saturating_mul(self.connections.len() as u64)
    }

    /// Whether all connections that are waited for have been answered in this slice. Each is checked until it has.
    fn have_all_answered(&self, answered: &mut usize) -> bool {
        let waits = |connection: &&Connection| connection.is_awaited && connection.served() == 0;
        *answered += self.connections[*answered..].iter().take_while(|connection| !waits(connection)).count();
        *answered == self.connections.len()
    }

    /// Closed load: begins to count time with an answer.
    fn open_counted(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts, has_answer: bool) {
        if has_answer {
            self.enter_counted(at, counts);
        } else if at.now_ns >= at.edges.ends_ns().min(limit_ns(at)) {
            // No answer came in all of the time since `from_ns`, which is counted.
            self.enter_counted(at, counts);
            at.opened_ns = at.from_ns;
            counts.is_cut = at.now_ns >= limit_ns(at);
            self.close_counted(at, counts);
        }
    }

    fn enter_counted(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) {
        let now = at.now_ns;
        let (mut served, is_open_load) = (0, self.offered.is_some());
        for connection in &mut self.connections {
            connection.outage.restart(now);
            connection.is_awaited = connection.served() > 0;
            served += u64::from(connection.is_awaited);
            if is_open_load {
                connection.open_window();
            }
        }
        let (bytes, in_flight_ns) = self.under_way(now);
        self.renews_before_ns = 0;
        self.accounts.enter_slice(&mut counts.counted, now, bytes, in_flight_ns);
        self.window.open(now);
        at.wanted = match at.slice.enough {
            Enough::PerConnection(answers) => answers.saturating_mul(served.max(1)),
            Enough::Answers(answers) => answers.div_ceil(self.share.threads as u64),
        };
        (at.opened_ns, at.stage) = (now, Stage::Counting);
    }

    #[inline]
    fn count(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts, has_answer: bool) {
        let now = at.now_ns;
        if !at.has_enough && self.accounts.answers() >= at.wanted {
            be_content(at);
        }
        let is_due = now >= at.edges.ends_ns() && (has_answer || self.offered.is_some());
        let is_cut = now >= limit_ns(at);
        if is_due || is_cut {
            counts.is_cut = is_cut && !is_due;
            self.close_counted(at, counts);
        }
    }

    fn close_counted(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) {
        let now = at.now_ns;
        self.is_asking = false;
        self.accounts.close_window(now, now - at.opened_ns, connection::open(&self.connections));
        self.count_unfinished(now);
        self.accounts.leave_slice(&mut counts.counted);
        self.window.close();
        self.connections.iter_mut().for_each(|connection| connection.is_awaited |= connection.served() > 0);
        if self.connections.iter().all(|connection| !connection.is_awaited) {
            // A server that answered on no connection may recover.
            self.connections.iter_mut().for_each(|connection| connection.is_awaited = true);
        }
        self.connections.iter_mut().for_each(Connection::open_window);
        (counts.opened_ns, counts.closed_ns) = (Some(at.opened_ns), Some(now));
        (at.closed_ns, at.stage) = (now, Stage::Finishing);
    }

    fn wait_for_last(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) {
        let is_done =
            self.accounts.under_way() == 0 || at.now_ns >= at.closed_ns.saturating_add(ns(at.slice.wait));
        // While other targets have their turn, nobody would close the connections that were given up.
        if is_done && self.io.retired_until_ns().is_none() {
            self.end_slice(at, counts);
        }
    }

    /// Ends the slice at once, at whatever stage.
    #[cold]
    fn stop_slice(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) {
        if at.stage == Stage::Counting {
            self.close_counted(at, counts);
        }
        counts.counted.tally.interrupted = at.edges.is_stopped();
        self.is_asking = false;
        self.end_slice(at, counts);
    }

    fn end_slice(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) {
        self.renews_before_ns = 0;
        at.stage = Stage::Over;
        counts.carried_over = self.accounts.under_way();
        // A server that owes answers and gives none may rest as well.
        let last_ns = self.accounts.heard.answered_ns().max(at.closed_ns).max(at.began_ns);
        counts.ended_ns = if counts.carried_over > 0 && at.began_ns > 0 { last_ns } else { at.now_ns };
        take_uncounted(&mut self.accounts, counts);
    }
}

fn take_uncounted(accounts: &mut Accounts, counts: &mut SliceCounts) {
    let tally = accounts.tally();
    counts.uncounted.completed = tally.completed;
    counts.uncounted.errors = tally.errors;
    counts.uncounted.connections_opened = tally.connections_opened;
    std::mem::swap(&mut counts.uncounted.error_causes, &mut tally.error_causes);
    let halted = tally.halted.take();
    counts.counted.tally.halted = counts.counted.tally.halted.take().or(halted);
}

/// Records that the worker has enough: the counted part may end with the current length.
fn be_content(at: &mut ActiveSlice<'_>) {
    at.has_enough = true;
    let lengths = (at.now_ns - at.from_ns).div_ceil(ns(at.slice.length)).max(1);
    at.edges.content(at.from_ns.saturating_add(lengths.saturating_mul(ns(at.slice.length))));
}

/// When the slice must be checked at the latest, if no answer comes before.
fn moment_ns(at: &ActiveSlice<'_>) -> u64 {
    let slice = at.slice;
    match at.stage {
        Stage::Waiting => slice.begins_ns,
        Stage::Settling { is_ready: false } => at.began_ns.saturating_add(ns(slice.settle)),
        Stage::Settling { is_ready: true } => at.edges.begins_ns().unwrap_or(u64::MAX),
        Stage::Opening | Stage::Counting => at.edges.ends_ns().min(limit_ns(at)),
        Stage::Finishing => at.closed_ns.saturating_add(ns(slice.wait)),
        Stage::Over => u64::MAX,
    }
}

/// When the counted part ends in any case.
fn limit_ns(at: &ActiveSlice<'_>) -> u64 {
    at.from_ns.saturating_add(ns(at.slice.longest))
}

fn ns(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}
