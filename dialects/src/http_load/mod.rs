//! `http_load` of 12 March 2006.
//!
//! drome differs in these points: a rate is exact (`http_load` rounds the time between two starts down to whole
//! milliseconds, also with `-jitter`); `-timeout` limits the whole answer (there, the time without data); URLs are
//! chosen at random, all equally likely, and source addresses are used in turn.

mod job;
mod options;

use crate::job::ask;
use crate::number::strerror;
use crate::{Call, Dialect, Job, Printed};
use job::{HttpLoad, Sums};
use model::{
    Address, Arrivals, Ask, Connecting, Gaps, Load, Order, Plan, Rate, Resumption, Target, TlsChoice, Until,
};
use options::{End, Options, Start, fatal};
use std::net::IpAddr;
use std::time::Duration;

/// `http_load`.
pub const DIALECT: Dialect = Dialect {
    name: "http_load",
    about: "http_load 2006: fetches URLs of a list, each on its own connection",
    parse,
};

/// The number of descriptors that `select`, with which the tool waits, can handle.
const MOST_DESCRIPTORS: usize = 1024;

/// The number of descriptors that the tool does not use for connections.
const SPARE_DESCRIPTORS: usize = 3;

/// With `-jitter`, the share of the time between two starts by which it is shorter or longer at most.
const JITTER: f64 = 0.1;

/// A URL of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Url {
    text: String,
    is_secure: bool,
    host: String,
    port: u16,
    file: String,
}

/// Parses a command line.
pub fn parse(call: &Call) -> Result<Box<dyn Job>, Printed> {
    let most = call.descriptors.min(MOST_DESCRIPTORS).saturating_sub(SPARE_DESCRIPTORS).max(1);
    let options = Options::parse(call, most)?;
    let name = &call.program;
    let urls = urls(name, &options.list)?;
    let target = target(name, &options, &urls)?;
    let mut plan = plan(&options, &urls, target, most)?;
    plan.connecting.from = sources(name, options.sip.as_deref())?;
    let urls = urls.into_iter().map(|url| url.text).collect();
    Ok(Box::new(HttpLoad { plan, options, urls, sums: Sums::default(), began: None, reports: 0 }))
}

/// The URLs from a file, or the URL that is given in place of the file.
fn urls(name: &str, list: &str) -> Result<Vec<Url>, Printed> {
    if list.starts_with("http://") || list.starts_with("https://") {
        return Ok(vec![url(name, list)?]);
    }
    let text = std::fs::read(list).map_err(|error| fatal(list, &strerror(&error)))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let urls: Vec<Url> = text.lines().map(|line| url(name, line)).collect::<Result<_, _>>()?;
    if urls.is_empty() {
        return Err(fatal(name, &format!("{list} has no URLs")));
    }
    Ok(urls)
}

fn url(name: &str, text: &str) -> Result<Url, Printed> {
    let unknown = || fatal(name, &format!("unknown protocol - {text}"));
    let (is_secure, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return Err(unknown()),
    };
    let (authority, file) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let usual = if is_secure { 443 } else { 80 };
    let port = if port.is_empty() { usual } else { port.parse().unwrap_or(0) };
    let file = if file.is_empty() { "/" } else { file };
    Ok(Url { text: text.to_owned(), is_secure, host: host.to_owned(), port, file: file.to_owned() })
}

/// The target of all connections: the proxy, or the server of all URLs.
fn target(name: &str, options: &Options, urls: &[Url]) -> Result<Target, Printed> {
    let first = urls.first().ok_or_else(|| fatal(name, "no URLs"))?;
    let place = |url: &Url| (url.host.clone(), url.port, url.is_secure);
    let (host, port, is_secure) = match &options.proxy {
        Some((host, port)) => (host.clone(), *port, false),
        None => place(first),
    };
    if options.proxy.is_none()
        && let Some(other) = urls.iter().find(|url| place(url) != place(first))
    {
        let why = "all URLs must be on one server, the one that is measured";
        return Err(Printed::refuse(
            "http_load",
            &format!("{} together with {}", other.text, first.text),
            why,
        ));
    }
    if options.proxy.is_some() && urls.iter().any(|url| url.is_secure) {
        return Err(Printed::refuse(
            "http_load",
            "-proxy with https",
            "drome opens no tunnels through a proxy",
        ));
    }
    let scheme = if is_secure { "https" } else { "http" };
    Target::resolve(&format!("{scheme}://{host}:{port}/"))
        .map(|target| Target { url: first.text.clone(), path: first.file.clone(), ..prefer_ipv4(target) })
        .map_err(|_| fatal(name, &format!("unknown host - {host}")))
}

/// The target with its addresses of IPv4 before those of IPv6, as `http_load` chooses.
fn prefer_ipv4(target: Target) -> Target {
    let mut all: Vec<Address> = target.addresses().collect();
    all.sort_by_key(|address| !address.tcp().is_some_and(|address| address.is_ipv4()));
    let mut all = all.into_iter();
    let address = all.next().unwrap_or(target.address);
    Target { address, others: all.filter_map(|other| other.tcp()).collect(), ..target }
}

/// The local addresses from a file, one per line.
fn sources(name: &str, file: Option<&str>) -> Result<Vec<IpAddr>, Printed> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(file).map_err(|error| fatal(file, &strerror(&error)))?;
    let address = |line: &str| {
        let why = || fatal(name, &format!("cannot convert source IP address {line}"));
        line.parse().map(IpAddr::V4).map_err(|_| why())
    };
    text.lines().map(address).collect()
}

/// The request as `http_load` writes it. Its Host field has no port.
fn request(options: &Options, url: &Url) -> Vec<u8> {
    let Url { host, port, file, .. } = url;
    let path = match options.proxy {
        Some(_) => format!("http://{host}:{port}{file}"),
        None => file.clone(),
    };
    format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nUser-Agent: http_load 12mar2006\r\n\r\n").into_bytes()
}

fn plan(options: &Options, urls: &[Url], target: Target, most: usize) -> Result<Plan, Printed> {
    let asks = urls.iter().map(|url| ask(request(options, url)));
    let per_connection = Some(1);
    let load = match options.start {
        Start::Parallel(connections) => Load::Closed { connections, per_connection },
        // Due times of open load do not vary like that. Openings of connections do, and each connection has one fetch.
        Start::Rate(_) if options.jitter => Load::Closed { connections: most, per_connection },
        Start::Rate(rate) => {
            let rate_per_s: Rate = rate
                .to_string()
                .parse()
                .map_err(|_| Printed::refuse("http_load", "-rate", "drome does not understand this rate"))?;
            Load::Open { rate_per_s, connections: most, arrivals: Arrivals::Constant, per_connection }
        }
    };
    let until = match (options.end, options.start) {
        (End::Seconds(n), _) => Until::Elapsed(Duration::from_secs(n)),
        (End::Fetches(n), Start::Parallel(_)) => Until::Closed(n),
        (End::Fetches(n), Start::Rate(_)) if options.jitter => Until::Closed(n),
        (End::Fetches(n), Start::Rate(_)) => Until::Answered(n),
    };
    let mut plan = Plan::new(target, Ask::default(), load, until);
    plan.asks = asks.collect();
    plan.order = Order::Random;
    if let (Start::Rate(rate), true) = (options.start, options.jitter) {
        plan.connecting = Connecting {
            rate_per_s: Some(rate.into()),
            gaps: Gaps::Uniform(JITTER),
            ..Connecting::default()
        };
    }
    plan.timeout = Duration::from_secs(options.timeout_s);
    plan.tls = TlsChoice { insecure: true, resumption: Resumption::Off, ..TlsChoice::default() };
    Ok(plan)
}
