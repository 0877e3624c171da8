//! drome: a racecourse for web servers. This is the table of contents; each command is a file of its own.

// First, because the modules below use their macros.
#[macro_use]
mod console;
#[macro_use]
mod failure;

mod cli;
mod command;
mod flame;
mod live;
mod manual;
mod metrics;
mod options;
mod png;
mod run_progress;
mod signals;
mod stored;
mod ui;
mod web;

use cli::Command;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    control::supervise::image::name_process();
    let args: Vec<OsString> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "__guard") {
        return control::supervise::guard::run();
    }
    if let Some((dialect, args)) = command::dialect::of(&args) {
        return command::dialect::run(dialect, args).unwrap_or_else(|error| failure::tell(&error));
    }
    if let Some(result) = command::help::topic(&args) {
        return result.unwrap_or_else(|error| failure::tell(&error));
    }
    let cli = manual::parse();
    console::set_up(&cli.common);
    let result = match cli.command {
        Command::Load(args) => command::load::run(&args, &cli.common),
        Command::Race(args) => command::race::run(&args, &cli.common),
        Command::Sweep(args) => command::sweep::run(&args, &cli.common),
        Command::Run(args) => command::run::run(&args, &cli.common),
        Command::Heat(args) => command::heat::run(&args, &cli.common),
        Command::List(args) => command::list::run(&args, &cli.common),
        Command::Install(args) => command::install::run(&args, &cli.common),
        Command::Verify(args) => command::verify::run(&args, &cli.common),
        Command::New(args) => command::new::run(&args, &cli.common),
        Command::Report(args) => command::report::run(&args, &cli.common),
        Command::Import(args) => command::import::run(&args, &cli.common),
        Command::Push(args) => command::push::run(&args, &cli.common),
        Command::Pull(args) => command::pull::run(&args, &cli.common),
        Command::Serve(args) => command::serve::run(&args, &cli.common),
        Command::Compare(args) => command::compare::run(&args, &cli.common),
        Command::History(args) => command::history::run(&args, &cli.common),
        Command::Ui(args) => command::ui::run(&args, &cli.common),
        Command::Dialects(args) => command::dialect::list(args.link()),
        Command::Doctor(args) => command::doctor::run(&args),
        Command::Agent(args) => command::agent::run(&args),
        Command::Generate(what) => command::generate::run(&what),
    };
    result.unwrap_or_else(|error| failure::tell(&error))
}
