//! Checks whether an answer is as expected. It is checked as it arrives, so that no body is ever kept.

use model::{Expect, Verify};
use sha2::{Digest, Sha256};
use wire::GrpcStatus;

/// The sampling interval: one body in this many is verified.
const SAMPLE: u64 = 64;

/// The length from which on fewer bodies are verified, because verifying one costs as much as dropping dozens.
const LARGE_BYTES: u64 = 32 * 1024;
const SAMPLE_OF_LARGE: u64 = 1024;

/// Chooses the answers whose bodies are compared with the expected ones. It counts heads, not whole answers, because many large
/// bodies are in transit at once.
#[derive(Debug)]
pub struct BodySampler {
    verify: Verify,
    /// How near the next verified answer is, in parts of [`SAMPLE_OF_LARGE`].
    seen: u64,
}

impl BodySampler {
    /// A sampler for one worker.
    pub fn new(verify: Verify) -> Self {
        Self { verify, seen: 0 }
    }

    /// Whether the body of the answer that begins is compared. Its length is in its head, if at all; `is_first`: no other answer was
    /// begun on its connection, however often that was opened.
    #[inline]
    pub fn looks(&mut self, expect: &Expect, length: Option<u64>, is_first: bool) -> bool {
        expect.looks_at_body()
            && match self.verify {
                Verify::All => true,
                Verify::First => is_first,
                Verify::Sample => is_first || self.is_next(length),
            }
    }

    #[inline]
    fn is_next(&mut self, length: Option<u64>) -> bool {
        let is_large = length.is_some_and(|bytes| bytes >= LARGE_BYTES);
        self.seen += if is_large { 1 } else { SAMPLE_OF_LARGE / SAMPLE };
        let is_due = self.seen >= SAMPLE_OF_LARGE;
        self.seen -= if is_due { SAMPLE_OF_LARGE } else { 0 };
        is_due
    }
}

/// What is wrong with a whole answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// An unexpected status.
    Status,
    /// An unexpected body.
    Body,
    /// It came before the request was sent whole.
    Early,
    /// The server says that it failed, beside the status.
    Failed(GrpcStatus),
}

/// Digests that wait for the next body that one is made of: one for each connection, so that none is allocated for an answer, unless the
/// answer before it broke off and took its digest along.
pub type SpareDigests = Vec<Box<Sha256>>;

/// The state of one answer.
#[derive(Debug, Default)]
pub struct Check {
    status: u16,
    length: u64,
    differs: bool,
    /// Whether the bytes of this body are compared.
    looks: bool,
    /// The digest so far, where the bytes are compared with one.
    digest: Option<Box<Sha256>>,
}

impl Check {
    /// Begins an answer. `looks`: its body is compared, if there is something to compare it with.
    #[inline]
    pub fn head(&mut self, expect: &Expect, status: u16, looks: bool, spare: &mut SpareDigests) {
        let digest = (looks && expect.sha256.is_some()).then(|| spare.pop().unwrap_or_default());
        *self = Self { status, length: 0, differs: false, looks, digest };
    }

    /// Takes in bytes of its body.
    #[inline]
    pub fn body(&mut self, expect: &Expect, bytes: &[u8]) {
        if self.looks {
            if let Some(body) = &expect.body {
                let at = self.length as usize;
                self.differs |= body.get(at..at + bytes.len()) != Some(bytes);
            }
            if let Some(digest) = &mut self.digest {
                digest.update(bytes);
            }
        }
        self.length += bytes.len() as u64;
    }

    /// Whether the bytes of this answer's body are compared.
    pub fn looks(&self) -> bool {
        self.looks
    }

    /// The number of bytes of its body so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Counts bytes of its body that passed unread.
    #[inline]
    pub fn skip(&mut self, bytes: u64) {
        self.length += bytes;
    }

    /// Ends the answer: its status, and what is wrong with it.
    #[inline]
    pub fn end(&mut self, expect: &Expect, spare: &mut SpareDigests) -> (u16, Option<Wrong>) {
        let right_digest = self.digest.take().is_none_or(|mut digest| {
            let found = digest.finalize_reset();
            spare.push(digest);
            expect.sha256.is_none_or(|expected| found[..] == expected)
        });
        let right_status =
            expect.any_status || expect.status.map_or(matches!(self.status, 200..400), |s| s == self.status);
        let whole = expect.body.as_ref().is_none_or(|body| body.len() as u64 == self.length);
        let right_length = expect.length.is_none_or(|length| length == self.length);
        let wrong = if !right_status {
            Some(Wrong::Status)
        } else if self.differs || !whole || !right_length || !right_digest {
            Some(Wrong::Body)
        } else {
            None
        };
        (self.status, wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expect: &Expect, status: u16, pieces: &[&[u8]]) -> Option<Wrong> {
        let mut spare = SpareDigests::new();
        let mut ends = (0..3).map(|_| {
            let mut check = Check::default();
            check.head(expect, status, true, &mut spare);
            pieces.iter().for_each(|piece| check.body(expect, piece));
            check.end(expect, &mut spare)
        });
        let first = ends.next().unwrap();
        assert!(first.0 == status && ends.all(|end| end == first), "with a digest that was used before, too");
        first.1
    }

    #[test]
    fn one_in_sixty_four_is_one_in_sixty_four() {
        let expect = Expect { body: Some(Vec::new()), ..Expect::default() };
        let looks = |verify, bytes, is_first| {
            let mut sampler = BodySampler::new(verify);
            (0..5120).filter(|_| sampler.looks(&expect, Some(bytes), is_first)).count()
        };
        let all = |bytes, is_first| {
            [Verify::All, Verify::First, Verify::Sample].map(|verify| looks(verify, bytes, is_first))
        };
        assert_eq!(all(12, false), [5120, 0, 80]);
        assert_eq!(all(50_000, false), [5120, 0, 5]);
        assert_eq!([all(12, true), all(50_000, true)], [[5120; 3]; 2]);
        let nothing = Expect::default();
        assert!(
            !BodySampler::new(Verify::All).looks(&nothing, None, true),
            "there is nothing to compare with"
        );
    }

    #[test]
    fn a_body_that_broke_off_is_no_part_of_the_next() {
        let expect = Expect { sha256: Some(Sha256::digest(b"xy").into()), ..Expect::default() };
        let (mut check, mut spare) = (Check::default(), SpareDigests::new());
        check.head(&expect, 200, true, &mut spare);
        check.body(&expect, b"x");
        check.head(&expect, 200, true, &mut spare);
        check.body(&expect, b"xy");
        assert_eq!(check.end(&expect, &mut spare), (200, None));
    }

    #[test]
    fn a_body_must_be_the_same_to_the_last_byte() {
        let expect = Expect { body: Some(b"PONG".to_vec()), ..Expect::default() };
        assert_eq!(check(&expect, 200, &[b"PO", b"NG"]), None);
        for wrong in [&[&b"PONg"[..]][..], &[b"PON"], &[b"PONG", b"!"], &[]] {
            assert_eq!(check(&expect, 200, wrong), Some(Wrong::Body));
        }
    }

    #[test]
    fn a_body_that_is_not_looked_at_must_still_be_as_long() {
        let expect = Expect {
            body: Some(b"PONG".to_vec()),
            sha256: Some(Sha256::digest(b"PONG").into()),
            ..Expect::default()
        };
        let (mut check, mut spare) = (Check::default(), SpareDigests::new());
        check.head(&expect, 200, false, &mut spare);
        check.body(&expect, b"po");
        check.skip(2);
        assert_eq!(check.end(&expect, &mut spare), (200, None));
        check.head(&expect, 200, false, &mut spare);
        check.skip(5);
        assert_eq!(check.end(&expect, &mut spare), (200, Some(Wrong::Body)));
    }

    #[test]
    fn status_length_and_digest() {
        assert_eq!(check(&Expect::default(), 302, &[b"x"]), None);
        for status in [404, 999, 99, 0] {
            assert_eq!(check(&Expect::default(), status, &[b"x"]), Some(Wrong::Status));
        }
        let expect = Expect { status: Some(404), length: Some(2), ..Expect::default() };
        assert_eq!(check(&expect, 404, &[b"xy"]), None);
        assert_eq!(check(&expect, 200, &[b"xy"]), Some(Wrong::Status));
        assert_eq!(check(&expect, 404, &[b"x"]), Some(Wrong::Body));
        let expect = Expect { sha256: Some(Sha256::digest(b"xy").into()), ..Expect::default() };
        assert_eq!(check(&expect, 200, &[b"x", b"y"]), None);
        assert_eq!(check(&expect, 200, &[b"y", b"x"]), Some(Wrong::Body));
    }
}
