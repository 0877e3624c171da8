//! HTTP/1 as a client speaks it: answers come in the order of the requests.

use crate::client_session::{ClientSession, Event, Hearer, RequestBytes};
use crate::{LastHead, Missing, Part, ResponseParser, WireError};

/// A connection that speaks HTTP/1.
#[derive(Debug, Default)]
pub struct Http1 {
    parser: ResponseParser,
    /// The number of requests without a whole answer.
    open: usize,
    /// Whether the last answer ended within the bytes at hand: what follows it there came with it.
    is_followed: bool,
}

/// What all connections of a thread share.
#[derive(Debug)]
pub struct Http1Shared<'p> {
    requests: Vec<RequestBytes<'p>>,
    /// The head of the last answer on any of them.
    last_head: LastHead,
}

impl Http1 {
    /// What is wrong with bytes that come while no request is open.
    #[cold]
    fn unasked(&self, bytes: &[u8]) -> WireError {
        if !self.is_followed && ResponseParser::ends_idle(bytes) {
            return WireError::EndsIdle;
        }
        self.parser.excess(bytes).map_or(WireError::Unasked, WireError::Excess)
    }
}

impl<'p> ClientSession<'p> for Http1 {
    type Shared = Http1Shared<'p>;

    const IN_ORDER: bool = true;
    const IS_AGREED_ON: bool = false;

    fn shared(requests: Vec<RequestBytes<'p>>) -> Result<Self::Shared, WireError> {
        Ok(Http1Shared { requests, last_head: LastHead::default() })
    }

    fn open(&mut self, _: &mut Self::Shared, _: &mut Vec<u8>) {}

    #[inline]
    fn room(&self) -> usize {
        usize::MAX
    }

    #[inline]
    fn begin(&mut self, shared: &mut Self::Shared, ask: usize, is_last: bool, out: &mut Vec<u8>) {
        let RequestBytes { request, last, .. } = shared.requests[ask];
        self.open += 1;
        out.extend_from_slice(if is_last { last } else { request });
    }

    #[inline]
    fn next<'a, H: Hearer>(
        &mut self,
        shared: &mut Self::Shared,
        input: &mut &'a [u8],
        _: &mut Vec<u8>,
        hearer: &mut H,
    ) -> Result<Option<Event<'a>>, WireError> {
        self.parser.skip_empty_lines(input);
        if self.open == 0 {
            if input.is_empty() {
                self.is_followed = false;
                return Ok(None);
            }
            return Err(self.unasked(input));
        }
        let is_head = self.parser.awaits_head() && hearer.is_head(0);
        let part = if H::HEARS_FIELDS {
            self.parser.next_with(input, is_head, |name, value| hearer.field(0, name.as_bytes(), value))
        } else {
            self.parser.next_after(input, is_head, &mut shared.last_head)
        };
        Ok(part?.map(|part| match part {
            Part::Head(head) => Event::Head(0, head),
            Part::Body(bytes) => Event::Body(0, bytes),
            Part::End { keep_alive } => {
                self.open -= 1;
                self.is_followed = !input.is_empty();
                Event::End { place: 0, keep_alive, is_early: false, failure: None }
            }
        }))
    }

    fn cancel(&mut self, _: usize, _: &mut Vec<u8>) -> bool {
        false
    }

    #[inline]
    fn is_closing(&self) -> bool {
        false
    }

    fn closed(&mut self) -> Result<Option<Event<'static>>, WireError> {
        Ok(self.parser.closed()?.map(|_| Event::End {
            place: 0,
            keep_alive: false,
            is_early: false,
            failure: None,
        }))
    }

    fn missing(&self) -> Missing {
        self.parser.missing()
    }

    #[inline]
    fn skippable(&self) -> Option<u64> {
        self.parser.body_left()
    }

    fn skip(&mut self, bytes: u64) {
        self.parser.skip(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Hearer for Nobody {
        fn is_head(&self, _: usize) -> bool {
            false
        }
    }

    /// What comes of these pieces after one request.
    fn read(pieces: &[&[u8]]) -> Result<usize, WireError> {
        let request = RequestBytes { request: b"GET / HTTP/1.1\r\n\r\n", last: b"", is_encrypted: false };
        let (mut session, mut shared) = (Http1::default(), Http1::shared(vec![request])?);
        let (mut out, mut ends) = (Vec::new(), 0);
        session.begin(&mut shared, 0, false, &mut out);
        for piece in pieces {
            let mut input = *piece;
            while let Some(event) = session.next(&mut shared, &mut input, &mut out, &mut Nobody)? {
                ends += usize::from(matches!(event, Event::End { .. }));
            }
        }
        Ok(ends)
    }

    #[test]
    fn a_408_is_the_end_of_an_idle_connection_unless_it_comes_with_an_answer() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".as_slice();
        let idle =
            b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".as_slice();
        assert_eq!(read(&[answer]), Ok(1));
        assert_eq!(read(&[answer, b"\r\n"]), Ok(1));
        assert_eq!(read(&[answer, idle]), Err(WireError::EndsIdle));
        assert_eq!(read(&[&[answer, b"\r\n"].concat(), idle]), Err(WireError::EndsIdle));
        assert_eq!(read(&[&[answer, idle].concat()]), Err(WireError::Excess(crate::Ending::Answer)));
    }
}
