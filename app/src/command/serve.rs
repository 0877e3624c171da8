//! `drome serve`: the reference server.

use super::catalog;
use crate::cli::Common;
use crate::console;
use crate::failure::WrongInput;
use anyhow::Context;
use clap::{Args, ValueEnum};
use serve::{BackEnd, Config, Fault, Faults, Server, Site};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

/// The page that is served at `/`.
const ROOT: &str = "html-228";

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where to listen; only this machine unless told
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    host: IpAddr,
    /// The port; 0: any free one, which is printed
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Threads
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// A known truth for tests: be busy for so many nanoseconds for every request
    #[arg(long, default_value_t = 0, value_name = "N")]
    spin_ns: u64,
    /// A known truth for tests, such as delay=5ms or reset@0.01; --help has them all
    #[arg(long = "fault", value_name = "FAULT", long_help = serve::fault_help())]
    faults: Vec<Fault>,
    /// Decides which answers a fault befalls, and delays
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// What drives the sockets [default: `io_uring` where the kernel allows it, else epoll]
    #[arg(long, value_enum)]
    io: Option<Io>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Io {
    Epoll,
    Uring,
}

/// Serves until it is told to stop.
pub fn run(args: &ServeArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let mut site = Site::new();
    let catalog = catalog(common)?;
    for (name, work) in lab::setup::works(&catalog)? {
        let (Some(workload), Some(body)) = (&work.workload, &work.body) else {
            continue;
        };
        site.page(&format!("/{}", workload.file), &workload.content_type, body);
        if name == ROOT {
            site.page("/", &workload.content_type, body);
        }
    }
    let address = SocketAddr::new(args.host, args.port);
    let stop = console::stop_flag()?;
    let config = Config {
        address,
        threads: args.threads.into(),
        spin: Duration::from_nanos(args.spin_ns),
        faults: Faults::new(&args.faults, args.seed).map_err(|e| WrongInput(format!("--fault {e}")))?,
        io: args.io.map(|io| match io {
            Io::Epoll => BackEnd::Epoll,
            Io::Uring => BackEnd::Uring,
        }),
    };
    net::limits::raise_descriptors(u64::MAX);
    let server = match Server::bind(config) {
        Err(e) if e.kind() == std::io::ErrorKind::AddrInUse => {
            return Err(
                WrongInput(format!("port {} is in use: another server listens there", args.port)).into()
            );
        }
        other => other.with_context(|| format!("can't listen on {address}"))?,
    };
    console::print(&format!("http://{}/\n", server.address()))?;
    server.run(&site, &stop).context("the server failed")?;
    Ok(ExitCode::SUCCESS)
}
