//! The options of `drome load` that set when requests become due.

use crate::options::Spacing;
use clap::Args;
use model::{Load, Rate};
use std::time::Duration;

/// Raw arguments: at most one of the rates; none means closed load.
#[derive(Debug, Args)]
#[command(next_help_heading = "Open load")]
pub struct OpenArgs {
    /// Offer this many requests per second, however fast the server answers, such as 500, 2.5k or 1M
    #[arg(long, value_name = "N", value_parser = Rate::constant, allow_hyphen_values = true, group = "offered")]
    rate: Option<Rate>,
    /// Change the rate evenly over a time, then keep it, such as 1k..20k/30s; that time is the default of -d
    #[arg(long, value_name = "FROM..TO/TIME", value_parser = Rate::ramp, allow_hyphen_values = true, group = "offered")]
    ramp: Option<Rate>,
    /// Offer one rate after another, each for a time, such as 1k,5k,20k/10s; their sum is the default of -d
    #[arg(long, value_name = "N,N,…/TIME", value_parser = Rate::steps, allow_hyphen_values = true, group = "offered")]
    steps: Option<Rate>,
    /// Spacing of the requests, evenly or at random as from independent users
    #[arg(long, value_enum, default_value_t = Spacing::Constant, requires = "offered")]
    arrivals: Spacing,
}

impl OpenArgs {
    /// The load that the arguments describe.
    pub fn load(&self, connections: usize, per_connection: Option<usize>) -> Load {
        let Some(rate_per_s) = self.rate().cloned() else {
            return Load::Closed { connections, per_connection };
        };
        Load::Open { rate_per_s, connections, arrivals: self.arrivals.into(), per_connection }
    }

    /// The time until a changing rate stays constant: the default length of the measurement.
    pub fn length(&self) -> Option<Duration> {
        self.rate().and_then(Rate::length)
    }

    fn rate(&self) -> Option<&Rate> {
        self.rate.as_ref().or(self.ramp.as_ref()).or(self.steps.as_ref())
    }
}
