//! Open load: when requests are due, which connections have room for them, and how late they leave. A request goes
//! to the connection that has been free the longest; while none is free, it waits, and that wait counts as the server's.

use crate::pace::Pace;
use net::Slot;
use std::collections::VecDeque;

/// The offered load of one worker.
#[derive(Debug)]
pub struct Offered {
    pace: Pace,
    /// The start of the load, from which due times count.
    origin_ns: u64,
    /// Connections with room for a request, the longest free first.
    line: VecDeque<Free>,
    is_in_line: Box<[bool]>,
    /// For each request that was given to a free connection since the last hand-over: since when it could have left.
    leaving: Vec<u64>,
    late: Late,
}

/// A time in which the load generator did not run although connections had room. More requests became due in it than those connections
/// could take at its end: they wait for a connection only because nobody gave it to them in time.
#[derive(Clone, Copy, Debug, Default)]
struct Late {
    from_ns: u64,
    to_ns: u64,
}

/// A connection with room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Free {
    /// The slot of the connection.
    pub slot: Slot,
    /// Since when it has had room.
    since_ns: u64,
}

impl Free {
    /// Since when it has had room.
    #[inline]
    pub fn since_ns(self) -> u64 {
        self.since_ns
    }
}

impl Offered {
    /// An offered load with this pace, from the moment that [`Offered::start`] gives.
    pub fn new(pace: Pace, connections: usize) -> Self {
        let line = VecDeque::with_capacity(connections);
        let is_in_line = vec![false; connections].into_boxed_slice();
        Self {
            pace,
            origin_ns: 0,
            line,
            is_in_line,
            leaving: Vec::with_capacity(connections),
            late: Late::default(),
        }
    }

    /// Starts the load.
    pub fn start(&mut self, now_ns: u64) {
        self.origin_ns = now_ns;
    }

    /// Starts the `nth` slice: due times begin anew, and no connection is known to have room.
    pub fn restart(&mut self, now_ns: u64, nth: u64) {
        self.line.clear();
        self.is_in_line.fill(false);
        self.leaving.clear();
        self.late = Late::default();
        self.pace.restart(nth);
        self.start(now_ns);
    }

    /// When the next request is due; `None` while no connection has room for it.
    pub fn wakes_ns(&self) -> Option<u64> {
        (!self.line.is_empty()).then(|| self.next_due_ns())
    }

    fn next_due_ns(&self) -> u64 {
        self.origin_ns + self.pace.due_ns()
    }

    /// Takes the next request if it is due; returns when it was due.
    #[inline]
    pub fn take_due(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.next_due_ns();
        if due_ns > now_ns {
            return None;
        }
        self.pace.advance();
        Some(due_ns)
    }

    /// Whether no connection is known to have room.
    #[inline]
    pub fn is_line_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Puts a connection that has room in line, at the end unless it stands there already.
    #[inline]
    pub fn line_up(&mut self, slot: Slot, now_ns: u64) {
        if !std::mem::replace(&mut self.is_in_line[slot as usize], true) {
            self.line.push_back(Free { slot, since_ns: now_ns });
        }
    }

    /// The connection that has been free the longest.
    #[inline]
    pub fn first(&self) -> Option<Free> {
        self.line.front().copied()
    }

    /// Removes the first connection from the line.
    #[inline]
    pub fn leave(&mut self) {
        if let Some(free) = self.line.pop_front() {
            self.is_in_line[free.slot as usize] = false;
        }
    }

    /// Records that a free connection was given a request that was due at `due_ns`. The lag is the load generator's own: a request that
    /// waited for a connection waited for the server.
    #[inline]
    pub fn given(&mut self, due_ns: u64, free: Free) {
        self.leaving.push(due_ns.max(free.since_ns).saturating_sub(self.late_ns(due_ns)));
    }

    /// Notes how late the load generator was: a request that could have left at `since_ns` leaves at `now_ns`. That matters beyond this
    /// request if there is no connection for others that are due, too.
    #[inline]
    pub fn was_late(&mut self, since_ns: u64, now_ns: u64) {
        let next_due_ns = self.next_due_ns();
        let is_behind = self.line.is_empty() && next_due_ns <= now_ns;
        // As long as requests of an earlier such time wait, that time is kept.
        if is_behind && next_due_ns >= self.late.to_ns {
            self.late = Late { from_ns: since_ns, to_ns: now_ns };
        }
    }

    /// For how long a request that was due at `due_ns` waited for the load generator before it waited for a connection.
    #[inline]
    pub fn late_ns(&self, due_ns: u64) -> u64 {
        let Late { from_ns, to_ns } = self.late;
        if (from_ns..to_ns).contains(&due_ns) { to_ns - due_ns } else { 0 }
    }

    /// Whether requests were given to connections and are not handed over yet.
    #[inline]
    pub fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Hands these requests over; returns since when each could have left.
    #[inline]
    pub fn handed_over(&mut self) -> impl Iterator<Item = u64> {
        self.leaving.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Arrivals;
    use stats::RateProfile;

    #[test]
    fn the_longest_free_goes_first_and_stands_in_line_once() {
        let pace = Pace::new(RateProfile::new(&[], 1e3), Arrivals::Constant, 0, 0, 1);
        let mut offered = Offered::new(pace, 3);
        offered.start(7);
        assert_eq!((offered.wakes_ns(), offered.first()), (None, None));
        offered.line_up(2, 10);
        offered.line_up(0, 20);
        offered.line_up(2, 30);
        assert_eq!(offered.wakes_ns(), Some(7));
        assert_eq!(
            [offered.take_due(6), offered.take_due(1_000_006), offered.take_due(1_000_006)],
            [None, Some(7), None]
        );
        let free = offered.first().unwrap();
        assert_eq!(free, Free { slot: 2, since_ns: 10 });
        offered.given(7, free);
        offered.leave();
        offered.given(1_000_007, offered.first().unwrap());
        assert!(offered.has_leaving());
        assert_eq!(offered.handed_over().collect::<Vec<_>>(), [10, 1_000_007]);
        assert!(!offered.has_leaving());
        offered.line_up(2, 40);
        offered.leave();
        assert_eq!(offered.first(), Some(Free { slot: 2, since_ns: 40 }));
    }
}
