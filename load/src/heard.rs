//! When the server was last heard, when it last answered, and what it owes since. One number is written for each piece of an answer and one
//! for each answer; the rest is written when requests are lost, and when the window closes. Moments are nanoseconds of the monotonic clock.

use crate::connection::Connection;
use model::Tally;

/// A connection that waits at the end for more than so many times the median latency is silent, not slow.
const UNUSUAL: u64 = 10;

/// What one worker has heard of the server.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "units come last")]
pub struct Heard {
    /// When bytes last came from the server; 0: never.
    at_ns: u64,
    /// When an answer was last whole; 0: never.
    answered_ns: u64,
    /// When the first request was lost after that; before it: none was.
    lost_ns: u64,
    /// Since when that request had waited for its answer.
    owed_ns: u64,
    /// When this worker last looked.
    looked_ns: u64,
}

impl Heard {
    /// Records that bytes came.
    #[inline]
    pub fn hear(&mut self, now_ns: u64) {
        self.at_ns = now_ns;
    }

    /// Records a whole answer.
    #[inline]
    pub fn answer(&mut self, now_ns: u64) {
        self.answered_ns = now_ns;
    }

    /// Records that the requests on this connection are about to be lost.
    #[cold]
    pub fn lose(&mut self, connection: &Connection, now_ns: u64) {
        if self.lost_ns <= self.answered_ns {
            let oldest = connection.in_flight().next();
            (self.lost_ns, self.owed_ns) = (now_ns, oldest.map_or(now_ns, |oldest| oldest.sent_ns));
        }
    }

    /// Records that the worker looks now and then for what came.
    pub fn look(&mut self, now_ns: u64) {
        self.looked_ns = now_ns;
    }

    /// When an answer was last whole; 0: never.
    pub fn answered_ns(&self) -> u64 {
        self.answered_ns
    }

    /// Since when the first request that was lost after that had waited; `None`: none was lost.
    pub fn lost_since_ns(&self) -> Option<u64> {
        (self.lost_ns > self.answered_ns).then_some(self.owed_ns)
    }

    /// Writes down what is known when the window, which opened at `window_ns`, closes.
    pub fn tell(
        &self,
        tally: &mut Tally,
        connections: &[Connection],
        (window_ns, end_ns): (u64, u64),
        is_open_load: bool,
    ) {
        let within = |ns: u64| ns.saturating_sub(window_ns);
        // A worker that did not run in the end could hear nothing then, which is no silence of the server.
        let unseen_ns = end_ns.saturating_sub(self.looked_ns.max(window_ns));
        let oldest_ns = |connection: &Connection| Some(connection.in_flight().next()?.sent_ns);
        let owed_ns = connections.iter().filter_map(oldest_ns).chain(self.lost_since_ns()).min();
        tally.heard_ns = Some(self.at_ns).filter(|ns| *ns > 0 && *ns >= window_ns).map(within);
        tally.owed_ns = owed_ns.map(|ns| within(ns) + unseen_ns);
        if !is_open_load {
            let answered = connections.iter().filter(|connection| connection.answered() > 0);
            let usual_ns = tally.latency.quantile_ns(0.5).unwrap_or(0);
            let seen_until_ns = end_ns - unseen_ns;
            let waits_ns =
                answered.filter_map(oldest_ns).map(|ns| seen_until_ns.saturating_sub(ns.max(window_ns)));
            let is_long = |ns: &u64| {
                Tally::is_long_silence(*ns, end_ns - window_ns) && *ns > usual_ns.saturating_mul(UNUSUAL)
            };
            tally.stalled_ns = Some(waits_ns.filter(is_long).sum());
            tally.outage_ns = Some(connections.iter().map(|c| c.outage.total_ns(end_ns)).sum());
        }
    }
}
