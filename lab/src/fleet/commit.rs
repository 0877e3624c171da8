//! Takes the result of a heat into the run that it belongs to, exactly once. A result may come from anyone, so it is checked:
//! it must be one complete heat that the run still needs, with the members that were dealt to it, and its copy of the run must equal the
//! planned one.

use super::FleetError;
use judge::schedule::{next_of_fleet, owed};
use model::Run;
use model::heat::{Heat, Slice, Start, StartOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use store::shared::{Row, SharedEntry};
use store::{Store, StoreError};

/// The outcome of a result: a line of `drome heat commit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Committed {
    /// The run that the heat belongs to, by its name.
    pub run: String,
    /// The round of the heat, from 0.
    pub round: usize,
    /// The heat's number in the round, from 0.
    pub heat: usize,
    /// The number of the attempt at the heat that the run has.
    pub attempt: usize,
    /// The machine that measured that attempt.
    pub machine: String,
    /// Whether this result was added.
    pub outcome: CommitOutcome,
}

/// Whether a result was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommitOutcome {
    /// It was added.
    Committed,
    /// The run already had the heat, so this result is not counted.
    Already,
}

/// Takes in one result.
pub fn commit(store: &Store, entry: &SharedEntry) -> Result<Committed, FleetError> {
    let Heats { run, heat, mut starts, slices } = Heats::of(entry)?;
    if let Some(origin) = store.origin(&run.id)? {
        return Err(StoreError::Pulled { run: run.id, machine: origin.machine }.into());
    }
    let (planned, _) = store.run(&run.id)?;
    if planned.fleet.is_none() {
        return Err(FleetError::NoFleet { run: planned.id });
    }
    if as_written(&planned)? != run {
        return Err(refused(format!("its run {} is not the one that was planned under this name", run.id)));
    }
    if let Some(known) = known(store, &run.id, &heat)? {
        return Ok(committed(&run.id, &known, false));
    }
    let before = store.measured(&run.id)?;
    if !next_of_fleet::is_dealt(&planned, &before, &heat) {
        let (round, number) = (heat.round + 1, heat.number + 1);
        return Err(refused(format!(
            "run {0} needs no heat {number} of round {round} with these members; `drome heat owed {0}` prints the heats that it needs",
            run.id
        )));
    }
    ensure_whole(&heat, &starts)?;
    for start in &mut starts {
        start.attempt = owed::attempt(&start.contender, start.copy, start.round, &before.starts);
    }
    let is_new = store.add_heat(&run.id, &heat, &starts, &slices)?;
    // Another drome may have been quicker.
    let kept = if is_new { heat } else { known(store, &run.id, &heat)?.unwrap_or(heat) };
    Ok(committed(&run.id, &kept, is_new))
}

/// What a result consists of.
struct Heats {
    run: Run,
    heat: Heat,
    starts: Vec<Start>,
    slices: Vec<Slice>,
}

impl Heats {
    fn of(entry: &SharedEntry) -> Result<Self, FleetError> {
        let other =
            || refused("it is not the result of one heat, which `drome heat measure` writes".to_owned());
        let (mut runs, mut heats, mut starts, mut slices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for row in &entry.rows {
            match serde_json::from_str::<Row>(row).map_err(|e| refused(e.to_string()))? {
                Row::Run(run) => runs.push(*run),
                Row::Heat(heat) => heats.push(heat),
                Row::Start(start) => starts.push(*start),
                Row::Slice(slice) => slices.push(slice),
                Row::Ended(_) | Row::Import(_) | Row::Replays(_) | Row::Report(_) => return Err(other()),
            }
        }
        match (<[Run; 1]>::try_from(runs), <[Heat; 1]>::try_from(heats)) {
            (Ok([run]), Ok([heat])) => Ok(Self { run, heat, starts, slices }),
            _ => Err(other()),
        }
    }
}

/// Checks that every server of the heat has a start that is over.
fn ensure_whole(heat: &Heat, starts: &[Start]) -> Result<(), FleetError> {
    if heat.machine.is_none() {
        return Err(refused("it does not say which machine measured it".to_owned()));
    }
    let is_over = |(name, copy): &(&str, usize)| {
        let own = |start: &&Start| (start.contender.as_str(), start.copy) == (*name, *copy);
        starts.iter().find(own).is_some_and(|start| start.outcome != StartOutcome::Running)
    };
    match heat.servers().iter().find(|server| !is_over(server)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(refused(format!("the heat is not whole: the start of {name} is missing or not over")))
        }
    }
}

/// The heat of this number that the store has.
fn known(store: &Store, run: &str, heat: &Heat) -> Result<Option<Heat>, StoreError> {
    let of = |known: &Heat| (known.round, known.number) == (heat.round, heat.number);
    Ok(store.heats(run)?.into_iter().find(of))
}

fn committed(run: &str, heat: &Heat, is_new: bool) -> Committed {
    let machine = heat.machine.as_ref();
    Committed {
        run: run.to_owned(),
        round: heat.round,
        heat: heat.number,
        attempt: machine.map_or(1, |machine| machine.attempt),
        machine: machine.map(|machine| machine.name.clone()).unwrap_or_default(),
        outcome: if is_new { CommitOutcome::Committed } else { CommitOutcome::Already },
    }
}

/// A run as a result has it: a file of shared runs has no control characters, which a configuration file may have.
fn as_written(run: &Run) -> Result<Run, FleetError> {
    match Row::Run(Box::new(run.clone())).checked().map_err(refused)?.row {
        Row::Run(run) => Ok(*run),
        _ => Err(refused("its run can't be written".to_owned())),
    }
}

fn refused(why: String) -> FleetError {
    FleetError::Refused(why)
}
