//! The command lines of wrk and wrk2, which has three options more.

use super::getopt::Getopt;
use super::units::{scan_metric, scan_time};
use super::url::Url;
use crate::{Call, Said};

/// What a command line came to.
#[derive(Clone, Debug)]
pub struct Options {
    /// It is wrk2's.
    pub is_wrk2: bool,
    /// Threads.
    pub threads: u64,
    /// Connections, over all threads.
    pub connections: u64,
    /// How long.
    pub duration_s: u64,
    /// A slower answer is counted.
    pub timeout_s: u64,
    /// The Lua script.
    pub script: Option<String>,
    /// Header fields, as they were given.
    pub headers: Vec<String>,
    /// The latency's distribution is wanted.
    pub has_latency: bool,
    /// wrk2: that from the send on, too.
    pub has_uncorrected: bool,
    /// wrk2: requests per second, over all connections.
    pub rate_per_s: u64,
    /// What is asked.
    pub url: Url,
    /// The URL and what stands behind it, for the script.
    pub operands: Vec<String>,
}

const WRK: Getopt = Getopt {
    letters: "t:c:d:s:H:T:Lrv?",
    names: &[
        ("connections", true, 'c'),
        ("duration", true, 'd'),
        ("threads", true, 't'),
        ("script", true, 's'),
        ("header", true, 'H'),
        ("latency", false, 'L'),
        ("timeout", true, 'T'),
        ("help", false, 'h'),
        ("version", false, 'v'),
    ],
};

const WRK2: Getopt = Getopt {
    letters: "t:c:d:s:H:T:R:LUBrv?",
    names: &[
        ("connections", true, 'c'),
        ("duration", true, 'd'),
        ("threads", true, 't'),
        ("script", true, 's'),
        ("header", true, 'H'),
        ("latency", false, 'L'),
        ("u_latency", false, 'U'),
        ("batch_latency", false, 'B'),
        ("timeout", true, 'T'),
        ("help", false, 'h'),
        ("version", false, 'v'),
        ("rate", true, 'R'),
    ],
};

/// The help. Its lines are padded to the same width, but for the last one.
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
    /// What a command line says, and what the tool says to it before anything else: its version, if asked.
    pub fn parse(call: &Call, is_wrk2: bool) -> Result<(Self, Said), Said> {
        let mut said = Said::default();
        if let Some(options) = Self::parse_into(call, is_wrk2, &mut said) {
            return Ok((options, said));
        }
        said.out.push_str(&usage(is_wrk2));
        Err(said.exit(1))
    }

    /// `None`: there is nothing for it but to show the usage.
    fn parse_into(call: &Call, is_wrk2: bool, said: &mut Said) -> Option<Self> {
        let taken = if is_wrk2 { WRK2 } else { WRK }.take("wrk", &call.args);
        let whole = taken.operands.first().cloned().unwrap_or_default();
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
            url: Url { whole, scheme: String::new(), host: String::new(), port: None, path: String::new() },
            operands: taken.operands,
        };
        for option in taken.options {
            match option {
                Ok((letter, value)) => options.set(letter, &value.unwrap_or_default(), said)?,
                Err(why) => {
                    said.err.push_str(&why);
                    return None;
                }
            }
        }
        if options.operands.is_empty() || options.threads == 0 || options.duration_s == 0 {
            return None;
        }
        let mut complain = |why: &str| said.err.push_str(why);
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

    fn set(&mut self, letter: char, value: &str, said: &mut Said) -> Option<()> {
        match letter {
            't' => self.threads = scan_metric(value)?,
            'c' => self.connections = scan_metric(value)?,
            'd' => self.duration_s = scan_time(value)?,
            'T' => self.timeout_s = scan_time(value)?,
            'R' => self.rate_per_s = scan_metric(value)?,
            's' => self.script = Some(value.to_owned()),
            'H' => self.headers.push(value.to_owned()),
            'L' => self.has_latency = true,
            'U' => (self.has_latency, self.has_uncorrected) = (true, true),
            // Without pipelining, and with it wrk2 is refused, every batch is one request.
            'B' => {}
            'v' => said.out.push_str(if self.is_wrk2 { VERSION_WRK2 } else { VERSION }),
            _ => return None,
        }
        Some(())
    }

    /// The tool's name.
    pub fn tool(&self) -> &'static str {
        if self.is_wrk2 { "wrk2" } else { "wrk" }
    }

    /// Every thread has as many connections; what is left over has none.
    pub fn connections_used(&self) -> u64 {
        self.connections / self.threads * self.threads
    }
}
