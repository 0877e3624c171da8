//! `drome-bench`: measures and checks drome from outside. `cargo xtask bench`, `selftest`, `guard`, `profiles` and `soak` run it.

mod drome;
mod guard;
mod process;
mod profiles;
mod selftest;
mod soak;
mod table;

use clap::Parser;
use std::process::ExitCode;

/// Measures what drome costs, and checks that its findings are true and that its processes do not grow
#[derive(Parser)]
enum Command {
    /// Compare the cost of drome with that of a bare loop and of other tools; prints a Markdown table
    Table(table::Options),
    /// Check drome's findings with servers whose difference or capacity is known; prints Markdown tables
    Selftest(selftest::Options),
    /// Check the verdicts on commits whose effect on a server is known; prints a Markdown table
    Guard(guard::Options),
    /// Check profiles of servers that know what their answers cost, or measure what sampling costs; prints a Markdown table
    Profiles(profiles::Options),
    /// Check that drome's descriptors, threads and memory stay constant under load; prints a Markdown table
    Soak(soak::Options),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Table(options) => table::run(&options),
        Command::Selftest(options) => selftest::run(&options),
        Command::Guard(options) => guard::run(&options),
        Command::Profiles(options) => profiles::run(&options),
        Command::Soak(options) => soak::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("drome-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Command::command().debug_assert();
    }
}
