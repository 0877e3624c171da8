//! httperf's options, parsed and named as httperf does.

use super::values::{Pace, Part, client, part, period, version, wset};
use crate::getopt::{self, Item, Table, Value};
use crate::{Call, Printed};
use std::fmt::Write;

/// The options, in the tool's order.
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
    /// The options for workloads that drome does not have.
    pub workload: Option<&'static str>,
    pub wset: Option<(u64, f64)>,
    /// What the tool prints while it parses its options.
    pub printed: Printed,
}

/// httperf's defaults.
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
            printed: Printed::default(),
        }
    }

    /// Parses a command line. `Err`: what the tool prints instead of measuring.
    pub fn parse(call: &Call) -> Result<Self, Printed> {
        let mut options = Self::new();
        for item in getopt::parse(TABLE, &call.args) {
            let wrong = match item {
                Item::Operand(word) => return Err(Printed::stray("httperf", &word)),
                Item::Wrong(wrong) => wrong.say(&call.program),
                Item::Option("help", _) => {
                    let help = format!("{}Usage: {} {HELP}", options.printed.out, call.program);
                    return Err(Printed { out: help, ..options.printed }.exit(0));
                }
                Item::Option(name, value) => {
                    match options.take(&call.program, name, value.unwrap_or_default()) {
                        Ok(()) => continue,
                        Err(wrong) => format!("{}: {wrong}\n", call.program),
                    }
                }
            };
            options.printed.err.push_str(&wrong);
            return Err(options.printed.exit(1));
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
                let _ = writeln!(self.printed.err, "{program}: sorry, need to recompile with -DDEBUG on...");
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
                let _ = writeln!(self.printed.out, "{program}: {version}");
            }
            "wset" => self.wset = Some(wset(&value)?),
            workload => self.workload = Some(workload),
        }
        Ok(())
    }

    /// The port: the given one, or the protocol's.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.ssl { 443 } else { 80 })
    }
}
