//! Measures one heat on this machine, in a store of its own that is gone afterwards.

use super::{FleetError, Spec};
use crate::lab::Show;
use crate::session::Session;
use crate::setup::{self, Lineup, RunRules};
use control::catalog::Catalog;
use model::{HeatMachine, Measured, Run};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::Store;
use store::shared::{Row, SharedError, Writer};

/// Measures the heat of a spec to its end; `machine` is the name of this machine. What is measured names the machine and the attempt.
pub fn measure(
    catalog: &Catalog,
    spec: &Spec,
    machine: &str,
    stop: Arc<AtomicBool>,
    show: &mut dyn Show,
) -> Result<Measured, FleetError> {
    let Spec { run: planned, heat, attempt, .. } = spec;
    let mut lineup = Lineup::of_study(catalog, &planned.study)?;
    lineup.prepared.retain(|prepared| heat.members.contains(&prepared.name));
    let allow_busy = planned.allow_busy.unwrap_or(false);
    let rules = RunRules { seed: Some(planned.seed), quick: planned.quick, allow_busy };
    let now = lineup.run(&planned.name, planned.study.clone(), rules);
    let absent = heat.members.iter().filter(|name| !now.contenders.contains_key(*name));
    let mut changes: Vec<String> = absent
        .map(|name| format!("the catalog here has no contender {name}: give its folder with --catalog"))
        .collect();
    changes.extend(setup::work_changes_elsewhere(planned, &now));
    if !changes.is_empty() {
        return Err(FleetError::Unequal(changes));
    }
    let folder = tempfile::Builder::new().prefix("drome-heat-").tempdir().map_err(FleetError::Folder)?;
    let store = Store::open(&folder.path().join("heat.sqlite"))?;
    let environment = now.environment;
    let run = Run { environment: environment.clone(), ..planned.clone() };
    let session = Session::open(run, lineup, stop, &store)?;
    session.begin()?;
    let mut measured = session.measure_heat(heat, show)?;
    let machine = HeatMachine { name: machine.to_owned(), attempt: *attempt, environment };
    measured.heats.iter_mut().for_each(|heat| heat.machine = Some(Box::new(machine.clone())));
    Ok(measured)
}

/// Writes the result of a heat, as `drome push` would write a run with this heat only; `drome`: the version of drome.
pub fn write<W: Write>(to: W, drome: &str, spec: &Spec, measured: Measured) -> Result<(), FleetError> {
    let Measured { heats, starts, slices } = measured;
    let all = || -> Result<(), SharedError> {
        let machine = heats.iter().find_map(|heat| heat.machine.as_ref()).map(|machine| machine.name.clone());
        let mut writer = Writer::begin(to, drome)?;
        writer.entry(machine.as_deref())?;
        writer.row(&Row::Run(Box::new(spec.run.clone())))?;
        heats.into_iter().try_for_each(|heat| writer.row(&Row::Heat(heat)))?;
        starts.into_iter().try_for_each(|start| writer.row(&Row::Start(Box::new(start))))?;
        slices.into_iter().try_for_each(|slice| writer.row(&Row::Slice(slice)))?;
        writer.end()
    };
    all().map_err(FleetError::Write)
}
