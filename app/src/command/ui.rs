//! `drome ui`: serves the web interface: runs, comparisons, contenders, and studies while they are measured.

use super::{catalog, store_path};
use crate::failure::WrongInput;
use crate::options::{Common, MachineArgs};
use crate::ui::{self, AccessRules};
use anyhow::Context;
use clap::Args;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::process::{Command, ExitCode, Stdio};

/// D, R, O and M on a telephone's keys.
const PORT: u16 = 3766;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct UiArgs {
    /// Port to listen on; 0 chooses a free one, which is printed
    #[arg(long, default_value_t = PORT, value_name = "N")]
    port: u16,
    /// Address or host name to listen on; 0.0.0.0 means all addresses of this machine
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    listen: String,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Serves until a signal stops drome.
pub fn run(args: &UiArgs, common: &Common) -> anyhow::Result<ExitCode> {
    // Long runs are read in short-lived threads.
    net::heap::share_one();
    let catalog = catalog(common)?;
    // A store that can't be read is reported now, not on the first page.
    let store = store_path(common);
    store::Store::open(&store)?;
    let listener = bind(args)?;
    let at = listener.local_addr().context("can't find out the address")?;
    let rules = AccessRules::new(&args.listen, at)?;
    let address = rules.address(at);
    if args.open {
        open(&rules.address_for_one_visit(at)?);
    }
    ui::serve(ui::UiConfig { listener, rules, address, store, catalog, may_be_busy: args.machine.allow_busy })
}

fn bind(args: &UiArgs) -> anyhow::Result<TcpListener> {
    let name = args.listen.trim_start_matches('[').trim_end_matches(']');
    let unknown = |why: String| {
        WrongInput(format!(
            "--listen {}: {why}; use an address of this machine, such as 127.0.0.1",
            args.listen
        ))
    };
    let all: Vec<SocketAddr> =
        (name, args.port).to_socket_addrs().map_err(|e| unknown(format!("no such address ({e})")))?.collect();
    let first = *all.first().ok_or_else(|| unknown("no such address".to_owned()))?;
    TcpListener::bind(first).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => WrongInput(format!(
            "port {} is in use, perhaps by another drome ui: choose another with --port N, or a free one with --port 0",
            args.port
        ))
        .into(),
        ErrorKind::AddrNotAvailable => unknown("this machine does not have that address".to_owned()).into(),
        ErrorKind::PermissionDenied => WrongInput(format!(
            "port {} needs special permission: choose one above 1023 with --port N",
            args.port
        ))
        .into(),
        _ => anyhow::Error::new(error).context(format!("can't listen on {first}")),
    })
}

/// Opens the browser. If that fails, only a message is printed, because the address is printed as well.
fn open(address: &str) {
    let quiet = || Stdio::null();
    let opened = Command::new("xdg-open").arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    if let Err(error) = opened {
        alert!("drome: can't open a browser (xdg-open: {error}): open the printed address yourself");
    }
}
