//! `drome doctor`: reports what on this machine would disturb a measurement, how much, and the remedy.

use super::format::{FormatArgs, TextOrJson};
use crate::failure::CHECK_FAILED;
use clap::Args;
use control::doctor::{self, BEST, Examination};
use control::machine::cores::Cores;
use control::machine::system::System;
use std::fmt::Write;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    shown: FormatArgs<TextOrJson>,
    /// Exit with 3 if the score is below this number, from 0 to 10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=i64::from(BEST)))]
    least: Option<u8>,
    /// Exit with 3 if anything is found; the same as --least 10
    #[arg(long, conflicts_with = "least")]
    strict: bool,
}

/// Examines the machine and prints what it found.
pub fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let to = args.shown.destination()?;
    let found = doctor::examine(&System::here(), &Cores::deal(), doctor::LOOK);
    let text = match to.format {
        TextOrJson::Terminal => to.look().report(&words(&found)),
        TextOrJson::Json => report::json(&found),
    };
    to.write(text.as_bytes())?;
    let least = if args.strict { BEST } else { args.least.unwrap_or(0) };
    if found.score < least {
        alert!("drome: {} of {BEST} points, fewer than the required {least}", found.score);
        return Ok(ExitCode::from(CHECK_FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

fn words(found: &Examination) -> String {
    let mut out = String::new();
    for check in &found.checks {
        let mark = match &check.trouble {
            Some(_) => format!("−{}", check.weight),
            None => String::new(),
        };
        let shown = check.found.as_deref().unwrap_or("unknown on this system");
        let _ = writeln!(out, "{mark:>2} {:<28}{shown}", check.what);
        if let Some(trouble) = &check.trouble {
            let _ = writeln!(out, "     effect: {}\n     remedy: {}", trouble.spoils, trouble.remedy);
        }
    }
    let _ = write!(out, "\n{} of {BEST}: {}\n", found.score, found.derivation);
    if !found.unknown.is_empty() {
        let _ = writeln!(out, "unknown, not counted: {}", found.unknown.join(", "));
    }
    out
}
