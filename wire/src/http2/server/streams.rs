//! The open streams of one connection: what is still to come on each and what is still to be sent, under the windows of stream and
//! connection. The streams take turns.

use crate::http2::frame::{DEFAULT_WINDOW, FrameError, MAX_FRAME_BYTES, MAX_WINDOW, window_error};

/// A stream of which either side has not ended.
#[derive(Debug)]
pub struct Stream<W> {
    pub id: u32,
    /// The bytes that may be sent; SETTINGS can make it negative (RFC 9113 section 6.9.2).
    window: i64,
    /// The bytes that the peer may send.
    pub receive_window: u32,
    /// What is missing of the body, where the head said its length.
    pub missing: Option<u64>,
    /// Whether the peer sends no more.
    pub has_ended: bool,
    /// Whether the head of the answer has been sent.
    pub is_answered: bool,
    /// The bytes of the answer's body: those that were sent, those that may be sent by now, all of them.
    sent: u64,
    allowed: u64,
    length: u64,
    end: BodyEnd,
    /// The caller's.
    pub work: Option<W>,
}

/// The open streams of a connection, by their numbers.
#[derive(Debug)]
pub struct Streams<W> {
    all: Vec<Stream<W>>,
    /// The bytes that may be sent on the connection.
    window: u32,
    /// The window of a new stream.
    initial_window: u32,
    /// The index of the stream whose turn it is.
    turn: usize,
}

/// How the body of an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerBody {
    /// The number of its bytes.
    pub length: u64,
    /// How many of them may be sent at once; [`ServerSession::allow`](super::ServerSession::allow) says more.
    pub allowed: u64,
    /// What follows the last byte.
    pub end: BodyEnd,
}

/// What follows the last byte of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyEnd {
    /// Nothing: it is the end of the stream.
    #[default]
    Nothing,
    /// Trailers, as a block that needs no dynamic table. Only behind a body that is not empty.
    Trailers(&'static [u8]),
    /// A reset of the stream.
    Reset,
}

/// A part of a body that is to be sent now.
#[derive(Debug)]
pub struct Part<W> {
    /// The stream.
    pub stream: u32,
    /// The caller's value of the stream.
    pub work: W,
    /// Where it begins in the body.
    pub offset: u64,
    /// The number of its bytes.
    pub length: usize,
    /// Whether it is the last one.
    pub is_last: bool,
    /// What follows the last one.
    pub end: BodyEnd,
}

impl<W> Default for Streams<W> {
    fn default() -> Self {
        Self { all: Vec::new(), window: DEFAULT_WINDOW, initial_window: DEFAULT_WINDOW, turn: 0 }
    }
}

impl<W> Streams<W> {
    /// The number of open streams.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Stream<W>> {
        self.all.iter()
    }

    /// The stream with this number.
    pub fn get(&mut self, id: u32) -> Option<&mut Stream<W>> {
        let at = self.index(id)?;
        self.all.get_mut(at)
    }

    fn index(&self, id: u32) -> Option<usize> {
        self.all.binary_search_by_key(&id, |stream| stream.id).ok()
    }

    /// Adds a stream, whose number is above all others.
    pub fn open(&mut self, id: u32, receive_window: u32, missing: Option<u64>, has_ended: bool) {
        self.all.push(Stream {
            id,
            window: self.initial_window.into(),
            receive_window,
            missing,
            has_ended,
            is_answered: false,
            sent: 0,
            allowed: 0,
            length: 0,
            end: BodyEnd::Nothing,
            work: None,
        });
    }

    /// Removes a stream. False: there is none with this number.
    pub fn remove(&mut self, id: u32) -> bool {
        let Some(at) = self.index(id) else { return false };
        self.all.remove(at);
        if self.turn > at {
            self.turn -= 1;
        }
        if self.all.is_empty() {
            self.all = Vec::new();
        }
        true
    }

    /// Removes a stream of which both sides have ended.
    pub fn remove_if_over(&mut self, id: u32) {
        let is_over = |stream: &mut Stream<W>| {
            stream.has_ended
                && stream.is_answered
                && stream.sent == stream.length
                && stream.end != BodyEnd::Reset
        };
        if self.get(id).is_some_and(is_over) {
            self.remove(id);
        }
    }

    /// Sets a new window for new streams, and moves those of the open ones by the difference.
    pub fn set_initial_window(&mut self, window: u32) -> Result<(), FrameError> {
        let change = i64::from(window) - i64::from(self.initial_window);
        self.initial_window = window;
        for stream in &mut self.all {
            stream.window += change;
            if stream.window > i64::from(MAX_WINDOW) {
                return Err(window_error());
            }
        }
        Ok(())
    }

    /// Widens the window of the connection.
    pub fn widen(&mut self, increment: u32) -> Result<(), FrameError> {
        // Neither is above 2^31 - 1.
        self.window += increment;
        if self.window > MAX_WINDOW { Err(window_error()) } else { Ok(()) }
    }

    /// Takes the bytes of a whole body on a new stream off the windows. False: they do not fit.
    #[inline]
    pub fn take_whole(&mut self, length: u32) -> bool {
        let fits = length <= self.window && length <= self.initial_window;
        if fits {
            self.window -= length;
        }
        fits
    }

    /// Whether there is something that may be sent.
    pub fn can_send(&self) -> bool {
        self.window > 0 && self.all.iter().any(|stream| stream.sendable() > 0)
    }
}

impl<W: Clone> Streams<W> {
    /// The next part of a body, up to a frame, of the stream whose turn it is.
    pub fn next_part(&mut self) -> Option<Part<W>> {
        if self.window == 0 {
            return None;
        }
        let (before, after) = self.all.split_at(self.turn.min(self.all.len()));
        let is_next = |stream: &Stream<W>| stream.sendable() > 0;
        let at = match after.iter().position(is_next) {
            Some(at) => before.len() + at,
            None => before.iter().position(is_next)?,
        };
        self.turn = at + 1;
        let stream = self.all.get_mut(at)?;
        let length = stream.sendable().min(self.window.into()).min(MAX_FRAME_BYTES as u64);
        let (id, offset, work) = (stream.id, stream.sent, stream.work.clone()?);
        stream.sent += length;
        stream.window -= length as i64;
        self.window -= length as u32;
        let (is_last, end) = (stream.sent == stream.length, stream.end);
        if is_last {
            stream.work = None;
        }
        if is_last && end == BodyEnd::Reset {
            self.remove(id);
        } else if is_last {
            self.remove_if_over(id);
        }
        Some(Part { stream: id, work, offset, length: length as usize, is_last, end })
    }
}

impl<W> Stream<W> {
    /// Begins the answer.
    pub fn answer(&mut self, body: AnswerBody, work: W) {
        let AnswerBody { length, allowed, end } = body;
        (self.is_answered, self.work) = (true, Some(work));
        (self.length, self.allowed, self.end) = (length, allowed.min(length), end);
    }

    /// Allows further bytes to be sent. False: there is nothing left that could be.
    pub fn allow(&mut self, bytes: u64) -> bool {
        self.allowed = self.allowed.saturating_add(bytes).min(self.length);
        self.is_answered && self.allowed < self.length
    }

    /// Widens the window.
    pub fn widen(&mut self, increment: u32) -> Result<(), FrameError> {
        self.window += i64::from(increment);
        if self.window > i64::from(MAX_WINDOW) { Err(window_error()) } else { Ok(()) }
    }

    /// The number of bytes that may be sent as far as the stream is concerned.
    fn sendable(&self) -> u64 {
        (self.allowed - self.sent).min(self.window.max(0) as u64)
    }
}
