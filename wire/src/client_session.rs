//! One connection as a client sees it, whatever the protocol: requests in, bytes out; bytes in, events out. No sockets and no clock.

use crate::grpc::status::GrpcStatus;
use crate::{Head, Missing, WireError};

/// What is said on one connection of a client. Requests without a whole answer are known by their place: 0 is the one that was begun first.
/// When one ends, whoever stands behind it moves up.
pub trait ClientSession<'p>: Default {
    /// What the sessions of one thread have in common: the requests as this protocol writes them, and memory to work in.
    type Shared;

    /// Whether answers come in the order of the requests, so that all bytes belong to the first one's.
    const IN_ORDER: bool;

    /// Whether a server with TLS must have agreed in the handshake to speak this protocol, and not HTTP/1.
    const IS_AGREED_ON: bool;

    /// What is shared by sessions that make these requests. Errors: a request that this protocol can't say.
    fn shared(requests: Vec<RequestBytes<'p>>) -> Result<Self::Shared, WireError>;

    /// The name of the reason with this number for which an answer was broken off.
    fn reason(number: u32) -> &'static str {
        let _ = number;
        "no reason given"
    }

    /// Writes what opens the connection.
    fn open(&mut self, shared: &mut Self::Shared, out: &mut Vec<u8>);

    /// The number of further requests that the server takes now, as far as it has said.
    fn room(&self) -> usize;

    /// The number of requests that the server takes at once, if it has said so.
    fn max_open(&self) -> Option<usize> {
        None
    }

    /// The number of requests whose bodies had to wait for the server's flow control, since this was asked last.
    fn take_held_back(shared: &mut Self::Shared) -> u64 {
        let _ = shared;
        0
    }

    /// Begins the request with this index among the shared ones, for which there is room. `is_last`: none follows on this connection.
    fn begin(&mut self, shared: &mut Self::Shared, ask: usize, is_last: bool, out: &mut Vec<u8>);

    /// Returns the next event; takes its bytes off `input`. `None`: all of `input` is used up. What has to be said to the server is
    /// written to `out`, also before an error. Errors: nothing more can be read from this connection.
    fn next<'a, H: Hearer>(
        &mut self,
        shared: &mut Self::Shared,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
        hearer: &mut H,
    ) -> Result<Option<Event<'a>>, WireError>;

    /// Gives up the request at this place, which is no longer open then. False: not without giving up the connection.
    fn cancel(&mut self, place: usize, out: &mut Vec<u8>) -> bool;

    /// Whether the server takes no further request on this connection; those that are open go on.
    fn is_closing(&self) -> bool;

    /// Handles the close by the peer, which may be the end of the first request's answer. `None`: it closed between two answers.
    fn closed(&mut self) -> Result<Option<Event<'static>>, WireError>;

    /// What is missing of the answer to the first request.
    fn missing(&self) -> Missing;

    /// The number of further bytes of which each belongs to the body of the first request's answer: the kernel may drop them unread.
    fn skippable(&self) -> Option<u64> {
        None
    }

    /// Counts bytes of that body that passed unread.
    fn skip(&mut self, bytes: u64) {
        let _ = bytes;
    }
}

/// A request as the bytes of HTTP/1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBytes<'p> {
    /// As it is sent when others follow on the connection.
    pub request: &'p [u8],
    /// As it is sent last on a connection.
    pub last: &'p [u8],
    /// Whether it goes to an https URL.
    pub is_encrypted: bool,
}

/// Who reads the answers of a session.
pub trait Hearer {
    /// Whether it wants to hear of fields. If not, heads that were read before need not be read again.
    const HEARS_FIELDS: bool = false;

    /// Whether the request at this place is a HEAD, whose answer has no body.
    fn is_head(&self, place: usize) -> bool;

    /// Hears a field of the head or of the trailers of the answer at this place: its name, its value without white space around it.
    fn field(&mut self, place: usize, name: &[u8], value: &[u8]) {
        let _ = (place, name, value);
    }
}

/// A part of an answer, with the place of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The head is complete. Informational answers (1xx) are passed over.
    Head(usize, Head),
    /// Bytes of the body, with no coding left on them; never empty.
    Body(usize, &'a [u8]),
    /// The answer is whole; its request is no longer open.
    End {
        /// Its place until now.
        place: usize,
        /// Whether the connection can be used for another request. If not, requests that are still open go on only where answers do
        /// not come in order.
        keep_alive: bool,
        /// Whether the answer came before the request was sent whole, as far as the protocol knows.
        is_early: bool,
        /// What the server says that went wrong, where the protocol has a word for it behind the body: then it is no answer.
        failure: Option<GrpcStatus>,
    },
    /// The server has not looked at the request, which is no longer open and may be sent again.
    Refused(usize),
    /// The server broke off the answer, for the reason with this number; the request is no longer open.
    Reset(usize, u32),
    /// The answer breaks a rule of the protocol, and the others on its connection don't; its request is no longer open.
    Malformed(usize, WireError),
}
