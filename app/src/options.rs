//! Options that several commands have, and their parsers.

use crate::failure::WrongInput;
use anyhow::Context;
use clap::builder::FalseyValueParser;
use clap::{Args, ColorChoice, ValueEnum};
use model::study::{Handshake, Transport};
use model::{Arrivals, Protocol};
use std::fmt;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    // Not a doc comment: those want variables in backticks, which a terminal would show.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "Results database [default: drome.sqlite in $DROME_HOME, else in ~/.local/share/drome or $XDG_DATA_HOME/drome]"
    )]
    pub store: Option<PathBuf>,
    /// Folder with your own contenders/, workloads/ and studies/; an entry replaces the built-in one of the same
    /// name; may be repeated
    #[arg(long, global = true, value_name = "DIR")]
    pub catalog: Vec<PathBuf>,
    /// Print ASCII only [default: by the locale]
    #[arg(long, global = true)]
    pub ascii: bool,
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t = ColorChoice::Auto,
        help = "When to use colours (auto: on a terminal, unless NO_COLOR is set)"
    )]
    pub color: ColorChoice,
    /// Print only results and errors: no progress and no hints
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// How much background load is accepted.
#[derive(Clone, Copy, Debug, Args)]
pub struct MachineArgs {
    /// Accept measurements even if other programs use more than 20 % of the measured CPUs' time, or the host of a
    /// virtual machine takes more than 10 %; the report still shows both
    #[arg(long, env = "DROME_ALLOW_BUSY", value_parser = FalseyValueParser::new(), hide_env_values = true)]
    pub allow_busy: bool,
}

/// How socket I/O is done.
#[derive(Clone, Copy, Debug, Args)]
pub struct IoArgs {
    // Not a doc comment: those want io_uring in backticks, which a terminal would show.
    #[arg(
        long,
        value_enum,
        help = "Kernel interface for socket I/O [default: io_uring if the kernel allows it, else epoll]"
    )]
    pub io: Option<Io>,
}

/// A kernel interface for socket I/O.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Io {
    Epoll,
    Uring,
}

/// The spacing of the requests of open load.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Spacing {
    Constant,
    Poisson,
}

impl From<Spacing> for Arrivals {
    fn from(spacing: Spacing) -> Self {
        match spacing {
            Spacing::Constant => Self::Constant,
            Spacing::Poisson => Self::Poisson,
        }
    }
}

/// Parses a share of anything, which may be above 1: `70%` or `0.7`.
pub fn share(text: &str) -> Result<f64, String> {
    read(text).ok_or_else(|| "must be a share, such as 70% or 0.7".to_owned())
}

/// Parses a precision: a share such as `2%` or `0.02`.
pub fn precision(text: &str) -> Result<f64, String> {
    let found = read(text).filter(|share| *share > 0.0 && *share < 1.0);
    found.ok_or_else(|| "must be a share above 0 and below 1, such as 2% or 0.02".to_owned())
}

/// A slowdown that is allowed, as a share: `3%`, `0.03` or 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowdown(pub f64);

impl FromStr for Slowdown {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = read(text).filter(|share| (0.0..1.0).contains(share));
        found.map(Self).ok_or_else(|| "must be a share from 0 to below 1, such as 3% or 0.03".to_owned())
    }
}

impl fmt::Display for Slowdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Parses a number of connections.
pub fn connections(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "must be a whole number of at least 1".to_owned())
}

/// A method of gRPC, as the path that it has.
pub fn grpc_method(text: &str) -> Result<String, String> {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && !b"/?#".contains(&b));
    let names = text.strip_prefix('/').and_then(|names| names.split_once('/'));
    match names.filter(|(service, method)| is_name(service) && is_name(method)) {
        Some(_) => Ok(text.to_owned()),
        None => Err("write it like /package.Service/Method".to_owned()),
    }
}

/// The bytes of the file that an option names.
pub fn bytes_of(option: &str, file: &Path) -> Result<Vec<u8>, WrongInput> {
    let bytes = std::fs::read(file).with_context(|| format!("can't read {option} {}", file.display()));
    bytes.map_err(|e| WrongInput(format!("{e:#}")))
}

/// HTTP/2, or else HTTP/1.1.
pub fn protocol(http2: bool) -> Protocol {
    if http2 { Protocol::Http2 } else { Protocol::Http1 }
}

/// What connections speak, by their options and whether URLs are encrypted. Errors: options that contradict each other.
pub fn transport(
    protocol: Protocol,
    streams: Option<NonZeroU32>,
    tls: bool,
) -> Result<Transport, WrongInput> {
    if streams.is_some() && protocol == Protocol::Http1 {
        refuse!("--streams needs --http2: a connection of HTTP/1.1 has one request at a time");
    }
    Ok(Transport {
        protocol,
        streams: streams.map(|n| n.get() as usize),
        tls: tls.then_some(Handshake::Full),
    })
}

/// A whole number of at least 1. More than can be done in a month is a slip.
pub fn positive(text: &str) -> Result<u64, String> {
    let is_large = text.bytes().all(|b| b.is_ascii_digit()) && text.bytes().any(|b| b != b'0');
    match text.parse() {
        Ok(n) if (1..=10_000_000_000).contains(&n) => Ok(n),
        _ if is_large => Err("must be at most 10,000,000,000".to_owned()),
        _ => Err("must be a whole number of at least 1".to_owned()),
    }
}

/// A time above 0.
pub fn positive_time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(d) if !d.is_zero() => Ok(d),
        Ok(_) => Err("must be a time above 0, such as 75s".to_owned()),
        Err(e) => Err(format!("{e}: use a time such as 75s or 500ms")),
    }
}

/// A number, or a percentage.
fn read(text: &str) -> Option<f64> {
    let (number, parts) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    Some(number.trim().parse::<f64>().ok()? / parts)
}

#[cfg(test)]
mod tests {
    use super::positive;

    #[test]
    fn what_is_out_of_range_says_which_end() {
        assert_eq!((positive("1"), positive("10000000000")), (Ok(1), Ok(10_000_000_000)));
        for text in ["10000000001", "20000000000", "99999999999999999999999"] {
            assert_eq!(positive(text), Err("must be at most 10,000,000,000".to_owned()), "{text}");
        }
        for text in ["0", "00", "-1", "1.5", "x", ""] {
            assert_eq!(positive(text), Err("must be a whole number of at least 1".to_owned()), "{text}");
        }
    }
}
