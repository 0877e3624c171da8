//! `drome run STUDY --as-published`: runs the page's own command lines unchanged, once each. The results are shown
//! beside what the page printed. This is no race, and contenders are not ranked by it.

mod figures;

use super::dialect::{call, measure, on_cores};
use super::report::ReportWriter;
use crate::console;
use crate::failure::VOID;
use crate::signals::{ensure_not_stopped, stop_flag};
use anyhow::{Context, bail};
use control::fault::Fault;
use control::machine::cores::Cores;
use control::machine::system::System;
use control::prepare::assets;
use control::prepare::{Prepared, fill_all};
use control::processes::usage::Sampler;
use control::server::instance::Instance;
use control::server::starting::ServerPlace;
use control::verify::work::Works;
use dialects::{Dialect, Halt, Printed};
use lab::setup::{self, Lineup};
use load::Progress;
use model::contender::{Track, Workers};
use model::page::{AsPublished, Published, Replay, Replays};
use model::study::REFERENCE;
use model::{Cell, Exchange, Study, Tally, Usage};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::Store;

/// The largest number of connections that any page's tool opens. A server may have as many descriptors.
const MOST_CONNECTIONS: usize = 20_000;

/// The time after which a page's command line is stopped: some were meant for servers that answer ten times as fast.
const LONGEST: Duration = Duration::from_mins(3);

/// Runs each of the study's command lines against each of its contenders, and stores each result at once.
pub fn run(
    (name, study): (&str, &Study),
    lineup: Lineup,
    store: &Store,
    writer: &ReportWriter,
) -> anyhow::Result<ExitCode> {
    if study.as_published.is_empty() {
        refuse!("this study does not say how its page measured: it has no [[as_published]]");
    }
    let started_at = control::clock_text();
    let mut all = Replays {
        id: setup::new_id(&started_at),
        name: name.to_owned(),
        title: study.title.clone(),
        started_at,
        // As the pages measured, cores sleep while they have nothing to do.
        environment: System::here().look(&Cores { may_sleep: true, ..Cores::deal() }),
        ..Replays::default()
    };
    // An unsupported format is refused before anything is run.
    writer.replays(&all)?;
    let Lineup { prepared, works, .. } = lineup;
    let stage = Stage { assets: assets::assets(&works)?, works, stop: stop_flag()? };
    let contenders = || prepared.iter().filter(|p| p.track == Track::Default && p.name != REFERENCE);
    let lines = |page: &AsPublished| contenders().filter(|p| page.command(&p.name).is_some()).count();
    let bar = console::counted(study.as_published.iter().map(lines).sum(), "command lines", "\n{msg}");
    for page in &study.as_published {
        let Some(cell) = study.cells.iter().find(|cell| cell.title == page.cell) else { continue };
        for prepared in contenders() {
            let Some(command) = page.command(&prepared.name) else { continue };
            bar.set_message(console::fitted(&format!("{}, {}", page.heading(), prepared.name)));
            let mut replay = stage.replay(page, cell, prepared, command)?;
            ensure_not_stopped(&stage.stop)?;
            if let Some(published) = &study.published {
                beside_the_page(&mut replay, page, published);
            }
            let rate =
                replay.rate_per_s.map_or_else(|| "no figure".to_owned(), |r| format!("{r:.1} requests/s"));
            bar.suspend(|| note!("{}, {}: {rate}", page.heading(), prepared.name));
            bar.inc(1);
            all.replays.push(replay);
            store.keep_replays(&all)?;
        }
    }
    drop(bar);
    all.is_whole = true;
    store.keep_replays(&all)?;
    writer.write_replays(&all)?;
    Ok(code_of(&all.replays))
}

/// The exit code: void if an installed contender has no figure. Prints the names of these contenders.
fn code_of(replays: &[Replay]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    let has_none = |r: &&Replay| r.version.is_some() && r.rate_per_s.is_none_or(|rate| rate <= 0.0);
    for replay in replays.iter().filter(has_none) {
        let why = replay.note.as_deref().unwrap_or("no request was answered as expected");
        alert!("drome: {} ({}) has no figure: {why}", replay.title, replay.cell);
        code = ExitCode::from(VOID);
    }
    code
}

/// Adds the page's figures to what was measured.
fn beside_the_page(replay: &mut Replay, page: &AsPublished, published: &Published) {
    let name = &replay.contender;
    replay.published = page.rate_per_s(published, name);
    replay.page_version = published.versions.get(name).cloned();
    replay.page_figures = page.others(published, name).cloned().unwrap_or_default();
    let is_of_these = |figure: &String| replay.page_figures.contains_key(figure);
    replay.without = published.without.iter().filter(|(figure, _)| is_of_these(figure)).map(own).collect();
}

fn own((figure, why): (&String, &String)) -> (String, String) {
    (figure.clone(), why.clone())
}

/// What every start of a contender needs.
struct Stage {
    assets: std::path::PathBuf,
    works: Works,
    stop: Arc<AtomicBool>,
}

impl Stage {
    /// Runs one command line against one contender; the replay's note says what is wrong with the contender.
    fn replay(
        &self,
        page: &AsPublished,
        cell: &Cell,
        prepared: &Prepared,
        command: &[String],
    ) -> anyhow::Result<Replay> {
        let mut replay = Replay {
            cell: page.heading().to_owned(),
            contender: prepared.name.clone(),
            title: prepared.contender.title.clone(),
            ..Replay::default()
        };
        match prepared.version() {
            Ok(version) => replay.version = Some(version),
            Err(lack) => {
                replay.note = Some(lack.sentence());
                return Ok(replay);
            }
        }
        let mut prepared = prepared.clone();
        let quirk = page.quirk(&prepared.name).cloned().unwrap_or_default();
        let workload = quirk.workload.as_ref().unwrap_or(&cell.workload);
        let start = &mut prepared.contender.run;
        start.workers = quirk.workers.map(Workers::Count).or(start.workers);
        start.command = quirk.start.unwrap_or_else(|| start.command.clone());
        let logs = control::prepare::folders::cache().join("logs").join("as-published");
        std::fs::create_dir_all(&logs)?;
        let log = logs.join(format!("{}.log", prepared.name));
        let (cpus, assets) = (Cores::deal().server, self.assets.clone());
        let place = ServerPlace { cpus, connections: MOST_CONNECTIONS, tls: false, assets, log };
        let asked = Cell { workload: workload.clone(), ..cell.clone() };
        let started = Instance::start(&prepared, &place, &self.stop).and_then(|instance| {
            let path = prepared.contender.serves.get(workload).map_or("/", String::as_str);
            instance.ensure_right(&asked, path, &self.works, &self.stop).map(|()| instance)
        });
        match started {
            Err(Fault::Contender(why)) => replay.note = Some(why),
            Err(Fault::Lab(why)) if !self.stop.load(Ordering::Relaxed) => {
                bail!("can't start {}: {why}", prepared.name)
            }
            // The caller checks for a request to stop.
            Err(Fault::Lab(_)) => {}
            Ok(instance) => self.measure(instance, workload, &prepared, command, &mut replay)?,
        }
        Ok(replay)
    }

    fn measure(
        &self,
        mut instance: Instance,
        workload: &str,
        prepared: &Prepared,
        command: &[String],
        replay: &mut Replay,
    ) -> anyhow::Result<()> {
        let path = prepared.contender.serves.get(workload).map_or("/", String::as_str);
        let at = instance.origin.address;
        let url = format!("http://{at}{path}");
        let urls = tempfile::NamedTempFile::new()?;
        std::fs::write(urls.path(), format!("{url}\n"))?;
        let places = [
            ("urls", urls.path().display().to_string()),
            ("url", url),
            ("host", at.ip().to_string()),
            ("port", at.port().to_string()),
            ("path", path.to_owned()),
        ];
        let words = fill_all(command, &places);
        replay.command = words.join(" ");
        let Some((dialect, args)) =
            words.split_first().and_then(|(tool, args)| Some((dialects::named(tool)?, args)))
        else {
            refuse!(
                "drome does not know the tool of `{}`: `drome dialects` lists those it knows",
                replay.command
            );
        };
        let sampler =
            instance.server.sampler(&Cores::deal()).context("the server's processes are not known")?;
        let spoken = speak(dialect, args, &sampler, &self.stop)?;
        note(replay, spoken, dialect, sampler.finish().as_ref());
        let ended = instance.server.ended().map(|end| format!("under load {end}"));
        let trouble = [ended, instance.server.stop().err()].into_iter().flatten();
        let notes: Vec<String> = replay.note.take().into_iter().chain(trouble).collect();
        replay.note = (!notes.is_empty()).then(|| notes.join("; "));
        Ok(())
    }
}

/// The result of a tool's command line.
struct Spoken {
    report: String,
    tally: Option<Tally>,
    exact: figures::Exact,
    note: Option<String>,
}

/// Runs a tool's command line as `drome ab …` does, but returns the output instead of printing it.
fn speak(
    dialect: &Dialect,
    args: &[String],
    sampler: &Sampler,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Spoken> {
    let mut job = match (dialect.parse)(&call(dialect, args.to_vec())) {
        Ok(job) => job,
        Err(printed) => refuse!("{}{}", printed.out, printed.err),
    };
    let plan = on_cores(job.plan());
    let mut exact = figures::Exact::default();
    let mut report = job.begin().out;
    let (begun, cut) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let progress = Progress { stop: Arc::clone(&cut), ..Progress::default() };
    let tell = &mut |printed: &Printed| {
        report.push_str(&printed.out);
        if begun.elapsed() > LONGEST || stop.load(Ordering::Relaxed) {
            cut.store(true, Ordering::Relaxed);
        }
        Ok(None)
    };
    let hear = &mut |all: &[Exchange]| all.iter().for_each(|exchange| exact.hear(exchange));
    let (result, _) = measure(&plan, job.as_mut(), progress, &sampler.watch(), tell, hear)?;
    let printed = match &result {
        Ok(tally) => job.print(tally),
        Err(error) => job.fail(&Halt::Other { why: error.to_string(), errno: None }),
    };
    report.push_str(&printed.out);
    let is_cut = cut.load(Ordering::Relaxed);
    let note = match &result {
        Err(error) => Some(error.to_string()),
        Ok(_) if is_cut => {
            Some(format!("stopped after {LONGEST:?}: the figures cover what was done by then"))
        }
        Ok(_) => None,
    };
    Ok(Spoken { report, tally: result.ok(), exact, note })
}

fn note(replay: &mut Replay, spoken: Spoken, dialect: &Dialect, usage: Option<&Usage>) {
    replay.figures = figures::of(dialect, &spoken.report, &spoken.exact, usage);
    replay.report = spoken.report;
    replay.note = spoken.note;
    if let Some(tally) = spoken.tally {
        replay.rate_per_s = tally.rate_per_s();
        replay.completed = Some(tally.completed);
        replay.errors = Some(tally.errors.total());
        replay.latency_ns_mean = tally.latency.mean_ns();
    }
    replay.virtual_max_bytes = usage.map(|u| u.virtual_max_bytes);
    replay.rss_max_bytes = usage.map(|u| u.rss_max_bytes);
}
