//! The works, in the order of the table: what is measured, what it is compared with, and the bounds.

mod protocols;

use super::model::{Baseline, Bound, Client, Figure, Quantity, Run, Server, Work};
use Baseline::{Expected, HighestOf, LowestOf, Nothing, PerExtraConnection};
use Bound::{AtLeast, AtMost, Within};
use Client::{Ab, Drome, H2load, Wrk};
use Quantity::{ClientAnonymous, ClientCpu, Quantile, Rate, Rss, ServerAnonymous, ServerCpu, ServerIdle};
use Server::{Go, Nginx, NginxTls, Node, Reference, Root};

const FLOOR: Server = Server::Floor(12);
const REFERENCE: Server = Reference(&[]);
const STALLING: Server = Reference(&["--fault", "stall=100ms/1s"]);
const MS: f64 = 1e6;
const US: f64 = 1e3;
const KB: f64 = 1e3;
const MB: f64 = 1e6;

/// What most works have in common.
const WORK: Work =
    Work { name: "", title: "", connections: 64, processes: 1, min_seconds: 1, runs: &[], figures: &[] };

const fn run(server: Server, path: &'static str, client: Client) -> Run {
    Run { server, path, client, connections: None }
}

/// A run with more or fewer connections than the work's others.
const fn with(connections: usize, run: Run) -> Run {
    Run { connections: Some(connections), ..run }
}

/// `run` is an index of the work's runs.
const fn figure(quantity: Quantity, run: usize, baseline: Baseline, bound: Bound) -> Figure {
    Figure { quantity, run, baseline, bound }
}

const LAG_P99: Quantity = Quantile("schedule_lag_ns", "p99");

/// Schedule lag with a load generator that sleeps and with one that does not.
const LAGS: [Figure; 2] =
    [figure(LAG_P99, 0, Nothing, AtMost(100.0 * US)), figure(LAG_P99, 1, Nothing, AtMost(20.0 * US))];

const LATENCY_P99: Quantity = Quantile("latency_ns", "p99");

/// What the floor server answers, as a file in the bench's folder.
const FILE_50K: &str = "{files}/file-50k";
const FILE_200K: &str = "{files}/file-200k";

/// Many connections at once, of one or more client processes.
const fn connections(
    name: &'static str,
    title: &'static str,
    connections: usize,
    processes: usize,
    figures: &'static [Figure],
) -> Work {
    Work { name, title, connections, processes, min_seconds: 5, runs: &AT_ONCE, figures }
}

/// Large bodies: CPU time compared with that of wrk, unchecked and checked, and what checking costs.
const fn bodies(most: f64) -> [Figure; 4] {
    [
        figure(ClientCpu, 0, LowestOf(&[2]), AtMost(most)),
        figure(ClientCpu, 1, LowestOf(&[2]), AtMost(most)),
        // These two poll, as in a race, where the load generator has a core of its own. A client that sleeps makes
        // the server wake it, more often the faster it is. That costs the server a tenth of its rate in some runs
        // and nothing in others.
        figure(Rate, 4, LowestOf(&[3]), AtLeast(0.97)),
        figure(LATENCY_P99, 4, LowestOf(&[3]), AtMost(1.05)),
    ]
}

const TWO_ADDRESSES: &[&str] = &["--source", "127.0.0.2,127.0.0.3"];

const AT_ONCE: [Run; 4] = [
    run(FLOOR, "/", Drome(TWO_ADDRESSES)),
    run(FLOOR, "/", Client::Floor(1)),
    run(FLOOR, "/", Wrk(&[])),
    with(1_000, run(FLOOR, "/", Drome(TWO_ADDRESSES))),
];

const ONE_THOUSAND: [Figure; 2] =
    [figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.3)), figure(ClientCpu, 0, LowestOf(&[2]), AtMost(1.0))];

const MORE_THAN_ONE_THOUSAND: [Figure; 4] = [
    figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.3)),
    figure(ClientCpu, 0, LowestOf(&[2]), AtMost(1.0)),
    figure(ClientCpu, 0, LowestOf(&[3]), AtMost(1.5)),
    figure(Rss, 0, PerExtraConnection(&[3]), AtMost(1.5 * KB)),
];

/// The capacity of a server as drome finds it when it polls, compared with all other clients. These include drome when
/// it sleeps or uses epoll.
const fn capacity(name: &'static str, title: &'static str, connections: usize, runs: &'static [Run]) -> Work {
    Work { name, title, connections, runs, figures: &CAPACITY, ..WORK }
}

const CAPACITY: [Figure; 3] = [
    figure(Rate, 0, HighestOf(&[1, 2, 3, 4, 5]), AtLeast(0.98)),
    // A client that writes each request at once and does not sleep either.
    figure(Rate, 0, LowestOf(&[3]), AtLeast(0.95)),
    figure(ServerIdle, 0, Nothing, AtMost(0.01)),
];

const fn all_clients(server: Server) -> [Run; 6] {
    [
        run(server, "/hello", Drome(&["--spin", "1s"])),
        run(server, "/hello", Drome(&[])),
        run(server, "/hello", Drome(&["--io", "epoll", "--spin", "1s"])),
        run(server, "/hello", Client::Epoll),
        run(server, "/hello", Wrk(&[])),
        run(server, "/hello", H2load(&["--h1"])),
    ]
}

/// No session is resumed, since connections stay open. The server chooses suite, group and key, so they are the same
/// for all clients.
const fn all_with_tls(server: Server) -> [Run; 4] {
    [
        run(server, "/hello", Drome(&["--insecure", "--no-resumption"])),
        run(server, "/hello", Wrk(&[])),
        run(server, "/hello", H2load(&["--h1"])),
        run(server, "/hello", Ab(&["-k"])),
    ]
}

/// CPU time compared with that of each other client.
const fn with_tls(most: f64) -> [Figure; 3] {
    [
        figure(ClientCpu, 0, LowestOf(&[1]), AtMost(most)),
        figure(ClientCpu, 0, LowestOf(&[2]), AtMost(most)),
        figure(ClientCpu, 0, LowestOf(&[3]), AtMost(most)),
    ]
}

const AT_NGINX: [Run; 6] = all_clients(Nginx);
const AT_GO: [Run; 6] = all_clients(Go);
const AT_NODE: [Run; 6] = all_clients(Node);
const AT_REFERENCE: [Run; 6] = all_clients(REFERENCE);

/// All of them, in the order of the table.
pub fn works() -> impl Iterator<Item = &'static Work> + Clone {
    [OF_HTTP_1, protocols::WORKS, OF_CONNECTIONS_TIME_AND_CAPACITY].into_iter().flatten()
}

const OF_HTTP_1: &[Work] = &[
    Work {
        name: "keep-alive",
        title: "64 keep-alive connections, 12-byte body",
        runs: &[
            run(FLOOR, "/", Drome(&[])),
            run(FLOOR, "/", Client::Floor(1)),
            run(FLOOR, "/", Wrk(&[])),
            run(FLOOR, "/", H2load(&["--h1"])),
        ],
        figures: &[
            figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.05)),
            figure(ClientCpu, 0, LowestOf(&[2]), AtMost(0.72)),
            figure(ClientCpu, 0, LowestOf(&[3]), AtMost(0.65)),
        ],
        ..WORK
    },
    Work {
        name: "agent",
        title: "64 keep-alive connections, 12-byte body, `--load-from here`: drome and its agent together",
        // Starting the agent and comparing clocks takes the same time however long the load is.
        min_seconds: 10,
        runs: &[run(FLOOR, "/", Drome(&["--load-from", "here"])), run(FLOOR, "/", Drome(&[]))],
        figures: &[figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.02))],
        ..WORK
    },
    Work {
        name: "pipeline",
        title: "64 keep-alive connections, 12-byte body, 16 requests pipelined on each",
        runs: &[
            run(FLOOR, "/", Drome(&["--pipeline", "16"])),
            run(FLOOR, "/", Client::Floor(16)),
            run(FLOOR, "/", H2load(&["--h1", "-m16"])),
        ],
        figures: &[
            figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.15)),
            figure(ClientCpu, 0, LowestOf(&[2]), AtMost(0.60)),
        ],
        ..WORK
    },
    Work {
        name: "epoll",
        title: "64 keep-alive connections, 12-byte body, `--io epoll`",
        runs: &[run(FLOOR, "/", Drome(&["--io", "epoll"])), run(FLOOR, "/", Wrk(&[]))],
        figures: &[figure(ClientCpu, 0, LowestOf(&[1]), AtMost(0.95))],
        ..WORK
    },
    Work {
        name: "body-50k",
        title: "64 keep-alive connections, 50 KB body; wrk copies every body, drome only those that it checks",
        min_seconds: 2,
        runs: &[
            run(Server::Floor(50_000), "/", Drome(&[])),
            run(Server::Floor(50_000), "/", Drome(&["--expect-body", FILE_50K])),
            run(Server::Floor(50_000), "/", Wrk(&[])),
            run(Server::Floor(50_000), "/", Drome(&["--spin", "1s"])),
            run(Server::Floor(50_000), "/", Drome(&["--spin", "1s", "--expect-body", FILE_50K])),
        ],
        figures: &bodies(0.50),
        ..WORK
    },
    Work {
        name: "body-200k",
        title: "64 keep-alive connections, 200 KB body; wrk copies every body, drome only those that it checks",
        min_seconds: 2,
        runs: &[
            run(Server::Floor(200_000), "/", Drome(&[])),
            run(Server::Floor(200_000), "/", Drome(&["--expect-body", FILE_200K])),
            run(Server::Floor(200_000), "/", Wrk(&[])),
            run(Server::Floor(200_000), "/", Drome(&["--spin", "1s"])),
            run(Server::Floor(200_000), "/", Drome(&["--spin", "1s", "--expect-body", FILE_200K])),
        ],
        figures: &bodies(0.40),
        ..WORK
    },
    Work {
        name: "memory",
        title: "memory under 64 keep-alive connections, one thread",
        runs: &[run(Reference(&["--threads", "1"]), "/hello", Drome(&[]))],
        figures: &[figure(ServerAnonymous, 0, Nothing, AtMost(12.0 * MB))],
        ..WORK
    },
    Work {
        name: "memory-10k",
        title: "memory with 10,000 keep-alive connections",
        connections: 10_000,
        min_seconds: 5,
        runs: &[run(FLOOR, "/", Drome(TWO_ADDRESSES))],
        figures: &[figure(ClientAnonymous, 0, Nothing, AtMost(16.0 * MB))],
        ..WORK
    },
    Work {
        name: "no-keepalive",
        title: "a new connection per request, 64 at once",
        // The floor server never closes a connection; this work needs a server that closes it on request.
        runs: &[
            run(REFERENCE, "/hello", Drome(&["--no-keepalive"])),
            run(REFERENCE, "/hello", Ab(&[])),
            run(REFERENCE, "/hello", Wrk(&["-H", "Connection: close"])),
            run(REFERENCE, "/hello", Client::FloorConnector),
        ],
        figures: &[
            figure(ClientCpu, 0, LowestOf(&[1, 2]), AtMost(0.70)),
            figure(ClientCpu, 0, LowestOf(&[3]), AtMost(1.15)),
        ],
        ..WORK
    },
    Work {
        name: "left-open",
        title: "a new connection per request, 64 at once, at a server that says `Connection: close` and leaves the closing to the client",
        runs: &[run(Server::FloorLeaves, "/", Drome(&[])), run(Server::FloorLeaves, "/", Wrk(&[]))],
        figures: &[figure(Rate, 0, LowestOf(&[1]), AtLeast(0.90))],
        ..WORK
    },
    Work {
        name: "tls-keep-alive",
        title: "64 keep-alive connections, TLS 1.3, 12-byte body, the reference server",
        min_seconds: 2,
        runs: &all_with_tls(Reference(&["--tls"])),
        figures: &with_tls(0.75),
        ..WORK
    },
    Work {
        name: "tls-keep-alive-nginx",
        title: "64 keep-alive connections, TLS 1.3, 12-byte body, nginx, which is the limit",
        min_seconds: 2,
        runs: &all_with_tls(NginxTls(false)),
        figures: &with_tls(0.90),
        ..WORK
    },
    Work {
        name: "tls-new",
        title: "a new TLS 1.3 connection per request, 64 at once, no session resumed",
        min_seconds: 2,
        runs: &[
            run(NginxTls(false), "/hello", Drome(&["--no-keepalive", "--insecure", "--no-resumption"])),
            run(NginxTls(false), "/hello", Ab(&[])),
            run(NginxTls(false), "/hello", Wrk(&["-H", "Connection: close"])),
        ],
        figures: &[figure(ClientCpu, 0, LowestOf(&[1, 2]), AtMost(0.90))],
        ..WORK
    },
    Work {
        name: "tls-resumed",
        title: "a new TLS 1.3 connection per request, 64 at once, sessions resumed",
        min_seconds: 2,
        runs: &[
            run(NginxTls(true), "/hello", Drome(&["--no-keepalive", "--insecure"])),
            run(NginxTls(true), "/hello", Drome(&["--no-keepalive", "--insecure", "--no-resumption"])),
        ],
        figures: &[figure(ClientCpu, 0, LowestOf(&[1]), AtMost(1.0))],
        ..WORK
    },
];

/// Those that follow the other protocols.
const OF_CONNECTIONS_TIME_AND_CAPACITY: &[Work] = &[
    connections("connections-1k", "1,000 keep-alive connections, 12-byte body", 1_000, 1, &ONE_THOUSAND),
    connections(
        "connections-10k",
        "10,000 keep-alive connections, 12-byte body",
        10_000,
        1,
        &MORE_THAN_ONE_THOUSAND,
    ),
    connections(
        "connections-18k",
        "18,000 keep-alive connections, 12-byte body",
        18_000,
        1,
        &MORE_THAN_ONE_THOUSAND,
    ),
    connections(
        "connections-100k",
        "100,000 keep-alive connections, 12-byte body; six clients at six servers, drome's from two addresses each",
        100_002,
        6,
        &MORE_THAN_ONE_THOUSAND,
    ),
    Work {
        name: "open-1k",
        title: "open load, 1,000/s",
        min_seconds: 2,
        runs: &[
            run(REFERENCE, "/hello", Drome(&["--rate", "1000"])),
            run(REFERENCE, "/hello", Drome(&["--rate", "1000", "--spin", "200us"])),
        ],
        figures: &[
            figure(LAG_P99, 0, Nothing, AtMost(100.0 * US)),
            figure(LAG_P99, 1, Nothing, AtMost(20.0 * US)),
            figure(Quantile("latency_ns", "p50"), 0, Nothing, AtMost(0.2 * MS)),
        ],
        ..WORK
    },
    Work {
        name: "open-5k",
        title: "open load, 5,000/s",
        min_seconds: 2,
        runs: &[
            run(REFERENCE, "/hello", Drome(&["--rate", "5000"])),
            run(REFERENCE, "/hello", Drome(&["--rate", "5000", "--spin", "200us"])),
        ],
        figures: &LAGS,
        ..WORK
    },
    Work {
        name: "open-20k",
        title: "open load, 20,000/s",
        min_seconds: 2,
        runs: &[
            run(REFERENCE, "/hello", Drome(&["--rate", "20000"])),
            run(REFERENCE, "/hello", Drome(&["--rate", "20000", "--spin", "200us"])),
        ],
        figures: &LAGS,
        ..WORK
    },
    Work {
        name: "stall",
        title: "open load, 1,009/s, at a server that stalls for 100 ms of every second",
        // A whole number of periods. In ten of them, ten answers are slower than the highest quantile.
        min_seconds: 10,
        // At 1,000/s the first request of every stall would be due at the same moment after the stall's beginning, and
        // every wait would be off by the same amount, up to 1 ms. The prime rate shifts that moment.
        runs: &[run(STALLING, "/hello", Drome(&["--rate", "1009"]))],
        // A tenth of all requests is due in a stall. Their waits are spread evenly from 0 to 100 ms.
        figures: &[
            figure(Quantile("latency_ns", "p95"), 0, Expected(50.0 * MS), Within(0.02)),
            figure(Quantile("latency_ns", "p99"), 0, Expected(90.0 * MS), Within(0.02)),
            figure(Quantile("latency_ns", "p999"), 0, Expected(99.0 * MS), Within(0.02)),
        ],
        ..WORK
    },
    Work {
        name: "hello",
        title: "reference server, `/hello`",
        runs: &[
            run(REFERENCE, "/hello", Drome(&[])),
            run(FLOOR, "/", Drome(&[])),
            run(Nginx, "/hello", Drome(&[])),
        ],
        figures: &[
            figure(ServerCpu, 0, LowestOf(&[1]), AtMost(1.05)),
            figure(ServerCpu, 0, LowestOf(&[2]), AtMost(0.40)),
        ],
        ..WORK
    },
    Work {
        name: "file-200k",
        title: "reference server, file of 200 KB",
        runs: &[run(Root, "/file-200k", Drome(&[])), run(Nginx, "/file-200k", Drome(&[]))],
        figures: &[figure(ServerCpu, 0, LowestOf(&[1]), AtMost(0.90))],
        ..WORK
    },
    capacity("capacity-nginx-4", "capacity found: nginx, 4 connections", 4, &AT_NGINX),
    capacity("capacity-nginx-10", "capacity found: nginx, 10 connections", 10, &AT_NGINX),
    capacity("capacity-nginx-32", "capacity found: nginx, 32 connections", 32, &AT_NGINX),
    capacity("capacity-nginx-64", "capacity found: nginx, 64 connections", 64, &AT_NGINX),
    capacity("capacity-nginx-100", "capacity found: nginx, 100 connections", 100, &AT_NGINX),
    capacity("capacity-nginx-256", "capacity found: nginx, 256 connections", 256, &AT_NGINX),
    capacity("capacity-go-4", "capacity found: Go's net/http, 4 connections", 4, &AT_GO),
    capacity("capacity-go-10", "capacity found: Go's net/http, 10 connections", 10, &AT_GO),
    capacity("capacity-go-32", "capacity found: Go's net/http, 32 connections", 32, &AT_GO),
    capacity("capacity-go-64", "capacity found: Go's net/http, 64 connections", 64, &AT_GO),
    capacity("capacity-go-100", "capacity found: Go's net/http, 100 connections", 100, &AT_GO),
    capacity("capacity-go-256", "capacity found: Go's net/http, 256 connections", 256, &AT_GO),
    capacity("capacity-node-4", "capacity found: Node.js, 4 connections", 4, &AT_NODE),
    capacity("capacity-node-10", "capacity found: Node.js, 10 connections", 10, &AT_NODE),
    capacity("capacity-node-32", "capacity found: Node.js, 32 connections", 32, &AT_NODE),
    capacity("capacity-node-64", "capacity found: Node.js, 64 connections", 64, &AT_NODE),
    capacity("capacity-node-100", "capacity found: Node.js, 100 connections", 100, &AT_NODE),
    capacity("capacity-node-256", "capacity found: Node.js, 256 connections", 256, &AT_NODE),
    capacity("capacity-reference-4", "capacity found: drome serve, 4 connections", 4, &AT_REFERENCE),
    capacity("capacity-reference-10", "capacity found: drome serve, 10 connections", 10, &AT_REFERENCE),
    capacity("capacity-reference-32", "capacity found: drome serve, 32 connections", 32, &AT_REFERENCE),
    capacity("capacity-reference-64", "capacity found: drome serve, 64 connections", 64, &AT_REFERENCE),
    capacity("capacity-reference-100", "capacity found: drome serve, 100 connections", 100, &AT_REFERENCE),
    capacity("capacity-reference-256", "capacity found: drome serve, 256 connections", 256, &AT_REFERENCE),
];
