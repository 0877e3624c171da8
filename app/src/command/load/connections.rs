//! The options of `drome load` for connections: how they are opened, used and closed.

use super::parse;
use crate::failure::{WrongInput, first_given};
use crate::options::{Io, IoArgs, grpc_method, positive};
use clap::Args;
use model::{Connecting, IoChoice, Protocol, Resumption, Target, Think, TlsChoice};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The number of connections without -c.
const USUAL: u64 = 64;

/// Raw arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionArgs {
    /// Number of connections [default: 64, or the number of requests if that is smaller]
    #[arg(short, long, value_name = "N", value_parser = positive)]
    connections: Option<u64>,
    /// Open a new connection for every request
    #[arg(long, conflicts_with = "requests_per_connection")]
    no_keepalive: bool,
    /// Close a connection and open a new one after this many requests
    #[arg(long, value_name = "N", value_parser = positive)]
    requests_per_connection: Option<u64>,
    /// Number of requests, or messages, in flight on each connection
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pipeline: u16,
    /// Refill a pipeline only when all of its requests are answered
    #[arg(long)]
    pub bursts: bool,
    /// Speak HTTP/2, which an https server must agree to
    #[arg(long, conflicts_with_all = ["pipeline", "bursts"])]
    http2: bool,
    /// Speak HTTP/2 without TLS, to a server that is known to understand it
    #[arg(long, conflicts_with_all = ["http2", "pipeline", "bursts"])]
    h2c: bool,
    /// Speak WebSocket: send the message of --body or --body-file again and again, and expect it back
    #[arg(long, conflicts_with_all = ["http2", "h2c", "bursts"])]
    websocket: bool,
    /// Call this method of gRPC, such as /package.Service/Method, over HTTP/2: h2c for http, agreed on for https
    #[arg(long, value_name = "METHOD", value_parser = grpc_method, conflicts_with_all = [
        "http2", "h2c", "websocket", "pipeline", "bursts", "http", "method", "body", "body_file", "urls", "expect_status",
    ])]
    pub grpc: Option<String>,
    /// HTTP/2: number of requests in flight on each connection [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    streams: Option<u16>,
    /// Open at most this many connections per second, such as 500 or 2.5k
    #[arg(long, value_name = "N", value_parser = parse::rate)]
    connection_rate: Option<f64>,
    /// Spread the opening of the first connections over this time
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = humantime::parse_duration)]
    connection_ramp: Duration,
    /// Closed load: wait this long between an answer and the next request: 1s, 1s..3s or exp:2s
    #[arg(long, value_name = "TIME", value_parser = parse::think, conflicts_with = "offered")]
    think: Option<Think>,
    /// Local addresses to connect from, in turn, such as 127.0.0.2,127.0.0.3
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    source: Vec<IpAddr>,
    /// Connect to this Unix socket; requests still use the URL's host and path
    #[arg(long, value_name = "PATH", conflicts_with = "source")]
    pub unix: Option<PathBuf>,
    #[command(flatten)]
    io: IoArgs,
    /// https: accept any certificate
    #[arg(long)]
    insecure: bool,
    /// https: trust the authorities in this PEM file instead of the system's
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// https: client certificate for servers that ask for one, a PEM file
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// https: private key of --cert, a PEM file
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// https: make every handshake a full one
    #[arg(long)]
    no_resumption: bool,
}

impl ConnectionArgs {
    /// The number of connections for this number of requests, if it is limited.
    pub fn number(&self, requests: Option<u64>) -> Result<usize, WrongInput> {
        let most = requests.unwrap_or(u64::MAX);
        match self.connections {
            None => Ok(USUAL.min(most) as usize),
            Some(c) if c <= most => Ok(c as usize),
            Some(c) => {
                refuse!("-c {c} is above -n {most}: {} connections would have nothing to do", c - most)
            }
        }
    }

    /// Refuses options that would do nothing for this target.
    pub fn fit(&self, target: &Target) -> Result<(), WrongInput> {
        if self.bursts && self.pipeline == 1 {
            refuse!(
                "--bursts needs --pipeline with 2 or more: without a pipeline there is nothing to refill"
            );
        }
        match (target.tls, self.protocol()) {
            (false, _) if self.http2 => {
                refuse!("--http2 is for https, and {} is not encrypted: write --h2c", target.url)
            }
            (true, _) if self.h2c => {
                refuse!("--h2c is for http, and {} is encrypted: write --http2", target.url)
            }
            (_, Protocol::Http1 | Protocol::WebSocket) if self.streams.is_some() => {
                refuse!(
                    "--streams: only HTTP/2 has streams: add --http2, --h2c or --grpc, or write --pipeline"
                )
            }
            (_, Protocol::Grpc) if target.path != "/" => {
                refuse!(
                    "--grpc has the path, so {} of the URL would not be asked for: leave it out",
                    target.path
                )
            }
            _ => {}
        }
        let of_tls = [
            ("--insecure", self.insecure),
            ("--cacert", self.cacert.is_some()),
            ("--cert and --key", self.cert.is_some()),
            ("--no-resumption", self.no_resumption),
        ];
        if let Some(option) = first_given(&of_tls).filter(|_| !target.tls) {
            refuse!("{option}: for https only, and {} is not encrypted: leave it out", target.url);
        }
        Ok(())
    }

    /// What is spoken.
    pub fn protocol(&self) -> Protocol {
        match (&self.grpc, self.http2 || self.h2c, self.websocket) {
            (Some(_), ..) => Protocol::Grpc,
            (None, true, _) => Protocol::Http2,
            (None, false, true) => Protocol::WebSocket,
            (None, false, false) => Protocol::Http1,
        }
    }

    /// The number of requests in flight on a connection.
    pub fn pipeline(&self) -> usize {
        self.streams.unwrap_or(self.pipeline).into()
    }

    /// The number of requests after which a connection is closed and replaced.
    pub fn per_connection(&self) -> Option<usize> {
        if self.no_keepalive { Some(1) } else { self.requests_per_connection.map(|n| n as usize) }
    }

    /// How connections are opened.
    pub fn connecting(&self) -> Connecting {
        Connecting {
            rate_per_s: self.connection_rate,
            ramp: self.connection_ramp,
            from: self.source.clone(),
            ..Connecting::default()
        }
    }

    /// How long a connection waits before its next request.
    pub fn think(&self) -> Think {
        self.think.unwrap_or_default()
    }

    /// The TLS settings.
    pub fn tls(&self) -> TlsChoice {
        TlsChoice {
            insecure: self.insecure,
            cacert: self.cacert.clone(),
            identity: self.cert.clone().zip(self.key.clone()),
            resumption: if self.no_resumption { Resumption::Off } else { Resumption::Offered },
            ..TlsChoice::default()
        }
    }

    /// The kernel interface for socket I/O.
    pub fn io(&self) -> IoChoice {
        match self.io.io {
            None => IoChoice::Best,
            Some(Io::Epoll) => IoChoice::Epoll,
            Some(Io::Uring) => IoChoice::Uring,
        }
    }
}
