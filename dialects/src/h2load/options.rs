//! h2load's options, what is wrong with them together, and what drome refuses of them.

use crate::command_line::{self, Item, NO_LETTER, Opt, checked, flag, try_flag, value};
use crate::{Call, Printed};
use std::str::FromStr;
use std::time::Duration;

/// The name of HTTP/1.1 on the command line and in handshakes.
pub const HTTP_1_1: &str = "http/1.1";

/// As many requests in flight on a connection as the load engine allows in `drome load`.
const MOST_STREAMS: usize = 10_000;

const OPTIONS: &[Opt<Options>] = &[
    checked('n', "requests", |options, text| number(&mut options.requests, "-n", text)),
    checked('c', "clients", |options, text| number(&mut options.clients, "-c", text)),
    checked('t', "threads", |options, text| number(&mut options.threads, "-t", text)),
    checked('m', "max-concurrent-streams", |options, text| number(&mut options.streams, "-m", text)),
    checked('D', "duration", |options, text| time(&mut options.duration, "-D", text)),
    checked(NO_LETTER, "warm-up-time", |options, text| time(&mut options.warm_up, "--warm-up-time", text)),
    value('d', "data", |options, text| options.data = Some(text.to_owned())),
    value('i', "input-file", |options, text| options.input = Some(text.to_owned())),
    value('B', "base-uri", |options, text| options.base = Some(text.to_owned())),
    value(NO_LETTER, "connect-to", |options, text| options.connect_to = Some(text.to_owned())),
    checked('H', "header", Options::add_header),
    checked('p', "no-tls-proto", Options::speak_without_tls),
    checked(NO_LETTER, "npn-list", Options::offer),
    flag(NO_LETTER, "h1", |options| {
        (options.is_http1_without_tls, options.is_http1_with_tls) = (true, true);
    }),
    try_flag('h', "help", |_| Err(Printed::out(HELP).exit(0))),
    try_flag(NO_LETTER, "version", |_| Err(Printed::out("h2load nghttp2/1.52.0\n").exit(0))),
    checked('w', "window-bits", |_, text| only("-w", text, &["30"], WINDOW)),
    checked('W', "connection-window-bits", |_, text| only("-W", text, &["30"], WINDOW)),
    checked('f', "max-frame-size", |_, text| only("-f", text, &["16K", "16k", "16384"], FRAME)),
    checked(NO_LETTER, "header-table-size", |_, _| refuse("--header-table-size", TABLE)),
    checked(NO_LETTER, "encoder-header-table-size", |_, _| refuse("--encoder-header-table-size", TABLE)),
    checked('r', "rate", |_, _| refuse("-r", RATE)),
    checked(NO_LETTER, "rate-period", |_, _| refuse("--rate-period", RATE)),
    checked('T', "connection-active-timeout", |_, _| refuse("-T", TIMEOUT)),
    checked('N', "connection-inactivity-timeout", |_, _| refuse("-N", TIMEOUT)),
    checked(NO_LETTER, "rps", |_, _| refuse("--rps", RPS)),
    checked(NO_LETTER, "timing-script-file", |_, _| refuse("--timing-script-file", TIMES)),
    checked(NO_LETTER, "log-file", |_, _| refuse("--log-file", TIMES)),
    checked(NO_LETTER, "ciphers", |_, _| refuse("--ciphers", SUITES)),
    checked(NO_LETTER, "tls13-ciphers", |_, _| refuse("--tls13-ciphers", SUITES)),
    checked(NO_LETTER, "groups", |_, _| refuse("--groups", SUITES)),
    try_flag(NO_LETTER, "ktls", |_| refuse("--ktls", "drome encrypts by itself, and not in the kernel")),
    checked(NO_LETTER, "qlog-file-base", |_, _| refuse("--qlog-file-base", QUIC)),
    try_flag(NO_LETTER, "no-udp-gso", |_| refuse("--no-udp-gso", QUIC)),
    checked(NO_LETTER, "max-udp-payload-size", |_, _| refuse("--max-udp-payload-size", QUIC)),
    try_flag('v', "verbose", |_| refuse("-v", "drome prints no frames while it measures")),
];

const WINDOW: &str = "drome's windows are those of 30 bits, which is h2load's default";
const FRAME: &str = "drome takes frames of up to 16384 bytes, which is h2load's default";
const TABLE: &str = "drome's tables of header fields have sizes of their own";
const RATE: &str = "it opens so many connections at the same moment, and drome's rates are even";
const RPS: &str = "it paces each connection alone; `drome load --rate` paces all of them together";
const TIMES: &str = "drome has no moments of its own for single requests";
const TIMEOUT: &str =
    "it ends a connection and all that was asked on it, and drome's timeouts are of requests";
const SUITES: &str = "drome offers the suites and groups of its own TLS library";
const QUIC: &str = "it is for HTTP/3, which drome does not speak";

/// The options that are taken; what they mean is said by h2load's own manual.
const HELP: &str = "\
Usage: h2load [OPTIONS]... [URI]...
What each option means is in the manual page h2load(1). Those that drome refuses are in docs/dialects.md.
  -n, --requests=N  -c, --clients=N  -t, --threads=N  -m, --max-concurrent-streams=N
  -D, --duration=TIME  --warm-up-time=TIME  (TIME: a whole number, and h, m, s or ms)
  -i, --input-file=FILE  -B, --base-uri=URI|unix:PATH  --connect-to=HOST[:PORT]
  -d, --data=FILE  -H, --header='NAME: VALUE'
  -p, --no-tls-proto=h2c|http/1.1  --npn-list=h2|http/1.1  --h1
  -w, --window-bits=30  -W, --connection-window-bits=30  -f, --max-frame-size=16K
  --version  -h, --help
";

/// The parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The number of all requests.
    pub requests: u64,
    /// The number of connections.
    pub clients: usize,
    /// The number of threads.
    pub threads: usize,
    /// The number of requests in flight on each connection.
    pub streams: usize,
    /// How long the measurement takes; zero: until all requests are done.
    pub duration: Duration,
    /// How long the load runs before that.
    pub warm_up: Duration,
    /// A file whose bytes are sent with each request.
    pub data: Option<String>,
    /// A file of URIs.
    pub input: Option<String>,
    /// What has the scheme, the host and the port of all URIs.
    pub base: Option<String>,
    /// The host, and maybe the port, to connect to.
    pub connect_to: Option<String>,
    /// Header fields: names in small letters, and values.
    pub headers: Vec<(String, String)>,
    /// Whether HTTP/1.1 is spoken to http URIs.
    pub is_http1_without_tls: bool,
    /// Whether HTTP/1.1 is spoken to https URIs.
    pub is_http1_with_tls: bool,
    /// The URIs.
    pub uris: Vec<String>,
}

impl Options {
    /// Parses a command line. `Err`: what the tool prints instead of measuring.
    pub fn parse(call: &Call) -> Result<Self, Printed> {
        let mut options = Self { requests: 1, clients: 1, threads: 1, streams: 1, ..Self::default() };
        for item in command_line::parse(OPTIONS, &call.args) {
            match item {
                Item::Operand(uri) => options.uris.push(uri),
                Item::Option(option, value) => option.apply(&mut options, value.as_deref())?,
                Item::Wrong(wrong) => return Err(Printed::err(wrong.say(&call.program)).exit(1)),
            }
        }
        options.read_input()?;
        options.check()?;
        Ok(options)
    }

    /// Takes the URIs of the file, if there is one.
    fn read_input(&mut self) -> Result<(), Printed> {
        let Some(path) = &self.input else {
            return if self.uris.is_empty() { Err(wrong("no URI or input file given")) } else { Ok(()) };
        };
        if let Some(word) = self.uris.first() {
            return Err(Printed::stray("h2load", word));
        }
        if path == "-" {
            return refuse("-i -", "drome reads nothing from standard input: name a file");
        }
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|_| wrong(&format!("cannot read input file: {path}")))?;
        self.uris = text.lines().map(str::to_owned).collect();
        if self.uris.is_empty() { Err(wrong("no URI available")) } else { Ok(()) }
    }

    fn check(&self) -> Result<(), Printed> {
        let Self { requests, clients, threads, streams, .. } = *self;
        let is_timed = self.is_timed();
        let mistakes = [
            (clients == 0, "-c: the number of clients must be strictly greater than 0."),
            (
                requests == 0 && !is_timed,
                "-n: the number of requests must be strictly greater than 0 if timing-based test is not being run.",
            ),
            (streams == 0, "-m: the max concurrent streams must be strictly greater than 0."),
            (threads == 0, "-t: the number of threads must be strictly greater than 0."),
            (
                requests < clients as u64 && !is_timed,
                "-n, -c: the number of requests must be greater than or equal to the clients.",
            ),
            (
                clients < threads,
                "-c, -t: the number of clients must be greater than or equal to the number of threads.",
            ),
        ];
        if let Some((_, why)) = mistakes.iter().find(|(is_made, _)| *is_made) {
            return Err(wrong(why));
        }
        if streams > MOST_STREAMS {
            return refuse("-m", "drome has at most 10000 requests in flight on a connection");
        }
        if !is_timed && !self.warm_up.is_zero() {
            return refuse("--warm-up-time without -D", "h2load would ignore it; leave it out, or add -D");
        }
        Ok(())
    }

    /// Whether time ends the measurement, and not a number of requests.
    pub fn is_timed(&self) -> bool {
        !self.duration.is_zero()
    }

    /// The connections and the requests of a thread. The first threads get the remainder.
    pub fn of_thread(&self, thread: usize) -> (u64, u64) {
        let (threads, thread) = (self.threads as u64, thread as u64);
        let part = |whole: u64| whole / threads + u64::from(thread < whole % threads);
        (part(self.clients as u64), part(self.requests))
    }

    fn add_header(&mut self, text: &str) -> Result<(), Printed> {
        let invalid = || wrong(&format!("-H: invalid header: {text}"));
        // The first character may be the colon of a pseudo-header.
        let after = text.char_indices().nth(1).map_or(text.len(), |(at, _)| at);
        let colon = after + text[after..].find(':').ok_or_else(invalid)?;
        let (name, value) = (&text[..colon], text[colon + 1..].trim_start());
        if name == ":" {
            return Err(invalid());
        }
        if value.is_empty() {
            return Err(wrong(&format!("-H: invalid header - value missing: {text}")));
        }
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        Ok(())
    }

    fn speak_without_tls(&mut self, name: &str) -> Result<(), Printed> {
        self.is_http1_without_tls = name.eq_ignore_ascii_case(HTTP_1_1);
        if self.is_http1_without_tls || name.eq_ignore_ascii_case("h2c") {
            return Ok(());
        }
        Err(wrong(&format!("-p: unsupported protocol {name}")))
    }

    /// What is offered to https servers.
    fn offer(&mut self, list: &str) -> Result<(), Printed> {
        self.is_http1_with_tls = list == HTTP_1_1;
        if self.is_http1_with_tls || ["h2", "h2,http/1.1", "h2,h2-16,h2-14,http/1.1"].contains(&list) {
            return Ok(());
        }
        refuse("--npn-list", "drome offers h2 before http/1.1, or http/1.1 alone")
    }
}

/// The tool's error message.
pub fn wrong(why: &str) -> Printed {
    Printed::err(format!("{why}\n")).exit(1)
}

/// Refuses an option.
pub fn refuse<T>(option: &str, why: &str) -> Result<T, Printed> {
    Err(Printed::refuse("h2load", option, why))
}

/// Refuses all values of an option but these.
fn only(option: &str, text: &str, taken: &[&str], why: &str) -> Result<(), Printed> {
    if taken.contains(&text) { Ok(()) } else { refuse(&format!("{option} {text}"), why) }
}

fn number<N: FromStr>(set: &mut N, option: &str, text: &str) -> Result<(), Printed> {
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let parsed = digits.and_then(|digits| digits.parse().ok());
    *set = parsed.ok_or_else(|| wrong(&format!("{option}: bad option value: {text}")))?;
    Ok(())
}

fn time(set: &mut Duration, option: &str, text: &str) -> Result<(), Printed> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit_ms = match unit {
        "h" | "H" => 3_600_000,
        "m" | "M" => 60_000,
        "s" | "S" | "" => 1000,
        _ => u64::from(unit.eq_ignore_ascii_case("ms")),
    };
    let ms = number.parse().ok().and_then(|number: u64| number.checked_mul(unit_ms));
    let ms = ms.filter(|_| unit_ms > 0).ok_or_else(|| wrong(&format!("{option}: value error {text}")))?;
    *set = Duration::from_millis(ms);
    Ok(())
}
