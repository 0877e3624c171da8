//! `drome load --metrics ADDRESS`: serves the measurement while it runs, as `OpenMetrics` text. The figures are
//! updated four times a second from what the workers publish anyway, so a request costs nothing more. Only clients
//! on this machine are served, and only requests whose Host is a name of this machine, so that no web page can read
//! them by DNS rebinding.

use crate::failure::WrongInput;
use crate::live::ServerSampler;
use judge::verdict::{Case, Policy};
use model::{Interval, Plan, Tally};
use report::open_metrics::{self, SoFar};
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The largest request head; a scraper's is smaller.
const MOST_BYTES: usize = 8 * 1024;

/// The longest time for one request, because others wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads `127.0.0.1:9469`, `[::1]:9469`, `localhost:9469`, or a port alone.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        |why: &str| format!("{why}: use an address of this machine with a port, such as 127.0.0.1:9469");
    let port = text.strip_prefix(':').or_else(|| text.strip_prefix("localhost:")).unwrap_or(text);
    let address = match port.parse::<u16>() {
        Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Err(_) => text.parse().map_err(|_| wrong("not an address"))?,
    };
    if !address.ip().is_loopback() {
        return Err(wrong("other machines could read it"));
    }
    Ok(address)
}

/// The server of metrics.
#[derive(Debug)]
pub struct Metrics(Arc<Mutex<Gathered>>);

/// The measurement so far.
#[derive(Debug)]
struct Gathered {
    plan: Plan,
    tally: Tally,
    /// The measured time of all workers together.
    worker_time_ns: u64,
    connections_open: Option<u64>,
    server: Option<i32>,
    sampler: Option<ServerSampler>,
    server_rss_bytes: Option<u64>,
}

impl Metrics {
    /// Listens and answers until drome ends. `server`: the process id of a server on this machine.
    pub fn serve(address: SocketAddr, plan: &Plan, server: Option<i32>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).map_err(|e| {
            WrongInput(format!("--metrics: can't listen on {address} ({e}): choose another port"))
        })?;
        let address = listener.local_addr()?;
        note!("metrics: http://{address}/metrics");
        let gathered = Arc::new(Mutex::new(Gathered::new(plan, server)));
        let shared = Arc::clone(&gathered);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that disconnects early is no error.
                let _ = answer(stream, &shared);
            }
        });
        Ok(Self(gathered))
    }

    /// Adds what the workers have published since the last call.
    pub fn take(&self, intervals: &[Interval]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take(intervals);
    }
}

impl Gathered {
    fn new(plan: &Plan, server: Option<i32>) -> Self {
        let threads = plan.threads.clamp(1, plan.load.connections());
        Self {
            plan: plan.clone(),
            // Intervals don't count opened connections, and nothing must be concluded from 0.
            tally: Tally { threads, connections_opened: 1, ..Tally::default() },
            worker_time_ns: 0,
            connections_open: None,
            server,
            sampler: None,
            server_rss_bytes: None,
        }
    }

    fn take(&mut self, intervals: &[Interval]) {
        if let Some(sampler) = self.sampler.as_mut().filter(|sampler| sampler.is_due()) {
            self.server_rss_bytes = sampler.sample().rss_bytes;
        }
        if intervals.is_empty() {
            return;
        }
        // The measurement has just begun.
        if self.sampler.is_none() {
            self.sampler = self.server.map(ServerSampler::new);
        }
        let tally = &mut self.tally;
        for interval in intervals {
            self.worker_time_ns += interval.duration_ns;
            tally.sent += interval.sent;
            tally.completed += interval.completed;
            tally.errors.merge(&interval.errors_by_kind);
            for (cause, n) in &interval.error_causes {
                *tally.error_causes.entry(cause.clone()).or_default() += n;
            }
            tally.sent_bytes += interval.sent_bytes;
            tally.received_bytes += interval.received_bytes;
            tally.latency.add(&interval.latency);
            tally.unanswered += interval.unanswered;
            tally.service.add(&interval.service);
            tally.schedule_lag.add(&interval.schedule_lag);
            tally.client_cpu_ns += interval.client_cpu_ns;
            tally.client_idle_ns += interval.client_idle_ns;
        }
        tally.duration_ns = self.worker_time_ns / tally.threads as u64;
        let open: u64 = intervals.iter().map(|interval| interval.connections_open).sum();
        self.connections_open = Some(open * tally.threads as u64 / intervals.len() as u64);
    }

    fn text(&self) -> String {
        let usage = self.sampler.as_ref().and_then(ServerSampler::usage);
        let case = Case { usage, ..Case::new(Policy::single(false), &self.plan, &self.tally) };
        let verdict = (self.tally.duration_ns > 0).then(|| judge::verdict::judge(&case));
        open_metrics::text(&SoFar {
            plan: &self.plan,
            tally: &self.tally,
            verdict: verdict.as_ref(),
            usage,
            server_rss_bytes: self.server_rss_bytes,
            connections_open: self.connections_open,
            version: env!("CARGO_PKG_VERSION"),
        })
    }
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream, gathered: &Mutex<Gathered>) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = head(&mut stream)?;
    let (status, kind, body) = match asked(&head) {
        Ok(()) => {
            let text = gathered.lock().unwrap_or_else(PoisonError::into_inner).text();
            ("200 OK", open_metrics::CONTENT_TYPE, text)
        }
        Err((status, why)) => (status, "text/plain; charset=utf-8", format!("{why}\n")),
    };
    let is_head = head.starts_with("HEAD ");
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{allow}Cache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(answer.as_bytes())?;
    if is_head { Ok(()) } else { stream.write_all(body.as_bytes()) }
}

/// Reads the head of a request, up to the empty line.
fn head(stream: &mut TcpStream) -> std::io::Result<String> {
    let (deadline, mut bytes, mut chunk) = (Instant::now() + PATIENCE, Vec::new(), [0; 1024]);
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > MOST_BYTES {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match net::read_some(stream, &mut chunk)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            n => bytes.extend_from_slice(&chunk[..n]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Checks that a request asks for the metrics, and that its Host is this machine.
fn asked(head: &str) -> Result<(), (&'static str, &'static str)> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let hosts: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim())
        .collect();
    match hosts[..] {
        [host] if is_this_machine(host) => {}
        [_] => return Err(("403 Forbidden", "use the address that drome printed")),
        _ => return Err(("400 Bad Request", "a request must have exactly one Host header")),
    }
    match (method, target.split('?').next()) {
        ("GET" | "HEAD", Some("/metrics")) => Ok(()),
        ("GET" | "HEAD", _) => Err(("404 Not Found", "only /metrics exists")),
        _ => Err(("405 Method Not Allowed", "only GET and HEAD are allowed")),
    }
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_listened_on() {
        let of = |text: &str| address(text).map(|a| a.to_string());
        for text in ["9469", ":9469", "localhost:9469", "127.0.0.1:9469"] {
            assert_eq!(of(text).as_deref(), Ok("127.0.0.1:9469"));
        }
        assert_eq!(of("[::1]:1").as_deref(), Ok("[::1]:1"));
        for text in ["0.0.0.0:9469", "192.0.2.1:9469", "[::]:9469"] {
            assert!(of(text).unwrap_err().starts_with("other machines could read it"), "{text}");
        }
        for text in ["", "x", "127.0.0.1", "70000", "example.org:80"] {
            assert!(of(text).unwrap_err().starts_with("not an address"), "{text}");
        }
    }

    #[test]
    fn only_requests_for_this_machine_are_answered() {
        let asked = |line: &str, hosts: &[&str]| {
            let hosts: String = hosts.iter().map(|host| format!("hOst: {host}\r\n")).collect();
            asked(&format!("{line} HTTP/1.1\r\n{hosts}Accept: */*\r\n\r\n"))
                .map_err(|(status, _)| &status[..3])
        };
        for host in ["localhost", "LOCALHOST:9469", "127.0.0.1:9469", "[::1]:9469", "127.0.0.53"] {
            assert_eq!(asked("GET /metrics", &[host]), Ok(()), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:9469", "localhost.evil.example", "192.0.2.1", ""]
        {
            assert_eq!(asked("GET /metrics", &[host]), Err("403"), "{host}");
        }
        assert_eq!(asked("GET /metrics", &[]), Err("400"));
        assert_eq!(asked("GET /metrics", &["localhost", "localhost"]), Err("400"));
        assert_eq!(asked("HEAD /metrics?x=1", &["localhost"]), Ok(()));
        assert_eq!(asked("GET /", &["localhost"]), Err("404"));
        assert_eq!(asked("POST /metrics", &["localhost"]), Err("405"));
    }
}
