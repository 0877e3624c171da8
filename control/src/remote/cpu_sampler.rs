//! Samples what ran within turns where the members are on another machine: there for the members, here for what ran beside the load
//! generator.

use super::messages::RemoteRequest;
use super::remote_machine::RemoteMachine;
use crate::processes::cpu_sampler::{CpuSampler, CpuUsage, SampledProcesses};
use crate::processes::programs;
use std::collections::BTreeSet;

/// Takes samples on both machines, or on this one alone.
#[derive(Debug)]
pub struct CombinedCpuSampler {
    here: CpuSampler,
    far: Option<Far>,
}

/// The sampler on another machine.
#[derive(Debug)]
struct Far {
    there: RemoteMachine,
    /// Its number there; `None`: no samples can be taken, and nothing is known.
    number: Option<u64>,
    members: usize,
}

impl CombinedCpuSampler {
    /// Takes the first sample here, and of servers on another machine, given by their numbers there.
    pub fn begin(sampled: SampledProcesses, far: Option<(&RemoteMachine, Vec<u64>)>) -> Self {
        let far = far.map(|(there, servers)| {
            let (there, members) = (there.clone(), servers.len());
            let asker = there.is_this_machine().then(|| std::process::id() as i32);
            let request = RemoteRequest::BeginSamples { servers, cpus: there.cores().server, asker };
            Far { number: there.ask(&request).ok(), there, members }
        });
        Self { here: CpuSampler::begin(sampled), far }
    }

    /// Replaces the engine's threads, when another load generator takes over.
    pub fn replace_engine(&mut self, engine: BTreeSet<i32>) {
        self.here.replace_engine(engine);
        self.far.as_ref().map(Far::sample);
    }

    /// Takes a sample and returns what was used since the last one.
    pub fn sample(&mut self) -> CpuUsage {
        let Some(far) = &self.far else { return self.here.sample() };
        let there = far.sample();
        merged(&self.here.sample(), there, far.there.is_this_machine())
    }
}

impl Far {
    fn sample(&self) -> CpuUsage {
        let usage: Option<CpuUsage> =
            self.number.and_then(|number| self.there.ask(&RemoteRequest::Sample(number)).ok());
        let usage = usage.filter(|usage| usage.members_ns.len() == self.members);
        usage.unwrap_or_else(|| CpuUsage { members_ns: vec![None; self.members], ..CpuUsage::default() })
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
