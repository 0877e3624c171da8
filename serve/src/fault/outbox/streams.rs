//! Faults of answers over HTTP/2, where each answer has a stream of its own: other streams do not wait for it.

use super::FaultyOutbox;
use crate::answers::frames::{Body, translate};
use crate::connections::streams::{Http2Session, Work};
use crate::fault::answer::{Change, GARBAGE, UNASKED, changed};
use crate::fault::{Framing, Mishap};
use net::{Slot, clock};
use std::sync::Arc;
use wire::http2::frame::{ErrorCode, MAX_STREAM, append_block};
use wire::http2::server::{AnswerBody, BodyEnd};

/// How soon it is looked at again whether an answer has been sent.
const LOOK_AGAIN_NS: u64 = 1_000_000;

/// An answer over HTTP/2, and what befalls it.
#[derive(Debug)]
pub struct FaultyAnswer {
    number: u64,
    stream: u32,
    block: Vec<u8>,
    body: Arc<[u8]>,
    end: BodyEnd,
    mishap: Option<Mishap>,
    /// Whether it is the last of its connection.
    is_last: bool,
    /// Whether that is announced.
    says_close: bool,
    delay_ns: u64,
}

/// What has been reached of a faulty answer, at a moment of the clock.
#[derive(Debug)]
pub struct Reached {
    now_ns: u64,
    step: Step,
}

#[derive(Debug)]
pub enum Step {
    /// It has been made.
    Made(Box<FaultyAnswer>),
    /// Its time has come.
    Due(Box<FaultyAnswer>),
    /// The next bytes of its body may leave: its number and its stream.
    More(u64, u32),
    /// An answer that no request asked for follows when this one is sent: its number and its stream.
    Unasked(u64, u32),
}

impl FaultyOutbox<'_> {
    /// Decides what befalls an answer, which is given as HTTP/1 would send it.
    pub fn befall(&mut self, slot: Slot, stream: u32, answer: &[u8], now_ns: u64) -> Reached {
        let fate = self.fate(slot);
        let framing = self.faults.framing.unwrap_or_default();
        // What HTTP/2 does in another way befalls the frames.
        let mishap = fate.mishap.filter(|mishap| matches!(mishap, Mishap::Status(_) | Mishap::Length(_)));
        let answer = changed(answer, Change { mishap, ..Change::default() });
        let mut block = Vec::new();
        let (body, end) = translate(&answer, framing == Framing::Length, &mut block);
        let ends_connection = framing == Framing::Http10;
        let answer = FaultyAnswer {
            number: fate.number,
            stream,
            block,
            body: Arc::from(body),
            end,
            mishap: fate.mishap,
            is_last: fate.is_last || ends_connection,
            says_close: fate.says_close || ends_connection,
            delay_ns: fate.delay_ns,
        };
        Reached { now_ns, step: Step::Made(Box::new(answer)) }
    }

    /// The next faulty answer that is to go on, and its connection.
    pub fn take_due(&mut self, now_ns: u64) -> Option<(Slot, Reached)> {
        let first = self.later.first_entry().filter(|entry| entry.key().0 <= now_ns)?;
        let now_ns = first.key().0;
        let (slot, step) = first.remove();
        Some((slot, Reached { now_ns, step }))
    }

    /// Carries out what has been reached, and remembers what is to come. True: the connection is to be reset.
    pub fn carry_out(
        &mut self,
        slot: Slot,
        Reached { now_ns, step }: Reached,
        session: &mut Http2Session,
        out: &mut Vec<u8>,
    ) -> bool {
        let trickle = self.faults.trickle;
        let piece = trickle.map_or(u64::MAX, |trickle| trickle.bytes as u64);
        let (number, stream) = match step {
            Step::Made(answer) if answer.delay_ns > 0 => {
                session.hold(answer.stream, Work::Delayed);
                let due = (now_ns.saturating_add(answer.delay_ns), answer.number);
                self.later.insert(due, (slot, Step::Due(answer)));
                return false;
            }
            Step::Made(answer) | Step::Due(answer) if answer.mishap == Some(Mishap::Reset) => return true,
            Step::Made(answer) | Step::Due(answer) => {
                let (number, stream) = (answer.number, answer.stream);
                if answer.mishap == Some(Mishap::Unasked) {
                    self.later.insert((now_ns, number), (slot, Step::Unasked(number, stream)));
                }
                answer.begin(session, out);
                (number, stream)
            }
            Step::More(number, stream) => (number, stream),
            Step::Unasked(number, stream) if session.work(stream).is_some() => {
                let again = (now_ns.saturating_add(LOOK_AGAIN_NS), number);
                self.later.insert(again, (slot, Step::Unasked(number, stream)));
                return false;
            }
            Step::Unasked(..) => {
                let mut block = Vec::new();
                translate(UNASKED, true, &mut block);
                append_block(out, MAX_STREAM, &block, true);
                return false;
            }
        };
        if session.allow(stream, piece)
            && let Some(trickle) = trickle
        {
            let due = (now_ns.saturating_add(clock::ns_of(trickle.every)), number);
            self.later.insert(due, (slot, Step::More(number, stream)));
        }
        false
    }
}

impl FaultyAnswer {
    /// Sends its head; of its body nothing may be sent yet.
    fn begin(self, session: &mut Http2Session, out: &mut Vec<u8>) {
        let Self { stream, block, body, end, mishap, is_last, says_close, .. } = self;
        let (length, body) = (body.len() as u64, Work::Sending(Body::Bytes(body)));
        let whole = AnswerBody { length, allowed: 0, end };
        match mishap {
            Some(Mishap::Garbage) => out.extend_from_slice(GARBAGE),
            Some(Mishap::Truncate) if length < 2 => session.reset(stream, ErrorCode::INTERNAL_ERROR, out),
            Some(Mishap::Truncate) => {
                let half = AnswerBody { length: length / 2, end: BodyEnd::Reset, ..whole };
                session.answer(stream, &block, half, body, out);
            }
            _ => session.answer(stream, &block, whole, body, out),
        }
        if is_last {
            session.end(says_close, out);
        }
    }
}
