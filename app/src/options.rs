//! Options that several commands have, and their parsers.

use clap::builder::FalseyValueParser;
use clap::{Args, ColorChoice, ValueEnum};
use model::Arrivals;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

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

/// A number, or a percentage.
fn read(text: &str) -> Option<f64> {
    let (number, parts) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    Some(number.trim().parse::<f64>().ok()? / parts)
}
