//! Runs a study in heats: heat after heat, each cell stored when it is over, until it is enough.

use crate::clock_text;
use crate::elsewhere;
use crate::fault::Fault;
use crate::findings::analyse;
use crate::heat::Course;
use crate::heat::Next;
use crate::heat::cell;
use crate::heat::hub::Hub;
use crate::heat::measured::Measured;
use crate::heat::members::{self, Field, Trouble};
use crate::heat::next;
use crate::lab::{Lab, LabError, Show};
use crate::prepare::folders;
use crate::store::{Store, StoreError};
use model::heat::{Heat, Slice, Start, StartOutcome, Step};
use model::{Findings, Run};

/// The state of a run in heats.
struct Going<'a> {
    lab: &'a Lab,
    run: &'a Run,
    store: &'a Store,
    hub: Hub,
    measured: Measured,
}

/// Runs what is left of a run in heats and returns its findings.
pub(crate) fn run(lab: &Lab, run: &Run, store: &Store, show: &mut dyn Show) -> Result<Findings, LabError> {
    let no_hub = |why| LabError::Heat { round: 1, heat: 1, why };
    let mut hub = Hub::lay_out(&folders::cache()).map_err(no_hub)?;
    if let Some(there) = &lab.there {
        elsewhere::lay_out(there, &mut hub.prepared).map_err(|fault| no_hub(fault.to_string()))?;
    }
    // Read here and nowhere before: from the moment that the lab has its lock, no other drome adds to them.
    let measured = Measured::of(store, &run.id)?;
    let mut going = Going { lab, run, store, hub, measured };
    let why = loop {
        let Measured { heats, starts, slices } = &going.measured;
        let mut known = |rounds| analyse::heats::known(run, heats, starts, slices, rounds);
        let heat = match next(&Course { run, heats, starts }, &mut known) {
            Next::Heat(heat) => Heat { started_at: clock_text(), ..heat },
            Next::Done(why) => break why,
        };
        store.begin_heat(&run.id, &heat)?;
        going.measured.heats.push(heat.clone());
        going.hold(&heat, show)?;
        show.knows_heats(run, &going.measured);
    };
    store.end_run(&run.id, &why)?;
    Ok(going.measured.findings(run, Some(&why)))
}

/// Runs this one heat of a run, and returns what was measured in it.
pub(crate) fn one(
    lab: &Lab,
    run: &Run,
    store: &Store,
    heat: &Heat,
    show: &mut dyn Show,
) -> Result<Measured, LabError> {
    let (round, number) = (heat.round + 1, heat.number + 1);
    let hub = Hub::lay_out(&folders::cache()).map_err(|why| LabError::Heat { round, heat: number, why })?;
    let mut going = Going { lab, run, store, hub, measured: Measured::default() };
    let heat = Heat { started_at: clock_text(), ..heat.clone() };
    store.begin_heat(&run.id, &heat)?;
    going.measured.heats.push(heat.clone());
    going.hold(&heat, show)?;
    Ok(going.measured)
}

impl Going<'_> {
    /// Runs one heat, from the start of its servers to their end. Every cell that is over is stored.
    fn hold(&mut self, heat: &Heat, show: &mut dyn Show) -> Result<(), LabError> {
        let run = self.run;
        let (mut field, trouble) =
            Field::start((self.lab, run, heat, &self.hub), &self.measured.starts, show);
        let trouble = match trouble {
            None => measure(self.store, &mut field, &mut self.measured, show)?,
            trouble => trouble,
        };
        if !run.servers_already_ran() {
            show.step(run, heat, &Step::Stopping);
        }
        field.stop(trouble.is_none());
        let starts = field.starts();
        self.store.keep_starts(&run.id, &starts, &[])?;
        self.measured.take(&starts);
        show.heat_over(run, heat, &starts);
        match trouble.or_else(|| nothing(&starts).map(Trouble::Lab)) {
            None => Ok(()),
            Some(Trouble::Interrupted) => Err(LabError::Interrupted),
            Some(Trouble::Lab(why)) => {
                Err(LabError::Heat { round: heat.round + 1, heat: heat.number + 1, why })
            }
        }
    }
}

/// Measures cell after cell, each stored when it is over; returns what cut the heat off.
fn measure(
    store: &Store,
    field: &mut Field<'_>,
    measured: &mut Measured,
    show: &mut dyn Show,
) -> Result<Option<Trouble>, LabError> {
    let heat = field.heat;
    keep(store, field, measured, Vec::new())?;
    for at in &heat.cells {
        if !field.has_contender() {
            break;
        }
        match cell::measure(field, *at, show) {
            Ok(slices) => keep(store, field, measured, slices)?,
            Err(Trouble::Lab(why)) => {
                // The servers alive then are not to blame; they are measured in this cell again later.
                let alive = field.alive();
                for at in alive {
                    field.members[at].leaves(Fault::Lab(why.clone()));
                }
                return Ok(Some(Trouble::Lab(why)));
            }
            Err(trouble) => return Ok(Some(trouble)),
        }
    }
    Ok(None)
}

fn keep(
    store: &Store,
    field: &mut Field<'_>,
    measured: &mut Measured,
    slices: Vec<Slice>,
) -> Result<(), StoreError> {
    field.charge_all();
    let starts = field.starts();
    store.keep_starts(&field.run.id, &starts, &slices)?;
    measured.take(&starts);
    measured.slices.extend(slices);
    Ok(())
}

/// Why a heat came to nothing through the lab's own failure, which would happen in the next one, too. A server for which there was no memory
/// is alone in the next one.
fn nothing(starts: &[Start]) -> Option<String> {
    let is_told =
        |start: &Start| start.failed().is_some() || matches!(start.outcome, StartOutcome::LackedMemory(_));
    let is_measured = starts.iter().any(|start| !start.cells.is_empty() || is_told(start));
    let spoiled = starts.iter().find(|start| matches!(start.outcome, StartOutcome::Spoiled(_)));
    spoiled.filter(|_| !is_measured).map(|start| format!("{}: {}", start.contender, members::why(start)))
}
