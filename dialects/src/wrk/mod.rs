//! wrk (4.1) and wrk2: closed load or load at a rate from a number of connections, Lua scripts as far as they
//! decide before the measurement, and reports with wrk's own arithmetic.

mod ahead;
mod heard;
mod options;
mod pieces;
mod refused;
mod report;
mod script;
mod state;
mod stats;
mod threads;
mod units;
mod url;
mod wrk2;

use crate::job::ask;
use crate::number::strerror;
use crate::{Call, Dialect, Halt, Job, Printed};
use model::{Address, Arrivals, Ask, Load, Plan, Tally, Target, Until};
use options::Options;
pub use refused::REFUSED;
use script::Script;
use std::net::SocketAddr;
use std::time::Duration;
pub use units::scan_metric;
use url::Url;

/// wrk.
pub const WRK: Dialect =
    Dialect { name: "wrk", about: "closed load, with Lua scripts (4.1)", parse: |call| parse(call, false) };

/// wrk2.
pub const WRK2: Dialect = Dialect {
    name: "wrk2",
    about: "wrk at a constant rate, with corrected latency",
    parse: |call| parse(call, true),
};

/// The timeout of a request. wrk never gives up a request; it only counts those that took too long.
const NEVER: Duration = Duration::from_secs(u32::MAX as u64);

fn parse(call: &Call, is_wrk2: bool) -> Result<Box<dyn Job>, Printed> {
    let (options, mut printed) = Options::parse(call, is_wrk2)?;
    let mut script = Script::begin(&options, &mut printed)?;
    let address = script.go_on(&options, &mut printed)?;
    let plan = plan(&options, &script, address);
    Ok(Box::new(Wrk { options, script, plan, printed }))
}

fn unable(url: &Url, reason: &str) -> String {
    format!("unable to connect to {} {reason}\n", url.place())
}

fn plan(options: &Options, script: &Script, address: SocketAddr) -> Plan {
    let Options { url, .. } = options;
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
    let host = url.port.as_ref().map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
    let target = Target {
        url: url.whole.clone(),
        host,
        path: url.path.clone(),
        tls: url.is_tls(),
        ..Target::at(Address::Tcp(address))
    };
    let connections = usize::try_from(options.connections_used()).unwrap_or(usize::MAX);
    let load = if options.is_wrk2 {
        let rate_per_s = (options.rate_per_s as f64).into();
        Load::Open { rate_per_s, connections, arrivals: Arrivals::Constant, per_connection: None }
    } else {
        Load::Closed { connections, per_connection: None }
    };
    let until = Until::Elapsed(Duration::from_secs(options.duration_s).min(NEVER));
    let mut plan = Plan::new(target, Ask::default(), load, until);
    plan.asks = script.requests.iter().map(|request| ask(request.clone())).collect();
    // wrk measures the latency of all requests that it sent at once.
    (plan.pipeline, plan.bursts, plan.burst_latency) =
        (script.at_once, script.at_once > 1, script.at_once > 1);
    (plan.order, plan.think) = (script.order, script.think);
    plan.threads = options.threads as usize;
    plan.timeout = NEVER;
    // The connection succeeded just before.
    plan.probe = false;
    plan.tls.insecure = true;
    plan.per_second = options.is_wrk2 && wrk2::calibrated_at_ms(options).is_some();
    plan.pulse = Some(Duration::from_millis(if options.is_wrk2 { wrk2::STEP_MS } else { report::SAMPLE_MS }));
    plan
}

/// A measurement that prints as wrk or wrk2 does.
struct Wrk {
    options: Options,
    script: Script,
    plan: Plan,
    /// What was printed while the command line was parsed.
    printed: Printed,
}

impl Job for Wrk {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn wants_exchanges(&self) -> bool {
        false
    }

    fn begin(&mut self) -> Printed {
        let mut printed = std::mem::take(&mut self.printed);
        printed.out.push_str(&report::running(&self.options));
        printed
    }

    fn print(&mut self, tally: &Tally) -> Printed {
        let (summary, text) = if self.options.is_wrk2 {
            wrk2::report(&self.options, tally)
        } else {
            let summary = report::summary(&self.options, tally);
            let text = report::report(&self.options, &summary);
            (summary, text)
        };
        let mut printed = Printed::out(text);
        if self.script.has_done()
            && let Err(failed) = self.script.done(&self.options, &summary, &mut printed)
        {
            return failed;
        }
        printed
    }

    fn fail(&mut self, halt: &Halt) -> Printed {
        let why = match halt {
            Halt::Connect(error) => unable(&self.options.url, &strerror(error)),
            Halt::Other { why, .. } => format!("drome {}: {why}\n", self.options.tool()),
        };
        Printed::err(why).exit(1)
    }
}
