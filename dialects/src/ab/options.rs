//! ab's command line: its options, checked in ab's order and with ab's error messages.

use super::url::Url;
use super::usage::{BANNER, WRONG, usage};
use crate::command_line::{self, Item, Opt, checked, flag, try_flag, value};
use crate::number::{atoi, strerror};
use crate::{Call, Printed};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::TlsVersion;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The number of requests that `-t` sets.
const REQUESTS_IN_TIME: i64 = 50_000;

/// The largest number of connections that ab accepts.
const MOST_CONNECTIONS: i64 = 200_000;

/// The limit for encoded credentials, including a final zero byte.
const CREDENTIALS_BYTES: usize = 1024;

/// Why `-b` is not supported.
const NO_WINDOW: &str = "drome leaves socket buffers to the system, which tunes them as it goes";
const NO_CIPHERS: &str = "drome's TLS agrees on the best cipher suite that both sides know";
const NO_VERSIONS: &str = "drome's TLS knows the versions 1.2 and 1.3";

/// The options: as they were given, or their defaults.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Options {
    pub url: Url,
    pub requests: u64,
    pub connections: usize,
    pub limit: Option<Duration>,
    pub timeout: Duration,
    pub keeps_alive: bool,
    /// Whether answers may differ in length (`-l`).
    pub any_length: bool,
    /// Whether errors while receiving are counted instead of ending the run (`-r`).
    pub goes_on: bool,
    pub method: String,
    pub body: Option<Vec<u8>>,
    pub content_type: String,
    /// Lines of the request, each with its line break.
    pub cookie: String,
    pub credentials: String,
    pub headers: Vec<String>,
    pub proxy: Option<(String, u16)>,
    /// The local address to connect from (`-B`).
    pub from: Option<String>,
    pub percentiles: bool,
    pub confidence: bool,
    pub is_quiet: bool,
    pub csv: Option<PathBuf>,
    pub gnuplot: Option<PathBuf>,
    pub html: Option<Html>,
    pub verbosity: i64,
    /// A file with both the certificate and the key.
    pub identity: Option<PathBuf>,
    pub no_sni: bool,
    /// The only version of TLS that is offered (`-f`).
    pub version: Option<TlsVersion>,
    /// Messages about mistakes on the command line that do not end the run.
    pub complaint: String,
}

/// The attributes of HTML tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Html {
    pub table: String,
    pub row: String,
    pub cell: String,
}

impl Default for Html {
    fn default() -> Self {
        Self { table: String::new(), row: String::new(), cell: "bgcolor=white".to_owned() }
    }
}

/// The options before they are checked.
struct Raw {
    options: Options,
    program: String,
    requests: i64,
    connections: i64,
    has_method: bool,
}

const OPTIONS: &[Opt<Raw>] = &[
    checked('n', "", |raw, text| {
        raw.requests = atoi(text);
        if raw.requests <= 0 { Err(error("Invalid number of requests\n")) } else { Ok(()) }
    }),
    value('c', "", |raw, text| raw.connections = atoi(text)),
    value('t', "", |raw, text| {
        // Zero means no limit; a negative time ends the run at once.
        let seconds = atoi(text);
        raw.options.limit = (seconds != 0).then(|| Duration::from_secs(seconds.max(0) as u64));
        raw.requests = REQUESTS_IN_TIME;
    }),
    value('s', "", |raw, text| {
        let forever = Duration::from_secs(i32::MAX as u64);
        raw.options.timeout = u64::try_from(atoi(text)).map_or(forever, Duration::from_secs);
    }),
    checked('b', "", |raw, _| Err(Printed::refuse(&raw.program, "-b", NO_WINDOW))),
    value('B', "", |raw, text| raw.options.from = Some(text.to_owned())),
    checked('p', "", |raw, file| raw.body("POST", file)),
    checked('u', "", |raw, file| raw.body("PUT", file)),
    value('T', "", |raw, text| text.clone_into(&mut raw.options.content_type)),
    value('v', "", |raw, text| raw.options.verbosity = atoi(text)),
    flag('w', "", |raw| _ = raw.options.html.get_or_insert_default()),
    try_flag('i', "", |raw| raw.method("HEAD")),
    value('x', "", |raw, text| text.clone_into(&mut raw.options.html.get_or_insert_default().table)),
    value('y', "", |raw, text| text.clone_into(&mut raw.options.html.get_or_insert_default().row)),
    value('z', "", |raw, text| text.clone_into(&mut raw.options.html.get_or_insert_default().cell)),
    value('C', "", |raw, text| raw.options.cookie = format!("Cookie: {text}\r\n")),
    value('H', "", |raw, text| raw.options.headers.push(text.to_owned())),
    checked('A', "", |raw, text| raw.credentials("Authorization", text, "Authentication")),
    checked('P', "", |raw, text| raw.credentials("Proxy-Authorization", text, "Proxy")),
    value('X', "", |raw, text| {
        let (host, port) = text.split_once(':').unwrap_or((text, "0"));
        raw.options.proxy = Some((host.to_owned(), atoi(port).clamp(0, 65_535) as u16));
    }),
    try_flag('V', "", |_| Err(Printed::out(BANNER).exit(0))),
    flag('k', "", |raw| raw.options.keeps_alive = true),
    flag('d', "", |raw| raw.options.percentiles = false),
    flag('S', "", |raw| raw.options.confidence = false),
    flag('q', "", |raw| raw.options.is_quiet = true),
    flag('l', "", |raw| raw.options.any_length = true),
    value('g', "", |raw, file| raw.options.gnuplot = Some(file.into())),
    value('e', "", |raw, file| raw.options.csv = Some(file.into())),
    flag('r', "", |raw| raw.options.goes_on = true),
    value('m', "", |raw, text| {
        text.clone_into(&mut raw.options.method);
        raw.has_method = true;
    }),
    try_flag('h', "", |raw| Err(Printed::err(usage(&raw.program)).exit(WRONG))),
    flag('I', "", |raw| raw.options.no_sni = true),
    checked('Z', "", |raw, _| Err(Printed::refuse(&raw.program, "-Z", NO_CIPHERS))),
    checked('f', "", Raw::version),
    value('E', "", |raw, file| raw.options.identity = Some(file.into())),
];

impl Options {
    /// Parses a command line, or returns ab's error message.
    pub fn parse(call: &Call) -> Result<Self, Printed> {
        let program = &call.program;
        let mut raw = Raw::new(program);
        let mut operands = Vec::new();
        for item in command_line::parse_as_apr(OPTIONS, &call.args) {
            match item {
                Item::Option(option, value) => option.apply(&mut raw, value.as_deref())?,
                Item::Wrong(wrong) => raw.options.complaint = wrong.say_as_apr(program),
                Item::Operand(word) => operands.push(word),
            }
        }
        let complaint = raw.options.complaint.clone();
        let wrong =
            |why: &str| Printed::err(format!("{complaint}{program}: {why}\n{}", usage(program))).exit(WRONG);
        let [url] = operands.as_slice() else {
            return Err(wrong("wrong number of arguments"));
        };
        raw.options.url = Url::parse(url).ok_or_else(|| wrong("invalid URL"))?;
        if !(0..=MOST_CONNECTIONS).contains(&raw.connections) {
            return Err(wrong(&format!("Invalid Concurrency [Range 0..{MOST_CONNECTIONS}]")));
        }
        if raw.connections > raw.requests {
            return Err(wrong("Cannot use concurrency level greater than total number of requests"));
        }
        raw.options.requests = raw.requests as u64;
        raw.options.connections = raw.connections as usize;
        Ok(raw.options)
    }

    /// The value of a header field from the command line.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().rev().find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The number of requests between two lines about progress; `None`: no such lines.
    pub fn heartbeat(&self) -> Option<u64> {
        let is_long = self.requests > 150;
        (is_long && !self.is_quiet).then(|| (self.requests / 10).max(100))
    }
}

impl Raw {
    fn new(program: &str) -> Self {
        let options = Options {
            timeout: Duration::from_secs(30),
            method: "GET".to_owned(),
            content_type: "text/plain".to_owned(),
            percentiles: true,
            confidence: true,
            ..Options::default()
        };
        Self { options, program: program.to_owned(), requests: 1, connections: 1, has_method: false }
    }

    /// ab goes by the beginning of the name, and silently ignores an unknown version.
    fn version(&mut self, name: &str) -> Result<(), Printed> {
        let known = name.to_ascii_uppercase();
        let begins = |with: &str| known.starts_with(with);
        if begins("ALL") {
            self.options.version = None;
        } else if begins("TLS1.2") {
            self.options.version = Some(TlsVersion::Tls12);
        } else if begins("TLS1.3") {
            self.options.version = Some(TlsVersion::Tls13);
        } else if ["SSL2", "SSL3", "TLS1"].into_iter().any(begins) {
            return Err(Printed::refuse(&self.program, &format!("-f {name}"), NO_VERSIONS));
        }
        Ok(())
    }

    fn method(&mut self, method: &str) -> Result<(), Printed> {
        if self.has_method {
            return Err(error(&format!("Cannot mix {method} with other methods\n")));
        }
        self.has_method = true;
        method.clone_into(&mut self.options.method);
        Ok(())
    }

    fn body(&mut self, method: &str, file: &str) -> Result<(), Printed> {
        self.method(method)?;
        let body = std::fs::read(file).map_err(|error| {
            let doing = if error.kind() == io::ErrorKind::IsADirectory { "read" } else { "open" };
            let place = if doing == "open" { format!(" ({file})") } else { String::new() };
            Printed::err(format!("ab: Could not {doing} POST data file{place}: {}\n", strerror(&error)))
                .exit(1)
        })?;
        self.options.body = Some(body);
        Ok(())
    }

    /// Adds a header line with credentials, from the field's name, user and password, and their name in the error message.
    fn credentials(&mut self, field: &str, given: &str, what: &str) -> Result<(), Printed> {
        let coded = BASE64_STANDARD.encode(given.trim_start());
        if coded.len() >= CREDENTIALS_BYTES {
            return Err(error(&format!("{what} credentials too long\n")));
        }
        self.options.credentials += &format!("{field}: Basic {coded}\r\n");
        Ok(())
    }
}

/// How ab ends if an option is wrong.
fn error(why: &str) -> Printed {
    Printed::err(format!("{why}\n")).exit(1)
}
