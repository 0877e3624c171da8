//! `drome help TOPIC`: prints a page about a topic that is not a command. clap handles commands.

use crate::console;
use crate::failure::WrongInput;
use crate::manual::{self, plain, topics};
use std::ffi::OsString;
use std::process::ExitCode;

/// The widest line: longer ones are hard to read.
const WIDEST: usize = 100;

/// Prints the page of the topic that a command line asks for; `None` if it asks for something else.
pub fn topic(args: &[OsString]) -> Option<anyhow::Result<ExitCode>> {
    let name = args.get(2).filter(|_| args.get(1).is_some_and(|arg| arg == "help"))?.to_string_lossy();
    let name = name.as_ref();
    let is_command =
        name.starts_with('-') || manual::command().find_subcommand(name).is_some() || name == "help";
    if is_command {
        return None;
    }
    // A tool's name leads to the page about all dialects.
    let wanted = if dialects::named(name).is_some() { "dialects" } else { name };
    Some(match topics::named(wanted) {
        Some(topic) => console::tell(&plain::plain(topic.text, width())).map(|()| ExitCode::SUCCESS),
        None => Err(unknown(name).into()),
    })
}

fn unknown(name: &str) -> WrongInput {
    let command = manual::command();
    let commands = command.get_subcommands().filter(|c| !c.is_hide_set()).map(clap::Command::get_name);
    let all: Vec<&str> = commands.chain(topics::TOPICS.iter().map(|topic| topic.name)).collect();
    let hint = control::catalog::did_you_mean(name, all.iter().copied());
    WrongInput(format!("there is no command or topic `{name}`{hint}; available: {}", all.join(", ")))
}

/// The width of the terminal, if there is one.
fn width() -> usize {
    console::text_style().width.map_or(WIDEST, |columns| columns.clamp(40, WIDEST))
}
