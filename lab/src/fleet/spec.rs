//! One heat as it is handed to a machine: a line of JSON with everything but the contenders' files.

use super::FleetError;
use model::{Heat, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::shared::{Checks, Row, quoted};

/// The version of the form.
const VERSION: u32 = 1;

/// A heat that is owed, with the run that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The version of the form: 1.
    pub drome_heat: u32,
    /// Which attempt of the heat this is, counted from 1: a heat that is handed out again after a machine was lost gets the next number.
    pub attempt: usize,
    /// The heat, not begun.
    pub heat: Heat,
    /// The run as it was planned.
    pub run: Run,
}

impl Spec {
    /// The first attempt of a heat.
    pub fn new(run: &Run, heat: Heat) -> Self {
        Self { drome_heat: VERSION, attempt: 1, heat, run: run.clone() }
    }

    /// Reads a spec, which may come from anyone: everything in it is checked as a result is. `may_prepare`: the reader trusts the shell command
    /// that comes before every start, if the spec has one.
    pub fn read(json: &str, may_prepare: bool) -> Result<Self, FleetError> {
        let wrong = |why: String| FleetError::Spec(why);
        let value: serde_json::Value = serde_json::from_str(json).map_err(|e| wrong(e.to_string()))?;
        let version = value.get("drome_heat").and_then(serde_json::Value::as_u64);
        match version {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                return Err(wrong(format!(
                    "it has version {version} of the form, and this drome knows {VERSION}"
                )));
            }
            None => return Err(wrong("it has no key `drome_heat`".to_owned())),
        }
        let spec: Self = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
        let cells = spec.run.study.cells.len();
        if spec.attempt == 0
            || spec.heat.members.is_empty()
            || spec.heat.cells.iter().any(|cell| *cell >= cells)
        {
            return Err(wrong("its heat does not belong to its run".to_owned()));
        }
        spec.check().map_err(wrong)?;
        match spec.run.race.as_ref().and_then(|race| race.prepare.clone()) {
            Some(command) if !may_prepare => Err(FleetError::Prepare { command: quoted(&command) }),
            _ => Ok(spec),
        }
    }

    /// Fails if its run or its heat is not as drome makes them: the run's name becomes a folder's, and its figures are added up.
    fn check(&self) -> Result<(), String> {
        // A heat that has not begun has no time.
        let heat = Heat { started_at: self.run.started_at.clone(), ..self.heat.clone() };
        let mut checks = Checks::default();
        [Row::Run(Box::new(self.run.clone())), Row::Heat(heat)]
            .into_iter()
            .try_for_each(|row| checks.take(&row.checked()?))
    }

    /// The spec on one line.
    pub fn line(&self) -> Result<String, FleetError> {
        serde_json::to_string(self).map_err(|e| FleetError::Spec(e.to_string()))
    }
}
