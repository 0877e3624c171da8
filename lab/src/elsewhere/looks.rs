//! Looks at what ran within turns where the members are on another machine: one there for the members, one here for what ran beside the load
//! generator.

use super::messages::{Number, Watch};
use super::there::There;
use crate::fault::Fault;
use crate::heat::turns::snapshot::{Between, Looks, programs};
use std::collections::BTreeSet;

/// Looks on both machines, or on this one alone.
#[derive(Debug)]
pub struct AllLooks {
    here: Looks,
    far: Option<FarLooks>,
}

/// Looks that are taken on another machine.
#[derive(Debug)]
pub struct FarLooks {
    there: There,
    /// `None`: they can't be taken, and nothing is known.
    looks: Option<Number>,
    members: usize,
}

impl FarLooks {
    /// Takes the first look at these servers, given by their numbers there.
    pub fn begin(there: &There, servers: Vec<u64>) -> Self {
        let members = servers.len();
        let asker = there.is_this_machine().then(|| std::process::id() as i32);
        let question = Watch { servers, cpus: there.cores().server, asker };
        Self { there: there.clone(), looks: there.ask("servers.watch", &question).ok(), members }
    }

    fn look(&self) -> Between {
        let unknown = || Between { members_ns: vec![None; self.members], ..Between::default() };
        let Some(looks) = self.looks else { return unknown() };
        let between: Result<Between, Fault> = self.there.ask("servers.look", &looks);
        between.ok().filter(|between| between.members_ns.len() == self.members).unwrap_or_else(unknown)
    }
}

impl AllLooks {
    /// Combines the looks on this machine with those on the servers' machine, if there is one.
    pub fn of(here: Looks, far: Option<FarLooks>) -> Self {
        Self { here, far }
    }

    /// Replaces the engine's threads, when another load generator takes over.
    pub fn exchange_engine(&mut self, engine: BTreeSet<i32>) {
        self.here.exchange_engine(engine);
        self.far.as_ref().map(FarLooks::look);
    }

    /// Takes a look and returns what was used since the last one.
    pub fn look(&mut self) -> Between {
        let Some(far) = &self.far else { return self.here.look() };
        let there = far.look();
        merged(&self.here.look(), there, far.there.is_this_machine())
    }
}

/// What ran on both machines. `is_one`: they are one, whose other programs both have seen.
fn merged(here: &Between, there: Between, is_one: bool) -> Between {
    let both = |a: Option<u64>, b: Option<u64>| {
        a.zip(b).map(|(a, b)| if is_one { a.max(b) } else { a.saturating_add(b) })
    };
    Between {
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
    use crate::machine::segments::Segments;

    #[test]
    fn the_members_are_there_and_what_disturbs_is_on_both_machines() {
        let of = |wall_ns, others_ns| Between {
            wall_ns,
            members_ns: Vec::new(),
            others_ns,
            others_on_server_ns: Some(0),
            stolen_ns: Some(1),
            idle_ns: None,
            segments: Some(Segments { sent: 20, received: 30 }),
            programs: [("rustc".to_owned(), wall_ns)].into(),
        };
        let there = || Between {
            members_ns: vec![Some(9)],
            idle_ns: Some(7),
            others_on_server_ns: Some(4),
            ..of(80, Some(3))
        };
        let two = merged(&of(100, Some(2)), there(), false);
        let expected = Between {
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
