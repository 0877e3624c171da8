//! One request and its outcome, for the reports of older tools, which are computed from single requests.

/// A request that was answered or lost. Times are nanoseconds of the monotonic clock. The time of something that never happened is 0;
/// the methods return `None` instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The number of the connection, counted over all that were opened; unique in a measurement.
    pub connection: u64,
    /// The number of whole answers on this connection before this request.
    pub nth: u32,
    /// The index of the request in the plan's `asks`.
    pub ask: u32,
    /// When opening the connection began.
    pub connect_ns: u64,
    /// When it was open, its TLS handshake included.
    pub connected_ns: u64,
    /// When the request was due (open load) or sent (closed).
    pub due_ns: u64,
    /// When it was sent.
    pub sent_ns: u64,
    /// When the first bytes of the answer came.
    pub first_byte_ns: u64,
    /// When it was over.
    pub done_ns: u64,
    /// Bytes of the answer's body, as far as it came.
    pub body_bytes: u64,
    /// How it ended.
    pub end: End,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With a whole answer.
    Answered {
        /// Its status.
        status: u16,
        /// Whether the connection stays open.
        keeps_alive: bool,
    },
    /// Without a whole answer.
    Lost(Loss),
}

/// Why a request has no whole answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The connection could not be established.
    Connect,
    /// The TLS handshake failed.
    Handshake,
    /// It could not be sent.
    Send,
    /// The connection broke before the answer was whole.
    Receive,
    /// The server closed the connection before the answer was whole.
    Ended,
    /// It took too long.
    Timeout,
    /// What came was not HTTP, or no request had asked for it.
    Protocol,
    /// This machine ran out of something.
    Local,
}

impl Loss {
    /// The word with which causes of errors begin.
    pub fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Handshake => "handshake",
            Self::Send => "send",
            Self::Receive | Self::Ended => "receive",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::Local => "local",
        }
    }
}

impl Exchange {
    /// The status of a whole answer.
    pub fn status(&self) -> Option<u16> {
        match self.end {
            End::Answered { status, .. } => Some(status),
            End::Lost(_) => None,
        }
    }

    /// How long the connection took to open; `None` where it never was.
    pub fn connect_time_ns(&self) -> Option<u64> {
        (self.connected_ns > 0).then(|| self.connected_ns - self.connect_ns)
    }

    /// From the send to the first bytes of the answer; `None` where none came.
    pub fn waiting_ns(&self) -> Option<u64> {
        (self.first_byte_ns > 0).then(|| self.first_byte_ns.saturating_sub(self.sent_ns))
    }

    /// From the send to the end of the answer; `None` where it was not sent.
    pub fn service_ns(&self) -> Option<u64> {
        (self.sent_ns > 0).then(|| self.done_ns.saturating_sub(self.sent_ns))
    }

    /// When work on the request began: when its connection was opened, if nothing had been answered on that before or the request was
    /// never sent; else when it was sent.
    pub fn began_ns(&self) -> u64 {
        if self.nth == 0 || self.sent_ns == 0 { self.connect_ns } else { self.sent_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Exchange = Exchange {
        connection: 1,
        nth: 0,
        ask: 0,
        connect_ns: 100,
        connected_ns: 130,
        due_ns: 130,
        sent_ns: 140,
        first_byte_ns: 200,
        done_ns: 250,
        body_bytes: 12,
        end: End::Answered { status: 200, keeps_alive: true },
    };

    #[test]
    fn times_lie_between_moments() {
        let times = (WHOLE.connect_time_ns(), WHOLE.waiting_ns(), WHOLE.service_ns(), WHOLE.began_ns());
        assert_eq!(times, (Some(30), Some(60), Some(110), 100));
        assert_eq!(Exchange { nth: 1, ..WHOLE }.began_ns(), 140);
    }

    #[test]
    fn what_never_happened_has_no_time() {
        let end = End::Lost(Loss::Connect);
        let lost = Exchange { connected_ns: 0, sent_ns: 0, first_byte_ns: 0, end, ..WHOLE };
        let times = (lost.connect_time_ns(), lost.waiting_ns(), lost.service_ns(), lost.status());
        assert_eq!(times, (None, None, None, None));
        assert_eq!(Exchange { nth: 3, ..lost }.began_ns(), 100);
    }
}
