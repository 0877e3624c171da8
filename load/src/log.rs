//! The log of single exchanges, if it is wanted. A worker keeps a chunk of its own and hands it over a hundred times a second,
//! so that nothing is shared per request, and nothing is kept longer than necessary.

use crate::connection::{Connection, Flight};
use model::{End, Exchange};
use std::sync::mpsc::Sender;

/// The room of a chunk from the start: what a fast server answers in ten milliseconds.
const CHUNK: usize = 2048;

/// The exchanges of one worker since it last handed them over.
#[derive(Debug)]
pub struct Log {
    chunk: Vec<Exchange>,
    to: Sender<Vec<Exchange>>,
}

impl Log {
    /// An empty log whose chunks go to `to`.
    pub fn new(to: Sender<Vec<Exchange>>) -> Self {
        Self { chunk: Vec::with_capacity(CHUNK), to }
    }

    /// Records a request of this connection that has ended.
    pub fn write(&mut self, connection: &Connection, flight: &Flight, now: u64, end: End) {
        let nth = connection.answered() - usize::from(matches!(end, End::Answered { .. }));
        let (connect_ns, connected_ns) = connection.times_ns();
        self.chunk.push(Exchange {
            connection: connection.number(),
            nth: nth as u32,
            ask: flight.ask,
            connect_ns,
            connected_ns,
            due_ns: flight.due_ns,
            sent_ns: flight.sent_ns,
            first_byte_ns: flight.first_byte_ns,
            done_ns: now,
            body_bytes: flight.check.length(),
            end,
        });
    }

    /// Hands over the chunk. The receiver may be gone.
    pub fn hand_over(&mut self) {
        if !self.chunk.is_empty() {
            let room = Vec::with_capacity(self.chunk.len().max(CHUNK));
            let _ = self.to.send(std::mem::replace(&mut self.chunk, room));
        }
    }
}
