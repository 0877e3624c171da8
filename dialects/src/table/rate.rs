//! Reads headings of columns with rates of requests: whether the rate is the server's, and in thousands or millions.

/// Rates as headings have them, without spaces. A longer form of the second may follow a `/s`.
const RATES: &[&str] = &[
    "req/s",
    "reqs/s",
    "request/s",
    "requests/s",
    "rps",
    "qps",
    "requestspersecond",
    "requestpersecond",
    "reqpersecond",
    "responses/s",
    "responsespersecond",
    "answers/s",
    "trans/s",
    "transactionrate",
    "hits/s",
    "queries/s",
    "ops/s",
];

/// Factors before a rate or after it, with their letter.
const FACTORS: &[(&str, &str)] = &[
    ("", ""),
    ("k", "k"),
    ("kilo", "k"),
    ("1000", "k"),
    ("x1000", "k"),
    ("thousand", "k"),
    ("thousands", "k"),
    ("thousandsof", "k"),
    ("inthousands", "k"),
    ("m", "m"),
    ("mega", "m"),
    ("million", "m"),
    ("millions", "m"),
    ("millionsof", "m"),
    ("inmillions", "m"),
    ("g", "g"),
];

/// Words that make another figure of a rate: a share, a change, what was asked for.
const OTHERS: &[&str] = &[
    "per",
    "δ",
    "delta",
    "change",
    "diff",
    "difference",
    "ratio",
    "relative",
    "vs",
    "speedup",
    "failed",
    "failures",
    "target",
    "offered",
];

/// What a heading says of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// The server's rate, in units of this factor: `k`, `m`, `g`; empty if the heading has none.
    Whole(&'static str),
    /// Another figure, such as the rate per core.
    Other,
}

/// The rate in a heading in small letters; `None` if it has none.
pub fn in_head(head: &str) -> Option<Rate> {
    let words: Vec<&str> =
        head.split(|c: char| !c.is_alphanumeric() && c != '/').filter(|word| !word.is_empty()).collect();
    let at = |first: usize| {
        let tail = words[first..].concat();
        let found = FACTORS.iter().find_map(|(factor, letter)| {
            let rest = after_rate(tail.strip_prefix(factor)?)?;
            Some((*letter, rest.to_owned()))
        });
        found.map(|(letter, rest)| (first, letter, rest))
    };
    let (first, letter, rest) = (0..words.len()).find_map(at)?;
    let is_other = |word: &&str| OTHERS.contains(word);
    // "per second" is part of the rate itself.
    let has_other = words[..first].iter().any(is_other)
        || words[first..].iter().filter(|word| **word != "per").any(is_other);
    if has_other || rest.starts_with('/') || rest.starts_with("per") {
        return Some(Rate::Other);
    }
    let behind = FACTORS.iter().find(|(factor, _)| *factor == rest).map_or("", |(_, letter)| letter);
    Some(Rate::Whole(if letter.is_empty() { behind } else { letter }))
}

/// Whether a word begins with a rate.
pub fn begins(word: &str) -> bool {
    after_rate(word).is_some()
}

/// What follows the rate at the beginning of a text.
fn after_rate(text: &str) -> Option<&str> {
    let rest = RATES.iter().find_map(|rate| text.strip_prefix(rate).map(|rest| (rate, rest)));
    let (rate, rest) = rest?;
    let long = if rate.ends_with("/s") { &["econds", "econd", "ecs", "ec"][..] } else { &[] };
    Some(long.iter().find_map(|more| rest.strip_prefix(more)).unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::{Rate, in_head};

    #[test]
    fn rates_and_their_factors() {
        let cases = [
            ("req/sec(avg)", Some(Rate::Whole(""))),
            ("avg requests per second", Some(Rate::Whole(""))),
            ("kreq/s", Some(Rate::Whole("k"))),
            ("mrps", Some(Rate::Whole("m"))),
            ("m req/s", Some(Rate::Whole("m"))),
            ("throughput (k req/s)", Some(Rate::Whole("k"))),
            ("thousands of requests/second", Some(Rate::Whole("k"))),
            ("rps (thousands)", Some(Rate::Whole("k"))),
            ("requests/sec (x1000)", Some(Rate::Whole("k"))),
            ("rps [k]", Some(Rate::Whole("k"))),
            ("req/s (million)", Some(Rate::Whole("m"))),
            ("req/s/core", Some(Rate::Other)),
            ("requests per second per core", Some(Rate::Other)),
            ("per-core rps", Some(Rate::Other)),
            ("δ rps", Some(Rate::Other)),
            ("target req/s", Some(Rate::Other)),
            ("requests per minute", None),
            ("server", None),
        ];
        for (head, rate) in cases {
            assert_eq!(in_head(head), rate, "{head}");
        }
    }
}
