//! Parses the part of a file that a `Range` field asks for (RFC 9110 section 14); pure.

/// A part of a file: from the first byte up to, not including, the end. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The index of its first byte.
    pub start: u64,
    /// The index of the byte after its last.
    pub end: u64,
}

/// The part of a file that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All of it.
    Whole,
    /// This part.
    Part(Range),
    /// Nothing: the file has no such part, or the field can't be parsed.
    Unsatisfiable,
}

impl Range {
    /// The number of its bytes.
    pub fn length(self) -> u64 {
        self.end - self.start
    }
}

/// Parses the value of a `Range` field for a file of `length` bytes. A server may ignore the field (section 14.2): an unknown unit and a list
/// of several ranges get the whole file.
pub fn parse(value: &[u8], length: u64) -> Form {
    const UNIT: &[u8] = b"bytes=";
    let Some((unit, range)) = value.split_at_checked(UNIT.len()) else {
        return Form::Whole;
    };
    // Nothing is a part of an empty file, and there is no use in refusing the whole of it.
    if !unit.eq_ignore_ascii_case(UNIT) || range.contains(&b',') || length == 0 {
        return Form::Whole;
    }
    bounds(range, length).filter(|range| range.start < range.end).map_or(Form::Unsatisfiable, Form::Part)
}

/// Parses `first-last`, `first-` or `-length`, with white space around the numbers; `None`: malformed.
fn bounds(text: &[u8], length: u64) -> Option<Range> {
    let dash = text.iter().position(|byte| *byte == b'-')?;
    Some(match (text[..dash].trim_ascii(), text[dash + 1..].trim_ascii()) {
        (b"", suffix) => Range { start: length.saturating_sub(number(suffix)?), end: length },
        (first, b"") => Range { start: number(first)?, end: length },
        (first, last) => Range { start: number(first)?, end: number(last)?.saturating_add(1).min(length) },
    })
}

/// Parses digits. A number that is too large for any file counts as the largest.
fn number(digits: &[u8]) -> Option<u64> {
    let (first, rest) = digits.split_first()?;
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    rest.iter().try_fold(digit(first)?, |n, byte| Some(n.saturating_mul(10).saturating_add(digit(byte)?)))
}
