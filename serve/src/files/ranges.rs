//! Parses the parts of a file that a `Range` field asks for (RFC 9110 section 14); pure.

/// The largest number of parts in a request; for more, the whole file is sent, because that many small parts are much work and of no use.
const MAX_RANGES: usize = 100;

/// A part of a file: from the first byte up to, not including, the end. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The index of its first byte.
    pub start: u64,
    /// The index of the byte after its last.
    pub end: u64,
}

/// The result of a `Range` field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// The field is ignored: the whole file.
    Whole,
    /// These parts, one or more.
    Parts(Vec<Range>),
    /// None of the parts is in the file, or the field can't be parsed.
    Unsatisfiable,
}

impl Range {
    /// The number of its bytes.
    pub fn length(self) -> u64 {
        self.end - self.start
    }
}

/// Parses the value of a `Range` field for a file of `length` bytes. An unknown unit is ignored, and so are parts that together are more
/// than the file.
pub fn parse(value: &[u8], length: u64) -> Ranges {
    const UNIT: &[u8] = b"bytes=";
    let Some((unit, set)) = value.split_at_checked(UNIT.len()) else {
        return Ranges::Whole;
    };
    if !unit.eq_ignore_ascii_case(UNIT) {
        return Ranges::Whole;
    }
    let mut parts = Vec::new();
    for text in set.split(|byte| *byte == b',') {
        match part(text, length) {
            Part::Of(_) if parts.len() == MAX_RANGES => return Ranges::Whole,
            Part::Of(range) => parts.push(range),
            Part::Outside => {}
            Part::Malformed => return Ranges::Unsatisfiable,
        }
    }
    let sum = parts.iter().fold(0_u64, |sum, range| sum.saturating_add(range.length()));
    match parts.as_slice() {
        // Nothing is a part of an empty file, and there is no use in refusing the whole of it.
        [] if length == 0 => Ranges::Whole,
        [] => Ranges::Unsatisfiable,
        _ if sum > length => Ranges::Whole,
        _ => Ranges::Parts(parts),
    }
}

enum Part {
    Of(Range),
    /// Well-formed, but not in the file.
    Outside,
    Malformed,
}

/// Parses `first-last`, `first-` or `-length`.
fn part(text: &[u8], length: u64) -> Part {
    let Some(dash) = memchr::memchr(b'-', text) else {
        return Part::Malformed;
    };
    let range = match (number(&text[..dash]), number(&text[dash + 1..])) {
        (Number::None, Number::Of(last)) => Range { start: length.saturating_sub(last), end: length },
        (Number::Of(start), Number::None) => Range { start, end: length },
        (Number::Of(start), Number::Of(last)) => Range { start, end: last.saturating_add(1).min(length) },
        _ => return Part::Malformed,
    };
    if range.start < range.end { Part::Of(range) } else { Part::Outside }
}

enum Number {
    None,
    Of(u64),
    Malformed,
}

/// Parses digits with white space around them. A number that is too large for any file counts as the largest.
fn number(text: &[u8]) -> Number {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Number::None;
    }
    let digits = text.iter().try_fold(0_u64, |n, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        Some(n.saturating_mul(10).saturating_add(digit))
    });
    digits.map_or(Number::Malformed, Number::Of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(ranges: &[(u64, u64)]) -> Ranges {
        Ranges::Parts(ranges.iter().map(|&(start, end)| Range { start, end }).collect())
    }

    #[test]
    fn ranges_of_all_kinds() {
        let cases = [
            ("bytes=0-0", parts(&[(0, 1)])),
            ("Bytes= 2 - 3 ", parts(&[(2, 4)])),
            ("bytes=7-", parts(&[(7, 10)])),
            ("bytes=-3", parts(&[(7, 10)])),
            ("bytes=-30", parts(&[(0, 10)])),
            ("bytes=5-99999999999999999999999", parts(&[(5, 10)])),
            ("bytes=0-1,8-", parts(&[(0, 2), (8, 10)])),
            ("bytes=0-1,20-30, -1", parts(&[(0, 2), (9, 10)])),
            ("bytes=0-5,4-7", parts(&[(0, 6), (4, 8)])),
            ("bytes=0-5,4-8", Ranges::Whole),
            ("bytes=0-,0-", Ranges::Whole),
            ("lines=0-1", Ranges::Whole),
            ("bytes", Ranges::Whole),
            ("", Ranges::Whole),
            ("bytes=10-", Ranges::Unsatisfiable),
            ("bytes=-0", Ranges::Unsatisfiable),
            ("bytes=5-4", Ranges::Unsatisfiable),
            ("bytes=", Ranges::Unsatisfiable),
            ("bytes=-", Ranges::Unsatisfiable),
            ("bytes=a-b", Ranges::Unsatisfiable),
            ("bytes=1-2-3", Ranges::Unsatisfiable),
            ("bytes=0-1,", Ranges::Unsatisfiable),
            ("bytes=99999999999999999999999-", Ranges::Unsatisfiable),
        ];
        for (value, expected) in cases {
            assert_eq!(parse(value.as_bytes(), 10), expected, "{value}");
        }
        assert_eq!(parse(b"bytes=0-", 0), Ranges::Whole);
    }

    #[test]
    fn nobody_gets_more_than_a_hundred_parts() {
        let value = |n: usize| format!("bytes={}", vec!["0-0"; n].join(","));
        assert_eq!(parse(value(100).as_bytes(), 1000), parts(&[(0, 1); 100]));
        assert_eq!(parse(value(101).as_bytes(), 1000), Ranges::Whole);
    }
}
