//! httperf's options: as it names and reads them, and as it says them again before it begins.

use crate::getopt::{self, Item, Table, Value};
use crate::number::g;
use crate::{Call, Said};
use std::fmt::Write;

/// In the tool's order.
const TABLE: Table = Table {
    short: &[
        ('d', "debug", Value::Needed),
        ('h', "help", Value::None),
        ('v', "verbose", Value::None),
        ('V', "version", Value::None),
    ],
    long: &[
        ("add-header", Value::Needed),
        ("burst-length", Value::Needed),
        ("client", Value::Needed),
        ("close-with-reset", Value::None),
        ("debug", Value::Needed),
        ("failure-status", Value::Needed),
        ("help", Value::None),
        ("hog", Value::None),
        ("http-version", Value::Needed),
        ("max-connections", Value::Needed),
        ("max-piped-calls", Value::Needed),
        ("method", Value::Needed),
        ("no-host-hdr", Value::None),
        ("num-calls", Value::Needed),
        ("num-conns", Value::Needed),
        ("period", Value::Needed),
        ("port", Value::Needed),
        ("print-reply", Value::Maybe),
        ("print-request", Value::Maybe),
        ("rate", Value::Needed),
        ("recv-buffer", Value::Needed),
        ("retry-on-failure", Value::None),
        ("send-buffer", Value::Needed),
        ("server", Value::Needed),
        ("server-name", Value::Needed),
        ("session-cookies", Value::None),
        ("ssl", Value::None),
        ("ssl-ciphers", Value::Needed),
        ("ssl-no-reuse", Value::None),
        ("think-timeout", Value::Needed),
        ("timeout", Value::Needed),
        ("uri", Value::Needed),
        ("verbose", Value::None),
        ("version", Value::None),
        ("wlog", Value::Needed),
        ("wsess", Value::Needed),
        ("wsesslog", Value::Needed),
        ("wsesspage", Value::Needed),
        ("wset", Value::Needed),
    ],
};

const HELP: &str = "\
[-hdvV] [--add-header S] [--burst-length N] [--client N/N]
\t[--close-with-reset] [--debug N] [--failure-status N]
\t[--help] [--hog] [--http-version S] [--max-connections N]
\t[--max-piped-calls N] [--method S] [--no-host-hdr]
\t[--num-calls N] [--num-conns N] [--period [d|u|e]T1[,T2]]
\t[--port N] [--print-reply [header|body]] [--print-request [header|body]]
\t[--rate X] [--recv-buffer N] [--retry-on-failure] [--send-buffer N]
\t[--server S] [--server-name S] [--session-cookies]
\t[--ssl] [--ssl-ciphers L] [--ssl-no-reuse]
\t[--think-timeout X] [--timeout X] [--uri S] [--verbose] [--version]
\t[--wlog y|n,file] [--wsess N,N,X] [--wsesslog N,X,file]
\t[--wset N,X]
";

/// What is printed of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Nothing.
    #[default]
    None,
    /// Its head.
    Header,
    /// Its body.
    Body,
    /// Both.
    Both,
}

/// How connections begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At even intervals; so many a second, or, where that is not above 0, one after another.
    Even(f64),
    /// At intervals that are spread evenly between two times.
    Uniform(f64, f64),
    /// At intervals that are exponential with this mean.
    Exponential(f64),
}

/// The options as they were given.
#[derive(Clone, Debug)]
pub struct Options {
    pub add_header: Option<String>,
    pub burst_length: u64,
    pub client: (u64, u64),
    pub close_with_reset: bool,
    pub failure_status: u64,
    pub hog: bool,
    pub http_version: (u32, u32),
    pub max_connections: u64,
    pub max_piped_calls: u64,
    pub method: Option<String>,
    pub no_host_hdr: bool,
    pub num_calls: u64,
    pub num_conns: u64,
    pub pace: Pace,
    pub port: Option<u16>,
    pub print_reply: Part,
    pub print_request: Part,
    pub recv_buffer: u64,
    pub retry_on_failure: bool,
    pub send_buffer: u64,
    pub server: String,
    pub server_name: Option<String>,
    pub session_cookies: bool,
    pub ssl: bool,
    pub ssl_ciphers: Option<String>,
    pub ssl_no_reuse: bool,
    pub think_timeout: f64,
    pub timeout: f64,
    pub uri: String,
    pub verbose: u32,
    /// Workloads that drome does not have.
    pub workload: Option<&'static str>,
    pub wset: Option<(u64, f64)>,
    /// What the tool says while it reads its options.
    pub said: Said,
}

/// As httperf has them by default.
pub const SEND_BUFFER: u64 = 4096;
pub const RECV_BUFFER: u64 = 16384;

impl Options {
    fn new() -> Self {
        Self {
            add_header: None,
            burst_length: 1,
            client: (0, 1),
            close_with_reset: false,
            failure_status: 0,
            hog: false,
            http_version: (1, 1),
            max_connections: 0,
            max_piped_calls: 0,
            method: None,
            no_host_hdr: false,
            num_calls: 1,
            num_conns: 1,
            pace: Pace::Even(0.0),
            port: None,
            print_reply: Part::None,
            print_request: Part::None,
            recv_buffer: RECV_BUFFER,
            retry_on_failure: false,
            send_buffer: SEND_BUFFER,
            server: "localhost".to_owned(),
            server_name: None,
            session_cookies: false,
            ssl: false,
            ssl_ciphers: None,
            ssl_no_reuse: false,
            think_timeout: 0.0,
            timeout: 0.0,
            uri: "/".to_owned(),
            verbose: 0,
            workload: None,
            wset: None,
            said: Said::default(),
        }
    }

    /// Reads a command line. `Err`: what the tool says instead of measuring.
    pub fn parse(call: &Call) -> Result<Self, Said> {
        let mut options = Self::new();
        for item in getopt::parse(TABLE, &call.args) {
            let wrong = match item {
                Item::Operand(_) => continue,
                Item::Wrong(wrong) => wrong.say(&call.program),
                Item::Option("help", _) => {
                    let help = format!("{}Usage: {} {HELP}", options.said.out, call.program);
                    return Err(Said { out: help, ..options.said }.exit(0));
                }
                Item::Option(name, value) => {
                    match options.take(&call.program, name, value.unwrap_or_default()) {
                        Ok(()) => continue,
                        Err(wrong) => format!("{}: {wrong}\n", call.program),
                    }
                }
            };
            options.said.err.push_str(&wrong);
            return Err(options.said.exit(1));
        }
        Ok(options)
    }

    fn take(&mut self, program: &str, name: &'static str, value: String) -> Result<(), String> {
        let whole = |what: &str| {
            let number = getopt::integer(&value, false).filter(|(_, rest)| rest.is_empty());
            number.map(|(number, _)| number).ok_or_else(|| format!("illegal {what} {value}"))
        };
        let time = |what: &str| {
            let number = getopt::real(&value).filter(|(_, rest)| rest.is_empty());
            number.map(|(number, _)| number).ok_or_else(|| format!("illegal {what} {value}"))
        };
        let above_0 = |number: u64, what: &str| {
            if number > 0 { Ok(number) } else { Err(format!("illegal {what} {value}")) }
        };
        match name {
            "add-header" => self.add_header = Some(value),
            "burst-length" => self.burst_length = above_0(whole("burst-length")?, "burst-length")?,
            "client" => self.client = client(&value)?,
            "close-with-reset" => self.close_with_reset = true,
            "debug" => {
                let _ = writeln!(self.said.err, "{program}: sorry, need to recompile with -DDEBUG on...");
            }
            "failure-status" => self.failure_status = above_0(whole("failure status")?, "failure status")?,
            "hog" => self.hog = true,
            "http-version" => self.http_version = version(&value)?,
            "max-connections" => self.max_connections = whole("max. # of connection")?,
            "max-piped-calls" => self.max_piped_calls = whole("max. # of piped calls")?,
            "method" => self.method = Some(value),
            "no-host-hdr" => self.no_host_hdr = true,
            "num-calls" => self.num_calls = whole("number of calls")?,
            "num-conns" => self.num_conns = whole("number of connections")?,
            "period" => self.pace = period(&value)?,
            "port" => {
                let port = u16::try_from(whole("port number")?);
                self.port = Some(port.map_err(|_| format!("illegal port number {value}"))?);
            }
            "print-reply" => self.print_reply = part(&value),
            "print-request" => self.print_request = part(&value),
            "rate" => self.pace = Pace::Even(time("request rate")?),
            "recv-buffer" => self.recv_buffer = whole("receive buffer size")?,
            "retry-on-failure" => self.retry_on_failure = true,
            "send-buffer" => self.send_buffer = whole("send buffer size")?,
            "server" => self.server = value,
            "server-name" => self.server_name = Some(value),
            "session-cookies" => self.session_cookies = true,
            "ssl" => self.ssl = true,
            "ssl-ciphers" => self.ssl_ciphers = Some(value),
            "ssl-no-reuse" => self.ssl_no_reuse = true,
            "think-timeout" => self.think_timeout = time("think timeout value")?,
            "timeout" => self.timeout = time("connect timeout")?,
            "uri" => self.uri = value,
            "verbose" => self.verbose += 1,
            "version" => {
                let version = "httperf-0.9.0 compiled without DEBUG without TIME_SYSCALLS.";
                let _ = writeln!(self.said.out, "{program}: {version}");
            }
            "wset" => self.wset = Some(wset(&value)?),
            workload => self.workload = Some(workload),
        }
        Ok(())
    }

    /// The port: the one that was given, or that of the protocol.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.ssl { 443 } else { 80 })
    }

    /// The command line with all that was not given, too.
    pub fn echo(&self, program: &str) -> String {
        let mut line = program.to_owned();
        let mut add = |is_said: bool, text: String| {
            if is_said {
                line.push_str(" --");
                line.push_str(&text);
            }
        };
        let flag = str::to_owned;
        add(self.verbose > 0, flag("verbose"));
        add(self.print_reply != Part::None, format!("print-reply{}", suffix(self.print_reply)));
        add(self.print_request != Part::None, format!("print-request{}", suffix(self.print_request)));
        add(self.hog, flag("hog"));
        add(self.close_with_reset, flag("close-with-reset"));
        add(self.think_timeout > 0.0, format!("think-timeout={}", g(self.think_timeout)));
        add(self.timeout > 0.0, format!("timeout={}", g(self.timeout)));
        add(true, format!("client={}/{}", self.client.0, self.client.1));
        add(true, format!("server={}", self.server));
        add(
            self.server_name.is_some(),
            format!("server_name={}", self.server_name.as_deref().unwrap_or_default()),
        );
        add(self.port() > 0, format!("port={}", self.port()));
        add(true, format!("uri={}", self.uri));
        add(self.failure_status > 0, format!("failure-status={}", self.failure_status));
        let (major, minor) = self.http_version;
        add((major, minor) != (1, 1), format!("http-version={major}.{minor}"));
        add(self.max_connections > 0, format!("max-connections={}", self.max_connections));
        add(self.max_piped_calls > 0, format!("max-piped-calls={}", self.max_piped_calls));
        match self.pace {
            Pace::Even(rate) => add(rate > 0.0, format!("rate={}", g(rate))),
            Pace::Uniform(least, most) => {
                add(least + most > 0.0, format!("period=u{},{}", g(least), g(most)));
            }
            Pace::Exponential(mean) => add(mean > 0.0, format!("period=e{}", g(mean))),
        }
        add(true, format!("send-buffer={}", self.send_buffer));
        add(self.retry_on_failure, flag("retry-on-failure"));
        add(true, format!("recv-buffer={}", self.recv_buffer));
        add(self.ssl, flag("ssl"));
        add(self.ssl_no_reuse, flag("ssl-no-reuse"));
        add(
            self.add_header.is_some(),
            format!("add-header='{}'", self.add_header.as_deref().unwrap_or_default()),
        );
        add(self.method.is_some(), format!("method={}", self.method.as_deref().unwrap_or_default()));
        add(self.num_conns > 0, format!("num-conns={}", self.num_conns));
        add(self.num_calls > 0, format!("num-calls={}", self.num_calls));
        add(self.burst_length != 1, format!("burst-length={}", self.burst_length));
        if let Some((files, rate)) = self.wset {
            add(files > 0, format!("wset={files},{rate:.3}"));
        }
        line + "\n"
    }
}

fn suffix(part: Part) -> &'static str {
    match part {
        Part::Header => "=header",
        Part::Body => "=body",
        Part::None | Part::Both => "",
    }
}

fn part(value: &str) -> Part {
    match value.bytes().next().map(|b| b.to_ascii_lowercase()) {
        Some(b'h') => Part::Header,
        Some(b'b') => Part::Body,
        _ => Part::Both,
    }
}

fn client(value: &str) -> Result<(u64, u64), String> {
    let (id, rest) =
        getopt::integer(value, true).ok_or_else(|| format!("bad client id (rest: `{value}')"))?;
    let all =
        rest.strip_prefix('/').ok_or_else(|| format!("client id not followed by `/' (rest: `{rest}')"))?;
    match getopt::integer(all, true) {
        Some((clients, _)) if id < clients => Ok((id, clients)),
        _ => Err(format!("bad number of clients (rest: `{all}')")),
    }
}

fn version(value: &str) -> Result<(u32, u32), String> {
    let numbers = || {
        let (major, rest) = getopt::integer(value, false)?;
        let (minor, _) = getopt::integer(rest.strip_prefix('.')?, false)?;
        Some((u32::try_from(major).ok()?, u32::try_from(minor).ok()?))
    };
    numbers().ok_or_else(|| format!("illegal version number {value}"))
}

fn period(value: &str) -> Result<Pace, String> {
    let kind = value.chars().next().filter(|c| !c.is_ascii_digit());
    let rest = kind.map_or(value, |kind| &value[kind.len_utf8()..]);
    match kind.map_or('d', |kind| kind.to_ascii_lowercase()) {
        'u' => {
            let (least, after) = getopt::real(rest)
                .filter(|(time, _)| *time >= 0.0)
                .ok_or_else(|| format!("illegal minimum interarrival time {rest}"))?;
            let wrong = || format!("minimum interarrival time not followed by `,MAX_IAT' (rest: `{after}')");
            let most = after.strip_prefix(',').ok_or_else(wrong)?;
            match getopt::real(most) {
                Some((time, "")) if time >= 0.0 => Ok(Pace::Uniform(least, time)),
                _ => Err(format!("illegal request period {most}")),
            }
        }
        kind @ ('d' | 'e') => match getopt::real(rest) {
            Some((mean, "")) if mean >= 0.0 && kind == 'e' => Ok(Pace::Exponential(mean)),
            Some((mean, "")) if mean >= 0.0 => Ok(Pace::Even(if mean > 0.0 { 1.0 / mean } else { 0.0 })),
            _ => Err(format!("illegal mean interarrival time {rest}")),
        },
        _ => Err(format!("illegal interarrival distribution '{}' in {value}", kind.unwrap_or_default())),
    }
}

fn wset(value: &str) -> Result<(u64, f64), String> {
    let wrong = |what: &str, rest: &str| format!("{what} in --wset arg (rest: `{rest}')");
    let (files, after) =
        getopt::integer(value, true).ok_or_else(|| wrong("bad working set size (1st parameter)", value))?;
    let bad = |rest: &str| wrong("bad target miss rate (2nd parameter)", rest);
    let rest = after.strip_prefix(',').ok_or_else(|| bad(value))?;
    match getopt::real(rest) {
        Some((rate, "")) if (0.0..=1.0).contains(&rate) => Ok((files, rate)),
        Some((rate, _)) if (0.0..=1.0).contains(&rate) => Err(wrong("extraneous parameter", rest)),
        _ => Err(bad(rest)),
    }
}
