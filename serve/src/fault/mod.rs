//! Known faults: a server that is worse than it could be, by a known amount. Random decisions here are a pure function of the
//! seed and of the answer's number.

mod answer;
mod delay;
mod mishap;
mod outbox;
mod parse;
mod stall;

pub use delay::Delay;
pub use mishap::Mishap;
pub use outbox::streams::Reached;
pub use outbox::{Draft, FaultyOutbox};
pub use parse::help;
pub use stall::Stall;

use std::time::Duration;

/// One fault, as given on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Pauses of a whole thread.
    Stall(Stall),
    /// Answers are delayed.
    Delay(Delay),
    /// Answers leave slowly.
    Trickle(Trickle),
    /// How the client learns where an answer ends.
    Framing(Framing),
    /// The number of the answer that is a connection's last and announces the close.
    CloseAfter(u64),
    /// The number of the answer that is a connection's last, without announcing the close.
    DropAfter(u64),
    /// A mishap of a share of answers, above 0 and at most 1.
    Mishap(Mishap, f64),
}

/// A pace at which bytes leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trickle {
    /// How many bytes leave at a time, at least one.
    pub bytes: usize,
    /// The time from one to the next.
    pub every: Duration,
}

/// How the client learns where an answer ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// By its `Content-Length`.
    #[default]
    Length,
    /// By its last chunk.
    Chunked,
    /// By the end of the connection, as in HTTP/1.0.
    Http10,
}

/// All faults of a server, which don't contradict each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Pauses of a whole thread.
    pub stall: Option<Stall>,
    delay: Option<Delay>,
    trickle: Option<Trickle>,
    framing: Option<Framing>,
    close_after: Option<u64>,
    drop_after: Option<u64>,
    mishaps: Vec<(Mishap, f64)>,
    seed: u64,
}

/// An error in the given faults.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum FaultError {
    /// There is no fault of that name.
    #[error("`{0}` is not a fault; available:\n{forms}", forms = parse::forms(|_| true))]
    Unknown(String),
    /// The name is known, but not what follows.
    #[error("`{text}` can't be read; write\n{forms}", forms = parse::forms(|n| n == *name))]
    Unreadable {
        /// The fault as given.
        text: String,
        /// Its name.
        name: &'static str,
    },
    /// A fault was given more than once.
    #[error("{0}: given more than once, leave out all but one")]
    Twice(&'static str),
    /// Two faults exclude each other.
    #[error("length=… needs answers that have a length: leave out chunked and http10")]
    NoLength,
    /// The shares exceed all answers.
    #[error("the shares add up to {0}: an answer has at most one of these faults, so the maximum is 1")]
    Shares(f64),
}

/// The largest error that binary fractions make in shares, which are given in decimals.
const ROUNDING: f64 = 1e-9;

impl Faults {
    /// Combines all of these; the seed decides what is random. Errors: a fault is given twice, or two of them exclude each other.
    pub fn new(faults: &[Fault], seed: u64) -> Result<Self, FaultError> {
        let mut all = Self { seed, ..Self::default() };
        for fault in faults {
            match *fault {
                Fault::Stall(stall) => once("stall", &mut all.stall, stall)?,
                Fault::Delay(delay) => once("delay", &mut all.delay, delay)?,
                Fault::Trickle(trickle) => once("trickle", &mut all.trickle, trickle)?,
                Fault::Framing(framing) => once("chunked or http10", &mut all.framing, framing)?,
                Fault::CloseAfter(n) => once("close-after", &mut all.close_after, n)?,
                Fault::DropAfter(n) => once("drop-after", &mut all.drop_after, n)?,
                Fault::Mishap(mishap, share) => all.mishaps.push((mishap, share)),
            }
        }
        let shares: f64 = all.mishaps.iter().map(|(_, share)| share).sum();
        if shares > 1.0 + ROUNDING {
            return Err(FaultError::Shares(shares));
        }
        let needs_length = all.mishaps.iter().any(|(mishap, _)| matches!(mishap, Mishap::Length(_)));
        if needs_length && all.framing.is_some() {
            return Err(FaultError::NoLength);
        }
        Ok(all)
    }

    /// Whether answers may be changed, delayed or slowed down between their making and their sending.
    pub fn touch_answers(&self) -> bool {
        *self != Self { stall: self.stall, seed: self.seed, ..Self::default() }
    }
}

fn once<T>(name: &'static str, place: &mut Option<T>, value: T) -> Result<(), FaultError> {
    if place.replace(value).is_some() { Err(FaultError::Twice(name)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(texts: &[&str]) -> Result<Faults, FaultError> {
        let all: Vec<Fault> = texts.iter().map(|text| text.parse().unwrap()).collect();
        Faults::new(&all, 0)
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let cases: [(&[&str], &str); 7] = [
            (&["delay=1ms", "delay=exp:1ms"], "delay: given more than once"),
            (&["stall=1ms/1s", "stall=2ms/1s"], "stall: given more than once"),
            (&["chunked", "http10"], "chunked or http10: given more than once"),
            (&["close-after=1", "close-after=2"], "close-after: given more than once"),
            (&["length=+1@0.1", "http10"], "leave out chunked and http10"),
            (&["reset@0.6", "garbage@0.5"], "the shares add up to 1.1"),
            (&["reset", "garbage@0.01"], "the shares add up to 1.01"),
        ];
        for (texts, words) in cases {
            let error = faults(texts).unwrap_err().to_string();
            assert!(error.contains(words), "{texts:?}: {error}");
        }
        assert!(faults(&["reset@0.7", "garbage@0.2", "truncate@0.1"]).is_ok(), "these come to 1");
    }

    #[test]
    fn a_stall_alone_leaves_answers_as_they_are() {
        assert!(!faults(&[]).unwrap().touch_answers());
        assert!(!faults(&["stall=1ms/1s"]).unwrap().touch_answers());
        for text in ["delay=1ms", "chunked", "drop-after=1", "reset@0.1"] {
            assert!(faults(&[text]).unwrap().touch_answers(), "{text}");
        }
    }
}
