//! ab's run: the plan for the load engine, and what ab prints before, during and after it.

use super::head::head;
use super::heard::{Heard, TIMED_OUT};
use super::options::Options;
use super::report::{Facts, sorted, text};
use super::url::{resolve, unknown};
use super::usage::{BANNER, HTML_BANNER};
use super::{files, html};
use crate::job::ask;
use crate::number::strerror;
use crate::{Call, Halt, Job, Printed};
use model::{Address, Exchange, Load, Plan, Resumption, Tally, Target, TlsChoice, Until};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The number of descriptors that a run needs in addition to those of its connections.
const SPARE_DESCRIPTORS: usize = 64;

/// A run of ab, from a parsed command line.
#[derive(Debug)]
struct Run {
    options: Options,
    plan: Plan,
    heard: Heard,
    begun: SystemTime,
}

/// Makes a run from a command line.
pub fn parse(call: &Call) -> Result<Box<dyn Job>, Printed> {
    let options = Options::parse(call)?;
    if let Some((file, what)) = options.identity.as_ref().and_then(|file| Some((file, lacks(file)?))) {
        let why = format!("{}unable to get {what} from '{}'\n", options.complaint, file.display());
        return Err(Printed::err(why).exit(1));
    }
    let plan = plan(&options, call).map_err(|(why, code)| {
        // ab has printed its banner by then.
        let mut printed = hello(&options);
        printed.err.push_str(&why);
        printed.exit(code)
    })?;
    Ok(Box::new(Run { options, plan, heard: Heard::default(), begun: SystemTime::UNIX_EPOCH }))
}

/// What the file of a client's certificate lacks. ab reads it whether or not the server is encrypted.
fn lacks(file: &Path) -> Option<&'static str> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let has = |what: &str| {
        text.lines().any(|line| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(what))
    };
    [(" CERTIFICATE-----", "certificate"), (" PRIVATE KEY-----", "private key")]
        .into_iter()
        .find_map(|(end, what)| (!has(end)).then_some(what))
}

/// The plan for the load engine, or ab's error message and exit code.
fn plan(options: &Options, call: &Call) -> Result<Plan, (String, u8)> {
    let Some(head) = head(options) else { return Err(("Request too long\n\n".to_owned(), 1)) };
    let from = match &options.from {
        None => None,
        Some(host) => resolve(host, 0, None)?.first().map(SocketAddr::ip),
    };
    let (host, port) = match &options.proxy {
        Some((host, port)) => (host.as_str(), *port),
        None => (options.url.host.as_str(), options.url.port),
    };
    let mut addresses = resolve(host, port, from)?.into_iter();
    let Some(address) = addresses.next() else { return Err(unknown(host)) };
    if options.timeout.is_zero() {
        return Err((TIMED_OUT.0.to_owned(), TIMED_OUT.1));
    }
    if options.connections == 0 {
        return Err(("apr_pollset_poll: Invalid argument (22)\n".to_owned(), 22));
    }
    if options.connections + SPARE_DESCRIPTORS > call.descriptors {
        return Err(("socket: Too many open files (24)\n".to_owned(), 24));
    }
    let target = Target {
        url: options.url.whole.clone(),
        host: options.header("Host").map_or_else(|| options.url.authority(), str::to_owned),
        path: options.url.path.clone(),
        others: addresses.collect(),
        tls: options.url.is_tls,
        ..Target::at(Address::Tcp(address))
    };
    let mut request = head.into_bytes();
    request.extend_from_slice(options.body.as_deref().unwrap_or_default());
    let ask = ask(request);
    let per_connection = if options.keeps_alive { None } else { Some(1) };
    let load = Load::Closed { connections: options.connections, per_connection };
    let until = options.limit.map_or(Until::Answered(options.requests), Until::Elapsed);
    let mut plan = Plan::new(target, ask, load, until);
    plan.most_requests = Some(options.requests);
    plan.timeout = options.timeout;
    plan.keep_first = true;
    plan.connecting.one_first = true;
    plan.connecting.from = from.into_iter().collect();
    plan.tls = TlsChoice {
        insecure: true,
        identity: options.identity.clone().map(|file| (file.clone(), file)),
        resumption: Resumption::Off,
        no_sni: options.no_sni,
        version: options.version,
        ..TlsChoice::default()
    };
    Ok(plan)
}

/// ab's banner and what it is about to do.
fn hello(options: &Options) -> Printed {
    let mut printed = Printed { err: options.complaint.clone(), ..Printed::default() };
    if options.html.is_some() {
        HTML_BANNER.clone_into(&mut printed.out);
    } else {
        let through = options.proxy.as_ref();
        let through = through.map_or(String::new(), |(host, port)| format!("[through {host}:{port}] "));
        let end = if options.heartbeat().is_some() { "\n" } else { "..." };
        printed.out = format!("{BANNER}Benchmarking {} {through}(be patient){end}", options.url.host);
    }
    if options.verbosity >= 2 {
        let (method, head) = (&options.method, head(options).unwrap_or_default());
        printed.out.push_str(&format!("INFO: {method} header == \n---\n{head}\n---\n"));
    }
    printed
}

impl Job for Run {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let Options { csv, gnuplot, .. } = &self.options;
        let named = [("-e", csv), ("-g", gnuplot)];
        named.into_iter().filter_map(|(option, path)| Some((option, path.clone()?))).collect()
    }

    fn begin(&mut self) -> Printed {
        self.begun = SystemTime::now();
        let mut printed = hello(&self.options);
        if self.options.verbosity >= 2 {
            let what = "drome ab: -v 2: only the first answer's head is shown, and nothing about TLS\n";
            printed.err.push_str(what);
        }
        printed
    }

    fn hear(&mut self, exchanges: &[Exchange]) -> Printed {
        let mut all = Printed::default();
        for exchange in exchanges {
            let printed = self.heard.take(exchange, &self.options);
            all.out.push_str(&printed.out);
            all.err.push_str(&printed.err);
            all.exit = all.exit.or(printed.exit);
        }
        all
    }

    fn print(&mut self, tally: &Tally) -> Printed {
        let Self { options, heard, .. } = &*self;
        if let Some(code) = heard.aborted {
            return Printed::default().exit(code);
        }
        if let Some(why) = &tally.halted {
            return Printed::err(format!("drome ab: {why}\n")).exit(1);
        }
        let facts = Facts { options, heard, tally };
        let mut printed = Printed::default();
        if options.verbosity >= 2 {
            let first = String::from_utf8_lossy(&tally.first_answer);
            printed.out.push_str(&format!("LOG: header received:\n{first}\n"));
        }
        if tally.interrupted {
            // When it is interrupted, ab ignores that HTML was requested.
            printed.out.push_str(&text(&facts));
            printed.exit = Some(1);
        } else {
            match options.heartbeat() {
                Some(_) => printed.err.push_str(&format!("Finished {} requests\n", heard.done())),
                None => printed.out.push_str("..done\n"),
            }
            let report =
                options.html.as_ref().map_or_else(|| text(&facts), |html| html::tables(&facts, html));
            printed.out.push_str(&report);
        }
        let writes = options.html.is_none() || tally.interrupted;
        if writes && heard.done() > 0 {
            let sorted = sorted(&heard.times);
            let csv = options.csv.iter().map(|file| (file.clone(), files::csv(&sorted), false));
            printed.files.extend(csv);
            let plot =
                options.gnuplot.iter().map(|file| (file.clone(), files::gnuplot(&sorted, self.begun), false));
            printed.files.extend(plot);
        }
        printed
    }

    fn fail(&mut self, halt: &Halt) -> Printed {
        match halt {
            Halt::Connect(error) => {
                let (why, code) = refusal(error);
                let note = "drome ab: -r: no server is listening there, so there is nothing to report\n";
                Printed::err(why + if self.options.goes_on { note } else { "" }).exit(code)
            }
            Halt::Other { errno: Some(99), .. } if self.options.from.is_some() => {
                Printed::err("bind: Cannot assign requested address (99)\n").exit(99)
            }
            Halt::Other { why, .. } => Printed::err(format!("drome ab: {why}\n")).exit(1),
        }
    }
}

/// What ab prints if it can't connect at all, and its exit code: the error's number, cut to a byte.
fn refusal(error: &io::Error) -> (String, u8) {
    let why = strerror(error);
    match error.raw_os_error() {
        Some(number @ 111) => (format!("apr_socket_recv: {why} ({number})\n"), number as u8),
        Some(number) => {
            let text =
                format!("\nTest aborted after 10 failures\n\napr_socket_connect(): {why} ({number})\n");
            (text, number as u8)
        }
        None => (TIMED_OUT.0.to_owned(), TIMED_OUT.1),
    }
}
