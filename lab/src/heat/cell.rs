//! Measures one cell of a heat: all living members are warmed up and then loaded in turns, cycle after cycle, until enough cycles
//! were quiet.

use crate::heat::active_cell::ActiveCell;
use crate::heat::members::{HeatError, HeatServers};
use crate::heat::turns::cycles::{Cycles, TurnResult};
use crate::heat::turns::sum::Sum;
use crate::heat::warm_up::WarmUp;
use crate::lab::Show;
use control::server::any_server::AnyServer;
use judge::schedule::budget;
use judge::schedule::orders;
use judge::turns::disturbance;
use judge::turns::repeat_limit::{RepeatLimit, most_cycles};
use model::heat::{Ran, Slice, Step};

/// How many times the cycles of a cell are run again at most, if the slices that count show that a server was not warm yet.
const MOST_ANEW: usize = 2;

/// Measures a cell and returns its slices. Members that were measured have the cell in their starts; members that failed are out.
pub fn measure(
    servers: &mut HeatServers<'_>,
    cell: usize,
    show: &mut dyn Show,
) -> Result<Vec<Slice>, HeatError> {
    let Some(mut active) = ActiveCell::begin(servers, cell, show)? else { return Ok(Vec::new()) };
    let mut warm_up = WarmUp::new(&active);
    let mut anew = 0;
    loop {
        warm_up.run(&mut active)?;
        active = active.with_load_of_the_cell()?;
        let cycles = active.cycles()?;
        let changing = warm_up.judge(&active, &cycles);
        if changing.is_empty() || anew == MOST_ANEW || !warm_up.goes_on(&changing) {
            return Ok(active.keep(cycles, &warm_up));
        }
        anew += 1;
    }
}

impl ActiveCell<'_, '_> {
    /// The maximum number of cycles: what the budget has time for, or the wanted number if the machine may be busy anyway.
    fn most_cycles(&self) -> usize {
        let (run, wanted) = (self.servers.run, self.shape.cycles);
        if self.servers.lab.may_be_busy {
            return wanted;
        }
        let spent = budget::spent(&self.servers.starts());
        let left = run.study.design.budget.saturating_sub(self.servers.spent_before.saturating_add(spent));
        most_cycles(wanted, self.shape.turn() * self.who.len() as u32, left)
    }

    /// Runs cycles, with a turn for each member, until enough of them were quiet.
    fn cycles(&mut self) -> Result<Cycles, HeatError> {
        let (wanted, most) = (self.shape.cycles, self.most_cycles());
        let limit = RepeatLimit { wanted, most };
        let orders = orders::orders(self.who.len(), most, self.seed);
        let (mut cycles, mut sum) = (self.no_cycles(), Sum::default());
        'cycles: while limit.is_owed(&cycles.turns) && self.servers.has_contender() {
            cycles.memory.sample(&self.snapshots());
            let turns = || cycles.turns.iter().flatten();
            let disturbed = turns().filter(|turn| turn.void.is_some()).count();
            let quiet = disturbance::quiet(&cycles.turns);
            self.tell(&Step::Measuring { cell: self.cell, quiet, wanted, disturbed, turns: turns().count() });
            let cycle = cycles.begin_cycle();
            let (mut due, mut is_repeat) = (orders[cycle].clone(), false);
            while !due.is_empty() {
                for member in due {
                    if !self.count(member, is_repeat, &mut cycles, &mut sum)? {
                        cycles = self.no_cycles();
                        continue 'cycles;
                    }
                }
                // What was disturbed is made up for at once, while the machine is as it was for the others.
                due = if limit.may_make_up(&cycles.turns) {
                    disturbance::again(&cycles.turns[cycle])
                } else {
                    Vec::new()
                };
                is_repeat = true;
            }
            cycles.end_cycle();
        }
        cycles.memory.sample(&self.snapshots());
        Ok(cycles)
    }

    /// The state before the first cycle. A repeated window ends early where it won't count; the first one of each member in a cycle never
    /// does, because it counts if the machine is never quiet.
    fn no_cycles(&self) -> Cycles {
        Cycles::new(self.clocks(), self.shape.is_window)
    }

    /// Runs a member's turn in the last cycle, if the member is alive. False: it failed, and the cycles so far don't hold without it.
    fn count(
        &mut self,
        member: usize,
        is_repeat: bool,
        cycles: &mut Cycles,
        sum: &mut Sum,
    ) -> Result<bool, HeatError> {
        if !self.is_alive(member) {
            return Ok(true);
        }
        let Some(result) = self.turn(member, is_repeat && self.shape.is_window)? else {
            return Ok(cycles.forget(member, self.start(member)));
        };
        let counted = self.counted();
        sum.set(counted, &result.used, member, self.servers.lab.cores.server.len());
        cycles.memory.answered(member, counted.tally.completed + counted.uncounted.completed);
        let slice = self.slice(cycles.next(), member, &result);
        cycles.add(member, slice, result, sum);
        Ok(true)
    }

    /// A turn in the form in which it is stored.
    fn slice(&self, (cycle, place): (usize, usize), member: usize, result: &TurnResult) -> Slice {
        let (counted, start) = (self.counted(), self.start(member));
        let (owner_ns, members_ns) = result.used.owner_and_others(member);
        // What ran on other cores must not be taken off a server's time, and the cores of a server that drome did not start are not known.
        let is_pinned = self.servers.members[self.who[member]].server().is_some_and(AnyServer::is_pinned);
        Slice {
            round: start.round,
            heat: start.heat,
            cell: self.cell,
            cycle,
            place,
            contender: start.contender.clone(),
            copy: start.copy,
            answers: counted.tally.completed,
            ns: counted.tally.duration_ns,
            turn_ns: result.used.wall_ns,
            ran: Ran {
                owner_ns,
                members_ns: members_ns.filter(|_| is_pinned),
                others_ns: result.used.others_ns,
                others_on_server_ns: result.used.others_on_server_ns.filter(|_| is_pinned),
                stolen_ns: result.used.stolen_ns,
            },
            void: result.void,
        }
    }
}
