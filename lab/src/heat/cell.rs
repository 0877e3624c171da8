//! Measures one cell of a heat: all living members are warmed up and then loaded in turns, cycle after cycle, until enough cycles
//! were quiet.

use crate::heat::bout::Bout;
use crate::heat::members::{Field, Trouble};
use crate::heat::schedule::budget;
use crate::heat::schedule::orders;
use crate::heat::turns::cycled::{Cycled, Turned};
use crate::heat::turns::patience::{Patience, most_cycles};
use crate::heat::turns::pieces;
use crate::heat::turns::sum::Sum;
use crate::heat::warm::Course;
use crate::lab::Show;
use model::heat::{Ran, Slice, Step};

/// How often cycles are run again where counted slices show a server that was not warm.
const MOST_ANEW: usize = 2;

/// Measures a cell and returns its slices. Members that were measured have the cell in their starts; members that failed are out.
pub fn measure(field: &mut Field<'_>, cell: usize, show: &mut dyn Show) -> Result<Vec<Slice>, Trouble> {
    let Some(mut bout) = Bout::begin(field, cell, show)? else { return Ok(Vec::new()) };
    let mut course = Course::new(&bout);
    let mut anew = 0;
    loop {
        course.warm_up(&mut bout)?;
        bout = bout.with_load_of_the_cell()?;
        let cycled = bout.cycles()?;
        let changing = course.judge(&bout, &cycled);
        if changing.is_empty() || anew == MOST_ANEW || !course.goes_on(&changing) {
            return Ok(bout.keep(cycled, &course));
        }
        anew += 1;
    }
}

impl Bout<'_, '_> {
    /// The most cycles that there is time for.
    fn most_cycles(&self) -> usize {
        let (run, wanted) = (self.field.run, self.shape.cycles);
        if self.field.lab.may_be_busy {
            return wanted;
        }
        let spent = budget::spent(&self.field.starts());
        let left = run.study.design.budget.saturating_sub(self.field.spent_before.saturating_add(spent));
        most_cycles(wanted, self.shape.turn() * self.who.len() as u32, left)
    }

    /// Runs cycles, with a turn for each member, until enough of them were quiet.
    fn cycles(&mut self) -> Result<Cycled, Trouble> {
        let (wanted, most) = (self.shape.cycles, self.most_cycles());
        let patience = Patience { wanted, most };
        let orders = orders::orders(self.who.len(), most, self.seed);
        let (mut cycled, mut sum) = (Cycled::new(self.clocks()), Sum::default());
        while patience.is_owed(&cycled.turns) && self.field.has_contender() {
            cycled.memory.look(&self.memory());
            let cycle = cycled.turns.len();
            let turns = || cycled.turns.iter().flatten();
            let disturbed = turns().filter(|turn| turn.void.is_some()).count();
            let quiet = pieces::quiet(&cycled.turns);
            self.tell(&Step::Measuring { cell: self.cell, quiet, wanted, disturbed, turns: turns().count() });
            cycled.turns.push(Vec::new());
            let mut due = orders[cycle].clone();
            while !due.is_empty() {
                for member in due {
                    self.count(member, &mut cycled, &mut sum)?;
                }
                // What was disturbed is made up for at once, while the machine is as it was for the others.
                due = if patience.may_make_up(&cycled.turns) {
                    pieces::again(&cycled.turns[cycle])
                } else {
                    Vec::new()
                };
            }
            cycled.end_cycle();
        }
        cycled.memory.look(&self.memory());
        Ok(cycled)
    }

    /// Runs a member's turn in the last cycle, if the member is alive.
    fn count(&mut self, member: usize, cycled: &mut Cycled, sum: &mut Sum) -> Result<(), Trouble> {
        if !self.is_alive(member) {
            return Ok(());
        }
        let Some(turned) = self.turn(member)? else {
            cycled.forget(member, self.start(member));
            return Ok(());
        };
        let counted = self.counted();
        sum.set(counted, &turned.used, member, self.field.lab.cores.server.len());
        cycled.memory.answered(member, counted.tally.completed + counted.uncounted.completed);
        let cycle = cycled.turns.len() - 1;
        let slice = self.slice((cycle, cycled.turns[cycle].len(), member), &turned);
        cycled.add(member, slice, turned, sum);
        Ok(())
    }

    /// A turn in the form in which it is stored.
    fn slice(&self, (cycle, place, member): (usize, usize, usize), turned: &Turned) -> Slice {
        let (counted, start) = (self.counted(), self.start(member));
        let (owner_ns, members_ns) = turned.used.owner_and_others(member);
        // Nothing that ran elsewhere is to be taken off its time, and where a server runs that drome did not start is not known.
        let is_pinned = self.field.members[self.who[member]].is_pinned();
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
            turn_ns: turned.used.wall_ns,
            ran: Ran {
                owner_ns,
                members_ns: members_ns.filter(|_| is_pinned),
                others_ns: turned.used.others_ns,
                others_on_server_ns: turned.used.others_on_server_ns.filter(|_| is_pinned),
                stolen_ns: turned.used.stolen_ns,
            },
            void: turned.void,
        }
    }
}
