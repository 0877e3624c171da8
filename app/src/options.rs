//! Options that several commands have, and their parsers.

use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    // Not a doc comment: those want variables in backticks, which a terminal would show.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "Results database [default: drome.sqlite in $DROME_HOME, else in the XDG data folder]"
    )]
    pub store: Option<PathBuf>,
    /// Folder with your own contenders/, workloads/ and studies/; an entry replaces the built-in one of the same
    /// name; may be repeated
    #[arg(long, global = true, value_name = "DIR")]
    pub catalog: Vec<PathBuf>,
    /// Print ASCII only [default: by the locale]
    #[arg(long, global = true)]
    pub ascii: bool,
}

/// How much background load is accepted.
#[derive(Clone, Copy, Debug, Args)]
pub struct MachineArgs {
    /// Accept measurements even if other programs use more than 20 % of the measured CPUs' time, or the host of a
    /// virtual machine takes more than 10 %; the report still shows both
    #[arg(long, env = "DROME_ALLOW_BUSY", value_parser = FalseyValueParser::new(), hide_env_values = true)]
    pub allow_busy: bool,
}

/// Parses a share such as `2%` or `0.02`.
pub fn precision(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>() {
        Ok(n) if n * unit > 0.0 && n * unit < 1.0 => Ok(n * unit),
        _ => Err("must be a share above 0 and below 1, such as 2% or 0.02".to_owned()),
    }
}
