//! The options of `drome load` for load from several machines: which they are, and how they are reached.

use crate::command::agent_link::{self, PutArgs};
use crate::command::transport::Transport;
use crate::failure::WrongInput;
use agent::Link;
use clap::Args;
use lab::load_from::{Drive, DriveError, Driven};
use load::Watch;
use model::Plan;
use std::process::Command;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

/// The word for this machine.
const HERE: &str = "here";

/// Raw arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several machines")]
pub struct FromArgs {
    /// Drive the load from the machine that this command reaches, such as 'ssh pi@board', or from `here`; repeat it for several machines
    #[arg(long, value_name = "COMMAND")]
    load_from: Vec<From>,
    #[command(flatten)]
    put: PutArgs,
}

/// A machine that drives load.
#[derive(Clone, Debug)]
struct From {
    /// As the user wrote it.
    words: String,
    /// `None`: this machine.
    transport: Option<Transport>,
}

impl FromStr for From {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, String> {
        let transport = if words == HERE { None } else { Some(words.parse()?) };
        Ok(Self { words: words.to_owned(), transport })
    }
}

/// Machines that drive load together, with drome at work on each.
pub struct LoadMachines {
    names: Vec<String>,
    links: Vec<Link>,
}

impl FromArgs {
    /// Whether any machines are named.
    pub fn is_given(&self) -> bool {
        !self.load_from.is_empty()
    }

    /// Reaches the machines, all at once, if any are named.
    pub fn reach(&self, plan: &Plan) -> anyhow::Result<Option<LoadMachines>> {
        if self.load_from.is_empty() {
            if self.put.is_given() {
                refuse!(
                    "--put copies drome to the machines that --load-from names: add --load-from 'ssh HOST'"
                );
            }
            return Ok(None);
        }
        // A plan that can't be divided is refused before any machine is contacted.
        lab::load_from::divide(plan, self.load_from.len()).map_err(|error| WrongInput(error.to_string()))?;
        let links = std::thread::scope(|scope| {
            let calls: Vec<_> =
                self.load_from.iter().map(|from| scope.spawn(|| link(from, &self.put))).collect();
            let died = || Err(anyhow::anyhow!("a thread of drome died: this is a bug, please report it"));
            calls
                .into_iter()
                .map(|call| call.join().unwrap_or_else(|_| died()))
                .collect::<anyhow::Result<_>>()
        })?;
        Ok(Some(LoadMachines { names: names(&self.load_from), links }))
    }
}

impl LoadMachines {
    /// The number of machines.
    pub fn count(&self) -> usize {
        self.links.len()
    }

    /// Drives the load from all machines together. `threads`: of each machine; `None`: as each machine chooses.
    pub fn drive(
        &self,
        plan: &Plan,
        threads: Option<usize>,
        allow_busy: bool,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<Driven, DriveError> {
        let drive =
            Drive { names: &self.names, links: &self.links, plan, threads, allow_busy, raw: false, stop };
        drive.run(watch)
    }
}

/// The names of the machines in reports: as the user wrote them, with a number where several are the same.
fn names(all: &[From]) -> Vec<String> {
    let name = |(at, from): (usize, &From)| {
        let before = all[..at].iter().filter(|other| other.words == from.words).count();
        if before == 0 { from.words.clone() } else { format!("{} ({})", from.words, before + 1) }
    };
    all.iter().enumerate().map(name).collect()
}

fn link(from: &From, put: &PutArgs) -> anyhow::Result<Link> {
    if let Some(transport) = &from.transport {
        return put.link(transport);
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("agent");
    agent_link::start(HERE, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_that_are_named_twice_have_names_of_their_own() {
        let all: Vec<From> = ["here", "ssh a", "here", "here"].map(|words| words.parse().unwrap()).to_vec();
        assert_eq!(names(&all), ["here", "ssh a", "here (2)", "here (3)"]);
        assert!(all[0].transport.is_none() && all[1].transport.is_some());
        assert!("ssh -oProxyCommand=x".parse::<From>().is_err());
    }
}
