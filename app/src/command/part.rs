//! The part of a study to measure, and how long and how precisely: what `drome run` and `drome heat plan` share.

use crate::failure::WrongInput;
use crate::options::precision;
use clap::Args;
use control::catalog::narrow::{StudyPart, narrow};
use lab::setup;
use model::Study;
use std::time::Duration;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct PartArgs {
    /// Take a first look in a few minutes, without ranks
    #[arg(long)]
    pub quick: bool,
    /// Measure only this contender, besides the reference; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub contender: Vec<String>,
    /// Measure only this cell, by its title or number; may be repeated
    #[arg(long, value_name = "CELL")]
    pub cell: Vec<String>,
    /// Longest time of the run; a heat that would exceed it is not started [default: the study's]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with = "quick")]
    pub budget: Option<Duration>,
    /// Stop when every comparison is decided or known to this share, such as 2% [default: the study's]
    #[arg(long, value_name = "SHARE", value_parser = precision, conflicts_with = "quick")]
    pub precision: Option<f64>,
}

impl PartArgs {
    /// The part of a study that is wanted, shortened to a first look with `--quick`.
    pub fn of(&self, study: &Study) -> Result<Study, WrongInput> {
        let (contenders, cells) = (self.contender.clone(), self.cell.clone());
        let wanted = StudyPart { contenders, cells, budget: self.budget, precision: self.precision };
        let mut study = study.clone();
        narrow(&mut study, &wanted).map_err(|e| WrongInput(e.to_string()))?;
        if self.quick {
            setup::quicken(&mut study);
        }
        Ok(study)
    }
}
