//! A cell of a heat while it is measured: the load generator that all living members share, and the turns of single
//! members.

use crate::elsewhere::looks::AllLooks;
use crate::fault::Fault;
use crate::heat::members::{Field, Trouble};
use crate::heat::turns::cycled::Turned;
use crate::heat::turns::shape::Shape;
use crate::heat::turns::snapshot::{Looks, Watched};
use crate::lab::Show;
use crate::server::plan;
use load::{Generator, LoadError};
use model::heat::{HUB, Start, Step};
use model::{Cell, Load, Plan};
use net::clock;
use stats::random;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A turn is judged in pieces of about this length. The usual turn of 100 ms, of which 20 ms more are not counted, is one piece: a look
/// in the middle of it would cost the load generator some of it.
const PIECE: Duration = Duration::from_millis(150);

/// A server that answers nothing in this many of its turns in a row has failed.
const MOST_SILENT: u32 = 3;

/// The end of a process is noticed within this time.
const SOON: Duration = Duration::from_millis(50);

/// A cell while it is measured.
pub struct Bout<'b, 'a> {
    pub field: &'b mut Field<'a>,
    pub show: &'b mut dyn Show,
    pub cell: usize,
    /// Its members by their index in the field; below, a member is a place in this list.
    pub who: Vec<usize>,
    pub shape: Shape,
    pub generator: Generator,
    pub seed: u64,
    looks: AllLooks,
    /// The number of turns so far.
    nth: u64,
    /// The number of turns in a row in which each member answered nothing.
    silent: Vec<u32>,
}

impl<'b, 'a> Bout<'b, 'a> {
    /// Opens the load generator for all living members; `None` where only the hub is alive.
    pub fn begin(
        field: &'b mut Field<'a>,
        cell: usize,
        show: &'b mut dyn Show,
    ) -> Result<Option<Self>, Trouble> {
        let (lab, run, heat) = (field.lab, field.run, field.heat);
        let design = &run.study.design;
        let unknown = || Trouble::Lab(format!("the study has no cell {}", cell + 1));
        let asked = run.study.cells.get(cell).ok_or_else(unknown)?;
        let heats = design.heats.ok_or_else(|| Trouble::Lab("the study has no heats".to_owned()))?;
        let warming = warming(asked);
        let seed = random::derive(&[heat.seed, cell as u64]);
        let (mut who, mut plans) = (Vec::new(), Vec::new());
        for at in field.alive() {
            match field.asked(at, asked) {
                Some((origin, path, work)) => {
                    who.push(at);
                    let plan = plan::plan(&warming, design, origin, path, work, &lab.cores, seed);
                    plans.push(Plan { probe: false, ..plan });
                }
                None => {
                    field.members[at].leaves(Fault::Contender("it does not serve the workload".to_owned()));
                }
            }
        }
        if !field.has_contender() {
            return Ok(None);
        }
        let generator = opened(field, plans)?;
        let looks = looks(field, &who, threads(&generator));
        field.charge_all();
        let (shape, silent) = (Shape::of(&warming, design, &heats), vec![0; who.len()]);
        Ok(Some(Self { field, show, cell, who, shape, generator, looks, seed, nth: 0, silent }))
    }

    /// Switches to the load of the cell, where another one warmed up.
    pub fn with_load_of_the_cell(self) -> Result<Self, Trouble> {
        let (run, plans) = (self.field.run, self.generator.plans().to_vec());
        let (asked, design) = (&run.study.cells[self.cell], &run.study.design);
        let has_it = |plan: &Plan| plan.load == asked.load;
        let Some(heats) = design.heats.filter(|_| !plans.iter().all(has_it)) else { return Ok(self) };
        // Some servers serve only so many connections.
        drop(self.generator);
        let plans = plans.into_iter().map(|plan| Plan { load: asked.load.clone(), ..plan }).collect();
        let generator = opened(self.field, plans)?;
        let mut looks = self.looks;
        looks.exchange_engine(threads(&generator));
        Ok(Self { shape: Shape::of(asked, design, &heats), generator, looks, ..self })
    }

    /// The start of a member.
    pub fn start(&self, member: usize) -> &Start {
        &self.field.members[self.who[member]].start
    }

    pub fn is_alive(&self, member: usize) -> bool {
        self.field.members[self.who[member]].is_alive()
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
        self.show.step(self.field.run, self.field.heat, step);
        self.looks.look();
    }

    /// Runs a member's turn; `None`: the member failed in it or before it, and is out.
    pub fn turn(&mut self, member: usize) -> Result<Option<Turned>, Trouble> {
        let at = self.who[member];
        if let Some(end) = self.field.members[at].ended() {
            self.loses(member, Fault::Contender(format!("between its turns {end}")))?;
            return Ok(None);
        }
        let slice = load::Slice { target: member, ..self.shape.slice }.jittered(self.seed, self.nth);
        self.nth += 1;
        let (looks, field, mut seen) = (&mut self.looks, &*self.field, Vec::new());
        // A window can last for minutes, and nothing that is sent into a dead network comes back as an error for as long.
        let mut look = || {
            seen.push(looks.look());
            if field.ensure_linked().is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        self.generator.slice_with_looks(&slice, PIECE, &mut look).map_err(|e| own(&e))?;
        seen.push(self.looks.look());
        self.field.charge(at);
        self.ensure_wanted()?;
        self.field.ensure_linked()?;
        if let Some(fault) = self.fault(member) {
            self.loses(member, fault)?;
            return Ok(None);
        }
        Ok(Some(Turned::of(&seen, self.generator.last(), self.shape.is_window)))
    }

    /// Takes a member out of the heat. Fails where that is not its own doing, and where it is the hub.
    fn loses(&mut self, member: usize, fault: Fault) -> Result<(), Trouble> {
        if let Some(Fault::Lab(why)) = self.unreachable(member) {
            return Err(Trouble::Lab(why));
        }
        if self.is_hub(member) {
            return Err(Trouble::Lab(format!("the hub (`drome serve`): {fault}")));
        }
        self.field.loses(self.who[member], fault);
        Ok(())
    }

    /// Pauses the load for so long, and returns the share of a core that each member used meanwhile; `None`: unknown.
    pub fn nap(&mut self, length: Duration) -> Result<Vec<Option<f64>>, Trouble> {
        self.looks.look();
        std::thread::sleep(length);
        self.ensure_wanted()?;
        let used = self.looks.look();
        let share = |ns: &Option<u64>| ns.map(|ns| ns as f64 / used.wall_ns.max(1) as f64);
        Ok(used.members_ns.iter().map(share).collect())
    }

    /// Fails if a stop was requested.
    pub fn ensure_wanted(&self) -> Result<(), Trouble> {
        if self.field.lab.stop.load(Ordering::Relaxed) { Err(Trouble::Interrupted) } else { Ok(()) }
    }

    /// Why a member can't be reached, if that is not its own fault.
    fn unreachable(&self, member: usize) -> Option<Fault> {
        let at = self.who[member];
        let (_, path, _) = self.field.asked(at, self.field.run.study.cells.get(self.cell)?)?;
        self.field.members[at].unreachable(path)
    }

    /// Why a member can't go on after its turn, if it can't.
    fn fault(&mut self, member: usize) -> Option<Fault> {
        let counted = self.generator.last();
        let is_silent = counted.tally.completed + counted.uncounted.completed == 0;
        let halted = counted.tally.halted.clone();
        let causes = counted.tally.error_causes.iter().chain(&counted.uncounted.error_causes);
        let cause = causes.max_by_key(|(_, n)| **n).map(|(cause, _)| cause.clone());
        if is_silent {
            std::thread::sleep(SOON);
        }
        self.silent[member] = if is_silent { self.silent[member] + 1 } else { 0 };
        if let Some(end) = self.field.members[self.who[member]].ended() {
            return Some(Fault::Contender(format!("in its turn {end}")));
        }
        if let Some(why) = halted {
            return Some(Fault::Lab(why));
        }
        (self.silent[member] >= MOST_SILENT).then(|| {
            let cause = cause.map_or(String::new(), |cause| format!(" ({cause})"));
            Fault::Contender(format!("it answered nothing in {MOST_SILENT} turns in a row{cause}"))
        })
    }
}

/// The load that warms up the members of a cell: closed load over as many connections. At a low rate a compiler would take minutes to see
/// what is worth its while, and an offered rate does not show whether a server has settled.
fn warming(cell: &Cell) -> Cell {
    let (connections, per_connection) = (cell.load.connections(), cell.load.per_connection());
    Cell { load: Load::Closed { connections, per_connection }, ..cell.clone() }
}

/// Takes the first look: at all members, or at what runs beside the load generator where the members are on another machine.
fn looks(field: &Field<'_>, who: &[usize], engine: BTreeSet<i32>) -> AllLooks {
    let (lab, far) = (field.lab, field.far_looks(who));
    let client_cpus = lab.cores.client.iter().copied().collect();
    let watched = match &lab.there {
        None => Watched {
            members: who.iter().map(|at| field.members[*at].tree()).collect(),
            server_cpus: lab.cores.server.iter().copied().collect(),
            client_cpus,
            engine,
            ..Watched::default()
        },
        Some(there) => Watched {
            client_cpus,
            engine,
            beside: there.process().into_iter().collect(),
            counts_segments: true,
            ..Watched::default()
        },
    };
    AllLooks::of(Looks::begin(watched), far)
}

/// Opens a load generator with these plans.
fn opened(field: &Field<'_>, plans: Vec<Plan>) -> Result<Generator, Trouble> {
    Generator::start(plans, Arc::clone(&field.lab.stop)).map_err(|e| own(&e))
}

/// The threads that work for the load: the generator's own, and the one that takes the looks.
fn threads(generator: &Generator) -> BTreeSet<i32> {
    generator.threads().into_iter().chain([clock::own_thread()]).collect()
}

/// A failure of the load generator itself.
fn own(error: &LoadError) -> Trouble {
    Trouble::Lab(error.to_string())
}
