//! httperf 0.9: connections that begin at a rate or one after another, with calls in bursts.
//!
//! This dialect differs on purpose where httperf would wait for ever: calls that do not fill the last burst are sent too. Socket buffers
//! have the system's sizes, so `--send-buffer` and `--recv-buffer` are refused unless their value is the default. The random times of
//! `--period` have httperf's distributions, but are others than httperf's, and not rounded to its ticks.

mod count;
mod echo;
mod first;
mod options;
mod report;
mod request;
mod values;

use crate::{Call, Dialect, Halt, Job, Printed};
use count::Count;
use first::First;
use model::{Connecting, Exchange, Gaps, Load, Plan, Resumption, Tally, TlsChoice, Until};
use options::{Options, RECV_BUFFER, SEND_BUFFER};
use report::Report;
use std::time::Duration;
use values::Part;

/// httperf 0.9.
pub const DIALECT: Dialect =
    Dialect { name: "httperf", about: "connections at a rate, calls in bursts (0.9)", parse };

/// The number of descriptors that are not used for connections.
const SPARE_DESCRIPTORS: usize = 80;

/// The largest number of calls in flight on all connections together; each takes memory.
const MOST_IN_FLIGHT: u64 = 1 << 24;

/// The length of a tick of httperf's timers.
const TICK_NS: f64 = 1e6;

/// Without a timeout, the timeout is a century.
const FOR_EVER: Duration = Duration::from_hours(100 * 365 * 24);

fn parse(call: &Call) -> Result<Box<dyn Job>, Printed> {
    let mut options = Options::parse(call)?;
    if let Some((option, why)) = refused(&options) {
        return Err(Printed::refuse("httperf", option, why));
    }
    if options.session_cookies {
        let why = "--session-cookie requires session-oriented workload (e.g., --wsess)";
        options.printed.err.push_str(&format!("{}: {why}\n", call.program));
        return Err(options.printed.exit(255));
    }
    let mut printed = std::mem::take(&mut options.printed);
    printed.out.push_str(&echo::echo(&options, &call.program));
    let (plan, uris) = match plan(call, &options, &mut printed) {
        Ok(whole) => whole,
        Err(None) => {
            return Err(Printed::refuse(
                "httperf",
                "--wset",
                "its URIs don't repeat within a hundred thousand calls",
            ));
        }
        Err(Some(wrong)) => {
            printed.err.push_str(&wrong);
            return Err(printed.exit(1));
        }
    };
    if options.verbose > 0 {
        let (program, most) = (&call.program, call.descriptors);
        printed.out.push_str(&format!("{program}: maximum number of open descriptors = {most}\n"));
    }
    let gap_ns = options.pace.rate().map(|(rate, gaps)| gap_ns(rate, gaps));
    let count = Count::new(options.num_calls);
    Ok(Box::new(Httperf { program: call.program.clone(), options, printed, plan, uris, gap_ns, count }))
}

/// The first option that is not supported, and why.
fn refused(options: &Options) -> Option<(&'static str, &'static str)> {
    const ONE: &str = "drome keeps only one reply: use --num-conns 1 and --num-calls 1";
    const BUFFER: &str = "drome leaves the sizes of socket buffers to the system";
    let is_one = options.num_conns == 1 && options.num_calls == 1;
    let workload = options.workload.unwrap_or_default();
    let why = if workload == "--wlog" {
        "drome requests one URI, or those of --wset"
    } else {
        "drome has no sessions; --num-calls and --burst-length make calls on one connection"
    };
    let in_flight = options.num_calls.min(options.burst_length).saturating_mul(options.num_conns);
    let cases = [
        (options.workload.is_some(), workload, why),
        (options.close_with_reset, "--close-with-reset", "drome closes connections in order"),
        (
            options.ssl_ciphers.is_some(),
            "--ssl-ciphers",
            "drome offers the cipher suites that its TLS library considers safe",
        ),
        (options.send_buffer != SEND_BUFFER, "--send-buffer", BUFFER),
        (options.recv_buffer != RECV_BUFFER, "--recv-buffer", BUFFER),
        (options.print_reply != Part::None && !is_one, "--print-reply", ONE),
        (options.print_request != Part::None && !is_one, "--print-request", ONE),
        (options.num_calls == 0, "--num-calls", "without a call, httperf would wait for ever"),
        (options.num_conns == 0, "--num-conns", "without a connection, httperf would wait for ever"),
        (options.timeout < 0.0, "--timeout", "a time is not below 0"),
        (options.think_timeout < 0.0, "--think-timeout", "a time is not below 0"),
        (in_flight > MOST_IN_FLIGHT, "--burst-length", "that many calls at one time don't fit into memory"),
    ];
    cases.into_iter().find(|(is_refused, ..)| *is_refused).map(|(_, option, why)| (option, why))
}

/// The time between the beginnings of two connections, for the report: two in less than half of it are a burst. At random times, those
/// are a burst that begin within one tick of httperf's timers.
fn gap_ns(rate_per_s: f64, gaps: Gaps) -> f64 {
    if gaps == Gaps::Even { 1e9 / rate_per_s } else { 2.0 * TICK_NS }
}

/// The plan, and the URIs in the order in which they are requested. `Err(Some)`: what httperf prints about wrong options; `Err(None)`:
/// there are too many URIs.
fn plan(
    call: &Call,
    options: &Options,
    printed: &mut Printed,
) -> Result<(Plan, Vec<String>), Option<String>> {
    let program = &call.program;
    let target = request::target(options)
        .ok_or_else(|| format!("{program}.core_addr_intern: invalid server address {}\n", options.server))?;
    let uris = request::uris(options).ok_or(None)?;
    let extra =
        request::unescaped(program, options.add_header.as_deref().unwrap_or_default(), &mut printed.err);
    let asks: Option<Vec<_>> = uris.iter().map(|uri| request::ask(options, uri, &extra)).collect();
    let (major, minor) = options.http_version;
    let asks = asks.ok_or_else(|| {
        format!("{program}: unexpected version code {:x}\n", major << 16 | (minor & 0xffff))
    })?;
    let (rate_per_s, gaps) = options.pace.rate().unzip();
    let most = call.descriptors.saturating_sub(SPARE_DESCRIPTORS).max(1);
    // At a rate, a connection begins whether or not earlier ones have ended.
    let connections = if rate_per_s.is_some() { (options.num_conns as usize).min(most) } else { 1 };
    let load = Load::Closed { connections, per_connection: Some(options.num_calls as usize) };
    let burst = options.num_calls.min(options.burst_length) as usize;
    let timeout = if options.timeout > 0.0 {
        Duration::try_from_secs_f64(options.timeout + options.think_timeout).unwrap_or(FOR_EVER).min(FOR_EVER)
    } else if options.think_timeout > 0.0 {
        Duration::try_from_secs_f64(options.think_timeout).unwrap_or(FOR_EVER).min(FOR_EVER)
    } else {
        FOR_EVER
    };
    let first = asks.first().cloned().unwrap_or_default();
    let plan = Plan {
        asks,
        connecting: Connecting { rate_per_s, gaps: gaps.unwrap_or_default(), ..Connecting::default() },
        pipeline: burst,
        bursts: burst > 1,
        timeout,
        tls: TlsChoice { insecure: true, resumption: Resumption::Off, ..TlsChoice::default() },
        keep_first: true,
        probe: false,
        // Several clients draw different random numbers.
        seed: options.client.0,
        ..Plan::new(target, first, load, Until::Closed(options.num_conns))
    };
    Ok((plan, uris))
}

/// A measurement that prints as httperf does.
struct Httperf {
    program: String,
    options: Options,
    printed: Printed,
    plan: Plan,
    uris: Vec<String>,
    gap_ns: Option<f64>,
    count: Count,
}

impl Job for Httperf {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn begin(&mut self) -> Printed {
        std::mem::take(&mut self.printed)
    }

    fn hear(&mut self, exchanges: &[Exchange]) -> Printed {
        exchanges.iter().for_each(|exchange| self.count.hear(exchange));
        Printed::default()
    }

    fn print(&mut self, tally: &Tally) -> Printed {
        self.count.finish(tally.interrupted);
        let mut out = String::new();
        if self.options.verbose > 0 && self.options.wset.is_some() {
            for uri in self.uris.iter().cycle().take(tally.sent as usize) {
                out.push_str(&format!("{}: accessing URI `{uri}'\n", self.program));
            }
        }
        out.push_str(&self.messages(tally));
        let Self { count, gap_ns, options, .. } = self;
        let report =
            Report { count, tally, gap_ns: *gap_ns, client: options.client, verbose: options.verbose };
        Printed::out(out + &report.print())
    }

    fn fail(&mut self, halt: &Halt) -> Printed {
        let why = match halt {
            Halt::Connect(error) => error.to_string(),
            Halt::Other { why, .. } => why.clone(),
        };
        Printed::err(format!("{}: {why}\n", self.program)).exit(1)
    }
}

impl Httperf {
    /// The only request and its reply, if they are to be printed.
    fn messages(&self, tally: &Tally) -> String {
        let mut out = String::new();
        let request = self.plan.asks.first().map(|ask| ask.request.as_slice()).unwrap_or_default();
        if self.options.print_request != Part::None && tally.sent > 0 {
            print_message(&mut out, 'S', self.options.print_request, &[request], &[]);
            out.push_str(&format!("SS0: header {} content 0\n", request.len()));
        }
        let whole = First::of(&tally.first_answer).filter(|_| self.count.total() > 0);
        if let Some(first) = whole.filter(|_| self.options.print_reply != Part::None) {
            let head = &tally.first_answer[..first.head];
            print_message(&mut out, 'R', self.options.print_reply, &[head], &first.pieces);
            let (content, footer) = (self.count.content_bytes, first.footer.unwrap_or(0));
            out.push_str(&format!("RS0: header {} content {content} footer {footer}\n", first.head));
        }
        out
    }
}

fn print_message(out: &mut String, from: char, part: Part, head: &[&[u8]], body: &[&[u8]]) {
    let mut print = |kind: char, pieces: &[&[u8]]| {
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            for line in String::from_utf8_lossy(piece).split_inclusive('\n') {
                out.push_str(&format!("{from}{kind}0:{}\n", line.trim_end_matches('\n')));
            }
        }
    };
    if part != Part::Body {
        print('H', head);
    }
    if part != Part::Header {
        print('B', body);
    }
}
