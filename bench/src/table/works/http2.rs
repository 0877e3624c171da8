//! What the works of HTTP/2 have in common, and the one of gRPC.

use super::{AtMost, ClientCpu, Drome, H2load, LowestOf, NginxHttp2, REFERENCE, WORK, figure, run};
use crate::table::model::{Figure, Run, Server, Work};

/// A load of HTTP/2.
pub const fn http2(
    name: &'static str,
    title: &'static str,
    connections: usize,
    runs: &'static [Run],
    figures: &'static [Figure],
) -> Work {
    Work { name, title, connections, min_seconds: 2, runs, figures, ..WORK }
}

/// The same load by drome and by h2load.
pub const fn of_each(
    server: Server,
    drome: &'static [&'static str],
    h2load: &'static [&'static str],
) -> [Run; 2] {
    [run(server, "/hello", Drome(drome)), run(server, "/hello", H2load(h2load))]
}

pub const CLEAR: Server = NginxHttp2 { is_tls: false };
pub const H2C: &[&str] = &["--h2c"];
pub const H2C_32: &[&str] = &["--h2c", "--streams", "32"];
pub const HTTP2: &[&str] = &["--http2", "--insecure"];
pub const HTTP2_32: &[&str] = &["--http2", "--insecure", "--streams", "32"];

/// What the client costs at the reference, and at nginx, which is the limit.
pub const AT_HTTP2_REFERENCE: [Figure; 1] = [figure(ClientCpu, 0, LowestOf(&[1]), AtMost(0.65))];
pub const AT_HTTP2_NGINX: [Figure; 1] = [figure(ClientCpu, 0, LowestOf(&[1]), AtMost(0.85))];

const CALLS: &[&str] = &["--streams", "32", "--grpc", "/drome.Bench/Echo", "--data", "{files}/hello"];
const POSTS: &[&str] = &["--streams", "32", "--h2c", "--body-file", "{files}/hello"];

/// Unary calls, compared with requests of HTTP/2 that have the same body.
pub const GRPC_ECHO: Work = http2(
    "grpc-echo",
    "gRPC, 16 connections of 32 streams, a 12-byte message sent back by the reference server; HTTP/2 with the same body",
    16,
    &[run(REFERENCE, "/", Drome(CALLS)), run(REFERENCE, "/echo", Drome(POSTS))],
    &[figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.15))],
);
