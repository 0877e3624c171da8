//! The values of httperf's options that are more than a number, and the tool's error messages for them.

use crate::number::{integer, real};
use model::Gaps;

/// Which parts of a message are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Nothing.
    #[default]
    None,
    /// Its head.
    Header,
    /// Its body.
    Body,
    /// Both.
    Both,
}

/// How connections begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At even intervals, with this rate per second; or one after another if it is not above 0.
    Even(f64),
    /// At intervals that are distributed uniformly between two times.
    Uniform(f64, f64),
    /// At intervals that are distributed exponentially with this mean.
    Exponential(f64),
}

impl Default for Pace {
    fn default() -> Self {
        Self::Even(0.0)
    }
}

impl Pace {
    /// The rate at which connections begin, and the times between them; `None`: one after another.
    pub fn rate(self) -> Option<(f64, Gaps)> {
        let (mean_s, gaps) = match self {
            Self::Even(rate_per_s) => return (rate_per_s > 0.0).then_some((rate_per_s, Gaps::Even)),
            Self::Uniform(least, most) => {
                (least / 2.0 + most / 2.0, Gaps::Uniform(((most - least) / (most + least)).abs()))
            }
            Self::Exponential(mean_s) => (mean_s, Gaps::Exponential),
        };
        (mean_s > 0.0).then(|| (1.0 / mean_s, gaps))
    }
}

/// Which parts of messages are printed.
pub fn part(value: &str) -> Part {
    match value.bytes().next().map(|b| b.to_ascii_lowercase()) {
        Some(b'h') => Part::Header,
        Some(b'b') => Part::Body,
        _ => Part::Both,
    }
}

/// The client's number, and the number of clients.
pub fn client(value: &str) -> Result<(u64, u64), String> {
    let (id, rest) = integer(value, true).ok_or_else(|| format!("bad client id (rest: `{value}')"))?;
    let all =
        rest.strip_prefix('/').ok_or_else(|| format!("client id not followed by `/' (rest: `{rest}')"))?;
    match integer(all, true) {
        Some((clients, _)) if id < clients => Ok((id, clients)),
        _ => Err(format!("bad number of clients (rest: `{all}')")),
    }
}

/// The version of HTTP.
pub fn version(value: &str) -> Result<(u32, u32), String> {
    let numbers = || {
        let (major, rest) = integer(value, false)?;
        let (minor, _) = integer(rest.strip_prefix('.')?, false)?;
        Some((u32::try_from(major).ok()?, u32::try_from(minor).ok()?))
    };
    numbers().ok_or_else(|| format!("illegal version number {value}"))
}

/// How connections begin.
pub fn period(value: &str) -> Result<Pace, String> {
    let kind = value.chars().next().filter(|c| !c.is_ascii_digit());
    let rest = kind.map_or(value, |kind| &value[kind.len_utf8()..]);
    match kind.map_or('d', |kind| kind.to_ascii_lowercase()) {
        'u' => {
            let (least, after) = real(rest)
                .filter(|(time, _)| *time >= 0.0)
                .ok_or_else(|| format!("illegal minimum interarrival time {rest}"))?;
            let wrong = || format!("minimum interarrival time not followed by `,MAX_IAT' (rest: `{after}')");
            let most = after.strip_prefix(',').ok_or_else(wrong)?;
            match real(most) {
                Some((time, "")) if time >= 0.0 => Ok(Pace::Uniform(least, time)),
                _ => Err(format!("illegal request period {most}")),
            }
        }
        kind @ ('d' | 'e') => match real(rest) {
            Some((mean, "")) if mean >= 0.0 && kind == 'e' => Ok(Pace::Exponential(mean)),
            Some((mean, "")) if mean >= 0.0 => Ok(Pace::Even(if mean > 0.0 { 1.0 / mean } else { 0.0 })),
            _ => Err(format!("illegal mean interarrival time {rest}")),
        },
        _ => Err(format!("illegal interarrival distribution '{}' in {value}", kind.unwrap_or_default())),
    }
}

/// The number of files, and how often the next one is requested.
pub fn wset(value: &str) -> Result<(u64, f64), String> {
    let wrong = |what: &str, rest: &str| format!("{what} in --wset arg (rest: `{rest}')");
    let (files, after) =
        integer(value, true).ok_or_else(|| wrong("bad working set size (1st parameter)", value))?;
    let bad = |rest: &str| wrong("bad target miss rate (2nd parameter)", rest);
    let rest = after.strip_prefix(',').ok_or_else(|| bad(value))?;
    match real(rest) {
        Some((rate, "")) if (0.0..=1.0).contains(&rate) => Ok((files, rate)),
        Some((rate, _)) if (0.0..=1.0).contains(&rate) => Err(wrong("extraneous parameter", rest)),
        _ => Err(bad(rest)),
    }
}
