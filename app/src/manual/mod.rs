//! The manual: the end of `--help`, the reference pages and the man pages, made from the command line's definition,
//! and the schemas of file formats, made from their types.

mod groups;
pub mod man;
mod pages;
pub mod plain;
pub mod reference;
pub mod schemas;
#[cfg(test)]
mod tests;
pub mod topics;

use crate::cli::Cli;
use crate::command::gate::STOP_BISECTING;
use clap::{Command, CommandFactory, FromArgMatches};
use model::url::redacted;
use std::borrow::Cow;

/// The command line's definition with examples, exit codes and topics.
pub fn command() -> Command {
    let names: Vec<String> = Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
    let whole = Cli::command();
    let template = groups::template(&whole);
    let whole = whole.after_help(topics()).help_template(template);
    names.iter().fold(whole, |whole, name| match pages::of(name) {
        None => whole,
        Some(page) => whole.mut_subcommand(name, |sub| sub.after_long_help(at_end(&page))),
    })
}

/// The arguments of this process.
pub fn parse() -> Cli {
    let mut command = command();
    let matches = command.clone().try_get_matches().unwrap_or_else(|error| refuse(&error));
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| refuse(&error.format(&mut command)))
}

/// Prints the error, or the help that was asked for, and ends.
fn refuse(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    // An argument that is not understood is shown, and may be a URL with a password.
    match redacted(&text) {
        Cow::Owned(harmless) if harmless != text => alert!("{harmless}"),
        _ => drop(error.print()),
    }
    // In a bisection, the usual code of a wrong command line would mean a bad revision.
    let is_bisection = std::env::args_os().any(|arg| arg == "--bisect");
    std::process::exit(if error.use_stderr() && is_bisection {
        STOP_BISECTING.into()
    } else {
        error.exit_code()
    })
}

fn topics() -> String {
    let rows: String = topics::TOPICS.iter().map(|t| format!("  {:<12} {}\n", t.name, t.about)).collect();
    format!("Topics (drome help TOPIC):\n{}", rows.trim_end())
}

fn at_end(page: &pages::ManualPage) -> String {
    let examples: String =
        page.examples.iter().map(|(line, about)| format!("  {line}\n      {about}\n")).collect();
    let codes: String = page.codes.iter().map(|(code, meaning)| format!("  {code:<4} {meaning}\n")).collect();
    format!("Examples:\n{examples}\nExit codes:\n{}", codes.trim_end())
}
