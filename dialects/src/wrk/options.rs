//! The command lines of wrk and of wrk2, which has three more options.

use super::units::{scan_metric, scan_time};
use super::url::Url;
use crate::getopt::{Item, Table, Value, parse};
use crate::{Call, Printed};

/// A parsed command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether it is wrk2's.
    pub is_wrk2: bool,
    /// The number of threads.
    pub threads: u64,
    /// The connections of all threads together.
    pub connections: u64,
    /// The duration, in seconds.
    pub duration_s: u64,
    /// The time after which an answer counts as too slow, in seconds.
    pub timeout_s: u64,
    /// The path of the Lua script.
    pub script: Option<String>,
    /// The header fields, as they were given.
    pub headers: Vec<String>,
    /// Whether to print the latency distribution.
    pub has_latency: bool,
    /// wrk2: whether to print also the distribution of latency counted from the send (uncorrected).
    pub has_uncorrected: bool,
    /// wrk2: the requests per second of all connections together.
    pub rate_per_s: u64,
    /// The parsed URL.
    pub url: Url,
    /// The URL and the arguments after it, for the script.
    pub operands: Vec<String>,
}

const WRK: Table = Table {
    short: &[
        ('t', "threads", Value::Needed),
        ('c', "connections", Value::Needed),
        ('d', "duration", Value::Needed),
        ('s', "script", Value::Needed),
        ('H', "header", Value::Needed),
        ('T', "timeout", Value::Needed),
        ('L', "latency", Value::None),
        ('r', "help", Value::None),
        ('v', "version", Value::None),
        ('?', "help", Value::None),
    ],
    long: &[
        ("connections", Value::Needed),
        ("duration", Value::Needed),
        ("threads", Value::Needed),
        ("script", Value::Needed),
        ("header", Value::Needed),
        ("latency", Value::None),
        ("timeout", Value::Needed),
        ("help", Value::None),
        ("version", Value::None),
    ],
};

const WRK2: Table = Table {
    short: &[
        ('t', "threads", Value::Needed),
        ('c', "connections", Value::Needed),
        ('d', "duration", Value::Needed),
        ('s', "script", Value::Needed),
        ('H', "header", Value::Needed),
        ('T', "timeout", Value::Needed),
        ('R', "rate", Value::Needed),
        ('L', "latency", Value::None),
        ('U', "u_latency", Value::None),
        ('B', "batch_latency", Value::None),
        ('r', "help", Value::None),
        ('v', "version", Value::None),
        ('?', "help", Value::None),
    ],
    long: &[
        ("connections", Value::Needed),
        ("duration", Value::Needed),
        ("threads", Value::Needed),
        ("script", Value::Needed),
        ("header", Value::Needed),
        ("latency", Value::None),
        ("u_latency", Value::None),
        ("batch_latency", Value::None),
        ("timeout", Value::Needed),
        ("help", Value::None),
        ("version", Value::None),
        ("rate", Value::Needed),
    ],
};

/// The help. All lines but the last are padded to the same width.
fn usage(is_wrk2: bool) -> String {
    let lines = if is_wrk2 { USAGE_WRK2 } else { USAGE };
    let padded: String = lines.iter().map(|line| format!("{line:USAGE_WIDTH$}\n")).collect();
    padded + "  Time arguments may include a time unit (2s, 2m, 2h)\n"
}

const USAGE: &[&str] = &[
    "Usage: wrk <options> <url>",
    "  Options:",
    "    -c, --connections <N>  Connections to keep open",
    "    -d, --duration    <T>  Duration of test",
    "    -t, --threads     <N>  Number of threads to use",
    "",
    "    -s, --script      <S>  Load Lua script file",
    "    -H, --header      <H>  Add header to request",
    "        --latency          Print latency statistics",
    "        --timeout     <T>  Socket/request timeout",
    "    -v, --version          Print version details",
    "",
    "  Numeric arguments may include a SI unit (1k, 1M, 1G)",
];

const USAGE_WRK2: &[&str] = &[
    "Usage: wrk <options> <url>",
    "  Options:",
    "    -c, --connections <N>  Connections to keep open",
    "    -d, --duration    <T>  Duration of test",
    "    -t, --threads     <N>  Number of threads to use",
    "",
    "    -s, --script      <S>  Load Lua script file",
    "    -H, --header      <H>  Add header to request",
    "    -L  --latency          Print latency statistics",
    "    -U  --u_latency        Print uncorrected latency statistics",
    "        --timeout     <T>  Socket/request timeout",
    "    -B, --batch_latency    Measure latency of whole",
    "                           batches of pipelined ops",
    "                           (as opposed to each op)",
    "    -v, --version          Print version details",
    "    -R, --rate        <T>  work rate (throughput)",
    "                           in requests/sec (total)",
    "                           [Required Parameter]",
    "",
    "",
    "  Numeric arguments may include a SI unit (1k, 1M, 1G)",
];

const USAGE_WIDTH: usize = 54;

const VERSION: &str = "wrk 4.1.0 [epoll] Copyright (C) 2012 Will Glozer\n";
const VERSION_WRK2: &str = "wrk 4.0.0 [epoll] Copyright (C) 2012 Will Glozer\n";

impl Options {
    /// Parses a command line. Returns also what the tool prints before anything else: its version, if requested.
    pub fn parse(call: &Call, is_wrk2: bool) -> Result<(Self, Printed), Printed> {
        let mut printed = Printed::default();
        if let Some(options) = Self::parse_into(call, is_wrk2, &mut printed) {
            // Only a script reads them.
            return match (&options.script, options.operands.get(1)) {
                (None, Some(word)) => Err(Printed::stray(options.tool(), word)),
                _ => Ok((options, printed)),
            };
        }
        printed.out.push_str(&usage(is_wrk2));
        Err(printed.exit(1))
    }

    /// `None`: the command line is wrong, and only the usage is printed.
    fn parse_into(call: &Call, is_wrk2: bool, printed: &mut Printed) -> Option<Self> {
        let items = parse(if is_wrk2 { WRK2 } else { WRK }, &call.args);
        let mut options = Self {
            is_wrk2,
            threads: 2,
            connections: 10,
            duration_s: 10,
            timeout_s: 2,
            script: None,
            headers: Vec::new(),
            has_latency: false,
            has_uncorrected: false,
            rate_per_s: 0,
            url: Url::default(),
            operands: Vec::new(),
        };
        for item in items {
            match item {
                Item::Option(name, value) => options.set(name, &value.unwrap_or_default(), printed)?,
                Item::Operand(operand) => options.operands.push(operand),
                Item::Wrong(wrong) => {
                    printed.err.push_str(&wrong.say("wrk"));
                    return None;
                }
            }
        }
        if options.operands.is_empty() || options.threads == 0 || options.duration_s == 0 {
            return None;
        }
        let mut complain = |why: &str| printed.err.push_str(why);
        let Some(url) = Url::parse(&options.operands[0]) else {
            complain(&format!("invalid URL: {}\n", options.operands[0]));
            return None;
        };
        options.url = url;
        if options.connections == 0 || options.connections < options.threads {
            complain("number of connections must be >= threads\n");
            return None;
        }
        if is_wrk2 && options.rate_per_s == 0 {
            complain("Throughput MUST be specified with the --rate or -R option\n");
            return None;
        }
        Some(options)
    }

    fn set(&mut self, name: &str, value: &str, printed: &mut Printed) -> Option<()> {
        match name {
            "threads" => self.threads = scan_metric(value)?,
            "connections" => self.connections = scan_metric(value)?,
            "duration" => self.duration_s = scan_time(value)?,
            "timeout" => self.timeout_s = scan_time(value)?,
            "rate" => self.rate_per_s = scan_metric(value)?,
            "script" => self.script = Some(value.to_owned()),
            "header" => self.headers.push(value.to_owned()),
            "latency" => self.has_latency = true,
            "u_latency" => (self.has_latency, self.has_uncorrected) = (true, true),
            // wrk2 with pipelining is refused, and without it every batch is one request.
            "batch_latency" => {}
            "version" => printed.out.push_str(if self.is_wrk2 { VERSION_WRK2 } else { VERSION }),
            _ => return None,
        }
        Some(())
    }

    /// The tool's name.
    pub fn tool(&self) -> &'static str {
        if self.is_wrk2 { "wrk2" } else { "wrk" }
    }

    /// Every thread has the same number of connections; a remainder is not used.
    pub fn connections_used(&self) -> u64 {
        self.connections / self.threads * self.threads
    }
}
