//! h2load, the load generator that comes with nghttp2: version 1.52, as Debian has it.
//!
//! This dialect differs on purpose where the tool gives up a client: a lost connection is opened anew, and the requests that are left are
//! sent on whichever connection is free. The bytes of header fields are not known, so the report has no figures of them.

mod options;
mod report;
mod request;

use crate::job::ask;
use crate::number::g;
use crate::{Call, Dialect, Halt, Job, Printed, openssl};
use model::{Ask, Errors, Exchange, Load, Plan, Protocol, Resumption, Tally, TlsChoice, Until};
use options::{HTTP_1_1, Options};
use report::{Samples, report};
use std::fmt::Write;
use std::time::Duration;

/// h2load 1.52.
pub const DIALECT: Dialect =
    Dialect { name: "h2load", about: "requests over connections of HTTP/2 or HTTP/1.1 (1.52)", parse };

/// A request has no timeout, so the timeout is a century.
const FOR_EVER: Duration = Duration::from_hours(100 * 365 * 24);

/// What each thread prints when it has warmed up, and when its time is over.
const WARMED_UP: &str =
    "Warm-up phase is over for thread #.\nMain benchmark duration is started for thread #.\n";
const OVER: &str = "Main benchmark duration is over for thread #. Stopping all clients.\n\
                    Stopped all clients for thread #\n";

fn parse(call: &Call) -> Result<Box<dyn Job>, Printed> {
    let options = Options::parse(call)?;
    let plan = plan(&options)?;
    Ok(Box::new(H2load { options, plan, since_ns: None, first_done: 0, times: Default::default() }))
}

fn plan(options: &Options) -> Result<Plan, Printed> {
    let paths = options.uris.iter().map(|uri| request::path(uri)).collect::<Result<Vec<_>, _>>()?;
    let data = options.data.as_deref().map(request::data).transpose()?;
    let target = request::target(options)?;
    let is_http1 = if target.tls { options.is_http1_with_tls } else { options.is_http1_without_tls };
    let protocol = if is_http1 { Protocol::Http1 } else { Protocol::Http2 };
    let request = |path: &String| request::request(options, &target, protocol, path, data.as_deref());
    let asks = paths.iter().map(|path| request(path).map(ask)).collect::<Result<Vec<_>, _>>()?;
    let load = Load::Closed { connections: options.clients, per_connection: None };
    let until =
        if options.is_timed() { Until::Elapsed(options.duration) } else { Until::Answered(options.requests) };
    Ok(Plan {
        asks,
        protocol,
        // Over HTTP/1.1, h2load sends one body at a time.
        pipeline: if is_http1 && data.is_some() { 1 } else { options.streams },
        threads: options.threads,
        warmup: options.warm_up,
        timeout: FOR_EVER,
        tls: TlsChoice { insecure: true, resumption: Resumption::Off, ..TlsChoice::default() },
        ..Plan::new(target, Ask::default(), load, until)
    })
}

/// A measurement that prints as h2load does.
struct H2load {
    options: Options,
    plan: Plan,
    /// When the measurement began, warming up excluded; `None` before the first request was over.
    since_ns: Option<u64>,
    /// The number of answers that the first thread had.
    first_done: u64,
    /// Times of requests, and of connections until they were open and until their first answer began.
    times: [Samples; 3],
}

impl Job for H2load {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn begin(&mut self) -> Printed {
        let mut out = "starting benchmark...\n".to_owned();
        let Options { warm_up, duration, .. } = self.options;
        let [warm_up, duration] = [warm_up, duration].map(|time| g(time.as_secs_f64()));
        for thread in 0..self.options.threads {
            let (clients, requests) = self.options.of_thread(thread);
            let mut what = format!("{requests} total requests");
            if self.options.is_timed() {
                what = format!(
                    "Timing-based test with {warm_up}s of warm-up time and {duration}s of main duration for \
                     measurements."
                );
            }
            let _ = writeln!(out, "spawning thread #{thread}: {clients} total client(s). {what}");
        }
        out.push_str(&of_each_thread(&self.options, "Warm-up started for thread #.\n"));
        out.push_str(&started(&self.options));
        Printed::out(out)
    }

    fn hear(&mut self, exchanges: &[Exchange]) -> Printed {
        let mut out = String::new();
        for exchange in exchanges {
            let since_ns = *self.since_ns.get_or_insert_with(|| {
                out.push_str(&protocol_without_tls(&self.plan));
                // Connections are opened when the load begins, before warming up.
                let warm_up_ns = self.plan.warmup.as_nanos() as u64;
                if warm_up_ns == 0 { 0 } else { exchange.connect_ns.saturating_add(warm_up_ns) }
            });
            if exchange.done_ns >= since_ns && exchange.status().is_some() {
                if self.times[0].is_empty() {
                    out.push_str(&of_each_thread(&self.options, WARMED_UP));
                }
                self.take(exchange, since_ns);
                out.push_str(&self.progress(exchange));
            }
        }
        Printed::out(out)
    }

    fn print(&mut self, tally: &Tally) -> Printed {
        if let Some(why) = &tally.halted {
            let hint = if self.plan.protocol == Protocol::Http2 { "; --h1 is for HTTP/1.1" } else { "" };
            return Printed::err(format!("drome h2load: {why}{hint}\n")).exit(1);
        }
        let mut out = self.agreed(tally);
        out.push_str(&of_each_thread(&self.options, OVER));
        out.push_str(&self.report(tally));
        let causes = tally.error_causes.iter();
        let err = causes.map(|(cause, n)| format!("drome h2load: {cause} ({n} times)\n")).collect();
        Printed { err, ..Printed::out(out) }
    }

    fn fail(&mut self, halt: &Halt) -> Printed {
        match halt {
            Halt::Connect(error) => {
                let connect = if self.options.is_timed() { 0 } else { self.options.requests };
                let errors = Errors { connect, ..Errors::default() };
                let served = vec![0; self.options.clients];
                let report = self.report(&Tally { errors, served, ..Tally::default() });
                let why = format!("drome h2load: no connection could be opened: {error}\n");
                Printed { err: why, ..Printed::out(report) }.exit(0)
            }
            Halt::Other { why, .. } => Printed::err(format!("drome h2load: {why}\n")).exit(1),
        }
    }
}

impl H2load {
    /// What the first handshake agreed on, which is not known before the end.
    fn agreed(&self, tally: &Tally) -> String {
        let Some(agreed) = &tally.agreed else { return String::new() };
        let (version, cipher) = (openssl::version(agreed), openssl::cipher(agreed.cipher_suite));
        let key = openssl::server_key(agreed).map(|key| format!("Server Temp Key: {key}\n"));
        let name = if self.plan.protocol == Protocol::Http2 { "h2" } else { HTTP_1_1 };
        let key = key.unwrap_or_default();
        format!("TLS Protocol: {version}\nCipher: {cipher}\n{key}Application protocol: {name}\n")
    }

    /// Takes the times of a request that was answered within the measurement.
    fn take(&mut self, exchange: &Exchange, since_ns: u64) {
        let [requests, connects, first_bytes] = &mut self.times;
        let seconds = |ns: u64| ns as f64 / 1e9;
        exchange.service_ns().into_iter().for_each(|ns| requests.add(seconds(ns)));
        if exchange.nth == 0 && exchange.connect_ns >= since_ns {
            exchange.connect_time_ns().into_iter().for_each(|ns| connects.add(seconds(ns)));
            first_bytes.add(seconds(exchange.first_byte_ns.saturating_sub(exchange.connect_ns)));
        }
    }

    /// The line that each tenth of the first thread's answers has, the only thread that prints its progress.
    fn progress(&mut self, exchange: &Exchange) -> String {
        let of_first = self.options.of_thread(0).1;
        if self.options.is_timed() || exchange.connection >> 32 != 0 {
            return String::new();
        }
        self.first_done += 1;
        if !self.first_done.is_multiple_of((of_first / 10).max(1)) {
            return String::new();
        }
        format!("progress: {}% done\n", self.first_done * 100 / of_first.max(1))
    }

    fn report(&self, tally: &Tally) -> String {
        let total = Some(self.options.requests).filter(|_| !self.options.is_timed());
        report(tally, total, self.plan.warmup.as_nanos() as u64, &self.times)
    }
}

/// The line about the protocol where there is no TLS.
fn protocol_without_tls(plan: &Plan) -> String {
    let name = if plan.protocol == Protocol::Http2 { "h2c" } else { HTTP_1_1 };
    if plan.target.tls { String::new() } else { format!("Application protocol: {name}\n") }
}

/// The lines about the progress of the first thread's opening of connections, where time ends the measurement.
fn started(options: &Options) -> String {
    let clients = if options.is_timed() { options.of_thread(0).0 } else { 0 };
    let told = (1..=clients).filter(|nth| nth.is_multiple_of((clients / 10).max(1)));
    told.map(|nth| format!("progress: {}% of clients started\n", nth * 100 / clients)).collect()
}

/// Lines for each thread, whose number comes behind `#`, where time ends the measurement.
fn of_each_thread(options: &Options, lines: &str) -> String {
    let threads = if options.is_timed() { options.threads } else { 0 };
    (0..threads).map(|thread| lines.replace('#', &format!("#{thread}"))).collect()
}
