//! `drome help TOPIC`: what is not a command but worth a page. Commands are left to clap.

use crate::console;
use crate::failure::WrongInput;
use crate::manual::{self, plain, topics};
use std::process::ExitCode;

/// Wider lines are hard to read.
const WIDEST: usize = 100;

/// The page of the topic that a command line asks for; `None` where it asks for something else.
pub fn topic(args: &[String]) -> Option<anyhow::Result<ExitCode>> {
    let name = args.get(2).filter(|_| args.get(1).is_some_and(|arg| arg == "help"))?;
    let is_command =
        name.starts_with('-') || manual::command().find_subcommand(name).is_some() || name == "help";
    if is_command {
        return None;
    }
    // How a tool is spoken to is the tool's own page.
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
    let nearest = lab::catalog::nearest(name, all.iter().copied());
    let nearest = nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default();
    WrongInput(format!("there is no command and no topic `{name}`{nearest}; there are: {}", all.join(", ")))
}

/// The terminal's, where there is one.
fn width() -> usize {
    console::look().width.map_or(WIDEST, |columns| columns.clamp(40, WIDEST))
}
