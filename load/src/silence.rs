//! Ends a load whose server is gone: for a while nothing was answered, and all that was asked meanwhile was lost.

use crate::connection::Connection;
use crate::worker::Worker;
use net::Io;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wire::ClientSession;

impl<'p, I: Io, S: ClientSession<'p>> Worker<'p, I, S> {
    /// Ends the load if for [`model::Plan::abort_after`] no worker could expect an answer.
    pub(crate) fn end_if_gone(&mut self, now: u64) {
        let Some(patience) = self.plan.abort_after else { return };
        if self.expects_answers() {
            self.progress.expected_ns.fetch_max(now, Ordering::Relaxed);
            return;
        }
        let silence =
            Duration::from_nanos(now.saturating_sub(self.progress.expected_ns.load(Ordering::Relaxed)));
        if silence >= patience {
            let main = self.accounts.tally().main_cause().map(|cause| format!("; {cause}"));
            self.halt(|| {
                format!(
                    "the load was ended early: for {:.1} s the server answered nothing and every request failed (--abort-after{})",
                    silence.as_secs_f64(),
                    main.unwrap_or_default()
                )
            });
        }
    }

    /// Whether an answer may still come: nothing was lost since this worker's last answer, or a request waits on a connection that
    /// has lost none since. However slow a server is, it is not given up for that.
    fn expects_answers(&self) -> bool {
        let heard = self.accounts.heard;
        let waits = |connection: &Connection| {
            connection.begun() > 0 && connection.outage.lost_ns() <= heard.answered_ns()
        };
        heard.lost_since_ns().is_none() || self.connections.iter().any(waits)
    }
}
