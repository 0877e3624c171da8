//! One more start of a contender of a run that is over, a race or a study: warmed up and put under the load of a cell, so that the server
//! can be looked at meanwhile. Nothing of it is stored, and it counts nowhere.

use crate::lab::Lab;
pub use control::containers::Variables;
use control::fault::Fault;
use control::machine::pinned::Pinned;
use control::processes::tree::Tree;
use control::processes::usage::Sampler;
use control::server::instance::Instance;
use control::server::plan;
use control::server::under_load;
use load::{Progress, Watch};
use model::contender::Class;
use model::heat::Start;
use model::{Load, Plan, Run, Tally, Until};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A server that compiles while it runs needs more load where it has no pauses in which to compile: twice as much, because in a heat its
/// pauses are about as long as the load.
const WITHOUT_PAUSES: u32 = 2;

/// About how long a server takes to start, to be verified and to stop: a guess, for the time that is announced beforehand.
const AROUND: Duration = Duration::from_secs(2);

/// What can be started once more: a contender, for a cell whose workload it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraStart {
    /// Index into the study's cells.
    pub cell: usize,
    /// The contender's name.
    pub contender: String,
    /// The load before the window.
    pub warmup: Duration,
}

impl ExtraStart {
    /// About how long it takes with a window of this length.
    pub fn about(&self, window: Duration) -> Duration {
        AROUND.saturating_add(self.warmup).saturating_add(window)
    }
}

/// Everything that can be started once more, cell by cell. `starts`: those that the run has stored.
pub(crate) fn all(lab: &Lab, run: &Run, starts: &[Start]) -> Vec<ExtraStart> {
    let mut all = Vec::new();
    for (cell, asked) in run.study.cells.iter().enumerate() {
        for (name, prepared) in &lab.prepared {
            if prepared.contender.serves.contains_key(&asked.workload) {
                let class = run.contenders.get(name).and_then(|entrant| entrant.class);
                let in_run = longest_warmup(starts, name).max(run.study.design.warmup);
                let warmup = warmup(Class::assumed(class), in_run);
                all.push(ExtraStart { cell, contender: name.clone(), warmup });
            }
        }
    }
    all
}

/// A contender that was started once more. It is stopped when this is dropped, if drome started it.
#[derive(Debug)]
pub struct ExtraServer<'l> {
    lab: &'l Lab,
    instance: Instance,
    plan: Plan,
    /// The closed load that warms it up where that of the cell is open.
    warming: Option<Plan>,
    /// Keeps this thread where the load generator is, never where the server is.
    pinned: Pinned,
}

/// What a server did in the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrivenWindow {
    /// The number of answers that were complete and as expected.
    pub answers: u64,
    /// Bytes of answers, heads included.
    pub received_bytes: u64,
    /// CPU time of all of its processes; `None`: they could not be watched.
    pub cpu_ns: Option<u64>,
}

impl<'l> ExtraServer<'l> {
    /// Starts and verifies a contender of this run, with more variables in its environment.
    pub(crate) fn begin(
        lab: &'l Lab,
        run: &Run,
        extra: &ExtraStart,
        more: &Variables<'_>,
    ) -> Result<Self, Fault> {
        let unknown = |what: &str| Fault::Lab(what.to_owned());
        let name = &extra.contender;
        let prepared = lab.prepared.get(name).ok_or_else(|| unknown("it is not prepared"))?;
        let prepared = &prepared.with_environment(more, &lab.stop);
        let cell = run.study.cells.get(extra.cell).ok_or_else(|| unknown("there is no such cell"))?;
        let work = lab.works.get(&cell.workload).ok_or_else(|| unknown("its workload is not known"))?;
        let path = prepared.contender.serves.get(&cell.workload);
        let path = path.ok_or_else(|| Fault::Contender("it does not serve the workload".to_owned()))?;
        let pinned = Pinned::to(&lab.cores.client);
        let log = format!("once-more-{}-{name}", extra.cell);
        lab.run_prepare(run, &format!("{log}-"))?;
        let instance = lab.start(prepared, &[cell], &log)?;
        lab.verify_once(prepared, &instance, &[cell])?;
        let design = &run.study.design;
        let at = instance.origin_in(cell).ok_or_else(|| unknown("it does not listen with TLS"))?;
        let plan = plan::plan(cell, design, &at, path, work, &lab.cores, run.seed);
        let (plan, warming) = with_warmup(plan, extra.warmup);
        Ok(Self { lab, instance, plan, warming, pinned })
    }

    /// Its processes; `None`: they are not known.
    pub fn tree(&self) -> Option<Tree> {
        self.instance.server.tree()
    }

    /// The CPUs of the load generator.
    pub fn client_cpus(&self) -> &[usize] {
        &self.lab.cores.client
    }

    /// Warms it up and drives the cell's load at it for a window of this length; `watch` is called at the window's edges.
    pub fn drive(&mut self, window: Duration, watch: &dyn Watch) -> Result<DrivenWindow, Fault> {
        if let Some(warming) = &self.warming {
            self.loaded(warming, &())?;
        }
        let plan = Plan { until: Until::Elapsed(window), ..self.plan.clone() };
        let sampler = self.instance.server.sampler(&self.lab.cores);
        let (tally, usage) = Sampler::around(sampler, watch, |watch| self.loaded(&plan, watch));
        if let Some(end) = self.instance.server.ended() {
            return Err(Fault::Contender(format!("under load {end}")));
        }
        let Tally { completed, received_bytes, .. } = tally?;
        Ok(DrivenWindow { answers: completed, received_bytes, cpu_ns: usage.map(|usage| usage.cpu_ns) })
    }

    /// Stops it, if drome started it. An error says what was wrong at its end.
    pub fn stop(self) -> Result<(), String> {
        let Self { instance, pinned, .. } = self;
        let stopped = instance.server.stop();
        drop(pinned);
        stopped
    }

    /// Carries out a plan; a request to stop is a fault.
    fn loaded(&self, plan: &Plan, watch: &dyn Watch) -> Result<Tally, Fault> {
        let progress = Progress { stop: Arc::clone(&self.lab.stop), ..Progress::default() };
        let tally = under_load::counted(load::run(plan, &progress, watch))?;
        if self.lab.stop.load(Ordering::Relaxed) { Err(Fault::interrupted()) } else { Ok(tally) }
    }
}

/// The longest warm-up load of a contender in the run; zero if none is known.
fn longest_warmup(starts: &[Start], name: &str) -> Duration {
    let own = starts.iter().filter(|start| start.contender == name);
    let longest_ns = own.flat_map(|start| start.cells.values()).map(|cell| cell.warmup_ns).max();
    Duration::from_nanos(longest_ns.unwrap_or(0))
}

/// The warm-up load of one more start, where the run had this much: at least what its class needs.
fn warmup(class: Class, in_run: Duration) -> Duration {
    let least = Duration::from_secs_f64(class.warmth().least_load_s);
    let warmup = in_run.max(least);
    if class == Class::Jit { warmup.saturating_mul(WITHOUT_PAUSES) } else { warmup }
}

/// The plan with this warm-up, and the plan of a closed load that comes before it where its own load is open: at a low rate a compiler
/// would take minutes, and heats are warmed up by closed load as well.
fn with_warmup(plan: Plan, warmup: Duration) -> (Plan, Option<Plan>) {
    if matches!(plan.load, Load::Closed { .. }) {
        return (Plan { warmup, ..plan }, None);
    }
    let (connections, per_connection) = (plan.load.connections(), plan.load.per_connection());
    let warming = Plan {
        load: Load::Closed { connections, per_connection },
        warmup: Duration::ZERO,
        until: Until::Elapsed(warmup),
        ..plan.clone()
    };
    (plan, Some(warming))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_warmed_up_as_long_as_in_the_run_and_as_its_class_needs() {
        let of = |class, in_run_ms| warmup(class, Duration::from_millis(in_run_ms)).as_millis();
        assert_eq!((of(Class::Native, 50), of(Class::Native, 700)), (200, 700));
        assert_eq!(of(Class::Prefork, 50), 2_000);
        assert_eq!((of(Class::Jit, 50), of(Class::Jit, 15_000)), (20_000, 30_000), "without pauses");
        let extra = ExtraStart { cell: 0, contender: "a".to_owned(), warmup: Duration::from_secs(5) };
        assert_eq!(extra.about(Duration::from_secs(3)), AROUND + Duration::from_secs(8));
    }
}
