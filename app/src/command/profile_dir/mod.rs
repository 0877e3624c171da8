//! `--profile DIR` of `drome race` and `drome run`: when everything is measured, one more start of each contender is sampled under the load
//! of each cell. These starts are not part of the findings. Flame graphs go to the folder, and to the store for the page of the run. What
//! the others spend more CPU time on than the first contender of a race, or than the reference of a study, is printed.

mod document;
mod files;
mod progress;
mod sample;
mod stored_profiles;
mod words;

use self::files::CellFolder;
use self::progress::ProfileProgress;
use self::sample::{Missing, Profiled};
use crate::command::folder::Folder;
use crate::console;
use crate::failure::WrongInput;
use lab::extra_start::ExtraStart;
use lab::{LabError, Session};
use model::gate_verdict::{ProfiledServer, VerdictProfile};
use model::study::REFERENCE;
use model::{Rate, Run};
use profile::Difference;
use report::units;
use std::path::Path;
use std::time::Duration;

/// How long a contender is sampled. A server that keeps one core busy gives about 3,000 samples in that time: a function that takes 1 % of
/// it has 30, give or take 5.5, and a difference of 5 % of the whole stands out.
const WINDOW: Duration = Duration::from_secs(3);

/// The folder for the pictures and their data.
#[derive(Debug)]
pub struct ProfileDir(Folder);

impl ProfileDir {
    /// Makes the folder if it is not there, and checks that files can be written in it. Called before anything is measured.
    pub fn to(folder: &Path) -> Result<Self, WrongInput> {
        Folder::to("--profile", folder, &["svg", "folded", "json"]).map(Self)
    }

    /// Samples each contender in a start of its own, one after the other and cell by cell, writes the files and prints the differences. If
    /// the system does not allow sampling, prints why. Returns the profiles for the verdict of a race, which has one cell.
    pub fn explain(&self, session: &Session<'_>) -> anyhow::Result<VerdictProfile> {
        let run = &session.run;
        let mut all = session.extra_starts()?;
        // The first of a cell is sampled first, so that the others can be compared with it at once.
        all.sort_by_key(|extra| (extra.cell, !is_first(run, &extra.contender)));
        let time = all.iter().map(|extra| extra.about(window(run, extra)));
        note!(
            "profile: loads each server once more, and samples it after its warm-up: {}, about {}",
            units::several(all.len(), "load"),
            report::progress::long(time.fold(Duration::ZERO, Duration::saturating_add))
        );
        self.walk(session, &all, &mut ProfileProgress::begin(all.len()))
    }

    fn walk(
        &self,
        session: &Session<'_>,
        all: &[ExtraStart],
        progress: &mut ProfileProgress,
    ) -> anyhow::Result<VerdictProfile> {
        let run = &session.run;
        let (mut servers, mut rows) = (Vec::new(), Vec::new());
        // The first contender of the current cell.
        let mut first: Option<(usize, Profiled)> = None;
        for extra in all {
            let (cell, title) = (extra.cell, title(run, &extra.contender));
            progress.begins(&place(run, extra));
            match sample::sample(session, extra, &title, window(run, extra)) {
                Ok(of) => {
                    let a = first.as_ref().filter(|(at, _)| *at == cell).map(|(_, a)| a);
                    // Without samples there is nothing to compare, and `tell` prints that there is no picture.
                    let difference = a.and_then(|a| Difference::between(&a.side(), &of.side()));
                    let folder = CellFolder::new(&self.0, run, cell)?;
                    progress.beside(|| tell(&folder, a, &of, difference.as_ref()))?;
                    servers.push(document::server(&of, difference.as_ref()));
                    rows.push(stored_profiles::row(&place(run, extra), &of, difference.as_ref())?);
                    if is_first(run, &extra.contender) {
                        first = Some((cell, of));
                    }
                }
                Err(_) if session.is_stopped() => {
                    stored_profiles::keep(session, &rows);
                    return Err(LabError::Interrupted.into());
                }
                Err(Missing::Start(why)) => {
                    let name = &extra.contender;
                    progress.beside(|| alert!("drome: no profile of {name}: {why}"));
                    servers.push(ProfiledServer::without(&title, &why));
                }
                Err(Missing::System(error)) => {
                    progress
                        .beside(|| alert!("drome: no profile: {error}; what was measured is not affected"));
                    stored_profiles::keep(session, &rows);
                    return Ok(VerdictProfile::new(servers, Some(&error.to_string())));
                }
            }
        }
        stored_profiles::keep(session, &rows);
        Ok(VerdictProfile::new(servers, None))
    }
}

/// Writes the files of a contender, and prints what was sampled. `a`: the contender that it is compared with.
fn tell(
    folder: &CellFolder,
    a: Option<&Profiled>,
    of: &Profiled,
    difference: Option<&Difference>,
) -> anyhow::Result<()> {
    folder.write_one(of)?;
    console::alert(&words::summary(&of.name, &of.title, &of.report));
    for line in words::functions(&of.report) {
        console::alert(&line);
    }
    for hint in of.report.profile.hints() {
        alert!("profile of {}: {hint}", of.name);
    }
    if let Some(a) = a {
        folder.write_difference(a, of)?;
    }
    if let Some(difference) = difference {
        console::alert(&words::difference(difference));
    }
    Ok(())
}

/// Whether the others of a cell are compared with this contender: the reference of a study, or the first of a race.
fn is_first(run: &Run, name: &str) -> bool {
    if run.race.is_some() {
        run.contenders.keys().next().is_some_and(|first| first == name)
    } else {
        name == REFERENCE
    }
}

/// What tables call a contender.
fn title(run: &Run, name: &str) -> String {
    run.contenders.get(name).map_or(name, |entrant| entrant.title.as_str()).to_owned()
}

/// The contender and, where there are several, the cell.
fn place(run: &Run, extra: &ExtraStart) -> String {
    let name = &extra.contender;
    match run.study.cells.get(extra.cell) {
        Some(cell) if run.study.cells.len() > 1 => format!("{name}, {}", cell.title),
        _ => name.clone(),
    }
}

/// How long a contender is sampled in this cell: if the offered rate changes over time, at least until it stays constant.
fn window(run: &Run, extra: &ExtraStart) -> Duration {
    let cell = run.study.cells.get(extra.cell);
    let course = cell.and_then(|cell| cell.load.rate_per_s()).and_then(Rate::length);
    course.map_or(WINDOW, |course| course.max(WINDOW))
}
