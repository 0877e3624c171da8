//! The machines of the runs in a store: this one, and those whose runs were pulled.

use crate::failure::WrongInput;
use model::origin::{HERE, LONGEST_MACHINE, is_machine};
use std::collections::BTreeSet;
use store::Listed;

/// Parses the name of another machine.
pub fn parse(name: &str) -> Result<String, String> {
    if is_machine(name) {
        return Ok(name.to_owned());
    }
    Err(format!(
        "must be a name of at most {LONGEST_MACHINE} bytes on one line, and not `{HERE}`, which is this machine"
    ))
}

/// This machine's host name, if it has one.
pub fn host_name() -> Option<String> {
    let names = rustix::system::uname();
    names.nodename().to_str().ok().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// What other stores call this machine, unless the user says something else; `None`: its host name does not do.
pub fn own() -> Option<String> {
    host_name().filter(|name| is_machine(name))
}

/// What a list calls the machine of a run.
pub fn name(run: &Listed) -> &str {
    run.machine.as_deref().unwrap_or(HERE)
}

/// The names of all machines, this one among them if a run is its own.
pub fn names(runs: &[Listed]) -> BTreeSet<String> {
    runs.iter().map(|run| name(run).to_owned()).collect()
}

/// Keeps the runs of one machine; fails if there is none.
pub fn only(runs: &mut Vec<Listed>, machine: &str) -> Result<(), WrongInput> {
    let known = names(runs);
    if !known.contains(machine) {
        let known: Vec<String> = known.into_iter().collect();
        let there = if known.is_empty() {
            "there are none at all".to_owned()
        } else {
            format!("there are runs of {}", known.join(", "))
        };
        refuse!("--machine {machine}: no run is of this machine; {there}");
    }
    runs.retain(|run| name(run) == machine);
    Ok(())
}
