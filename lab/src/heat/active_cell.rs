//! A cell of a heat while it is measured: the load generator that all living members share, and the turns of single
//! members.

use crate::heat::members::{HeatError, HeatServers};
use crate::heat::turns::cycles::TurnResult;
use crate::heat::window_watch::WindowWatch;
use crate::lab::Show;
use control::fault::Fault;
use control::processes::cpu_sampler::SampledProcesses;
use control::remote::cpu_sampler::CombinedCpuSampler;
use control::server::plan;
use judge::IN_A_ROW;
use judge::turns::disturbance::SteadyOthers;
use judge::turns::shape::Shape;
use load::{AfterLook, Enough, Generator, LoadError};
use model::contender::Class;
use model::heat::{HUB, Start, Step};
use model::{Cell, Plan};
use net::clock;
use stats::random;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Disturbances are judged for pieces of a turn of about this length. The usual turn (100 ms that count and 20 ms that do not) is one
/// piece, because taking a sample in its middle would cost the load generator time.
const PIECE: Duration = Duration::from_millis(150);

/// The end of a process is noticed within this time.
const SOON: Duration = Duration::from_millis(50);

/// A cell while it is measured.
pub struct ActiveCell<'b, 'a> {
    pub servers: &'b mut HeatServers<'a>,
    pub show: &'b mut dyn Show,
    pub cell: usize,
    /// The members that are measured in this cell, as indices into the heat's servers. Elsewhere in this file, `member` is an index into
    /// this list.
    pub who: Vec<usize>,
    pub shape: Shape,
    pub generator: Generator,
    pub seed: u64,
    sampler: CombinedCpuSampler,
    /// What other programs use in every window of the cell.
    steady_others: SteadyOthers,
    /// The number of turns so far.
    nth: u64,
    /// The number of turns in a row in which each member gave no correct answer.
    silent: Vec<usize>,
}

impl<'b, 'a> ActiveCell<'b, 'a> {
    /// Opens the load generator for all living members; `None` where only the hub is alive.
    pub fn begin(
        servers: &'b mut HeatServers<'a>,
        cell: usize,
        show: &'b mut dyn Show,
    ) -> Result<Option<Self>, HeatError> {
        let (lab, run, heat) = (servers.lab, servers.run, servers.heat);
        let design = &run.study.design;
        let unknown = || HeatError::Lab(format!("the study has no cell {}", cell + 1));
        let asked = run.study.cells.get(cell).ok_or_else(unknown)?;
        let warming = Cell { load: asked.warm_up_load(), ..asked.clone() };
        let seed = random::derive(&[heat.seed, cell as u64]);
        let (mut who, mut plans) = (Vec::new(), Vec::new());
        for at in servers.alive() {
            match servers.asked(at, asked) {
                Some((origin, path, work)) => {
                    who.push(at);
                    let plan = plan::plan(&warming, design, &origin, path, work, &lab.cores, seed);
                    plans.push(Plan { probe: false, ..plan });
                }
                None => {
                    servers.members[at].leaves(Fault::Contender("it does not serve the workload".to_owned()));
                }
            }
        }
        if !servers.has_contender() {
            return Ok(None);
        }
        let generator = opened(servers, plans)?;
        let sampler = cpu_sampler(servers, &who, threads(&generator));
        servers.charge_all();
        let (shape, silent) = (Shape::of(&warming, design), vec![0; who.len()]);
        let steady_others = SteadyOthers::default();
        Ok(Some(Self {
            servers,
            show,
            cell,
            who,
            shape,
            generator,
            sampler,
            seed,
            steady_others,
            nth: 0,
            silent,
        }))
    }

    /// Switches from the load that warmed the members up to the load of the cell, if they differ.
    pub fn with_load_of_the_cell(self) -> Result<Self, HeatError> {
        let (run, plans) = (self.servers.run, self.generator.plans().to_vec());
        let (asked, design) = (&run.study.cells[self.cell], &run.study.design);
        let has_it = |plan: &Plan| plan.load == asked.load;
        if plans.iter().all(has_it) {
            return Ok(self);
        }
        // Closed first, because some servers accept only a limited number of connections.
        drop(self.generator);
        let plans = plans.into_iter().map(|plan| Plan { load: asked.load.clone(), ..plan }).collect();
        let generator = opened(self.servers, plans)?;
        let mut sampler = self.sampler;
        sampler.replace_engine(threads(&generator));
        Ok(Self { shape: Shape::of(asked, design), generator, sampler, ..self })
    }

    /// The start of a member.
    pub fn start(&self, member: usize) -> &Start {
        &self.servers.members[self.who[member]].start
    }

    pub fn is_alive(&self, member: usize) -> bool {
        self.servers.members[self.who[member]].is_alive()
    }

    /// Whether a raced command, whose class is known by its processes alone, shows by now that it compiles while it runs.
    pub fn compiles(&self, member: usize) -> bool {
        let class = || self.servers.members[self.who[member]].server()?.likely_class();
        self.servers.run.race.is_some() && !self.is_hub(member) && class() == Some(Class::Jit)
    }

    pub fn is_hub(&self, member: usize) -> bool {
        self.start(member).contender == HUB
    }

    /// What the load generator counted in the last turn.
    pub fn counted(&self) -> &model::SliceTally {
        self.generator.last()
    }

    /// Reports progress, and keeps the time that this takes out of the next turn.
    pub fn tell(&mut self, step: &Step) {
        self.show.step(self.servers.run, self.servers.heat, step);
        self.sampler.sample();
    }

    /// Runs a member's turn; `None`: the member failed in it or before it, and is out. `ends_early`: a window that is so disturbed that it
    /// won't count ends at once.
    pub fn turn(&mut self, member: usize, ends_early: bool) -> Result<Option<TurnResult>, HeatError> {
        let at = self.who[member];
        if let Some(end) = self.servers.members[at].ended() {
            self.loses(member, Fault::Contender(format!("between its turns {end}")))?;
            return Ok(None);
        }
        let slice = slice(&self.shape, member).jittered(self.seed, self.nth);
        self.nth += 1;
        let (sampler, servers, mut seen) = (&mut self.sampler, &*self.servers, Vec::new());
        let mut watch =
            ends_early.then(|| WindowWatch::new(member, &slice, self.steady_others, &self.generator));
        let mut lost = None;
        let mut look = |counted_from_ns| {
            let (used, now_ns) = (sampler.sample(), clock::now_ns());
            lost = lost.or(watch.as_mut().and_then(|watch| watch.disturbed(&used, counted_from_ns, now_ns)));
            seen.push(used);
            // A window can last for minutes, and it can take as long until data sent into a dead network comes back as an error.
            match servers.ensure_linked() {
                Err(_) => AfterLook::Stop,
                Ok(()) if lost.is_some() => AfterLook::End,
                Ok(()) => AfterLook::GoOn,
            }
        };
        self.generator.slice_with_looks(&slice, PIECE, &mut look).map_err(|e| own(&e))?;
        seen.push(self.sampler.sample());
        self.servers.charge(at);
        self.ensure_wanted()?;
        self.servers.ensure_linked()?;
        if let Some(fault) = self.fault(member, lost.is_some()) {
            self.loses(member, fault)?;
            return Ok(None);
        }
        let window = self.shape.is_window.then_some(self.steady_others);
        let mut result = TurnResult::of(member, &seen, self.generator.last(), window);
        result.void = result.void.or(lost);
        if self.shape.is_window && lost.is_none() {
            self.steady_others.add(&result.used.piece());
        }
        Ok(Some(result))
    }

    /// Takes a member out of the heat. Fails if the member is not to blame (its machine can't be reached), and if it is the hub.
    fn loses(&mut self, member: usize, fault: Fault) -> Result<(), HeatError> {
        if let Some(Fault::Lab(why)) = self.unreachable(member) {
            return Err(HeatError::Lab(why));
        }
        if self.is_hub(member) {
            return Err(HeatError::Lab(format!("the hub (`drome serve`): {fault}")));
        }
        self.servers.loses(self.who[member], fault);
        Ok(())
    }

    /// Pauses the load for this long, and returns the share of a core that each member used meanwhile; `None`: unknown.
    pub fn nap(&mut self, length: Duration) -> Result<Vec<Option<f64>>, HeatError> {
        self.sampler.sample();
        std::thread::sleep(length);
        self.ensure_wanted()?;
        let used = self.sampler.sample();
        let share = |ns: &Option<u64>| ns.map(|ns| ns as f64 / used.wall_ns.max(1) as f64);
        Ok(used.members_ns.iter().map(share).collect())
    }

    /// Fails if a stop was requested.
    pub fn ensure_wanted(&self) -> Result<(), HeatError> {
        if self.servers.lab.stop.load(Ordering::Relaxed) { Err(HeatError::Interrupted) } else { Ok(()) }
    }

    /// Why a member can't be reached, if that is not its own fault.
    fn unreachable(&self, member: usize) -> Option<Fault> {
        let at = self.who[member];
        let (_, path, _) = self.servers.asked(at, self.servers.run.study.cells.get(self.cell)?)?;
        self.servers.members[at].server()?.unreachable(path, "no answer came back")
    }

    /// Why a member can't go on after its turn, if it can't. One that gives no correct answer in several turns in a row has failed. In a turn that
    /// ended early, it may not have had the time for an answer.
    fn fault(&mut self, member: usize, ended_early: bool) -> Option<Fault> {
        let counted = self.generator.last();
        let is_silent = !ended_early && counted.tally.completed + counted.uncounted.completed == 0;
        let halted = counted.tally.halted.clone();
        let causes = counted.tally.error_causes.iter().chain(&counted.uncounted.error_causes);
        let cause = causes.max_by_key(|(_, n)| **n).map(|(cause, _)| cause.clone());
        if is_silent {
            std::thread::sleep(SOON);
        }
        if !ended_early {
            self.silent[member] = if is_silent { self.silent[member] + 1 } else { 0 };
        }
        if let Some(end) = self.servers.members[self.who[member]].ended() {
            return Some(Fault::Contender(format!("in its turn {end}")));
        }
        if let Some(why) = halted {
            return Some(Fault::Lab(why));
        }
        (self.silent[member] >= IN_A_ROW).then(|| {
            let cause = cause.map_or(String::new(), |cause| format!(" ({cause})"));
            Fault::Contender(format!("it gave no correct answer in {IN_A_ROW} turns in a row{cause}"))
        })
    }
}

/// Takes the first sample: of all members, or of what runs beside the load generator where the members are on another machine.
fn cpu_sampler(servers: &HeatServers<'_>, who: &[usize], engine: BTreeSet<i32>) -> CombinedCpuSampler {
    let lab = servers.lab;
    let client_cpus = lab.cores.client.iter().copied().collect();
    let sampled = match &lab.remote {
        None => SampledProcesses {
            members: who.iter().map(|at| servers.members[*at].server()?.tree()).collect(),
            server_cpus: lab.cores.server.iter().copied().collect(),
            client_cpus,
            engine,
            ..SampledProcesses::default()
        },
        Some(remote) => SampledProcesses {
            client_cpus,
            engine,
            excluded: remote.process().into_iter().collect(),
            counts_segments: true,
            ..SampledProcesses::default()
        },
    };
    let far = lab.remote.as_ref().map(|remote| (remote, servers.numbers_elsewhere(who)));
    CombinedCpuSampler::begin(sampled, far)
}

/// Opens a load generator with these plans.
fn opened(servers: &HeatServers<'_>, plans: Vec<Plan>) -> Result<Generator, HeatError> {
    Generator::start(plans, Arc::clone(&servers.lab.stop)).map_err(|e| own(&e))
}

/// The threads that work for the load: the generator's own, and the one that takes the samples.
fn threads(generator: &Generator) -> BTreeSet<i32> {
    generator.threads().into_iter().chain([clock::own_thread()]).collect()
}

/// A failure of the load generator itself.
fn own(error: &LoadError) -> HeatError {
    HeatError::Lab(error.to_string())
}

/// The slice of a member's turn. A window counts however few answers come in it.
fn slice(shape: &Shape, target: usize) -> load::SlicePlan {
    let usual = load::SlicePlan::of(target);
    let enough = if shape.is_window { Enough::Answers(1) } else { usual.enough };
    load::SlicePlan { lead_in: shape.lead_in, length: shape.length, longest: shape.longest, enough, ..usual }
}
