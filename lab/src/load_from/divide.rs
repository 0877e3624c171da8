//! Divides one plan among several machines: connections and requests in whole numbers, the rate request by request. Pure.

use model::{Load, OneOf, Plan, Until};

/// The maximum number of machines for one load.
const MOST_MACHINES: usize = 1000;

/// The ending of a noun after this number.
fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

/// Why a plan can't be divided.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DivideError {
    /// There is no machine, or there are too many.
    #[error(
        "a load can be spread over 1 to {MOST_MACHINES} machines, not over {0}: change the number of --load-from"
    )]
    Machines(usize),
    /// A machine would have no connection.
    #[error(
        "{connections} connection{} can't be divided among {machines} machines: each needs at least one; ask for more \
         connections (-c), or name fewer machines",
        plural(*connections as u64)
    )]
    Connections {
        /// The connections asked for.
        connections: usize,
        /// The machines.
        machines: usize,
    },
    /// A machine would have no request.
    #[error(
        "{requests} request{} can't be divided among {machines} machines: each needs at least one; ask for more \
         requests (-n), or name fewer machines",
        plural(*requests)
    )]
    Requests {
        /// The requests asked for.
        requests: u64,
        /// The machines.
        machines: usize,
    },
    /// The plan has an option that works only on this machine.
    #[error("{0} can't be used with load from several machines: it works only on this machine; leave it out")]
    Local(&'static str),
}

/// The plan of each machine. The machines' numbers of connections and of requests differ by at most one. Of an offered rate, each of n
/// machines sends every n-th request: together they offer it exactly, and as evenly as one machine would.
pub fn divide(plan: &Plan, machines: usize) -> Result<Vec<Plan>, DivideError> {
    if !(1..=MOST_MACHINES).contains(&machines) {
        return Err(DivideError::Machines(machines));
    }
    if let Some(option) = local_option(plan) {
        return Err(DivideError::Local(option));
    }
    let connections = plan.load.connections();
    if connections < machines {
        return Err(DivideError::Connections { connections, machines });
    }
    let requests = match plan.until {
        Until::Answered(n) | Until::Closed(n) => Some(n),
        Until::Elapsed(_) => None,
    };
    let fewest = [requests, plan.most_requests].into_iter().flatten().min();
    if let Some(requests) = fewest.filter(|n| *n < machines as u64) {
        return Err(DivideError::Requests { requests, machines });
    }
    Ok((0..machines).map(|index| of_one(plan, OneOf { index, machines })).collect())
}

/// The option of a plan that works only on this machine, if there is one.
fn local_option(plan: &Plan) -> Option<&'static str> {
    let options = [
        (plan.target.address.tcp().is_none(), "a Unix socket"),
        (!plan.connecting.from.is_empty(), "a source address"),
        (plan.tls.cacert.is_some(), "a file of certificate authorities"),
        (plan.tls.identity.is_some(), "a client certificate"),
        (plan.per_second || plan.pulse.is_some(), "a series second by second"),
    ];
    options.into_iter().find_map(|(is_used, name)| is_used.then_some(name))
}

fn of_one(plan: &Plan, one_of: OneOf) -> Plan {
    let OneOf { index, machines } = one_of;
    let part = |whole: u64| whole / machines as u64 + u64::from((index as u64) < whole % machines as u64);
    let mut own = Plan { one_of, cpus: Vec::new(), ..plan.clone() };
    let (Load::Closed { connections, .. } | Load::Open { connections, .. }) = &mut own.load;
    *connections = part(*connections as u64) as usize;
    own.until = match plan.until {
        Until::Elapsed(duration) => Until::Elapsed(duration),
        Until::Answered(n) => Until::Answered(part(n)),
        Until::Closed(n) => Until::Closed(part(n)),
    };
    own.most_requests = plan.most_requests.map(part);
    own
}

/// The plan by which a machine's own part is judged: with its share of the rate.
pub fn own_load(plan: &Plan) -> Plan {
    let mut own = plan.clone();
    if let Load::Open { rate_per_s, .. } = &mut own.load {
        *rate_per_s = rate_per_s.shared_by(plan.one_of.machines);
    }
    own
}
