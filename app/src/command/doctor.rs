//! `drome doctor`: what on this machine would spoil a measurement, and the remedy.

use crate::console;
use std::fmt::Write;
use std::process::ExitCode;

/// Looks and tells.
pub fn run() -> anyhow::Result<ExitCode> {
    let checks = lab::doctor::examine();
    let mut out = String::new();
    for check in &checks {
        let mark = if check.trouble.is_some() { "!" } else { " " };
        let _ = writeln!(out, "{mark} {:<28}{}", check.what, check.found);
        if let Some(trouble) = &check.trouble {
            let _ = writeln!(out, "    spoils: {}\n    remedy: {}", trouble.spoils, trouble.remedy);
        }
    }
    let troubles = checks.iter().filter(|c| c.trouble.is_some()).count();
    let _ = match troubles {
        0 => writeln!(out, "\nnothing here would spoil a measurement"),
        n => writeln!(out, "\n{n} of {} would spoil a measurement", checks.len()),
    };
    console::print(&out)?;
    Ok(ExitCode::SUCCESS)
}
