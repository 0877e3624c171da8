//! `drome race --profile DIR`: when the race is over, one more start of each contender is sampled under the race's load. Nothing of that is
//! stored or counts in the race. Its flame graphs go to the folder, and what the others spend more than the first is printed.

mod words;

use crate::command::output::Output;
use crate::command::profiler::Profiler;
use crate::console;
use crate::failure::WrongInput;
use lab::fault::Fault;
use lab::once_more::Driven;
use lab::server::tree::{self, Tree};
use lab::{LabError, Session};
use profile::{Counters, Difference, ProfileError, Recording, Report, Side, Target, Work, flame};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a contender is sampled. A server that keeps one core busy gives about 3,000 samples in that time: a function that takes 1 % of
/// it has 30, give or take 5.5, and a difference of 5 % of the whole stands out.
const WINDOW: Duration = Duration::from_secs(3);

/// The folder for the pictures and their data.
#[derive(Debug)]
pub struct Why {
    folder: PathBuf,
}

/// A contender that was sampled. The functions have no names yet.
struct Sampled {
    /// Its letter.
    name: String,
    /// Its label.
    title: String,
    driven: Driven,
    recording: Recording,
    counters: Counters,
}

/// A contender's profile.
struct Profiled {
    /// Its letter.
    name: String,
    /// Its label.
    title: String,
    report: Report,
}

/// Why a contender has no profile.
enum Missing {
    /// Something went wrong with this start.
    Start(String),
    /// This system does not let drome profile. That would be the same for the next one.
    System(ProfileError),
}

impl From<Fault> for Missing {
    fn from(fault: Fault) -> Self {
        Self::Start(fault.to_string())
    }
}

impl From<ProfileError> for Missing {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::NoProcess => Self::Start(error.to_string()),
            error => Self::System(error),
        }
    }
}

impl Why {
    /// Makes the folder if it is not there, and checks that files can be written in it. Called before anything is measured.
    pub fn to(folder: &Path) -> Result<Self, WrongInput> {
        let refused = |error: std::io::Error| {
            let folder = folder.display();
            WrongInput(format!(
                "--profile {folder}: the folder can't be made ({error}); name one that is there, or whose parent is writable"
            ))
        };
        std::fs::create_dir_all(folder).map_err(refused)?;
        let why = Self { folder: folder.to_owned() };
        why.output("A.svg")?;
        Ok(why)
    }

    /// Samples each contender in a start of its own, one after the other, writes the files and prints the differences. Where the system
    /// does not allow it, it prints why.
    pub fn explain(&self, session: &Session<'_>) -> anyhow::Result<()> {
        note!("profile: loads each server once more, for {} s after its warm-up", WINDOW.as_secs());
        let mut all = Vec::new();
        for (name, entrant) in session.run.contenders.iter().filter(|(_, entrant)| entrant.missing.is_none())
        {
            match sample(session, name, &entrant.title) {
                Ok(sampled) => all.push(sampled),
                Err(_) if session.is_stopped() => return Err(LabError::Interrupted.into()),
                Err(Missing::Start(why)) => alert!("drome: no profile of {name}: {why}"),
                Err(Missing::System(error)) => {
                    alert!("drome: no profile: {error}; the race is not affected");
                    break;
                }
            }
        }
        // By now all servers have stopped, and it may take any CPU.
        let profiled: Vec<Profiled> = all.into_iter().map(Sampled::resolved).collect();
        for of in &profiled {
            self.write_one(of)?;
            console::alert(&words::summary(&of.name, &of.title, &of.report));
        }
        let first = session.run.contenders.keys().next();
        let Some(a) = profiled.iter().find(|of| Some(&of.name) == first) else { return Ok(()) };
        for b in profiled.iter().filter(|of| of.name != a.name) {
            self.compare(a, b)?;
        }
        Ok(())
    }

    /// Writes the flame graph of a contender, and its samples as text.
    fn write_one(&self, of: &Profiled) -> anyhow::Result<()> {
        let Profiled { name, title, report } = of;
        let picture = flame::graph(&report.profile, &format!("CPU time of {name} ({title}) under load"));
        self.draw(&format!("{name}.svg"), picture)?;
        self.output(&format!("{name}.folded"))?.write(report.profile.to_folded().as_bytes())
    }

    /// Writes what B spends against A, and prints it.
    fn compare(&self, a: &Profiled, b: &Profiled) -> anyhow::Result<()> {
        let (of_a, of_b) = (a.side(), b.side());
        let title =
            format!("CPU time per answer of {} ({}) against {} ({})", b.name, b.title, a.name, a.title);
        let picture = flame::difference(&of_a, &of_b, &title);
        self.draw(&format!("{}-against-{}.svg", b.name, a.name), picture)?;
        // Without samples there is nothing to compare; that there is no picture was printed.
        if let Some(difference) = Difference::between(&of_a, &of_b) {
            console::alert(&words::difference(&difference));
        }
        Ok(())
    }

    /// Writes a picture, or prints why there is none.
    fn draw(&self, file: &str, picture: Result<String, ProfileError>) -> anyhow::Result<()> {
        match picture {
            Ok(svg) => self.output(file)?.write(svg.as_bytes()),
            Err(error) => {
                alert!("drome: no {file}: {error}");
                Ok(())
            }
        }
    }

    fn output(&self, file: &str) -> Result<Output, WrongInput> {
        Output::to("--profile", &self.folder.join(file))
    }
}

impl Sampled {
    /// Looks up the names of the functions, which can take seconds of CPU time.
    fn resolved(self) -> Profiled {
        let Self { name, title, driven, recording, counters } = self;
        let profile = recording.resolve();
        // The exact time includes the kernel's part.
        let cpu_ns = driven.cpu_ns.filter(|_| profile.has_kernel);
        let work = Work { answers: driven.answers, cpu_ns };
        Profiled { name, title, report: Report { schema: Report::SCHEMA, work, counters, profile } }
    }
}

impl Profiled {
    fn side(&self) -> Side<'_> {
        Side { name: &self.name, profile: &self.report.profile, work: self.report.work }
    }
}

/// Starts a contender once more, samples it under load, and stops it.
fn sample(session: &Session<'_>, name: &str, title: &str) -> Result<Sampled, Missing> {
    let mut start = session.start_once_more(name)?;
    let Some(target) = start.tree().map(|tree| target(&tree)) else {
        return Err(Missing::Start("its processes are not known".to_owned()));
    };
    // The sampler shares the load generator's CPUs: none of the server's is taken.
    let profiler = Profiler::begin(&target, start.client_cpus())?;
    let driven = start.drive(WINDOW, &profiler)?;
    // While the server runs: it may remove the names of what it compiled at run time when it ends.
    let (recording, counters) = profiler.end()?;
    if let Err(why) = start.stop() {
        note!("profile: {name}: {why}");
    }
    Ok(Sampled { name: name.to_owned(), title: title.to_owned(), driven, recording, counters })
}

fn target(tree: &Tree) -> Target {
    match tree {
        Tree::Below(guard) => Target::Below(*guard),
        Tree::From(pid) => Target::From(*pid),
        Tree::Container(_) => Target::Pids(tree::pids(tree)),
    }
}
