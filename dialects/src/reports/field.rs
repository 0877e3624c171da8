//! The kinds of a field in a template, and how each is read.

use crate::text::units::{bytes, nanoseconds};

/// How a field is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number, with or without commas between thousands, times a factor.
    Number(f64),
    /// A number times a factor that is known to a resolution, whatever its digits are.
    Clock(f64, f64),
    /// A number with two decimals: with fewer, it is cut short, and with both, it is whole.
    Hundredths,
    /// A number with `k`, `M` or `G`.
    Many,
    /// A time with its unit.
    Time,
    /// A time as Go writes it, such as `1m2.5s`: its digits say nothing about what the tool can tell apart.
    Go,
    /// Bytes with their unit, of which a KB is 1,024.
    Bytes,
    /// Bytes with their unit, of which a kB or MB is a power of 1,000.
    Si,
    /// Bytes like `Bytes`; without a unit, they are MB.
    MaybeBytes,
    /// A time; without a unit, it is in seconds.
    MaybeSeconds,
    /// A time, and its unit as the figure `unit`; without a unit, the figure's name has none.
    MaybeTime,
    /// A word.
    Word,
    /// A word that is a URL.
    Url,
    /// The rest of the line.
    Rest,
    /// A percentile, which is the line's key.
    Percentile,
    /// A word that is the line's key.
    Key,
    /// Names of columns.
    Columns,
    /// A value for each of the columns.
    Row(&'static Self),
    /// Pairs such as `avg=1.2ms`, each of a statistic.
    Pairs,
    /// No text: the figure is empty words.
    Nothing,
    /// No text: what was read of the line so far.
    Line,
    /// No text: the name of the figures that `&` stands for in the lines from here on.
    Section,
    /// No text: the numbers end here.
    End,
}

/// What was read of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    /// A number in drome's unit, and the value of its last digit.
    Number {
        value: f64,
        resolution: f64,
    },
    /// `NaN` and the like.
    Odd,
    Text(String),
    Section,
    Columns(Vec<Option<String>>),
}

impl Kind {
    /// The kind of this name in a template.
    pub fn named(name: &str) -> Self {
        match name {
            "ms" => Self::Number(1e6),
            "s" => Self::Number(1e9),
            "us" => Self::Number(1e3),
            ".2" => Self::Hundredths,
            "kib" => Self::Number(1024.0),
            "percent" => Self::Number(0.01),
            "ms-to-us" => Self::Clock(1e6, 1e3),
            "many" => Self::Many,
            "time" => Self::Time,
            "go" => Self::Go,
            "bytes" => Self::Bytes,
            "si" => Self::Si,
            "bytes?" => Self::MaybeBytes,
            "s?" => Self::MaybeSeconds,
            "time?" => Self::MaybeTime,
            "word" => Self::Word,
            "url" => Self::Url,
            "rest" => Self::Rest,
            "percentile" => Self::Percentile,
            "key" => Self::Key,
            "columns" => Self::Columns,
            "times" => Self::Row(&Self::Time),
            "row-ms" => Self::Row(&Self::Number(1e6)),
            "row" => Self::Row(&Self::Many),
            "sizes" => Self::Row(&Self::Si),
            "pairs" => Self::Pairs,
            "nothing" => Self::Nothing,
            "line" => Self::Line,
            "section" => Self::Section,
            "end" => Self::End,
            _ => Self::Number(1.0),
        }
    }

    /// Whether it is a number, which may stand directly beside words.
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Word | Self::Url | Self::Key | Self::Rest | Self::Columns)
    }

    /// Whether it stands for no text.
    pub fn has_no_text(self) -> bool {
        matches!(self, Self::Nothing | Self::Line | Self::Section | Self::End)
    }

    /// Reads a quantity at the beginning of a text; `None` if there is none. Also returns its length in bytes, and whether the end of
    /// the text may have cut it short.
    pub fn quantity(self, text: &str) -> Option<(Taken, usize, bool)> {
        let (number, mut at) = number(text)?;
        let blanks = text[at..].len() - text[at..].trim_start_matches(' ').len();
        let unit = unit_at(&text[at + blanks..]);
        let factor = match self {
            Self::Number(factor) | Self::Clock(factor, _) => Some((factor, 0)),
            Self::Hundredths => Some((1.0, 0)),
            Self::Many => Some(many(&text[at..])),
            Self::Time | Self::Go => nanoseconds(unit).map(|factor| (factor, blanks + unit.len())),
            Self::Bytes => bytes(unit).map(|factor| (factor, blanks + unit.len())),
            Self::Si => si(unit).map(|factor| (factor, blanks + unit.len())),
            Self::MaybeBytes => {
                Some(bytes(unit).map_or((1024.0 * 1024.0, 0), |factor| (factor, blanks + unit.len())))
            }
            Self::MaybeSeconds => {
                Some(nanoseconds(unit).map_or((1e9, 0), |factor| (factor, blanks + unit.len())))
            }
            _ => None,
        };
        let Some((value, decimals)) = number else {
            let length = factor.map_or(0, |(_, length)| length);
            return Some((Taken::Odd, at + length, false));
        };
        // bombardier writes no unit beside a rate of 0 bytes.
        let (factor, length) = factor.or((value == 0.0 && self == Self::Bytes).then_some((1.0, 0)))?;
        at += length;
        let unit = &text[at - length..at];
        let is_open = matches!(unit.trim(), "" | "m" | "K" | "M" | "G" | "k");
        // So may digits that could go on: "1,4" of "1,406".
        let is_open = is_open && (self != Self::Hundredths || decimals != 2);
        let is_cut = is_open && text[at..].bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',');
        let mut taken = (value * factor, factor * 10_f64.powi(-decimals));
        if matches!(self, Self::Time | Self::Go) {
            // Go's durations go on: 1m2.5s.
            while let Some((Some((more, decimals)), digits)) = number_of_digits(&text[at..]) {
                let unit = unit_at(&text[at + digits..]);
                let Some(factor) = nanoseconds(unit) else { break };
                taken = (taken.0 + more * factor, factor * 10_f64.powi(-decimals));
                at += digits + unit.len();
            }
        }
        let resolution = match self {
            Self::Go => 1.0,
            Self::Clock(_, resolution) => resolution,
            _ => taken.1,
        };
        Some((Taken::Number { value: taken.0, resolution }, at, is_cut))
    }
}

/// The unit of time behind a number, in nanoseconds.
pub fn unit_ns(text: &str) -> Option<f64> {
    let (_, length) = number(text)?;
    nanoseconds(unit_at(text[length..].trim_start_matches(' ')))
}

/// The letters of a unit.
fn unit_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    &text[..end]
}

/// A factor of 1,000, and its length.
fn many(text: &str) -> (f64, usize) {
    let factor = match unit_at(text) {
        "k" | "K" => 1e3,
        "M" | "m" => 1e6,
        "G" | "B" => 1e9,
        _ => return (1.0, 0),
    };
    (factor, 1)
}

/// Bytes in units of powers of 1,000.
fn si(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => return bytes(unit).filter(|_| unit.contains('i')),
    })
}

/// A number and its decimals.
type Digits = Option<(f64, i32)>;

/// A number with a sign, its decimals, and its length in bytes. The number is `None` if it is not one, such as `NaN`.
pub fn number(text: &str) -> Option<(Digits, usize)> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let lower: String = text[sign..].chars().take(3).collect::<String>().to_ascii_lowercase();
    if ["nan", "inf"].contains(&lower.as_str()) {
        return Some((None, sign + 3));
    }
    let (digits, length) = number_of_digits(&text[sign..])?;
    let signed =
        digits.map(|(value, decimals)| (if text.starts_with('-') { -value } else { value }, decimals));
    Some((signed, sign + length))
}

/// Digits with a fraction and an exponent; commas only between thousands.
fn number_of_digits(text: &str) -> Option<(Digits, usize)> {
    let bytes = text.as_bytes();
    let run = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = run(0);
    if end == 0 {
        return None;
    }
    while end <= 15
        && bytes.get(end) == Some(&b',')
        && run(end + 1) == 3
        && (end <= 3 || bytes[end - 4] == b',')
    {
        end += 4;
    }
    let mut decimals = 0;
    if bytes.get(end) == Some(&b'.') && run(end + 1) > 0 {
        decimals = run(end + 1);
        end += 1 + decimals;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if run(end + 1 + sign) > 0 {
            end += 1 + sign + run(end + 1 + sign);
        }
    }
    let value: f64 = text[..end].replace(',', "").parse().ok()?;
    let is_one = value.is_finite();
    Some((is_one.then_some((value, i32::try_from(decimals).unwrap_or(0))), end))
}
