//! Samples what ran within turns where the members are on another machine: there for the members, here for what ran beside the load
//! generator.

use super::messages::{Number, Watch};
use super::remote_machine::RemoteMachine;
use crate::cpu_sampler::{CpuSampler, CpuUsage, programs};
use crate::fault::Fault;
use std::collections::BTreeSet;

/// Takes samples on both machines, or on this one alone.
#[derive(Debug)]
pub struct CombinedCpuSampler {
    here: CpuSampler,
    far: Option<RemoteCpuSampler>,
}

/// Takes samples on another machine.
#[derive(Debug)]
pub struct RemoteCpuSampler {
    there: RemoteMachine,
    /// `None`: no samples can be taken, and nothing is known.
    sampler: Option<Number>,
    members: usize,
}

impl RemoteCpuSampler {
    /// Takes the first sample of these servers, given by their numbers there.
    pub fn begin(there: &RemoteMachine, servers: Vec<u64>) -> Self {
        let members = servers.len();
        let asker = there.is_this_machine().then(|| std::process::id() as i32);
        let question = Watch { servers, cpus: there.cores().server, asker };
        Self { there: there.clone(), sampler: there.ask("servers.watch", &question).ok(), members }
    }

    fn sample(&self) -> CpuUsage {
        let unknown = || CpuUsage { members_ns: vec![None; self.members], ..CpuUsage::default() };
        let Some(sampler) = self.sampler else { return unknown() };
        let usage: Result<CpuUsage, Fault> = self.there.ask("servers.look", &sampler);
        usage.ok().filter(|usage| usage.members_ns.len() == self.members).unwrap_or_else(unknown)
    }
}

impl CombinedCpuSampler {
    /// Combines the samples on this machine with those on the servers' machine, if there is one.
    pub fn of(here: CpuSampler, far: Option<RemoteCpuSampler>) -> Self {
        Self { here, far }
    }

    /// Replaces the engine's threads, when another load generator takes over.
    pub fn replace_engine(&mut self, engine: BTreeSet<i32>) {
        self.here.replace_engine(engine);
        self.far.as_ref().map(RemoteCpuSampler::sample);
    }

    /// Takes a sample and returns what was used since the last one.
    pub fn sample(&mut self) -> CpuUsage {
        let Some(far) = &self.far else { return self.here.sample() };
        let there = far.sample();
        merged(&self.here.sample(), there, far.there.is_this_machine())
    }
}

/// What ran on both machines. `is_one`: they are one, whose other programs both have seen.
fn merged(here: &CpuUsage, there: CpuUsage, is_one: bool) -> CpuUsage {
    let both = |a: Option<u64>, b: Option<u64>| {
        a.zip(b).map(|(a, b)| if is_one { a.max(b) } else { a.saturating_add(b) })
    };
    CpuUsage {
        wall_ns: here.wall_ns,
        members_ns: there.members_ns,
        others_ns: both(here.others_ns, there.others_ns),
        others_on_server_ns: there.others_on_server_ns,
        stolen_ns: both(here.stolen_ns, there.stolen_ns),
        idle_ns: there.idle_ns,
        segments: here.segments,
        programs: if is_one { here.programs.clone() } else { programs::sum(&here.programs, &there.programs) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::network::Segments;

    #[test]
    fn the_members_are_there_and_what_disturbs_is_on_both_machines() {
        let of = |wall_ns, others_ns| CpuUsage {
            wall_ns,
            members_ns: Vec::new(),
            others_ns,
            others_on_server_ns: Some(0),
            stolen_ns: Some(1),
            idle_ns: None,
            segments: Some(Segments { sent: 20, received: 30 }),
            programs: [("rustc".to_owned(), wall_ns)].into(),
        };
        let there = || CpuUsage {
            members_ns: vec![Some(9)],
            idle_ns: Some(7),
            others_on_server_ns: Some(4),
            ..of(80, Some(3))
        };
        let two = merged(&of(100, Some(2)), there(), false);
        let expected = CpuUsage {
            wall_ns: 100,
            members_ns: vec![Some(9)],
            others_ns: Some(5),
            others_on_server_ns: Some(4),
            stolen_ns: Some(2),
            idle_ns: Some(7),
            segments: Some(Segments { sent: 20, received: 30 }),
            programs: [("rustc".to_owned(), 180)].into(),
        };
        assert_eq!(two, expected);
        let one = merged(&of(100, Some(2)), there(), true);
        assert_eq!((one.others_ns, one.stolen_ns, one.programs["rustc"]), (Some(3), Some(1), 100));
        assert_eq!(merged(&of(100, None), there(), false).others_ns, None, "unknown is not none");
    }
}
