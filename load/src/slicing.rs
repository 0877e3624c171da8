//! Carries out a worker's slice, stage by stage. After each pass of the worker's loop it checks whether the next stage begins. The
//! counted part begins and ends between two passes, so a request costs no more than in a measurement of one target.

use crate::connection::{self, Connection};
use crate::counted::Counted;
use crate::slice_edges::SliceEdges;
use crate::slice_plan::{Enough, SlicePlan};
use crate::worker::Worker;
use model::Uncounted;
use net::{Io, clock};
use std::sync::atomic::Ordering;
use std::time::Duration;
use wire::ClientSession;

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
#[derive(Debug, Default)]
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
    /// Clears all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.counted.clear();
        self.uncounted.clear();
        (self.began_ns, self.opened_ns, self.closed_ns) = (None, None, None);
        (self.ended_ns, self.carried_over, self.is_cut) = (0, 0, false);
    }
}

/// The stage of a slice, with what belongs to it alone. Moments are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Before its start.
    Waiting,
    /// The first part, which is not counted.
    LeadIn(LeadIn),
    /// Before the next answer, with which the counted part begins. All workers count from `from_ns`; `is_content`: this one needs no answers.
    Opening {
        from_ns: u64,
        is_content: bool,
    },
    /// The counted part. `wanted`: the number of answers that are enough; `None`: there are enough.
    Counting {
        from_ns: u64,
        wanted: Option<u64>,
    },
    /// After the last request: outstanding answers are waited for.
    Finishing {
        until_ns: u64,
    },
    Over,
}

/// The first part of a slice.
#[derive(Clone, Copy, Debug)]
struct LeadIn {
    began_ns: u64,
    /// The counter of answers at that moment. It is not 0 if late answers to the previous slice's requests came in.
    answers_before: u64,
    /// Connections below this slot have been answered, or are not waited for.
    answered: usize,
    /// Whether this worker could begin to count.
    is_ready: bool,
}

/// A slice that a worker is carrying out.
pub struct ActiveSlice<'s> {
    slice: &'s SlicePlan,
    /// Its number among all slices of the generator, from 0.
    nth: u64,
    edges: &'s SliceEdges,
    stage: Stage,
    now_ns: u64,
}

impl ActiveSlice<'_> {
    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Records that the worker has enough: the counted part may end with the current length.
    fn be_content(&self, from_ns: u64) {
        let length_ns = clock::ns_of(self.slice.length);
        let lengths = (self.now_ns - from_ns).div_ceil(length_ns).max(1);
        self.edges.content(from_ns.saturating_add(lengths.saturating_mul(length_ns)));
    }

    /// When the counted part ends in any case.
    fn limit_ns(&self, from_ns: u64) -> u64 {
        from_ns.saturating_add(clock::ns_of(self.slice.longest))
    }

    /// When the slice must be checked at the latest, if no answer comes before.
    fn moment_ns(&self) -> u64 {
        match self.stage {
            Stage::Waiting => self.slice.begins_ns,
            Stage::LeadIn(LeadIn { began_ns, is_ready: false, .. }) => {
                began_ns.saturating_add(clock::ns_of(self.slice.lead_in))
            }
            Stage::LeadIn(_) => self.edges.begins_ns().unwrap_or(u64::MAX),
            Stage::Opening { from_ns, .. } | Stage::Counting { from_ns, .. } => {
                self.edges.ends_ns().min(self.limit_ns(from_ns))
            }
            Stage::Finishing { until_ns } => until_ns,
            Stage::Over => u64::MAX,
        }
    }
}

impl<'p, I: Io, S: ClientSession<'p>> Worker<'p, I, S> {
    /// Carries out the `nth` slice, counted in `counts`, which is empty.
    pub fn slice(
        &mut self,
        slice: &SlicePlan,
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
        slice: &'s SlicePlan,
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
        Ok(ActiveSlice { slice, nth, edges, stage: Stage::Waiting, now_ns: self.io.now_ns() })
    }

    /// Runs one pass of the loop and moves the slice on accordingly.
    pub fn step(&mut self, at: &mut ActiveSlice<'_>, counts: &mut SliceCounts) -> std::io::Result<()> {
        if matches!(at.stage, Stage::Waiting) && at.now_ns >= at.slice.begins_ns {
            at.stage = self.begin_load(at, counts);
        }
        let before = self.accounts.answers();
        at.now_ns = self.pass(at.now_ns)?;
        let has_answer = self.accounts.answers() > before;
        if at.edges.is_stopped() || self.progress.halted.load(Ordering::Relaxed) {
            at.stage = self.stop_slice(at, counts);
            return Ok(());
        }
        at.stage = match at.stage {
            Stage::LeadIn(lead_in) => self.lead_in(at, counts, lead_in),
            Stage::Opening { from_ns, is_content } if has_answer => {
                self.enter_counted(at, counts, from_ns, is_content)
            }
            Stage::Opening { from_ns, .. } => self.wait_for_first(at, counts, from_ns),
            Stage::Counting { from_ns, wanted } => self.count(at, counts, has_answer, from_ns, wanted),
            Stage::Finishing { until_ns } => self.wait_for_last(at, counts, until_ns),
            stage @ (Stage::Waiting | Stage::Over) => stage,
        };
        self.wakes_ns = Some(at.moment_ns()).filter(|ns| *ns > at.now_ns).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Begins requests on all connections that can have some, and reopens those that the server has closed.
    fn begin_load(&mut self, at: &ActiveSlice<'_>, counts: &mut SliceCounts) -> Stage {
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
        let answers_before = self.accounts.answers();
        Stage::LeadIn(LeadIn { began_ns: now, answers_before, answered: 0, is_ready: false })
    }

    fn lead_in(&mut self, at: &ActiveSlice<'_>, counts: &mut SliceCounts, mut lead_in: LeadIn) -> Stage {
        let (now, since_ns) = (at.now_ns, at.now_ns - lead_in.began_ns);
        let longest_ns = clock::ns_of(at.slice.longest_lead_in);
        if !lead_in.is_ready
            && since_ns >= clock::ns_of(at.slice.lead_in)
            && (since_ns >= longest_ns
                || self.have_all_answered(&mut lead_in.answered)
                || self.starves_some(lead_in.answers_before))
        {
            lead_in.is_ready = true;
            let is_served = self.connections.iter().any(|connection| connection.served() > 0);
            at.edges.ready(now.saturating_add(at.slice.jitter_ns(since_ns)), is_served);
        }
        let is_alone = since_ns >= longest_ns.saturating_add(GRACE_NS);
        let from_ns = at.edges.begins_ns().or(is_alone.then_some(now));
        let Some(from_ns) = from_ns.filter(|from_ns| *from_ns <= now) else {
            return Stage::LeadIn(lead_in);
        };
        let is_served = self.connections.iter().any(|connection| connection.served() > 0);
        // If not, the server is busy with the other workers' connections: they need not wait for this one's.
        let is_content = at.edges.is_served() && !is_served;
        if is_content {
            at.be_content(from_ns);
        }
        if self.offered.is_some() {
            // Due times do not depend on answers: the window may begin at any moment.
            self.enter_counted(at, counts, from_ns, is_content)
        } else {
            Stage::Opening { from_ns, is_content }
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

    /// Closed load: waits for the answer with which the counted part begins, up to the moment at which that would end.
    fn wait_for_first(&mut self, at: &ActiveSlice<'_>, counts: &mut SliceCounts, from_ns: u64) -> Stage {
        let limit_ns = at.limit_ns(from_ns);
        if at.now_ns < at.edges.ends_ns().min(limit_ns) {
            return at.stage;
        }
        // No answer came in all of the time since `from_ns`, which is counted.
        self.enter_counted(at, counts, from_ns, true);
        counts.opened_ns = Some(from_ns);
        counts.is_cut = at.now_ns >= limit_ns;
        self.close_counted(at, counts)
    }

    fn enter_counted(
        &mut self,
        at: &ActiveSlice<'_>,
        counts: &mut SliceCounts,
        from_ns: u64,
        is_content: bool,
    ) -> Stage {
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
        S::take_held_back(&mut self.shared);
        self.accounts.enter_slice(&mut counts.counted, now, bytes, in_flight_ns);
        self.window.open(now);
        counts.opened_ns = Some(now);
        let wanted = match at.slice.enough {
            Enough::PerConnection(answers) => answers.saturating_mul(served.max(1)),
            Enough::Answers(answers) => answers.div_ceil(self.share.threads as u64),
        };
        Stage::Counting { from_ns, wanted: (!is_content).then_some(wanted) }
    }

    #[inline]
    fn count(
        &mut self,
        at: &ActiveSlice<'_>,
        counts: &mut SliceCounts,
        has_answer: bool,
        from_ns: u64,
        mut wanted: Option<u64>,
    ) -> Stage {
        if wanted.is_some_and(|wanted| self.accounts.answers() >= wanted) {
            at.be_content(from_ns);
            wanted = None;
        }
        let is_due = at.now_ns >= at.edges.ends_ns() && (has_answer || self.offered.is_some());
        if !is_due && at.now_ns < at.limit_ns(from_ns) {
            return Stage::Counting { from_ns, wanted };
        }
        counts.is_cut = !is_due;
        self.close_counted(at, counts)
    }

    fn close_counted(&mut self, at: &ActiveSlice<'_>, counts: &mut SliceCounts) -> Stage {
        let now = at.now_ns;
        self.is_asking = false;
        let duration_ns = now - counts.opened_ns.unwrap_or(now);
        self.accounts.close_window(now, duration_ns, connection::open(&self.connections));
        self.count_unfinished(now);
        self.accounts.leave_slice(&mut counts.counted);
        self.window.close();
        self.connections.iter_mut().for_each(|connection| connection.is_awaited |= connection.served() > 0);
        if self.connections.iter().all(|connection| !connection.is_awaited) {
            // A server that answered on no connection may recover.
            self.connections.iter_mut().for_each(|connection| connection.is_awaited = true);
        }
        self.connections.iter_mut().for_each(Connection::open_window);
        counts.closed_ns = Some(now);
        Stage::Finishing { until_ns: now.saturating_add(clock::ns_of(at.slice.wait)) }
    }

    fn wait_for_last(&mut self, at: &ActiveSlice<'_>, counts: &mut SliceCounts, until_ns: u64) -> Stage {
        let is_done = self.accounts.under_way() == 0 || at.now_ns >= until_ns;
        // While other targets have their turn, nobody would close the connections that were given up.
        if is_done && self.io.retired_until_ns().is_none() { self.end_slice(at, counts) } else { at.stage }
    }

    /// Ends the slice at once, at whatever stage.
    #[cold]
    fn stop_slice(&mut self, at: &ActiveSlice<'_>, counts: &mut SliceCounts) -> Stage {
        if matches!(at.stage, Stage::Counting { .. }) {
            self.close_counted(at, counts);
        }
        counts.counted.tally.interrupted = at.edges.is_stopped();
        self.is_asking = false;
        self.end_slice(at, counts)
    }

    fn end_slice(&mut self, at: &ActiveSlice<'_>, counts: &mut SliceCounts) -> Stage {
        self.renews_before_ns = 0;
        counts.carried_over = self.accounts.under_way();
        let began_ns = counts.began_ns.filter(|_| counts.carried_over > 0);
        // A server that owes answers and gives none may rest as well.
        counts.ended_ns = began_ns.map_or(at.now_ns, |began_ns| {
            self.accounts.heard.answered_ns().max(counts.closed_ns.unwrap_or(0)).max(began_ns)
        });
        let tally = self.accounts.tally();
        counts.uncounted.completed = tally.completed;
        counts.uncounted.errors = tally.errors;
        counts.uncounted.connections_opened = tally.connections_opened;
        std::mem::swap(&mut counts.uncounted.error_causes, &mut tally.error_causes);
        let halted = tally.halted.take();
        counts.counted.tally.halted = counts.counted.tally.halted.take().or(halted);
        Stage::Over
    }
}
