//! Answers between their making and their sending: changed, delayed, or sent piece by piece. A connection has at most one answer here; its
//! further requests wait for it. Other connections are not held up.

pub mod streams;

use super::answer::{Change, UPGRADE, changed, changed_message};
use super::{Faults, Framing, Mishap, mishap};
use net::{Io, Slot, clock};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use streams::Step;

/// One thread's answers on their way.
#[derive(Debug)]
pub struct FaultyOutbox<'f> {
    faults: &'f Faults,
    /// The number of the next answer, over all threads.
    numbers: &'f AtomicU64,
    lines: Vec<Line>,
    /// When the next bytes of an answer are due, on which connection; the earliest first. Whether the connection still is the same is
    /// checked when they are due.
    due: BinaryHeap<Reverse<(u64, u64, Slot)>>,
    /// What is to come of answers over HTTP/2, by its time and the answer's number.
    later: BTreeMap<(u64, u64), (Slot, Step)>,
}

/// What is decided for an answer, whatever the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Fate {
    pub number: u64,
    pub mishap: Option<Mishap>,
    /// Whether it announces that its connection closes after it.
    pub says_close: bool,
    /// Whether it is its connection's last.
    pub is_last: bool,
    pub delay_ns: u64,
}

/// The state of a connection.
#[derive(Debug, Default)]
struct Line {
    /// The number of answers it has had.
    answers: u64,
    waiting: Option<Waiting>,
}

/// An answer whose time has not come, or not for all of it.
#[derive(Debug)]
struct Waiting {
    number: u64,
    bytes: Vec<u8>,
    sent_bytes: usize,
    is_reset: bool,
}

/// An answer as the server made it.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// Head and body.
    pub bytes: &'a [u8],
    /// Whether the connection stays open after it.
    pub goes_on: bool,
    /// Whether the request was HTTP/1.0, which does not understand chunks.
    pub http10: bool,
    /// Whether it is a message of a WebSocket, in its frames.
    pub is_message: bool,
}

impl<'f> FaultyOutbox<'f> {
    /// An empty outbox.
    pub fn new(faults: &'f Faults, numbers: &'f AtomicU64) -> Self {
        Self { faults, numbers, lines: Vec::new(), due: BinaryHeap::new(), later: BTreeMap::new() }
    }

    /// Drops what waits on a slot, whose connection is new or over.
    pub fn forget(&mut self, slot: Slot) {
        let index = slot as usize;
        if index >= self.lines.len() {
            self.lines.resize_with(index + 1, Line::default);
        }
        self.lines[index] = Line::default();
        self.later.retain(|_, (of, _)| *of != slot);
    }

    /// Whether an answer of this connection is not sent completely.
    pub fn holds(&self, slot: Slot) -> bool {
        self.lines.get(slot as usize).is_some_and(|line| line.waiting.is_some())
    }

    /// Sends an answer, now or later. Returns first whether it is sent completely (if not, [`FaultyOutbox::send_due`] or [`net::Event::Drained`]
    /// reports when it is), and second whether the connection stays open after it.
    pub fn send<I: Io>(&mut self, io: &mut I, slot: Slot, draft: Draft<'_>, now_ns: u64) -> (bool, bool) {
        let Fate { number, mishap, says_close, is_last, delay_ns } = self.fate(slot);
        let is_upgrade = draft.bytes.starts_with(UPGRADE);
        let framing = match self.faults.framing.unwrap_or_default() {
            _ if draft.is_message || is_upgrade => Framing::Length,
            Framing::Chunked if draft.http10 => Framing::Length,
            framing => framing,
        };
        let bytes = if draft.is_message {
            changed_message(draft.bytes, mishap, says_close)
        } else {
            changed(draft.bytes, Change { framing, mishap, says_close })
        };
        let is_reset = mishap == Some(Mishap::Reset);
        let is_refused = is_upgrade && matches!(mishap, Some(Mishap::Status(_) | Mishap::Garbage));
        let is_cut = mishap == Some(Mishap::Truncate);
        let is_over = is_last || framing == Framing::Http10 || is_reset || is_refused || is_cut;
        let goes_on = draft.goes_on && !is_over;
        if delay_ns > 0 || self.faults.trickle.is_some() {
            let Some(line) = self.lines.get_mut(slot as usize) else {
                return (true, false); // No connection is without its line.
            };
            line.waiting = Some(Waiting { number, bytes, sent_bytes: 0, is_reset });
            self.due.push(Reverse((now_ns.saturating_add(delay_ns), number, slot)));
            return (false, goes_on);
        }
        if is_reset {
            io.reset(slot);
            return (true, false);
        }
        (io.send(slot, &bytes), goes_on)
    }

    /// Decides what befalls the next answer, which is this connection's.
    fn fate(&mut self, slot: Slot) -> Fate {
        let faults = self.faults;
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let answers = self.lines.get_mut(slot as usize).map_or(0, |line| {
            line.answers += 1;
            line.answers
        });
        let is_last = |after: Option<u64>| after.is_some_and(|n| answers >= n);
        let says_close = is_last(faults.close_after);
        Fate {
            number,
            mishap: mishap::befalls(&faults.mishaps, faults.seed, number),
            says_close,
            is_last: says_close || is_last(faults.drop_after),
            delay_ns: faults.delay.map_or(0, |delay| delay.ns(faults.seed, number)),
        }
    }

    /// How long until something is due, at most `longest`.
    pub fn wait(&self, now_ns: u64, longest: Duration) -> Duration {
        let due = self.due.peek().map(|Reverse((due_ns, ..))| *due_ns);
        let later = self.later.first_key_value().map(|((due_ns, _), _)| *due_ns);
        due.into_iter()
            .chain(later)
            .min()
            .map_or(longest, |due_ns| Duration::from_nanos(due_ns.saturating_sub(now_ns)).min(longest))
    }

    /// Sends what is due. Returns a connection whose answer is now sent completely, one at a time; `None`: nothing is due.
    pub fn send_due<I: Io>(&mut self, io: &mut I, now_ns: u64) -> Option<Slot> {
        while let Some(Reverse((due_ns, number, slot))) = self.due.peek().copied() {
            if due_ns > now_ns {
                break;
            }
            self.due.pop();
            let line = self.lines.get_mut(slot as usize)?;
            let Some(waiting) = line.waiting.as_mut().filter(|waiting| waiting.number == number) else {
                continue;
            };
            if waiting.is_reset {
                io.reset(slot);
                line.waiting = None;
                return Some(slot);
            }
            let left = &waiting.bytes[waiting.sent_bytes..];
            let part = self.faults.trickle.map_or(left.len(), |trickle| trickle.bytes.min(left.len()));
            let is_sent = io.send(slot, &left[..part]);
            waiting.sent_bytes += part;
            if let Some(trickle) = self.faults.trickle.filter(|_| part < left.len()) {
                let next_ns = due_ns.saturating_add(clock::ns_of(trickle.every));
                self.due.push(Reverse((next_ns, number, slot)));
                continue;
            }
            line.waiting = None;
            if is_sent {
                return Some(slot);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Delay;
    use crate::fault::answer::GARBAGE;
    use net::{Completion, Endpoint};
    use std::os::fd::OwnedFd;
    use std::sync::Arc;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nPONG";

    /// A back end that records everything that is sent.
    #[derive(Default)]
    struct Record {
        sent: Vec<(Slot, Vec<u8>)>,
        reset: Vec<Slot>,
        /// Whether peers do not read.
        is_full: bool,
    }

    impl Io for Record {
        fn connect(&mut self, _: Slot, _: &Endpoint) {}
        fn listen(&mut self, _: OwnedFd) -> std::io::Result<()> {
            Ok(())
        }
        fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
            self.sent.push((slot, bytes.to_vec()));
            !self.is_full
        }
        fn send_file(&mut self, _: Slot, _: &Arc<OwnedFd>, _: u64, _: u64) -> bool {
            true
        }
        fn skip(&mut self, _: Slot, _: u64) {}
        fn close(&mut self, _: Slot) {}
        fn reset(&mut self, slot: Slot) {
            self.reset.push(slot);
        }
        fn wait(&mut self, _: Option<Duration>) -> std::io::Result<bool> {
            Ok(false)
        }
        fn next(&mut self) -> Option<Completion> {
            None
        }
        fn bytes(&self) -> &[u8] {
            &[]
        }
    }

    fn faults(texts: &[&str]) -> Faults {
        let all: Vec<_> = texts.iter().map(|text| text.parse().unwrap()).collect();
        Faults::new(&all, 7).unwrap()
    }

    fn ask(outbox: &mut FaultyOutbox<'_>, io: &mut Record, slot: Slot, now_ns: u64) -> (bool, bool) {
        outbox.send(
            io,
            slot,
            Draft { bytes: ANSWER, goes_on: true, http10: false, is_message: false },
            now_ns,
        )
    }

    /// An outbox with eight connections.
    fn outbox<'f>(faults: &'f Faults, numbers: &'f AtomicU64) -> FaultyOutbox<'f> {
        let mut outbox = FaultyOutbox::new(faults, numbers);
        (0..8).for_each(|slot| outbox.forget(slot));
        outbox
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn answers_leave_in_the_order_in_which_they_are_due() {
        let (faults, numbers, mut io) =
            (faults(&["delay=uniform:1ms..9ms"]), AtomicU64::new(0), Record::default());
        let mut outbox = outbox(&faults, &numbers);
        let due = |number| Delay::Uniform(Duration::from_millis(1), Duration::from_millis(9)).ns(7, number);
        for slot in 0..8 {
            assert_eq!(ask(&mut outbox, &mut io, slot, 0), (false, true));
            assert!(outbox.holds(slot));
        }
        let mut order: Vec<u64> = (0..8).collect();
        order.sort_by_key(|number| due(*number));
        for number in order {
            let wait = outbox.wait(0, Duration::from_secs(1));
            assert_eq!(wait.as_nanos() as u64, due(number));
            assert_eq!(outbox.send_due(&mut io, due(number) - 1), None);
            assert_eq!(outbox.send_due(&mut io, due(number)), Some(number as Slot));
            assert_eq!(io.sent.pop().unwrap(), (number as Slot, ANSWER.to_vec()));
            assert!(!outbox.holds(number as Slot));
        }
        assert_eq!(outbox.wait(0, Duration::from_secs(1)), Duration::from_secs(1));
    }

    #[test]
    fn nothing_is_sent_to_a_connection_that_took_the_place_of_another() {
        let (faults, numbers, mut io) = (faults(&["delay=5ms"]), AtomicU64::new(0), Record::default());
        let mut outbox = outbox(&faults, &numbers);
        ask(&mut outbox, &mut io, 3, 0);
        outbox.forget(3);
        ask(&mut outbox, &mut io, 3, 2 * MS);
        assert_eq!(outbox.send_due(&mut io, 6 * MS), None);
        assert!(io.sent.is_empty());
        assert_eq!(outbox.send_due(&mut io, 7 * MS), Some(3));
        assert_eq!(io.sent.len(), 1);
    }

    #[test]
    fn a_trickle_keeps_its_pace_and_makes_up_for_lateness() {
        let (faults, numbers, mut io) = (faults(&["trickle=10B/1ms"]), AtomicU64::new(0), Record::default());
        let mut outbox = outbox(&faults, &numbers);
        ask(&mut outbox, &mut io, 0, 0);
        assert_eq!((outbox.send_due(&mut io, 0), io.sent.len()), (None, 1));
        assert_eq!((outbox.send_due(&mut io, MS - 1), io.sent.len()), (None, 1));
        assert_eq!((outbox.send_due(&mut io, 3 * MS), io.sent.len()), (None, 4));
        assert_eq!((outbox.send_due(&mut io, 4 * MS), io.sent.len()), (Some(0), 5));
        assert!(io.sent[..4].iter().all(|(_, bytes)| bytes.len() == 10));
        assert_eq!(io.sent.iter().flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>(), ANSWER);
    }

    #[test]
    fn an_answer_that_its_peer_does_not_read_is_told_by_the_back_end() {
        let (faults, numbers) = (faults(&["delay=1ms"]), AtomicU64::new(0));
        let (mut outbox, mut io) = (outbox(&faults, &numbers), Record { is_full: true, ..Record::default() });
        ask(&mut outbox, &mut io, 0, 0);
        assert_eq!((outbox.send_due(&mut io, MS), io.sent.len(), outbox.holds(0)), (None, 1, false));
    }

    #[test]
    fn a_connection_is_over_after_so_many_answers() {
        for (fault, says) in [("close-after=3", true), ("drop-after=3", false)] {
            let (faults, numbers, mut io) = (faults(&[fault]), AtomicU64::new(0), Record::default());
            let mut outbox = outbox(&faults, &numbers);
            let goes_on: Vec<bool> = (0..3).map(|_| ask(&mut outbox, &mut io, 0, 0).1).collect();
            assert_eq!(goes_on, [true, true, false], "{fault}");
            assert_eq!(ask(&mut outbox, &mut io, 1, 0), (true, true), "another connection has its own count");
            let last = String::from_utf8_lossy(&io.sent[2].1).into_owned();
            assert!(last.contains("Connection: close") == says && last.ends_with("PONG"), "{last}");
        }
    }

    #[test]
    fn a_reset_comes_when_its_answer_would() {
        let (at_once, later, numbers) =
            (faults(&["reset"]), faults(&["reset", "delay=1ms"]), AtomicU64::new(0));
        let mut io = Record::default();
        assert_eq!(ask(&mut outbox(&at_once, &numbers), &mut io, 4, 0), (true, false));
        assert_eq!(io.reset, [4]);
        let mut outbox = outbox(&later, &numbers);
        assert_eq!(ask(&mut outbox, &mut io, 5, 0), (false, false));
        assert_eq!((io.reset.len(), outbox.send_due(&mut io, MS)), (1, Some(5)));
        assert!(io.reset == [4, 5] && io.sent.is_empty());
    }

    #[test]
    fn what_befalls_an_answer_goes_by_its_number_over_all_threads() {
        let (faults, numbers, mut io) = (faults(&["garbage@0.3"]), AtomicU64::new(0), Record::default());
        let (mut one, mut other) = (outbox(&faults, &numbers), outbox(&faults, &numbers));
        for n in 0..200 {
            ask(if n % 3 == 0 { &mut one } else { &mut other }, &mut io, 0, 0);
        }
        let fates = (0..200).map(|n| mishap::befalls(&[(Mishap::Garbage, 0.3)], 7, n).is_some());
        assert!(io.sent.iter().map(|(_, bytes)| bytes == GARBAGE).eq(fates));
    }

    #[test]
    fn messages_of_a_websocket_have_faults_of_their_own() {
        let cases: [(&str, &[u8], bool); 9] = [
            ("chunked", b"\x82\x04PONG", true),
            ("http10", b"\x82\x04PONG", true),
            ("status=503", b"\x82\x04PONG", true),
            ("length=-1", b"\x82\x04PONG", true),
            ("unasked", b"\x82\x04PONG\x81\x07unasked", true),
            ("truncate", b"\x82\x04P", false),
            ("garbage", GARBAGE, true),
            ("close-after=1", b"\x82\x04PONG\x88\x02\x03\xe9", false),
            ("drop-after=1", b"\x82\x04PONG", false),
        ];
        for (fault, expected, goes_on) in cases {
            let (faults, numbers, mut io) = (faults(&[fault]), AtomicU64::new(0), Record::default());
            let mut outbox = outbox(&faults, &numbers);
            outbox.forget(0);
            let draft = Draft { bytes: b"\x82\x04PONG", goes_on: true, http10: false, is_message: true };
            assert_eq!(outbox.send(&mut io, 0, draft, 0), (true, goes_on), "{fault}");
            assert_eq!(io.sent[0].1, expected, "{fault}");
        }
    }

    #[test]
    fn who_speaks_http_1_0_gets_no_chunks() {
        let (faults, numbers, mut io) = (faults(&["chunked"]), AtomicU64::new(0), Record::default());
        let draft = Draft { bytes: ANSWER, goes_on: true, http10: true, is_message: false };
        outbox(&faults, &numbers).send(&mut io, 0, draft, 0);
        assert_eq!(io.sent[0].1, ANSWER);
    }
}
