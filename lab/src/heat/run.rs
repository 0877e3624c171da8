//! Runs a study in heats: heat after heat, each cell stored when it is over, until it is enough.

use crate::heat::cell;
use crate::heat::members::{self, HeatError, HeatServers};
use crate::lab::{Lab, LabError, Show};
use control::clock_text;
use control::fault::Fault;
use control::hub::Hub;
use control::prepare::{elsewhere, folders};
use judge::findings::analyse;
use judge::schedule::next::{NextStep, next_heat};
use model::heat::{Heat, Slice, Start, StartOutcome, Step};
use model::{Findings, Measured, Run};
use store::{Store, StoreError};

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
    let mut hub = Hub::prepare(&folders::cache()).map_err(no_hub)?;
    if let Some(remote) = &lab.remote {
        elsewhere::write_sources(remote, &mut hub.prepared).map_err(|fault| no_hub(fault.to_string()))?;
    }
    // Read here and not earlier: only while the lab has its lock does no other drome add to what is stored.
    let measured = store.measured(&run.id)?;
    let mut going = Going { lab, run, store, hub, measured };
    let why = loop {
        let mut compare = |rounds| analyse::heats::neighbours(run, &going.measured, rounds);
        let heat = match next_heat(run, &going.measured, &mut compare) {
            NextStep::Measure(heat) => Heat { started_at: clock_text(), ..heat },
            NextStep::End(why) => break why,
        };
        store.begin_heat(&run.id, &heat)?;
        going.measured.heats.push(heat.clone());
        going.hold(&heat, show)?;
        show.knows_heats(run, &going.measured);
    };
    store.end_run(&run.id, &why)?;
    Ok(analyse::heats::findings(run, &going.measured, Some(&why)))
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
    let hub = Hub::prepare(&folders::cache()).map_err(|why| LabError::Heat { round, heat: number, why })?;
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
        let (mut servers, error) =
            HeatServers::start((self.lab, run, heat, &self.hub), &self.measured.starts, show);
        let error = match error {
            None => measure(self.store, &mut servers, &mut self.measured, show)?,
            error => error,
        };
        if !run.servers_already_ran() {
            show.step(run, heat, &Step::Stopping);
        }
        servers.stop(error.is_none());
        let starts = servers.starts();
        self.store.keep_starts(&run.id, &starts, &[])?;
        take_starts(&mut self.measured.starts, &starts);
        show.heat_over(run, heat, &starts);
        match error.or_else(|| nothing(&starts).map(HeatError::Lab)) {
            None => Ok(()),
            Some(HeatError::Interrupted) => Err(LabError::Interrupted),
            Some(HeatError::Lab(why)) => {
                Err(LabError::Heat { round: heat.round + 1, heat: heat.number + 1, why })
            }
        }
    }
}

/// Measures cell after cell, each stored when it is over; returns what cut the heat off.
fn measure(
    store: &Store,
    servers: &mut HeatServers<'_>,
    measured: &mut Measured,
    show: &mut dyn Show,
) -> Result<Option<HeatError>, LabError> {
    let heat = servers.heat;
    keep(store, servers, measured, Vec::new())?;
    for at in &heat.cells {
        if !servers.has_contender() {
            break;
        }
        match cell::measure(servers, *at, show) {
            Ok(slices) => keep(store, servers, measured, slices)?,
            Err(HeatError::Lab(why)) => {
                // The servers alive then are not to blame; they are measured in this cell again later.
                let alive = servers.alive();
                for at in alive {
                    servers.members[at].leaves(Fault::Lab(why.clone()));
                }
                return Ok(Some(HeatError::Lab(why)));
            }
            Err(error) => return Ok(Some(error)),
        }
    }
    Ok(None)
}

fn keep(
    store: &Store,
    servers: &mut HeatServers<'_>,
    measured: &mut Measured,
    slices: Vec<Slice>,
) -> Result<(), StoreError> {
    servers.charge_all();
    let starts = servers.starts();
    store.keep_starts(&servers.run.id, &starts, &slices)?;
    take_starts(&mut measured.starts, &starts);
    measured.slices.extend(slices);
    Ok(())
}

/// Takes in the starts of a heat as they are now.
fn take_starts(known: &mut Vec<Start>, starts: &[Start]) {
    let is = |a: &Start, b: &Start| {
        (a.round, a.heat, a.copy, &a.contender) == (b.round, b.heat, b.copy, &b.contender)
    };
    for start in starts {
        match known.iter_mut().find(|known| is(known, start)) {
            Some(known) => known.clone_from(start),
            None => known.push(start.clone()),
        }
    }
}

/// Why nothing was measured in a heat, if that was the lab's own failure, which would happen in the next heat, too. A lack of memory for a
/// server is not such a failure, because that server is alone in the next heat.
fn nothing(starts: &[Start]) -> Option<String> {
    let is_told =
        |start: &Start| start.failed().is_some() || matches!(start.outcome, StartOutcome::LackedMemory(_));
    let is_measured = starts.iter().any(|start| !start.cells.is_empty() || is_told(start));
    let spoiled = starts.iter().find(|start| matches!(start.outcome, StartOutcome::Spoiled(_)));
    spoiled.filter(|_| !is_measured).map(|start| format!("{}: {}", start.contender, members::why(start)))
}
