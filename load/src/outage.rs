//! How long a connection has been without service: refused, or closed or reset before it was answered. It is a share of time and not of
//! requests, because a failed connection is tried again only now and then: beside a fast server's answers these tries would be few.

/// The outages of one connection. Moments are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "units come last")]
pub struct Outage {
    /// Since when it has been without service; 0: it is not.
    since_ns: u64,
    /// The length of the outages that are over.
    past_ns: u64,
    /// From when on outages count.
    from_ns: u64,
    /// When a request on it was last lost; 0: never.
    lost_ns: u64,
}

impl Outage {
    /// Records that its requests were lost.
    #[cold]
    pub fn lose(&mut self, now_ns: u64) {
        self.lost_ns = now_ns;
    }

    /// Begins an outage, if there is none.
    #[cold]
    pub fn begin(&mut self, since_ns: u64) {
        if self.since_ns == 0 {
            self.since_ns = since_ns.max(self.from_ns);
        }
    }

    /// Records a whole answer.
    #[inline]
    pub fn end(&mut self, now_ns: u64) {
        if self.since_ns > 0 {
            self.past_ns += now_ns.saturating_sub(self.since_ns);
            self.since_ns = 0;
        }
    }

    /// Begins to count anew: nothing before this counts.
    pub fn restart(&mut self, now_ns: u64) {
        (self.past_ns, self.from_ns) = (0, now_ns);
        if self.since_ns > 0 {
            self.since_ns = now_ns;
        }
    }

    /// The length of all outages up to `now_ns`.
    pub fn total_ns(&self, now_ns: u64) -> u64 {
        let current_ns = if self.since_ns > 0 { now_ns.saturating_sub(self.since_ns) } else { 0 };
        self.past_ns + current_ns
    }

    /// When a request on it was last lost; 0: never.
    pub fn lost_ns(&self) -> u64 {
        self.lost_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_lasts_from_a_failure_to_the_next_answer_or_until_now() {
        let mut outage = Outage::default();
        outage.end(5);
        outage.lose(10);
        assert_eq!((outage.total_ns(20), outage.lost_ns()), (0, 10), "not every loss is an outage");
        outage.begin(20);
        outage.begin(25);
        outage.end(30);
        outage.begin(40);
        assert_eq!(outage.total_ns(45), 15);
        outage.restart(50);
        assert_eq!(outage.total_ns(57), 7, "the outage goes on, and counts from here");
        outage.end(60);
        outage.begin(45);
        assert_eq!(outage.total_ns(70), 30, "what was sent earlier counts from there, too");
    }
}
