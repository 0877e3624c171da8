//! httperf's options, parsed and named as httperf does.

use super::values::{Pace, Part, client, part, period, version, wset};
use crate::command_line::{self, Item, NO_LETTER, Opt, checked, flag, maybe, value};
use crate::number::{integer, real};
use crate::{Call, Printed};
use std::fmt::Write;

/// The options, in the tool's order.
const OPTIONS: &[Opt<Options, String>] = &[
    value(NO_LETTER, "add-header", |o, text| o.add_header = Some(text.to_owned())),
    checked(NO_LETTER, "burst-length", |o, text| above_0(&mut o.burst_length, "burst-length", text)),
    checked(NO_LETTER, "client", |o, text| put(&mut o.client, client(text))),
    flag(NO_LETTER, "close-with-reset", |o| o.close_with_reset = true),
    value('d', "debug", |o, _| {
        let _ = writeln!(o.printed.err, "{}: sorry, need to recompile with -DDEBUG on...", o.program);
    }),
    checked(NO_LETTER, "failure-status", |o, text| above_0(&mut o.failure_status, "failure status", text)),
    flag('h', HELP_OPTION, |_| {}),
    flag(NO_LETTER, "hog", |o| o.hog = true),
    checked(NO_LETTER, "http-version", |o, text| put(&mut o.http_version, version(text))),
    checked(NO_LETTER, "max-connections", |o, text| {
        put(&mut o.max_connections, whole("max. # of connection", text))
    }),
    checked(NO_LETTER, "max-piped-calls", |o, text| {
        put(&mut o.max_piped_calls, whole("max. # of piped calls", text))
    }),
    value(NO_LETTER, "method", |o, text| o.method = Some(text.to_owned())),
    flag(NO_LETTER, "no-host-hdr", |o| o.no_host_hdr = true),
    checked(NO_LETTER, "num-calls", |o, text| put(&mut o.num_calls, whole("number of calls", text))),
    checked(NO_LETTER, "num-conns", |o, text| put(&mut o.num_conns, whole("number of connections", text))),
    checked(NO_LETTER, "period", |o, text| put(&mut o.pace, period(text))),
    checked(NO_LETTER, "port", |o, text| {
        let port = u16::try_from(whole("port number", text)?);
        put(&mut o.port, port.map(Some).map_err(|_| format!("illegal port number {text}")))
    }),
    maybe(NO_LETTER, "print-reply", |o, text| o.print_reply = part(text.unwrap_or_default())),
    maybe(NO_LETTER, "print-request", |o, text| o.print_request = part(text.unwrap_or_default())),
    checked(NO_LETTER, "rate", |o, text| put(&mut o.pace, time("request rate", text).map(Pace::Even))),
    checked(NO_LETTER, "recv-buffer", |o, text| put(&mut o.recv_buffer, whole("receive buffer size", text))),
    flag(NO_LETTER, "retry-on-failure", |o| o.retry_on_failure = true),
    checked(NO_LETTER, "send-buffer", |o, text| put(&mut o.send_buffer, whole("send buffer size", text))),
    value(NO_LETTER, "server", |o, text| text.clone_into(&mut o.server)),
    value(NO_LETTER, "server-name", |o, text| o.server_name = Some(text.to_owned())),
    flag(NO_LETTER, "session-cookies", |o| o.session_cookies = true),
    flag(NO_LETTER, "ssl", |o| o.ssl = true),
    value(NO_LETTER, "ssl-ciphers", |o, text| o.ssl_ciphers = Some(text.to_owned())),
    flag(NO_LETTER, "ssl-no-reuse", |o| o.ssl_no_reuse = true),
    checked(NO_LETTER, "think-timeout", |o, text| {
        put(&mut o.think_timeout, time("think timeout value", text))
    }),
    checked(NO_LETTER, "timeout", |o, text| put(&mut o.timeout, time("connect timeout", text))),
    value(NO_LETTER, "uri", |o, text| text.clone_into(&mut o.uri)),
    flag('v', "verbose", |o| o.verbose += 1),
    flag('V', "version", |o| {
        let version = "httperf-0.9.0 compiled without DEBUG without TIME_SYSCALLS.";
        let _ = writeln!(o.printed.out, "{}: {version}", o.program);
    }),
    value(NO_LETTER, "wlog", |o, _| o.workload = Some("--wlog")),
    value(NO_LETTER, "wsess", |o, _| o.workload = Some("--wsess")),
    value(NO_LETTER, "wsesslog", |o, _| o.workload = Some("--wsesslog")),
    value(NO_LETTER, "wsesspage", |o, _| o.workload = Some("--wsesspage")),
    checked(NO_LETTER, "wset", |o, text| put(&mut o.wset, wset(text).map(Some))),
];

/// The option that ends the tool with its help.
const HELP_OPTION: &str = "help";

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
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub program: String,
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
    /// The option for a workload that drome does not have.
    pub workload: Option<&'static str>,
    pub wset: Option<(u64, f64)>,
    /// What the tool prints while it parses its options.
    pub printed: Printed,
}

/// httperf's defaults.
pub const SEND_BUFFER: u64 = 4096;
pub const RECV_BUFFER: u64 = 16384;

impl Options {
    fn new(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            burst_length: 1,
            client: (0, 1),
            http_version: (1, 1),
            num_calls: 1,
            num_conns: 1,
            recv_buffer: RECV_BUFFER,
            send_buffer: SEND_BUFFER,
            server: "localhost".to_owned(),
            uri: "/".to_owned(),
            ..Self::default()
        }
    }

    /// Parses a command line. `Err`: what the tool prints instead of measuring.
    pub fn parse(call: &Call) -> Result<Self, Printed> {
        let program = &call.program;
        let mut options = Self::new(program);
        for item in command_line::parse(OPTIONS, &call.args) {
            let wrong = match &item {
                Item::Operand(word) => return Err(Printed::stray("httperf", word)),
                Item::Wrong(wrong) => wrong.say(program),
                Item::Option(..) if item.is(HELP_OPTION) => {
                    let help = format!("{}Usage: {program} {HELP}", options.printed.out);
                    return Err(Printed { out: help, ..options.printed }.exit(0));
                }
                Item::Option(option, value) => match option.apply(&mut options, value.as_deref()) {
                    Ok(()) => continue,
                    Err(wrong) => format!("{program}: {wrong}\n"),
                },
            };
            options.printed.err.push_str(&wrong);
            return Err(options.printed.exit(1));
        }
        Ok(options)
    }

    /// The port: the given one, or the protocol's.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.ssl { 443 } else { 80 })
    }
}

fn put<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

fn whole(what: &str, text: &str) -> Result<u64, String> {
    let number = integer(text, false).filter(|(_, rest)| rest.is_empty());
    number.map(|(number, _)| number).ok_or_else(|| format!("illegal {what} {text}"))
}

fn above_0(place: &mut u64, what: &str, text: &str) -> Result<(), String> {
    let number = whole(what, text)?;
    let wrong = || format!("illegal {what} {text}");
    put(place, Some(number).filter(|number| *number > 0).ok_or_else(wrong))
}

fn time(what: &str, text: &str) -> Result<f64, String> {
    let number = real(text).filter(|(_, rest)| rest.is_empty());
    number.map(|(number, _)| number).ok_or_else(|| format!("illegal {what} {text}"))
}
