//! `cargo xtask soak`: a long run beside clients that do not behave. What grows there grows without end.

mod careless;
mod random;
mod ui;
mod watch;

use anyhow::{Context, Result, bail};
use std::time::Duration;

/// How long unless told.
const DEFAULT_SECONDS: u64 = 30 * 60;

/// What is run, for how many seconds.
pub fn soak(args: &[String]) -> Result<()> {
    let seconds =
        |text: &String| text.parse().ok().filter(|s| *s > 0).context("soak takes a number of seconds");
    let (what, time) = match args {
        [what] => (what.as_str(), DEFAULT_SECONDS),
        [what, time] => (what.as_str(), seconds(time)?),
        _ => bail!("soak takes what is run (ui), and perhaps for how many seconds"),
    };
    let time = Duration::from_secs(time);
    match what {
        "ui" => ui::soak(time),
        _ => bail!("there is no soak of {what}: there is ui"),
    }
}
