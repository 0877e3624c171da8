//! What commands and pages say alike of what is in the store: its formats, machines, profiles and imports.

pub mod counted;
pub mod formats;
pub mod imported;
pub mod machines;
pub mod profiles;

use model::Run;
use store::Stored;

/// A run that was measured and why it ended, or why what is stored can't be compared.
pub fn comparable(stored: Stored) -> Result<(Box<Run>, Option<String>), String> {
    match stored {
        Stored::Run(run, ended) => Ok((run, ended)),
        Stored::Import(import) => Err(format!(
            "run {} was imported and has nothing to compare: choose a run that drome measured (`drome list runs`)",
            import.id
        )),
        Stored::Replays(replays) => Err(format!(
            "run {} was made with --as-published: each command line is run once, so there is nothing to compare; choose another run (`drome \
             list runs`)",
            replays.id
        )),
        Stored::Printed(printed) => Err(format!(
            "{} is the result of `drome {}`, which can't be compared: choose a run of a study (`drome list runs`); `drome race` compares two \
             servers",
            printed.id, printed.title
        )),
    }
}
