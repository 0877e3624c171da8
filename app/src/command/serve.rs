//! `drome serve`: runs the reference server.

use super::catalog;
use crate::console;
use crate::failure::WrongInput;
use crate::options::{Common, Io, IoArgs, positive_time};
use crate::signals::stop_flag;
use anyhow::{Context, anyhow};
use clap::Args;
use model::workload::Recipe;
use net::tls::{IdentityFiles, ServerOptions, ServerTls};
use serve::{BackEnd, BindError, Config, Fault, Faults, Listen, Messages, Server, Site};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The page that is served at `/`.
const ROOT: &str = "html-228";

/// Where a WebSocket can be opened, which sends messages back.
const WEBSOCKET: &str = "/websocket";

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to listen on; 0.0.0.0 means all addresses of this machine
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    listen: IpAddr,
    /// Port to listen on; 0 chooses a free one, which is printed
    #[arg(long, default_value_t = 8080, value_name = "N")]
    port: u16,
    /// Listen on this Unix socket instead
    #[arg(long, value_name = "PATH", conflicts_with_all = ["listen", "port"])]
    unix: Option<PathBuf>,
    /// Serve the files of this folder instead of the reference pages
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Close a connection that has had no answer for this long
    #[arg(long, default_value = "75s", value_name = "TIME", value_parser = positive_time)]
    idle_timeout: Duration,
    /// Append a line for every answer to this file, in the Common Log Format
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// Serve over TLS, with a self-signed certificate unless --cert is given
    #[arg(long)]
    tls: bool,
    /// Serve over TLS with this certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Private key of --cert, a PEM file
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Serve over TLS at this port as well, by as many threads again; 0 chooses a free one
    #[arg(long, value_name = "N", conflicts_with_all = ["unix", "tls"])]
    tls_port: Option<u16>,
    /// Number of threads
    #[arg(short, long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// For tests with a known result: busy-wait this long for every request, such as 20us
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = humantime::parse_duration)]
    spin: Duration,
    /// Send this many messages of 128 bytes through a socket pair for every request: work that, like a real
    /// server's, takes longer on a slower machine
    #[arg(long, default_value_t = 0, value_name = "N", conflicts_with = "spin",
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    messages: u32,
    /// Send this many such messages for every new connection, in addition to --messages for each request
    #[arg(long, default_value_t = 0, value_name = "N", conflicts_with = "spin",
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    messages_per_connection: u32,
    /// For tests with a known result: inject a fault, such as delay=5ms or reset@0.01; --help lists all; may be repeated
    #[arg(long = "fault", value_name = "FAULT", long_help = serve::fault_help())]
    faults: Vec<Fault>,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    #[command(flatten)]
    io: IoArgs,
}

/// Serves until a signal stops drome.
pub fn run(args: &ServeArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let site = if args.root.is_some() { Site::new() } else { reference_pages(common)? };
    let stop = stop_flag()?;
    let listen = match &args.unix {
        Some(path) => Listen::Unix(path.clone()),
        None => Listen::Tcp(SocketAddr::new(args.listen, args.port)),
    };
    let tls = tls(args)?;
    let config = Config {
        listen,
        threads: args.threads.into(),
        root: args.root.clone(),
        idle_timeout: args.idle_timeout,
        access_log: args.access_log.clone(),
        spin: args.spin,
        messages: Messages { request: args.messages, connection: args.messages_per_connection },
        faults: Faults::new(&args.faults, args.seed).map_err(|e| WrongInput(format!("--fault {e}")))?,
        io: args.io.io.map(|io| match io {
            Io::Epoll => BackEnd::Epoll,
            Io::Uring => BackEnd::Uring,
        }),
        tls: tls.clone().filter(|_| args.tls_port.is_none()),
    };
    net::limits::raise_descriptors(u64::MAX);
    let bind = |config: Config, port| Server::bind(config).map_err(|error| refusal(args, port, error));
    let with_tls = args.tls_port.map(|port| {
        let listen = Listen::Tcp(SocketAddr::new(args.listen, port));
        bind(Config { listen, tls, ..config.clone() }, port)
    });
    let is_encrypted = config.tls.is_some();
    let servers =
        [Some((bind(config, args.port)?, is_encrypted)), with_tls.transpose()?.map(|server| (server, true))];
    // The catalog and the command line took several times what the server needs.
    net::heap::give_back();
    serve_all(servers.into_iter().flatten().collect(), &site, &stop)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves by each of these, encrypted or not, until a signal comes or one of them fails, which ends the others.
fn serve_all(servers: Vec<(Server, bool)>, site: &Site, stop: &AtomicBool) -> anyhow::Result<()> {
    let serve = |(server, is_encrypted): (Server, bool)| -> anyhow::Result<()> {
        let mut printed = Ok(());
        let served = server.run(site, stop, |server| {
            printed = tell(server, is_encrypted);
            if printed.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        });
        stop.store(true, Ordering::Relaxed);
        served.context("the server failed")?;
        printed
    };
    std::thread::scope(|scope| {
        let mut servers = servers.into_iter();
        let own = servers.next();
        let others: Vec<_> = servers.map(|server| scope.spawn(move || serve(server))).collect();
        let own = own.map_or(Ok(()), serve);
        let others = others
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow!("a thread of the server died"))?);
        others.fold(own, Result::and)
    })
}

/// Prints where the server listens, now that it answers.
fn tell(server: &Server, is_encrypted: bool) -> anyhow::Result<()> {
    if let Some(why) = server.fallback() {
        note!("drome: using epoll, because io_uring can't be used here ({why})");
    }
    let place = server.place();
    console::print(&format!("{}\n", if is_encrypted { place.replacen("http:", "https:", 1) } else { place }))
}

fn tls(args: &ServeArgs) -> anyhow::Result<Option<ServerTls>> {
    let files = args.cert.clone().zip(args.key.clone());
    if !args.tls && files.is_none() && args.tls_port.is_none() {
        return Ok(None);
    }
    let identity = files.map(|(certificate, key)| IdentityFiles { certificate, key });
    let options = ServerOptions { identity, ..ServerOptions::default() };
    Ok(Some(options.config().map_err(|error| WrongInput(error.to_string()))?))
}

/// The bodies of the workloads, at the paths that every contender serves them at.
fn reference_pages(common: &Common) -> anyhow::Result<Site> {
    let mut site = Site::new();
    site.websocket(WEBSOCKET);
    let catalog = catalog(common)?;
    for (name, work) in control::prepare::assets::works(&catalog)? {
        let (Some(workload), Some(body)) = (&work.workload, &work.body) else {
            continue;
        };
        match &workload.file {
            Some(file) => site.page(&format!("/{file}"), &workload.content_type, body),
            None if workload.protocol.is_some() => {}
            None if workload.body == Recipe::Sent => site.echo(&format!("/{name}")),
            None if workload.body == Recipe::Text(serve::OBJECT.to_owned()) => site.json(&format!("/{name}")),
            None => {}
        }
        if name == ROOT {
            site.page("/", &workload.content_type, body);
        }
    }
    Ok(site)
}

/// The error to report; if other options can avoid it, the command line is wrong.
fn refusal(args: &ServeArgs, port: u16, error: BindError) -> anyhow::Error {
    let place = args
        .unix
        .as_ref()
        .map_or_else(|| format!("{}", SocketAddr::new(args.listen, port)), |path| path.display().to_string());
    match error {
        BindError::Listen(_) if error.is_in_use() && args.unix.is_some() => {
            WrongInput(format!("{place} is in use: another server listens there")).into()
        }
        BindError::Listen(_) if error.is_in_use() => {
            WrongInput(format!("port {port} is in use: another server listens there")).into()
        }
        BindError::Listen(cause) if args.unix.is_some() => {
            WrongInput(format!("can't listen at {place}: {cause}")).into()
        }
        BindError::Listen(cause) => anyhow::Error::new(cause).context(format!("can't listen on {place}")),
        error => WrongInput(error.to_string()).into(),
    }
}
