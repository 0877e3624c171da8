//! How connections come about, what is on them, and how they end.

use super::parse;
use clap::{Args, ValueEnum};
use model::{Connecting, IoChoice, Think, TlsChoice};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Raw arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionArgs {
    /// Connections
    #[arg(short, long, default_value_t = 64, value_name = "N", value_parser = parse::positive)]
    pub connections: u64,
    /// A new connection for every request
    #[arg(long, conflicts_with = "requests_per_connection")]
    no_keepalive: bool,
    /// A connection is closed and opened anew after so many requests
    #[arg(long, value_name = "N", value_parser = parse::positive)]
    requests_per_connection: Option<u64>,
    /// Requests on their way on each connection at the same time
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub pipeline: u16,
    /// A pipeline is filled again only when all of it is answered
    #[arg(long)]
    pub bursts: bool,
    /// Open no more than so many connections per second
    #[arg(long, value_name = "N", value_parser = parse::rate)]
    connection_rate: Option<f64>,
    /// Spread the opening of the first connections over so long
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = humantime::parse_duration)]
    connection_ramp: Duration,
    /// Closed load: wait so long after an answer before the next request: 1s, 1s..3s or exp:2s
    #[arg(long, value_name = "TIME", value_parser = parse::think, conflicts_with = "offered")]
    think: Option<Think>,
    /// Local addresses that connections start from, in turn, such as 127.0.0.2,127.0.0.3
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    source: Vec<IpAddr>,
    /// Connect to this Unix socket; the URL's host and path are still asked for
    #[arg(long, value_name = "PATH", conflicts_with = "source")]
    pub unix: Option<PathBuf>,
    /// What drives the sockets [default: `io_uring` where the kernel allows it, else epoll]
    #[arg(long, value_enum)]
    io: Option<Io>,
    /// https: any certificate will do
    #[arg(long)]
    insecure: bool,
    /// https: believe the authorities in this PEM file instead of the system's
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// https: the certificate to show a server that asks for one, a PEM file
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// https: the key of --cert
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// https: every handshake is a full one
    #[arg(long)]
    no_resumption: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Io {
    Epoll,
    Uring,
}

impl ConnectionArgs {
    /// Requests before a connection is closed and opened anew.
    pub fn per_connection(&self) -> Option<usize> {
        if self.no_keepalive { Some(1) } else { self.requests_per_connection.map(|n| n as usize) }
    }

    /// How they come about.
    pub fn connecting(&self) -> Connecting {
        Connecting {
            rate_per_s: self.connection_rate,
            ramp: self.connection_ramp,
            from: self.source.clone(),
            ..Connecting::default()
        }
    }

    /// How long they wait before they ask again.
    pub fn think(&self) -> Think {
        self.think.unwrap_or_default()
    }

    /// How an encrypted target is spoken to.
    pub fn tls(&self) -> TlsChoice {
        TlsChoice {
            insecure: self.insecure,
            cacert: self.cacert.clone(),
            identity: self.cert.clone().zip(self.key.clone()),
            no_resumption: self.no_resumption,
            ..TlsChoice::default()
        }
    }

    /// The back end.
    pub fn io(&self) -> IoChoice {
        match self.io {
            None => IoChoice::Best,
            Some(Io::Epoll) => IoChoice::Epoll,
            Some(Io::Uring) => IoChoice::Uring,
        }
    }
}
