//! The mishaps of a share of answers: a pure function of the seed and of the answer's number.

use stats::random::{derive, uniform};

/// Distinguishes the stream of mishaps from every other one of the same seed.
const STREAM: u64 = 2;

/// What can happen to one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It has this status.
    Status(u16),
    /// The connection is reset instead.
    Reset,
    /// The connection is closed in the middle of the body.
    Truncate,
    /// It is not HTTP.
    Garbage,
    /// Its `Content-Length` is larger than its body's length by this number; smaller, if the number is negative.
    Length(i64),
    /// Bytes that no request asked for follow it.
    Unasked,
}

/// The mishap of answer `number`. There is at most one, so that each mishap has exactly its share.
pub fn befalls(mishaps: &[(Mishap, f64)], seed: u64, number: u64) -> Option<Mishap> {
    if mishaps.is_empty() {
        return None;
    }
    let mut at = uniform(derive(&[seed, STREAM]), number);
    for (mishap, share) in mishaps {
        if at <= *share {
            return Some(*mishap);
        }
        at -= share;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u64 = 100_000;

    fn count(mishaps: &[(Mishap, f64)], seed: u64, mishap: Option<Mishap>) -> f64 {
        (0..N).filter(|number| befalls(mishaps, seed, *number) == mishap).count() as f64
    }

    #[test]
    fn each_has_its_share() {
        let mishaps = [
            (Mishap::Status(503), 0.01),
            (Mishap::Reset, 0.2),
            (Mishap::Status(404), 0.3),
            (Mishap::Unasked, 1e-3),
        ];
        for seed in 0..5 {
            let mut rest = 1.0;
            for (mishap, share) in mishaps {
                let (found, sd) =
                    (count(&mishaps, seed, Some(mishap)), (N as f64 * share * (1.0 - share)).sqrt());
                assert!((found - N as f64 * share).abs() < 5.0 * sd, "{mishap:?}, {seed}: {found}");
                rest -= share;
            }
            assert!((count(&mishaps, seed, None) - N as f64 * rest).abs() < 5.0 * 160.0);
        }
    }

    #[test]
    fn a_share_of_one_is_every_answer_and_none_is_none() {
        assert_eq!(count(&[(Mishap::Garbage, 1.0)], 3, Some(Mishap::Garbage)), N as f64);
        assert_eq!(count(&[], 3, None), N as f64);
    }

    #[test]
    fn it_depends_on_seed_and_number_only() {
        let fate = |seed| (0..N).map(|n| befalls(&[(Mishap::Reset, 0.5)], seed, n)).collect::<Vec<_>>();
        assert_eq!(fate(1), fate(1));
        let same = fate(1).iter().zip(&fate(2)).filter(|(a, b)| a == b).count() as f64;
        assert!((same - N as f64 / 2.0).abs() < 5.0 * 160.0, "{same}: seeds are independent of each other");
    }
}
