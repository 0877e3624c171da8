//! Judges whether a measurement may be believed, and what bounded it. Pure: everything that is known goes in at once, the whole verdict
//! comes out. Every reason carries its figure. No criterion depends on the figure that it guards.

mod answers;
mod bound;
mod closed;
#[cfg(test)]
mod example;
mod machine;
mod network;
mod open;
mod policy;
mod work;

pub use bound::usual as usual_bound;
pub use policy::{Policy, Weight};

use model::network::Segments;
use model::{Network, Plan, Tally, Usage, Verdict};

/// Where connections had this many answers (in open load: requests that were due) each on average, one without any is no chance, because
/// connections take turns.
const STARVED: u64 = 20;

/// Everything that is known about a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// How strict to be.
    pub policy: Policy,
    /// What was asked for.
    pub plan: &'a Plan,
    /// What the load generator counted.
    pub tally: &'a Tally,
    /// What the server used; `None` where its processes are not known.
    pub usage: Option<&'a Usage>,
    /// What went wrong when the server was stopped, after the measurement.
    pub stopping: Option<&'a str>,
    /// What the network to the server carries; `None`: there is none, or it was not measured.
    pub network: Option<&'a Network>,
    /// The TCP segments of this machine meanwhile; `None`: they were not counted.
    pub segments: Option<Segments>,
}

impl<'a> Case<'a> {
    /// A measurement about which nothing else is known.
    pub fn new(policy: Policy, plan: &'a Plan, tally: &'a Tally) -> Self {
        Self { policy, plan, tally, usage: None, stopping: None, network: None, segments: None }
    }

    /// The load generator's use of its cores in words, where its busiest worker was at its limit.
    fn client_busy(&self, limit: f64) -> Option<String> {
        let share = self.tally.client_busiest_use().filter(|share| *share >= limit)?;
        let percent = share * 100.0;
        Some(match self.tally.threads {
            0 | 1 => format!("the load generator was busy for {percent:.0} % of the time"),
            n => format!(
                "the busiest of the load generator's {n} threads was busy for {percent:.0} % of the time"
            ),
        })
    }
}

/// A reason, which may void the measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reason {
    weight: Weight,
    words: String,
    /// Whether it is that the server lost requests, or was silent.
    is_loss: bool,
}

impl Reason {
    fn void(words: String) -> Self {
        Self { weight: Weight::Void, words, is_loss: false }
    }

    fn loss(words: String) -> Self {
        Self { is_loss: true, ..Self::void(words) }
    }

    fn note(words: String) -> Self {
        Self { weight: Weight::Note, words, is_loss: false }
    }
}

/// Judges one measurement: reasons that void it come first, then notes.
pub fn judge(case: &Case<'_>) -> Verdict {
    let bound = bound::of(case.tally, case.usage, network::limit(case).is_some());
    let all =
        [work::judge(case), open::judge(case), closed::judge(case, bound), machine::judge(case)].concat();
    let all: Vec<Reason> =
        all.into_iter().chain(network::judge(case, bound)).chain(answers::judge(case)).collect();
    let (void, notes): (Vec<Reason>, Vec<Reason>) =
        all.into_iter().partition(|reason| reason.weight == Weight::Void);
    Verdict {
        bound,
        valid: void.is_empty(),
        void_by_loss: !void.is_empty() && void.iter().all(|reason| reason.is_loss),
        reasons: void.into_iter().chain(notes).map(|reason| reason.words).collect(),
        kept_up: open::kept_up(case),
        server_idle_ppm: case.usage.and_then(Usage::idle_share).map(|share| (share * 1e6) as u64),
    }
}
