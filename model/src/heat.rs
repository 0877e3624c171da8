//! Heats in the form in which they are stored: which contenders were alive together, the outcome of each start, and every turn of each.

use crate::background::Background;
use crate::environment::{Conditions, Executable};
use crate::fleet::HeatMachine;
use crate::measurement::Measurement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The hub's name in starts and slices: the server that is in every heat of a study and ties them together. It is no contender.
pub const HUB: &str = "hub";

/// How many messages the hub sends itself for each answer: some 12 µs of work, which lowers its rate to about a third of the reference's
/// (measured: 54,700 and 151,500 requests/s), so that the hub, and not the load generator, is the bottleneck, whatever state the machine is
/// in. It is work and not a fixed time: a hub that spun for 60 µs by the clock stayed as fast as it was when the machine slowed all others
/// by a fifth. And it is no more than this: when the machine changed the rates of the other servers, the hub's changed by a third as much
/// with 30 messages, and by nine tenths as much with 6. It is the same in every heat of every run, so that nothing depends on the moment at
/// which a run began.
pub const HUB_MESSAGES: u32 = 6;

/// How many messages the hub sends itself for each new connection. The load generator takes 40 µs or more for a connection, so that it
/// would be the bottleneck; with this work, the hub accepts about half as many connections a second as the reference.
pub const HUB_MESSAGES_PER_CONNECTION: u32 = 24;

/// A server that is not under load rests if it uses no more than this share of a core.
pub const RESTING: f64 = 0.02;

/// Describes the hub's work per answer: runs whose hubs do the same work can be compared by them.
pub fn hub_work() -> String {
    format!("{HUB_MESSAGES} messages for a request, {HUB_MESSAGES_PER_CONNECTION} for a connection")
}

/// Several contenders and the hub, all started afresh, all alive, loaded in turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heat {
    /// The round, counted from 0. In a round, every contender takes part in one heat.
    pub round: usize,
    /// The heat's number in the round, from 0. Heats that repeat spoiled starts come after those that were planned.
    pub number: usize,
    /// The contenders in the order in which they are started, without the hub.
    pub members: Vec<String>,
    /// The number of copies of every member that are alive together: two in a race, which shows how much equal servers differ.
    pub copies: usize,
    /// Whether the hub is in it. The hub ties heats together, so a race in one heat needs none.
    pub hub: bool,
    /// Indices into the study's cells, in the order in which they are measured.
    pub cells: Vec<usize>,
    /// The seed of the orders of its cycles.
    pub seed: u64,
    /// When it began, in RFC 3339, UTC.
    pub started_at: String,
    /// The machine that measured it; absent where that is the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Box<HeatMachine>>,
}

/// One fresh start of a contender, or of the hub, in a heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// The round of its heat.
    pub round: usize,
    /// The heat's number in the round.
    pub heat: usize,
    /// Its name, or [`HUB`].
    pub contender: String,
    /// Which of its copies in the heat, from 0.
    pub copy: usize,
    /// The number of earlier starts of this copy in this round.
    pub attempt: usize,
    /// Its outcome.
    pub outcome: StartOutcome,
    /// The cells in which it was measured, by index. A cell that was cut off is not included.
    pub cells: BTreeMap<usize, InCell>,
    /// The largest sum of the resident memory of all of its processes.
    pub memory_bytes: Option<u64>,
    /// The time that was spent on it: start, verification, warm-up, its turns, stop. The sum over all starts is the time that the run
    /// took.
    pub took_ns: u64,
    /// The program that ran.
    pub program: Option<Executable>,
    /// The conditions from the first start of its heat to the last turn; unknown for a heat that was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
}

/// The outcome of a start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartOutcome {
    /// It is alive; in a heat that is over: drome was killed.
    Running,
    /// It was alive until the end of its heat.
    Ended,
    /// The contender failed: it did not start, answered wrongly, or died. It counts, and is not repeated.
    Failed(String),
    /// The lab or the machine failed. It is replaced by another start.
    Spoiled(String),
    /// The machine had no memory for it beside other contenders. It is replaced by a start with no other contender alive.
    LackedMemory(String),
}

/// One start in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InCell {
    /// The load before the measurement, with that of an earlier cell in which it had settled under the same load.
    pub warmup_ns: u64,
    /// Whether its rate had settled by then; `None`: that could not be told.
    pub settled: Option<bool>,
    /// The cycles of the heat that count; the same for all members.
    pub counts: Counts,
    /// The number of its turns, those that do not count included.
    pub turns: u64,
    /// The number of its turns that were disturbed: by other programs, by the machine's host or, under open load, because the load
    /// generator was held up or other servers of the heat ran.
    pub disturbed: u64,
    /// Its CPU time in the turns of other members.
    pub elsewhere_ns: Option<u64>,
    /// The length of those turns together.
    pub elsewhere_wall_ns: u64,
    /// Readings of the resident memory of all of its processes before, between and after the cycles, those that do not count included: the
    /// number of its answers since the first reading, and bytes. Empty where its processes are not known, and in stores of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<[u64; 2]>,
    /// The other programs that used the most CPU time in its disturbed turns, at most three, the first one the most. Empty in stores of
    /// older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<Background>,
    /// The measurement over all of its turns that count. The figure that it is ranked by comes from the slices.
    pub measurement: Option<Box<Measurement>>,
}

/// Which cycles of a heat count in a cell, and which turns of them. Where all cycles count, these are all turns; under open load only the
/// first turn of each member in a cycle, because later ones may have ended early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// The cycles in which every member had a turn that was not disturbed: these turns.
    Quiet,
    /// All cycles: within five times the time, not even a third as many as wanted were quiet.
    NeverQuiet,
    /// All cycles: this member was disturbed more or less often than the others by more than chance, so that leaving out disturbed
    /// turns could favour a member.
    SharesDiffer(String),
}

/// One member's turn in a cycle. A disturbed turn is repeated in the same cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// The round of its heat.
    pub round: usize,
    /// The heat's number in the round.
    pub heat: usize,
    /// Index into the study's cells.
    pub cell: usize,
    /// The cycle, counted from 0, those that do not count included.
    pub cycle: usize,
    /// Its place in the cycle, from 0; repeated turns have places, too.
    pub place: usize,
    /// The member, or [`HUB`].
    pub contender: String,
    /// Which of its copies in the heat, from 0.
    pub copy: usize,
    /// The number of counted answers.
    pub answers: u64,
    /// The time from the first counted answer to the last.
    pub ns: u64,
    /// The length of the whole turn, between the two readings of the processes' CPU time.
    pub turn_ns: u64,
    /// What ran meanwhile.
    pub ran: Ran,
    /// Why this turn does not count. A cycle counts only if every member has a turn that counts.
    pub void: Option<Void>,
}

/// CPU time within a turn. `None`: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// CPU time of the member whose turn it is.
    pub owner_ns: Option<u64>,
    /// CPU time of the other members.
    pub members_ns: Option<u64>,
    /// CPU time of all other processes: those that belong neither to the kernel, nor to the load generator, nor to a member.
    pub others_ns: Option<u64>,
    /// The part of `others_ns` that was used on the servers' cores.
    pub others_on_server_ns: Option<u64>,
    /// CPU time that the host took away from the cores of the servers and the load generator (steal time).
    pub stolen_ns: Option<u64>,
}

/// Why a turn does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Void {
    /// Other processes ran.
    Others,
    /// The virtual machine's host took CPU time.
    Host,
    /// The load generator was held up while it had work.
    HeldUp,
    /// Under open load: other servers of the heat ran.
    Members,
}

/// A step within a heat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A server is started and verified.
    Starting {
        /// The contender, or [`HUB`].
        name: String,
        /// The server's number, counted from 1.
        nth: usize,
        /// The number of servers in the heat.
        of: usize,
    },
    /// Servers are loaded until their rates have settled.
    Warming {
        /// Index into the study's cells.
        cell: usize,
        /// The number of servers that have settled, or have reached the limit.
        done: usize,
        /// The number of all servers.
        of: usize,
        /// A server that has not settled, if there is one.
        waits_for: Option<String>,
    },
    /// Servers are loaded in turns.
    Measuring {
        /// Index into the study's cells.
        cell: usize,
        /// The number of cycles that count so far.
        quiet: usize,
        /// The number of cycles that are to count.
        wanted: usize,
        /// The number of turns that were disturbed so far.
        disturbed: usize,
        /// The number of all turns so far.
        turns: usize,
    },
    /// All servers are stopped.
    Stopping,
}

impl Void {
    const ALL: [Self; 4] = [Self::Others, Self::Host, Self::HeldUp, Self::Members];

    /// The word as it is stored.
    pub fn word(self) -> &'static str {
        match self {
            Self::Others => "others",
            Self::Host => "host",
            Self::HeldUp => "held_up",
            Self::Members => "members",
        }
    }

    /// The reason for a stored word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|void| void.word() == word)
    }
}

impl Heat {
    /// All servers of the heat, in the order in which they are started, each with its copy: the hub first.
    pub fn servers(&self) -> Vec<(&str, usize)> {
        let hub = self.hub.then_some((HUB, 0));
        let copies =
            (0..self.copies.max(1)).flat_map(|copy| self.members.iter().map(move |m| (m.as_str(), copy)));
        hub.into_iter().chain(copies).collect()
    }
}

impl Start {
    /// Whether it was measured in this cell.
    pub fn has(&self, cell: usize) -> bool {
        self.cells.contains_key(&cell)
    }

    /// Why the contender failed, if it did.
    pub fn failed(&self) -> Option<&str> {
        match &self.outcome {
            StartOutcome::Failed(why) => Some(why),
            _ => None,
        }
    }
}

impl Slice {
    /// The time for which the turn's owner had the servers' cores to itself, in nanoseconds: `ns` minus the share of the cores' time that
    /// other members and other programs used in the turn. The result is at least half of `ns`; quiet turns stay far above that. In a turn
    /// that other programs disturbed, and that counts only because there are too few quiet ones, the time of those programs is not
    /// subtracted: what it cost the owner is unknown, and a server that waits while they run would seem faster than it can be.
    pub fn own_ns(&self, server_cores: usize) -> u64 {
        let others_ns = self.ran.others_on_server_ns.filter(|_| self.void.is_none());
        let ran = u128::from(self.ran.members_ns.unwrap_or(0)) + u128::from(others_ns.unwrap_or(0));
        let had = u128::from(self.turn_ns) * server_cores.max(1) as u128;
        let taken = (u128::from(self.ns) * ran).checked_div(had).unwrap_or(0);
        self.ns - u64::try_from(taken).unwrap_or(u64::MAX).min(self.ns / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_beside_the_owner_is_taken_off_its_time() {
        let slice = |members_ns, others_on_server_ns| Slice {
            round: 0,
            heat: 0,
            cell: 0,
            cycle: 0,
            place: 0,
            contender: "a".to_owned(),
            copy: 0,
            answers: 1,
            ns: 100,
            turn_ns: 200,
            ran: Ran { members_ns, others_on_server_ns, ..Ran::default() },
            void: None,
        };
        assert_eq!(slice(None, None).own_ns(1), 100, "what is not known is not taken off");
        assert_eq!(
            slice(Some(10), Some(4)).own_ns(1),
            93,
            "half of the turn counts, and so does half of what ran"
        );
        assert_eq!(slice(Some(10), Some(10)).own_ns(2), 95, "of two cores the owner had one and nine tenths");
        assert_eq!(slice(Some(u64::MAX), Some(u64::MAX)).own_ns(0), 50);
        assert_eq!(Slice { turn_ns: 0, ..slice(Some(9), None) }.own_ns(1), 100);
        let disturbed = Slice { void: Some(Void::Others), ..slice(Some(10), Some(90)) };
        assert_eq!(disturbed.own_ns(1), 95, "what a neighbour cost its owner is not known");
    }

    #[test]
    fn the_hub_and_every_copy_of_every_member_are_alive() {
        let members = ["a", "b"].map(str::to_owned).to_vec();
        let started_at = String::new();
        let race = Heat {
            round: 0,
            number: 0,
            members,
            copies: 2,
            hub: false,
            cells: vec![0],
            seed: 1,
            started_at,
            machine: None,
        };
        assert_eq!(race.servers(), [("a", 0), ("b", 0), ("a", 1), ("b", 1)]);
        assert_eq!(Heat { copies: 1, hub: true, ..race }.servers(), [(HUB, 0), ("a", 0), ("b", 0)]);
    }

    #[test]
    fn a_reason_has_one_word() {
        for void in Void::ALL {
            assert_eq!(Void::of_word(void.word()), Some(void));
            assert_eq!(serde_json_word(void), void.word());
        }
        assert_eq!(Void::of_word("bored"), None);
    }

    /// As serde writes it.
    fn serde_json_word(void: Void) -> String {
        let text = toml::to_string(&BTreeMap::from([("void", void)])).unwrap();
        text.trim().trim_start_matches("void = ").trim_matches('"').to_owned()
    }
}
