//! `--server-on`: the other machine on which servers are started, and the link to it.

use super::agent_link::PutArgs;
use super::install;
use super::transport::Transport;
use crate::console;
use crate::failure::{WrongInput, first_given};
use clap::Args;
use control::prepare::elsewhere;
use control::remote::RemoteMachine;
use lab::setup::Lineup;
use model::Run;
use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;

/// Raw arguments.
#[derive(Clone, Debug, Default, Args)]
pub struct ServersOnArgs {
    /// Install, start, watch and stop the servers on another machine, which this command reaches: `ssh HOST`, or any words to which
    /// `drome agent` can be appended; load comes from here
    #[arg(long, value_name = "COMMAND")]
    server_on: Option<Transport>,
    /// With --server-on: IPv4 address of the other machine on which servers listen [default: the one by which it was reached]
    #[arg(long, value_name = "ADDRESS")]
    server_address: Option<Ipv4Addr>,
    #[command(flatten)]
    put: PutArgs,
}

impl ServersOnArgs {
    /// Whether servers are to be started on another machine.
    pub fn is_given(&self) -> bool {
        self.server_on.is_some()
    }

    /// The other machine, if there is one. `of_study`: the one that the study names, where the command line names none.
    pub fn connect(&self, of_study: Option<&str>) -> anyhow::Result<Option<RemoteMachine>> {
        let wrong = |why| WrongInput(format!("server-on in the study: {why}"));
        let of_study = of_study.map(|words| words.parse::<Transport>().map_err(wrong)).transpose()?;
        let Some(transport) = self.server_on.clone().or(of_study) else {
            let lost = [("--server-address", self.server_address.is_some()), ("--put", self.put.is_given())];
            if let Some(option) = first_given(&lost) {
                refuse!(
                    "{option} is only for servers on another machine: name it with --server-on 'ssh HOST'"
                );
            }
            return Ok(None);
        };
        let link = self.put.link(&transport)?;
        Ok(Some(RemoteMachine::open(link, self.server_address)?))
    }
}

/// Moves the lineup to the other machine, if there is one. Contenders are asked there for their versions.
pub fn take(remote: Option<&RemoteMachine>, lineup: &mut Lineup) -> anyhow::Result<()> {
    if let Some(remote) = remote {
        elsewhere::take(remote, &lineup.works, &mut lineup.prepared)?;
        lineup.remote = Some(remote.clone());
    }
    Ok(())
}

/// Measures the network to the other machine, and describes both in the run.
pub fn describe(remote: Option<&RemoteMachine>, run: &mut Run) -> anyhow::Result<()> {
    let Some(remote) = remote else { return Ok(()) };
    elsewhere::describe(remote, run)?;
    if let Some(on) = &run.environment.servers_on {
        note!("{}", report::machine::servers_on(on));
    }
    Ok(())
}

/// Installs what the contenders of a lineup lack, on the other machine if there is one. A failure is reported, and the others continue.
pub fn install(remote: Option<&RemoteMachine>, lineup: &mut Lineup, yes: bool, stop: &AtomicBool) {
    let Some(remote) = remote else { return install::get(&lineup.prepared, yes) };
    let ask = |what: &str| yes || console::confirm(what);
    let say = |line: &str| note!("{line}");
    if let Err(why) = elsewhere::install(remote, &mut lineup.prepared, &ask, &say, stop) {
        alert!("drome: {why}");
    }
}
