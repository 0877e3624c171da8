//! The load engine: one [`Plan`] in, one [`Tally`] out. Threads share nothing while they measure; each
//! has its connections, its arrivals and its tally, and the tallies are merged at the end.
//!
//! For several live servers, each with a plan of its own, a [`Generator`] keeps connections to all of them and loads one at a time, in
//! slices that are ordered one by one.

mod accounts;
mod answer;
mod before;
mod begin;
mod check;
mod connection;
mod counted;
mod crew;
mod deadlines;
mod error;
mod generator;
mod heard;
mod log;
mod means;
mod offered;
mod opening;
mod outage;
mod pace;
mod pick;
mod progress;
mod protocol;
mod pulse;
mod reader;
mod request_end;
mod series;
mod share;
mod silence;
mod slice_edges;
mod slice_plan;
mod slicing;
mod sources;
#[cfg(test)]
mod tests;
mod think;
mod window;
mod worker;

pub use before::{probe, reach};
pub use error::LoadError;
pub use generator::Generator;
pub use pace::Pace;
pub use progress::{Both, Progress, Watch};
pub use protocol::offered;
pub use series::View;
pub use slice_plan::{AfterLook, Enough, SlicePlan};
pub use sources::SourceError;

use before::{choose, try_out};
use crew::SharedByThreads;
use model::{Plan, Tally};
use std::slice::from_ref;
use std::sync::atomic::Ordering;

/// Runs one measurement. Errors: where nothing could be measured. Requests that fail are counted in the tally.
pub fn run(plan: &Plan, progress: &Progress, watch: &dyn Watch) -> Result<Tally, LoadError> {
    let plans = from_ref(plan);
    let tls = try_out(plans)?;
    let threads = plan.threads.clamp(1, plan.load.connections());
    let chosen = choose(plan.io, plan.load.connections().div_ceil(threads));
    let shared = SharedByThreads { plans, progress: from_ref(progress), tls: &tls, threads };
    let (tallies, (io, fallback)) = crew::measure(shared, chosen, &means::real(), watch)?;
    let mut total = Tally::default();
    tallies.iter().for_each(|tally| total.merge(tally));
    (total.io, total.io_fallback) = (Some(io.name().to_owned()), fallback);
    if let Some(reason) = total.halted.clone().filter(|_| total.sent == 0) {
        let is_own = total.errors.local > 0;
        return Err(if is_own { LoadError::RanOut(reason) } else { LoadError::Halted(reason) });
    }
    total.interrupted |= progress.stop.load(Ordering::Relaxed) && total.halted.is_none();
    Ok(total)
}

/// Finds what makes a plan impossible here, without any load: what is wrong with it, too few descriptors, no server at the address.
pub fn check(plan: &Plan) -> Result<(), LoadError> {
    try_out(from_ref(plan)).map(drop)
}
