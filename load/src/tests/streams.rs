//! A protocol whose answers come in any order, on the worker: the smallest one that can do all that a [`ClientSession`] may.

use super::{assert_accounted, closed, open};
use crate::Progress;
use crate::share::share;
use crate::tests::fake::{Call, Fake, MS, Seen, What};
use crate::worker::Worker;
use model::{Plan, Tally};
use std::rc::Rc;
use std::time::Duration;
use wire::{ClientSession, Event, Head, Hearer, Missing, RequestBytes, WireError};

/// A request is its number on the connection, and giving it up is not told; what the server says are pairs of a number and a letter.
#[derive(Default)]
struct Toy {
    open: Vec<u8>,
    begun: u8,
    most: Option<u8>,
    is_closing: bool,
    is_early: bool,
    /// The place of the answer whose head has been told.
    ending: Option<usize>,
}

/// What the server says of a request.
const ANSWERED: u8 = b'a';
const EARLY: u8 = b'e';
const REFUSED: u8 = b'r';
const BROKEN: u8 = b'b';
/// No further request is taken; those from this one on were not looked at.
const CLOSING: u8 = b'c';
/// Nothing more can be read from the connection.
const ROT: u8 = b'x';
/// The answer breaks a rule, alone.
const MALFORMED: u8 = b'f';
/// No more requests than this may be open at once.
const MOST: u8 = b'm';

impl ClientSession<'_> for Toy {
    type Shared = ();

    const IN_ORDER: bool = false;
    const IS_AGREED_ON: bool = false;

    fn shared(_: Vec<RequestBytes<'_>>) -> Result<(), WireError> {
        Ok(())
    }

    fn open(&mut self, (): &mut (), _: &mut Vec<u8>) {}

    fn room(&self) -> usize {
        let most = if self.is_closing { 0 } else { usize::from(self.most.unwrap_or(100)) };
        most.saturating_sub(self.open.len())
    }

    fn max_open(&self) -> Option<usize> {
        self.most.map(usize::from)
    }

    fn begin(&mut self, (): &mut (), _: usize, _: bool, out: &mut Vec<u8>) {
        assert!(self.room() > 0, "a request is begun where there is no room");
        self.open.push(self.begun);
        out.push(self.begun);
        self.begun += 1;
    }

    fn next<'a, H: Hearer>(
        &mut self,
        (): &mut (),
        input: &mut &'a [u8],
        _: &mut Vec<u8>,
        _: &mut H,
    ) -> Result<Option<Event<'a>>, WireError> {
        if let Some(place) = self.ending.take() {
            self.open.remove(place);
            return Ok(Some(Event::End {
                place,
                keep_alive: !self.is_closing,
                is_early: self.is_early,
                failure: None,
            }));
        }
        while let [number, word, rest @ ..] = *input {
            if *word == CLOSING {
                self.is_closing = true;
                if let Some(place) = self.open.iter().position(|of| of >= number) {
                    self.open.remove(place);
                    return Ok(Some(Event::Refused(place)));
                }
            }
            *input = rest;
            let place = self.open.iter().position(|of| of == number);
            match (*word, place) {
                (MOST, _) => self.most = Some(*number),
                (ROT, _) => return Err(WireError::Chunk),
                (MALFORMED, Some(place)) => {
                    self.open.remove(place);
                    return Ok(Some(Event::Malformed(place, WireError::Chunk)));
                }
                (ANSWERED | EARLY, Some(place)) => {
                    self.is_early = *word == EARLY;
                    self.ending = Some(place);
                    return Ok(Some(Event::Head(place, Head { status: 200, length: None })));
                }
                (REFUSED | BROKEN, Some(place)) => {
                    self.open.remove(place);
                    let event = if *word == REFUSED { Event::Refused(place) } else { Event::Reset(place, 2) };
                    return Ok(Some(event));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn cancel(&mut self, place: usize, _: &mut Vec<u8>) -> bool {
        self.open.remove(place);
        true
    }

    fn is_closing(&self) -> bool {
        self.is_closing
    }

    fn closed(&mut self) -> Result<Option<Event<'static>>, WireError> {
        Ok(None)
    }

    fn missing(&self) -> Missing {
        Missing::All
    }
}

/// What the server does with the request of this number on this connection.
fn run(plan: &Plan, mut serve: impl FnMut(usize, u8) -> Vec<(u64, Vec<u8>)>) -> (Tally, Seen) {
    let script = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { nth, requests, before } => {
            let numbers = before..before + requests;
            let said = numbers.flat_map(|number| serve(nth, number as u8));
            said.map(|(after_ns, bytes)| (after_ns, What::Bytes(bytes))).collect()
        }
    };
    let io = Fake::new(1, Box::new(script));
    let (progress, seen) = (Progress::default(), Rc::clone(&io.seen));
    let worker = Worker::<_, Toy>::new(plan, share(plan, 0, 1), io, &progress).unwrap();
    let tally = worker.run(&()).unwrap();
    assert_accounted(&tally);
    let seen = seen.borrow().clone();
    (tally, seen)
}

fn streams(plan: Plan, pipeline: usize, requests: u64) -> Plan {
    Plan { pipeline, most_requests: Some(requests), until: model::Until::Answered(requests), ..plan }
}

#[test]
fn answers_come_in_any_order_and_each_counts_from_its_own_request() {
    let plan = streams(closed(1), 4, 100);
    // Every fourth takes ten times as long, so that three overtake it.
    let (tally, seen) = run(&plan, |_, number| {
        let after_ns = if number % 4 == 0 { 10 * MS } else { MS };
        vec![(after_ns, vec![number, ANSWERED])]
    });
    assert_eq!((tally.completed, tally.errors.total(), seen.connects_ns.len()), (100, 0, 1));
    let ms = |share| tally.latency.quantile_ns(share).unwrap() as f64 / 1e6;
    assert!((ms(0.5) - 1.0).abs() < 0.1 && (ms(0.9) - 10.0).abs() < 0.5, "{} {}", ms(0.5), ms(0.9));
}

#[test]
fn a_limit_is_obeyed_from_when_it_comes_and_one_that_rises_is_used() {
    let plan = streams(closed(1), 8, 100);
    let (tally, _) = run(&plan, |_, number| match number {
        0 => vec![(MS, vec![2, MOST, 0, ANSWERED])],
        // The room that comes back is used although no answer came with it.
        50 => vec![(MS, vec![0, MOST]), (2 * MS, vec![6, MOST]), (3 * MS, vec![50, ANSWERED])],
        _ => vec![(MS, vec![number, ANSWERED])],
    });
    assert_eq!((tally.completed, tally.errors.total(), tally.streams_allowed), (100, 0, Some(6)));
}

#[test]
fn what_the_server_did_not_look_at_is_sent_again_and_counts_from_its_first_send() {
    let plan = streams(closed(1), 4, 100);
    let (tally, seen) = run(&plan, |_, number| {
        let word = if number % 5 == 4 { REFUSED } else { ANSWERED };
        vec![(MS, vec![number, word])]
    });
    assert_eq!((tally.completed, tally.sent, tally.errors.total()), (100, 100, 0));
    assert_eq!(seen.connects_ns.len(), 1);
    let longest = tally.latency.quantile_ns(1.0).unwrap();
    assert!(longest >= 2 * MS, "{longest}");
}

#[test]
fn a_server_that_refuses_for_ever_has_lost_the_request() {
    let (tally, _) = run(&streams(closed(1), 2, 6), |_, number| vec![(MS, vec![number, REFUSED])]);
    assert_eq!((tally.completed, tally.errors.receive), (0, 6));
    assert!(tally.error_causes.keys().any(|cause| cause.contains("refused a request 9 times")), "{tally:?}");
}

#[test]
fn a_connection_that_takes_no_more_is_finished_and_replaced_and_nothing_is_lost() {
    for plan in [streams(closed(2), 4, 200), streams(open(5000.0, 2), 4, 200)] {
        // Of those that are under way with the eighth, the others were not looked at.
        let (tally, seen) = run(&plan, |_, number| match number {
            0..7 => vec![(MS * (1 + u64::from(number % 3)), vec![number, ANSWERED])],
            7 => vec![(MS / 2, vec![7, CLOSING])],
            _ => vec![],
        });
        assert_eq!((tally.completed, tally.errors.total()), (200, 0), "{:?}", tally.error_causes);
        assert!(seen.connects_ns.len() >= 200 / 7, "{}", seen.connects_ns.len());
    }
}

#[test]
fn a_server_that_takes_no_request_has_lost_those_that_it_was_given() {
    for plan in [streams(closed(1), 2, 6), streams(open(1000.0, 1), 2, 6)] {
        let (tally, _) = run(&plan, |_, _| vec![(MS, vec![0, CLOSING])]);
        assert_eq!((tally.completed, tally.errors.connect), (0, 6), "{:?}", tally.error_causes);
        assert!(
            tally.error_causes.keys().all(|cause| cause.contains("took no request")),
            "{:?}",
            tally.error_causes
        );
    }
}

#[test]
fn after_an_error_of_the_connection_nothing_is_asked_again_that_the_server_may_have_looked_at() {
    let (tally, seen) = run(&streams(closed(1), 4, 40), |_, number| match number {
        0..6 => vec![(MS, vec![number, ANSWERED])],
        9 => vec![(MS, vec![0, ROT])],
        _ => vec![],
    });
    // Six answers and four losses on each connection.
    assert_eq!((tally.completed, tally.errors.protocol), (24, 16), "{:?}", tally.error_causes);
    assert_eq!(seen.connects_ns.len(), 4);
}

#[test]
fn an_answer_that_is_malformed_or_early_is_wrong_alone() {
    let (tally, seen) = run(&streams(closed(1), 4, 100), |_, number| {
        let word = [ANSWERED, MALFORMED, ANSWERED, ANSWERED, EARLY][usize::from(number % 5)];
        vec![(MS, vec![number, word])]
    });
    assert_eq!((tally.completed, tally.errors.protocol, tally.errors.early), (60, 20, 20));
    assert_eq!(seen.connects_ns.len(), 1);
}

#[test]
fn an_answer_that_is_broken_off_is_lost_alone() {
    let (tally, seen) = run(&streams(closed(1), 4, 100), |_, number| {
        vec![(MS, vec![number, if number % 10 == 9 { BROKEN } else { ANSWERED }])]
    });
    assert_eq!((tally.completed + tally.errors.receive, seen.connects_ns.len()), (100, 1));
    assert_eq!(tally.errors.receive, 10);
}

#[test]
fn a_request_that_takes_too_long_is_given_up_alone() {
    let (tally, seen) = run(&closed_for(2, 4), |_, number| match number {
        3 => vec![],
        number => vec![(100 * MS, vec![number, ANSWERED])],
    });
    assert_eq!((tally.errors.timeout, seen.connects_ns.len()), (1, 1), "{:?}", tally.error_causes);
    // Twenty in a second on each of the streams, but for the one that was given up.
    assert!((60..80).contains(&tally.completed), "{}", tally.completed);
}

#[test]
fn a_connection_that_takes_no_more_is_replaced_when_its_last_request_is_given_up() {
    let (tally, seen) = run(&streams(closed(1), 2, 100), |nth, number| match (nth, number) {
        (0, 0) => vec![(MS, vec![0, ANSWERED, 2, CLOSING])],
        (0, _) => vec![],
        _ => vec![(MS, vec![number, ANSWERED])],
    });
    assert_eq!((tally.errors.timeout, seen.connects_ns.len()), (1, 2), "{:?}", tally.error_causes);
    assert_eq!(tally.completed, 99);
}

#[test]
fn a_server_that_never_has_room_again_is_no_hang() {
    let serve = |_, number| {
        let word = if number == 0 { vec![0, MOST, 0, ANSWERED] } else { vec![number, ANSWERED] };
        vec![(MS, word)]
    };
    let (tally, _) = run(&closed_for(2, 4), serve);
    assert_eq!((tally.completed, tally.streams_allowed), (4, Some(0)));
    let (tally, _) = run(&Plan { pipeline: 4, ..open(100.0, 1) }, serve);
    assert!(tally.unsent_at_end.is_some_and(|unsent| unsent > 150), "{:?}", tally.unsent_at_end);
}

fn closed_for(seconds: u64, pipeline: usize) -> Plan {
    let until = model::Until::Elapsed(Duration::from_secs(seconds));
    Plan { pipeline, until, ..closed(1) }
}
