//! The works of HTTP/2, gRPC and WebSocket.

use super::super::model::Client::{Drome, H2load};
use super::super::model::Server::{NginxHttp2, Reference};
use super::super::model::{Baseline::LowestOf, Bound::AtMost, Figure, Quantity, Run, Server, Work};
use super::{REFERENCE, WORK, figure, run};
use Quantity::{ClientCpu, ServerCpu};

/// A load of HTTP/2.
const fn http2(
    name: &'static str,
    title: &'static str,
    connections: usize,
    runs: &'static [Run],
    figures: &'static [Figure],
) -> Work {
    Work { name, title, connections, min_seconds: 2, runs, figures, ..WORK }
}

/// The same load by drome and by h2load.
const fn of_each(
    server: Server,
    drome: &'static [&'static str],
    h2load: &'static [&'static str],
) -> [Run; 2] {
    [run(server, "/hello", Drome(drome)), run(server, "/hello", H2load(h2load))]
}

const CLEAR: Server = NginxHttp2 { is_tls: false };
const H2C: &[&str] = &["--h2c"];
const H2C_32: &[&str] = &["--h2c", "--streams", "32"];
const HTTP2: &[&str] = &["--http2", "--insecure"];
const HTTP2_32: &[&str] = &["--http2", "--insecure", "--streams", "32"];

/// What the client costs at the reference, and at nginx, which is the limit.
const AT_HTTP2_REFERENCE: [Figure; 1] = [figure(ClientCpu, 0, LowestOf(&[1]), AtMost(0.65))];
const AT_HTTP2_NGINX: [Figure; 1] = [figure(ClientCpu, 0, LowestOf(&[1]), AtMost(0.85))];

const CALLS: &[&str] = &["--streams", "32", "--grpc", "/drome.Bench/Echo", "--data", "{files}/hello"];
const POSTS: &[&str] = &["--streams", "32", "--h2c", "--body-file", "{files}/hello"];

/// Unary calls, compared with requests of HTTP/2 that have the same body.
const GRPC_ECHO: Work = http2(
    "grpc-echo",
    "gRPC, 16 connections of 32 streams, a 12-byte message sent back by the reference server; HTTP/2 with the same body",
    16,
    &[run(REFERENCE, "/", Drome(CALLS)), run(REFERENCE, "/echo", Drome(POSTS))],
    &[figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.15))],
);

/// Messages that the reference sends back, and requests of HTTP/1.1 that are like them.
const fn websocket(name: &'static str, title: &'static str, runs: &'static [Run; 2]) -> Work {
    Work { name, title, min_seconds: 2, runs, figures: &AS_REQUESTS, ..WORK }
}

const fn messages(args: &'static [&'static str]) -> Run {
    run(REFERENCE, "/websocket", Drome(args))
}

/// What a message costs the client and the server, compared with a request.
const AS_REQUESTS: [Figure; 2] =
    [figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.10)), figure(ServerCpu, 0, LowestOf(&[1]), AtMost(1.10))];

const SIXTEEN: &str = "0123456789abcdef";
const FILE_1K: &str = "{files}/message-1k";
const FILE_64K: &str = "{files}/message-64k";

/// All of them, in the order of the table.
pub const WORKS: &[Work] = &[
    http2(
        "http2-64x1",
        "HTTP/2, 64 connections of one stream, 12-byte body, the reference server",
        64,
        &of_each(REFERENCE, H2C, &[]),
        &AT_HTTP2_REFERENCE,
    ),
    http2(
        "http2-16x32",
        "HTTP/2, 16 connections of 32 streams, 12-byte body, the reference server",
        16,
        &of_each(REFERENCE, H2C_32, &["-m32"]),
        &AT_HTTP2_REFERENCE,
    ),
    http2(
        "http2-tls-64x1",
        "HTTP/2 over TLS 1.3, 64 connections of one stream, 12-byte body, the reference server",
        64,
        &of_each(Reference(&["--tls"]), HTTP2, &[]),
        &AT_HTTP2_REFERENCE,
    ),
    http2(
        "http2-tls-16x32",
        "HTTP/2 over TLS 1.3, 16 connections of 32 streams, 12-byte body, the reference server",
        16,
        &of_each(Reference(&["--tls"]), HTTP2_32, &["-m32"]),
        &AT_HTTP2_REFERENCE,
    ),
    http2(
        "http2-nginx-64x1",
        "HTTP/2, 64 connections of one stream, 12-byte body, nginx, which is the limit",
        64,
        &of_each(CLEAR, H2C, &[]),
        &AT_HTTP2_NGINX,
    ),
    http2(
        "http2-nginx-16x32",
        "HTTP/2, 16 connections of 32 streams, 12-byte body, nginx, which is the limit",
        16,
        &of_each(CLEAR, H2C_32, &["-m32"]),
        &AT_HTTP2_NGINX,
    ),
    http2(
        "http2-nginx-tls-16x32",
        "HTTP/2 over TLS 1.3, 16 connections of 32 streams, 12-byte body, nginx, which is the limit",
        16,
        &of_each(NginxHttp2 { is_tls: true }, HTTP2_32, &["-m32"]),
        &AT_HTTP2_NGINX,
    ),
    http2(
        "http2-server",
        "reference server, HTTP/2, `/hello`, 16 connections of 32 streams",
        16,
        &[run(REFERENCE, "/hello", Drome(H2C_32)), run(CLEAR, "/hello", Drome(H2C_32))],
        &[figure(ServerCpu, 0, LowestOf(&[1]), AtMost(0.60))],
    ),
    GRPC_ECHO,
    websocket(
        "websocket-16",
        "WebSocket, 64 connections, 16-byte messages that come back, compared with `/hello` over HTTP/1.1",
        &[messages(&["--websocket", "--body", SIXTEEN]), run(REFERENCE, "/hello", Drome(&[]))],
    ),
    websocket(
        "websocket-16x16",
        "WebSocket, 64 connections, 16 messages of 16 bytes in flight on each, compared with `/hello`, pipelined",
        &[
            messages(&["--websocket", "--body", SIXTEEN, "--pipeline", "16"]),
            run(REFERENCE, "/hello", Drome(&["--pipeline", "16"])),
        ],
    ),
    websocket(
        "websocket-1k",
        "WebSocket, 64 connections, 1 KB messages that come back, compared with `/echo` over HTTP/1.1",
        &[
            messages(&["--websocket", "--body-file", FILE_1K]),
            run(REFERENCE, "/echo", Drome(&["--body-file", FILE_1K, "--expect-body", FILE_1K])),
        ],
    ),
    websocket(
        "websocket-64k",
        "WebSocket, 64 connections, 64 KB messages that come back, compared with `/echo` over HTTP/1.1",
        &[
            messages(&["--websocket", "--body-file", FILE_64K]),
            run(REFERENCE, "/echo", Drome(&["--body-file", FILE_64K, "--expect-body", FILE_64K])),
        ],
    ),
];
