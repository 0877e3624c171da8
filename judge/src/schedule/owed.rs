//! The next heat of a round. In each round, every contender must be measured in each cell, once for each of its copies. A start that
//! the lab or the machine spoiled is repeated, up to [`ATTEMPTS`] times in all; one that the contender failed is not. The
//! commands of a race are comparable because they are alive together, so if one has to be repeated, all are. Pure: a function of
//! the run and of what was stored, so that an interrupted run continues where it was.

use crate::schedule::deal::{Player, Room, deal};
use crate::schedule::orders;
use crate::schedule::starts_summary::StartsSummary;
use model::Run;
use model::heat::{Heat, Start, StartOutcome};
use stats::random;

/// How many times a start is tried at most in a round, if something spoils it each time. A start that was cut off because drome was killed
/// does not count.
pub const ATTEMPTS: usize = 3;

/// Keeps the seeds of dealing distinct from those of cycles.
const DEALING: u64 = 0x6465_616c;

/// The share of the machine's memory that is for the members of a heat.
const MEMORY_SHARE: f64 = 0.7;

/// Returns the next heat of a round; `None` when nothing is left to measure in it.
pub fn heat(run: &Run, round: usize, heats: &[Heat], starts: &[Start]) -> Option<Heat> {
    // What was found out in this round does not change how its heats are dealt.
    let before: Vec<Start> = starts.iter().filter(|start| start.round < round).cloned().collect();
    let earlier: Vec<Vec<String>> =
        heats.iter().filter(|heat| heat.round < round).map(|heat| heat.members.clone()).collect();
    let dealt = dealt(run, round, &before, &earlier);
    let begun: Vec<usize> = heats.iter().filter(|heat| heat.round == round).map(|heat| heat.number).collect();
    let hub = has_hub(run, dealt.len());
    if let Some(next) = dealt.into_iter().find(|heat| !begun.contains(&heat.number)) {
        return Some(next);
    }
    made_up(bare(run, round, begun.into_iter().max()? + 1, hub), run, starts)
}

/// All heats of a round as they are dealt by what was found out before, without those that make up for spoiled starts. `earlier` are the
/// members of all heats of earlier rounds.
pub fn dealt(run: &Run, round: usize, before: &[Start], earlier: &[Vec<String>]) -> Vec<Heat> {
    let room = room(run);
    let dealt = deal(&players(run, before), room, earlier, dealing(run, round, 0));
    let (cells, hub) = (orders::cells(run.study.cells.len(), round), has_hub(run, dealt.len()));
    let heat = |(number, members)| Heat { members, cells: cells.clone(), ..bare(run, round, number, hub) };
    dealt.into_iter().enumerate().map(heat).collect()
}

/// The heat that repeats spoiled starts of a round whose other heats are over; `None` if there is nothing to repeat. `bare` has its round
/// and number, and whether the round's other heats have the hub.
pub fn made_up(bare: Heat, run: &Run, starts: &[Start]) -> Option<Heat> {
    let round = bare.round;
    let owes = |name: &String| cells_owed(run, name, round, starts);
    let all = players(run, starts);
    let late: Vec<Player> = all.iter().filter(|player| !owes(&player.name).is_empty()).cloned().collect();
    // A contender for which memory did not suffice beside others needs a heat of its own, which only a hub can connect to the others.
    let hub = bare.hub || all.iter().any(|player| player.lacked_memory);
    let seed = random::derive(&[bare.seed, DEALING]);
    let members = if hub {
        deal(&late, room(run), &[], seed).into_iter().next()?
    } else {
        random::shuffled(all.len(), seed).into_iter().map(|at| all[at].name.clone()).collect()
    };
    let mut cells = orders::cells(run.study.cells.len(), round);
    cells.retain(|cell| members.iter().any(|name| owes(name).contains(cell)));
    (!cells.is_empty()).then_some(Heat { members, cells, hub, ..bare })
}

/// Whether the heats of a round have the hub; `heats` is their number. A race in one heat needs none.
fn has_hub(run: &Run, heats: usize) -> bool {
    run.race.is_none() || heats > 1
}

/// The room in a heat.
fn room(run: &Run) -> Room {
    let memory = run.environment.of_servers().memory_bytes.map(|bytes| (bytes as f64 * MEMORY_SHARE) as u64);
    Room { size: run.study.design.heat, memory_bytes: memory }
}

/// A heat with its number and seed, but without members and cells.
pub fn bare(run: &Run, round: usize, number: usize, hub: bool) -> Heat {
    Heat {
        round,
        number,
        members: Vec::new(),
        copies: run.copies.max(1),
        hub,
        cells: Vec::new(),
        seed: seed(run, round, number),
        started_at: String::new(),
        machine: None,
    }
}

fn seed(run: &Run, round: usize, number: usize) -> u64 {
    random::derive(&[run.seed, round as u64, number as u64])
}

fn dealing(run: &Run, round: usize, number: usize) -> u64 {
    random::derive(&[seed(run, round, number), DEALING])
}

/// The cells in which a contender still has to be measured in a round, by index.
pub fn cells_owed(run: &Run, contender: &str, round: usize, starts: &[Start]) -> Vec<usize> {
    let own: Vec<&Start> =
        starts.iter().filter(|start| start.round == round && start.contender == contender).collect();
    let over = own.iter().filter(|start| start.outcome != StartOutcome::Running).count();
    let copies = run.copies.max(1);
    if own.iter().any(|start| start.failed().is_some()) || over >= ATTEMPTS * copies {
        return Vec::new();
    }
    let known = |cell: usize| own.iter().filter(|start| start.has(cell)).count();
    (0..run.study.cells.len()).filter(|cell| known(*cell) < copies).collect()
}

/// The number of starts of a contender's copy in a round so far, in all heats: the `attempt` of the next one.
pub fn attempt(contender: &str, copy: usize, round: usize, starts: &[Start]) -> usize {
    let is_own = |start: &&Start| (start.round, start.copy) == (round, copy) && start.contender == contender;
    starts.iter().filter(is_own).count()
}

/// Every contender that takes part and is not given up, with what these starts show about it. A server that drome did not start works
/// and takes memory whichever heat it is in, so that nothing is gained by keeping it apart.
fn players(run: &Run, starts: &[Start]) -> Vec<Player> {
    let (found, is_started) = (StartsSummary::of(starts), !run.servers_already_ran());
    let takes_part = run.contenders.iter().filter(|(_, entrant)| entrant.missing.is_none());
    let copies = run.copies.max(1) as u64;
    let players = takes_part.filter_map(|(name, entrant)| {
        let of = found.get(name.as_str()).cloned().unwrap_or_default();
        (!of.is_given_up()).then(|| Player {
            name: name.clone(),
            alone: entrant.alone || (is_started && (of.disturbs() || of.lacked_memory)),
            lacked_memory: of.lacked_memory,
            memory_bytes: of.memory_bytes.filter(|_| is_started).map(|bytes| bytes.saturating_mul(copies)),
        })
    });
    players.collect()
}

#[cfg(test)]
mod tests;
