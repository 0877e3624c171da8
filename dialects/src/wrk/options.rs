//! The command lines of wrk and of wrk2, which has three more options.

use super::units::{scan_metric, scan_time};
use super::url::Url;
use crate::command_line::{self, Item, Opt, checked, flag, try_flag, value};
use crate::{Call, Printed};

/// A parsed command line.
#[derive(Clone, Debug, Default)]
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
    /// The version, as often as it was asked for.
    versions: String,
}

/// The options in the order of wrk2, which has three more than wrk. A wrong value and the help lead to the usage.
const OPTIONS: &[Opt<Options, String>] = &[
    checked('c', "connections", |options, text| put(&mut options.connections, scan_metric(text))),
    checked('d', "duration", |options, text| put(&mut options.duration_s, scan_time(text))),
    checked('t', "threads", |options, text| put(&mut options.threads, scan_metric(text))),
    value('s', "script", |options, text| options.script = Some(text.to_owned())),
    value('H', "header", |options, text| options.headers.push(text.to_owned())),
    flag('L', "latency", |options| options.has_latency = true),
    flag('U', UNCORRECTED, |options| (options.has_latency, options.has_uncorrected) = (true, true)),
    // wrk2 with pipelining is refused, and without it every batch is one request.
    flag('B', BATCH, |_| {}),
    checked('T', "timeout", |options, text| put(&mut options.timeout_s, scan_time(text))),
    try_flag('r', "help", |_| Err(String::new())),
    try_flag('?', "", |_| Err(String::new())),
    flag('v', "version", |options| {
        options.versions.push_str(if options.is_wrk2 { VERSION_WRK2 } else { VERSION });
    }),
    checked('R', RATE, |options, text| put(&mut options.rate_per_s, scan_metric(text))),
];

/// The options of wrk2 only.
const OF_WRK2: [&str; 3] = [UNCORRECTED, BATCH, RATE];
const UNCORRECTED: &str = "u_latency";
const BATCH: &str = "batch_latency";
const RATE: &str = "rate";

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
        let mut options =
            Self { is_wrk2, threads: 2, connections: 10, duration_s: 10, timeout_s: 2, ..Self::default() };
        let read = options.read(call);
        let printed = Printed::out(std::mem::take(&mut options.versions));
        if let Err(err) = read {
            return Err(Printed { out: printed.out + &usage(is_wrk2), err, ..printed }.exit(1));
        }
        // Only a script reads them.
        match (&options.script, options.operands.get(1)) {
            (None, Some(word)) => Err(Printed::stray(options.tool(), word)),
            _ => Ok((options, printed)),
        }
    }

    /// `Err`: what the tool says before its usage, if it says anything.
    fn read(&mut self, call: &Call) -> Result<(), String> {
        let is_wrk2 = self.is_wrk2;
        let is_known = move |option: &&'static Opt<Self, String>| is_wrk2 || !OF_WRK2.contains(&option.name);
        for item in command_line::parse(OPTIONS.iter().filter(is_known), &call.args) {
            match item {
                Item::Option(option, value) => option.apply(self, value.as_deref())?,
                Item::Operand(operand) => self.operands.push(operand),
                Item::Wrong(wrong) => return Err(wrong.say("wrk")),
            }
        }
        let url = self.operands.first().filter(|_| self.threads > 0 && self.duration_s > 0);
        let url = url.ok_or_else(String::new)?;
        self.url = Url::parse(url).ok_or_else(|| format!("invalid URL: {url}\n"))?;
        if self.connections == 0 || self.connections < self.threads {
            return Err("number of connections must be >= threads\n".to_owned());
        }
        if self.is_wrk2 && self.rate_per_s == 0 {
            return Err("Throughput MUST be specified with the --rate or -R option\n".to_owned());
        }
        Ok(())
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

/// Sets a number; `None`: it is wrong, which only the usage says.
fn put(place: &mut u64, number: Option<u64>) -> Result<(), String> {
    *place = number.ok_or_else(String::new)?;
    Ok(())
}
