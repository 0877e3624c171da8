//! Divides the CPUs between servers and load generator: a pure function of the topology. A CPU is one hardware thread, as
//! Linux numbers them. No physical core is on both sides unless there is only one.

use crate::machine::topology::Topology;
use model::environment::{PhysicalCore, cpu_ranges};
use std::cmp::Reverse;
use std::ffi::OsStr;

/// Capacities that differ by less than this share are one class: the favoured cores of a processor are rated a few
/// percent above its others, a big core a third or more above a little one.
const SAME_CLASS: f64 = 0.9;

/// The variable with which the load generator sleeps while it waits, also where it has cores of its own, and idle cores sleep, too.
const POLL: &str = "DROME_POLL";

/// The CPUs of either side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// For servers.
    pub server: Vec<usize>,
    /// For the load generator.
    pub client: Vec<usize>,
    /// CPUs of neither side, for the reasons in `notes`.
    pub idle: Vec<usize>,
    /// Whether the load generator may poll instead of sleeping, because that takes nothing from the server.
    pub client_may_poll: bool,
    /// Whether a user wants idle cores to sleep ([`POLL`]).
    pub may_sleep: bool,
    /// Why server and load generator slow each other down, if they do, and what helps.
    pub trouble: Option<String>,
    /// Why CPUs are idle and what is unequal, a sentence each; includes `trouble`.
    pub notes: Vec<String>,
}

impl Cores {
    /// Divides the CPUs that this process may use.
    pub fn deal() -> Self {
        deal(&Topology::here()).with_poll_variable()
    }

    /// The CPUs of a load generator whose servers are on another machine.
    pub fn of_load_alone() -> Self {
        of_load_alone(&Topology::here()).with_poll_variable()
    }

    /// The CPUs of servers whose load generator is on another machine.
    pub fn of_servers_alone() -> Self {
        let Self { client: server, idle, notes, .. } = of_load_alone(&Topology::here());
        Self { server, idle, notes, ..Self::default() }.with_poll_variable()
    }

    /// These cores, with what [`POLL`] says of the load generator.
    #[must_use]
    pub fn with_poll_variable(self) -> Self {
        self.with_poll(std::env::var_os(POLL).as_deref())
    }

    /// These cores, with the value of [`POLL`].
    fn with_poll(mut self, poll: Option<&OsStr>) -> Self {
        let sleeps = poll.is_some_and(|value| ["0", "no", "false", "off"].iter().any(|no| value == *no));
        self.may_sleep = sleeps;
        if sleeps && self.client_may_poll {
            self.client_may_poll = false;
            self.notes.push(model::environment::SLEEPS.to_owned());
        }
        self
    }

    /// These cores, with what follows from both sides: the idle CPUs, and whether there is time to poll.
    fn with_the_rest(self, topology: &Topology) -> Self {
        let used = self.used();
        let is_fed = topology.limit_millicores.is_none_or(|limit| limit >= 1000 * used.len() as u64);
        let idle = topology.allowed.iter().filter(|cpu| !used.contains(cpu)).copied().collect();
        Self { idle, client_may_poll: self.trouble.is_none() && is_fed, ..self }
    }

    /// All CPUs that this process may use, in order.
    pub fn allowed(&self) -> Vec<usize> {
        sorted(self.server.iter().chain(&self.client).chain(&self.idle).copied())
    }

    /// The CPUs of both sides, each once: on others, a program disturbs nothing.
    pub fn used(&self) -> Vec<usize> {
        sorted(self.server.iter().chain(&self.client).copied())
    }

    /// The CPUs for a load generator of this number of threads whose server was not started by drome: first those of the load generator,
    /// then idle ones, then servers'.
    pub fn for_load(&self, threads: usize) -> Vec<usize> {
        // Beginning with the last CPU, since servers and other programs tend to begin with the first.
        let sides = [&self.client, &self.idle, &self.server];
        let all = sides.into_iter().flat_map(|side| side.iter().rev().copied());
        let mut chosen: Vec<usize> = Vec::new();
        for cpu in all.filter(|_| threads > 0) {
            if chosen.len() < threads && !chosen.contains(&cpu) {
                chosen.push(cpu);
            }
        }
        sorted(chosen)
    }
}

/// Divides the CPUs: whole physical cores of one class, on one NUMA node or else in one package that has at least two, no more than the
/// control group's limit of CPU time keeps busy; half of them for each side, with an odd one for servers.
pub fn deal(topology: &Topology) -> Cores {
    let usable = usable(topology);
    let mut notes = Vec::new();
    if topology.physical.is_empty() && topology.allowed.len() > 1 {
        notes.push(
            "this system does not tell which CPUs share a physical core, so each counts as a core of its own"
                .to_owned(),
        );
    }
    let chosen = of_one_class(usable, &mut notes);
    let chosen = near_each_other(chosen, &mut notes);
    let chosen = within_limit(chosen, topology.limit_millicores, 2, &mut notes);
    let (server, client, trouble) = halves(&chosen);
    notes.extend(trouble.clone());
    let cores = Cores { server, client, trouble, notes, ..Cores::default() };
    cores.with_the_rest(topology)
}

/// For a load generator alone: all cores, but no more than the control group's limit of CPU time keeps busy.
fn of_load_alone(topology: &Topology) -> Cores {
    let mut notes = Vec::new();
    let chosen = within_limit(usable(topology), topology.limit_millicores, 1, &mut notes);
    Cores { client: cpus(&chosen), notes, ..Cores::default() }.with_the_rest(topology)
}

/// The physical cores of which this process may use a CPU, with those CPUs only.
fn usable(topology: &Topology) -> Vec<PhysicalCore> {
    let with_allowed = |core: &PhysicalCore| PhysicalCore {
        cpus: core.cpus.iter().filter(|cpu| topology.allowed.contains(cpu)).copied().collect(),
        ..core.clone()
    };
    let known = topology.physical.iter().map(with_allowed).filter(|core| !core.cpus.is_empty());
    let is_unknown = |cpu: &&usize| !topology.physical.iter().any(|core| core.cpus.contains(cpu));
    let alone = |cpu: &usize| PhysicalCore { cpus: vec![*cpu], ..PhysicalCore::default() };
    let mut cores: Vec<PhysicalCore> =
        known.chain(topology.allowed.iter().filter(is_unknown).map(alone)).collect();
    cores.sort_by_key(|core| core.cpus[0]);
    cores
}

/// The fastest class that has a core for each side; all cores where none has.
fn of_one_class(cores: Vec<PhysicalCore>, notes: &mut Vec<String>) -> Vec<PhysicalCore> {
    let classes = classes(&cores);
    if classes.len() < 2 {
        return cores;
    }
    let Some(class) = classes.iter().find(|class| class.len() > 1) else {
        notes.push(format!(
            "no two of the cores {} have the same speed: servers get the fastest, so the figures are not \
             comparable with those of a machine with equal cores",
            list(&cores),
        ));
        return classes.concat();
    };
    let others: Vec<PhysicalCore> = cores.iter().filter(|core| !class.contains(core)).cloned().collect();
    notes.push(format!(
        "CPUs {} are left idle: their speed differs from that of {}, and server and load generator need cores of equal \
         speed; choose others with taskset",
        list(&others),
        list(class),
    ));
    class.clone()
}

/// Cores of about the same speed, the fastest first.
fn classes(cores: &[PhysicalCore]) -> Vec<Vec<PhysicalCore>> {
    let speed = |core: &PhysicalCore| (core.kind.as_deref() != Some("efficiency"), core.capacity);
    let mut sorted = cores.to_vec();
    sorted.sort_by_key(|core| (Reverse(speed(core)), core.cpus[0]));
    let is_same = |a: &PhysicalCore, b: &PhysicalCore| {
        let capacities = a.capacity.zip(b.capacity);
        a.kind == b.kind
            && capacities.map_or(a.capacity == b.capacity, |(a, b)| f64::from(b) >= f64::from(a) * SAME_CLASS)
    };
    let mut classes: Vec<Vec<PhysicalCore>> = Vec::new();
    for core in sorted {
        match classes.last_mut().filter(|class| is_same(&class[0], &core)) {
            Some(class) => class.push(core),
            None => classes.push(vec![core]),
        }
    }
    classes
}

/// The cores of the NUMA node that has most of them, if these are two or more; else those of such a package; else all.
fn near_each_other(cores: Vec<PhysicalCore>, notes: &mut Vec<String>) -> Vec<PhysicalCore> {
    let by_node = |core: &PhysicalCore| core.node;
    let by_package = |core: &PhysicalCore| core.package;
    for (what, key) in
        [("NUMA node", &by_node as &dyn Fn(&PhysicalCore) -> Option<u32>), ("package", &by_package)]
    {
        let groups = groups(&cores, key);
        // Of groups of the same size, the first.
        let Some((place, best)) = groups.iter().rev().max_by_key(|(_, group)| group.len()) else { continue };
        if groups.len() < 2 || best.len() < 2 {
            continue;
        }
        let others: Vec<PhysicalCore> = cores.iter().filter(|core| !best.contains(core)).cloned().collect();
        let place = place.map_or("an unknown one".to_owned(), |number| number.to_string());
        notes.push(format!(
            "CPUs {} are left idle: server and load generator stay on {what} {place}, so that no figure includes access \
             to another {what}'s memory; choose another with taskset",
            list(&others),
        ));
        return best.clone();
    }
    let places: Vec<_> = groups(&cores, &|core| core.node.or(core.package));
    if places.len() > 1 {
        notes.push(
            "server and load generator are on different NUMA nodes or packages: none has two usable cores"
                .to_owned(),
        );
    }
    cores
}

fn groups(
    cores: &[PhysicalCore],
    key: &dyn Fn(&PhysicalCore) -> Option<u32>,
) -> Vec<(Option<u32>, Vec<PhysicalCore>)> {
    let mut groups: Vec<(Option<u32>, Vec<PhysicalCore>)> = Vec::new();
    for core in cores {
        match groups.iter_mut().find(|(place, _)| *place == key(core)) {
            Some((_, group)) => group.push(core.clone()),
            None => groups.push((key(core), vec![core.clone()])),
        }
    }
    groups
}

/// If the control group's limit of CPU time is too low to keep all hardware threads busy: as many cores as it keeps busy, but at least
/// one for each of the `sides`, with one hardware thread of each. A single core for two sides keeps all its threads. Otherwise all cores as
/// they are.
fn within_limit(
    cores: Vec<PhysicalCore>,
    limit: Option<u64>,
    sides: usize,
    notes: &mut Vec<String>,
) -> Vec<PhysicalCore> {
    let threads: usize = cores.iter().map(|core| core.cpus.len()).sum();
    let Some(limit) = limit.filter(|limit| *limit < 1000 * threads as u64) else { return cores };
    let wanted = usize::try_from(limit / 1000).unwrap_or(usize::MAX).max(sides).min(cores.len());
    let all = list(&cores);
    let one = |core: &PhysicalCore| PhysicalCore { cpus: vec![core.cpus[0]], ..core.clone() };
    // With a single core, its threads are all there is.
    let fed: Vec<PhysicalCore> =
        if cores.len() < sides { cores } else { cores.iter().take(wanted).map(one).collect() };
    let few = match sides {
        _ if limit >= 1000 * sides as u64 => "",
        1 => "; that is less than one CPU, so it is throttled",
        _ => "; that is less than one CPU each for server and load generator, so both are throttled",
    };
    notes.push(format!(
        "the control group allows the time of {:.2} CPUs, so only {} of {all} are used{few}",
        limit as f64 / 1000.0,
        list(&fed),
    ));
    fed
}

/// The CPUs of servers, those of the load generator, and what is wrong with this division.
fn halves(cores: &[PhysicalCore]) -> (Vec<usize>, Vec<usize>, Option<String>) {
    match cores {
        [] => (Vec::new(), Vec::new(), None),
        [only] if only.cpus.len() == 1 => {
            let why = "there is only one CPU, which server and load generator share: rates are too low, and some \
                       servers lose more than others";
            (only.cpus.clone(), only.cpus.clone(), Some(why.to_owned()))
        }
        [only] => {
            let (server, client) = only.cpus.split_at(only.cpus.len().div_ceil(2));
            let why = format!(
                "there is only one physical core, whose hardware threads {} server and load generator share: they slow \
                 each other down",
                list(cores),
            );
            (server.to_vec(), client.to_vec(), Some(why))
        }
        many => {
            let (server, client) = many.split_at(many.len().div_ceil(2));
            (cpus(server), cpus(client), None)
        }
    }
}

fn cpus(cores: &[PhysicalCore]) -> Vec<usize> {
    sorted(cores.iter().flat_map(|core| core.cpus.iter().copied()))
}

fn sorted(cpus: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut cpus: Vec<usize> = cpus.into_iter().collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// All CPUs of these cores, as the kernel writes them: `0-3,8`.
fn list(cores: &[PhysicalCore]) -> String {
    cpu_ranges(&cpus(cores))
}

#[cfg(test)]
mod tests;
