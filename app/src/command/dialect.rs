//! Runs the command line of another tool: `drome ab …`, or drome called by the name `ab`.

use super::output::Output;
use crate::console;
use crate::failure::WrongInput;
use crate::signals::stop_flag;
use control::machine::cores::Cores;
use dialects::{Call, Dialect, Halt, Job, Printed};
use judge::verdict::{self, Case, Policy};
use load::{LoadError, Progress, SourceError, Watch};
use model::{Exchange, Plan, Tally};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// drome's own option in every dialect.
const JSON: &str = "--drome-json";

/// How often a job gets a tick.
const TICK: Duration = Duration::from_millis(100);

/// The dialect of a command line and its arguments: by the name that drome was called by, or by the first argument.
pub fn of(args: &[OsString]) -> Option<(&'static Dialect, &[OsString])> {
    let called = Path::new(args.first()?).file_name()?.to_str()?;
    if let Some(dialect) = dialects::named(called) {
        return Some((dialect, &args[1..]));
    }
    Some((dialects::named(args.get(1)?.to_str()?)?, &args[2..]))
}

/// A call of the tool with these arguments, and with as many descriptors as this process can get.
pub fn call(dialect: &Dialect, args: Vec<String>) -> Call {
    let descriptors = net::limits::raise_descriptors(u64::MAX).unwrap_or(1024);
    Call { program: dialect.name.to_owned(), args, descriptors: descriptors as usize }
}

/// Parses the tool's arguments, measures, and prints the tool's report.
pub fn run(dialect: &Dialect, args: &[OsString]) -> anyhow::Result<ExitCode> {
    let (args, json) = without_json(args)?;
    let json = json.map(|path| Output::to(JSON, &path)).transpose()?;
    let mut job = match (dialect.parse)(&call(dialect, args)) {
        Ok(job) => job,
        Err(printed) => return tell(&printed).map(|code| ExitCode::from(code.unwrap_or(0))),
    };
    job.files().iter().try_for_each(|(option, path)| ensure_writable(dialect.name, option, path))?;
    let mut plan = on_cores(job.plan());
    if let Err(error) = load::reach(&mut plan.target) {
        return tell(&failed(job.as_mut(), &error)).map(|code| ExitCode::from(code.unwrap_or(1)));
    }
    if let Some(code) = tell(&job.begin())? {
        return Ok(ExitCode::from(code));
    }
    let progress = Progress { stop: stop_flag()?, ..Progress::default() };
    let (result, asked) = measure(&plan, job.as_mut(), progress, &(), &mut tell, &mut |_| {})?;
    let printed = match &result {
        Ok(tally) => job.print(tally),
        Err(error) => failed(job.as_mut(), error),
    };
    let code = tell(&printed)?.or(asked).unwrap_or(u8::from(result.is_err()));
    if let Ok(tally) = &result {
        own_result(&plan, tally, json.as_ref())?;
    }
    Ok(ExitCode::from(code))
}

/// What the tool prints when nothing could be measured.
fn failed(job: &mut dyn Job, error: &LoadError) -> Printed {
    match error {
        LoadError::Connect { source, .. } => job.fail(&Halt::Connect(same(source))),
        other => {
            let errno = match other {
                LoadError::Source(SourceError::Foreign { source, .. }) => source.raw_os_error(),
                _ => None,
            };
            job.fail(&Halt::Other { why: other.to_string(), errno })
        }
    }
}

/// drome's own verdict: reports a void measurement, and writes drome's own result if it was asked for.
fn own_result(plan: &Plan, tally: &Tally, json: Option<&Output>) -> anyhow::Result<()> {
    let verdict = verdict::judge(&Case::new(Policy::single(true), plan, tally));
    if !verdict.valid {
        alert!("drome: this measurement is void: {}", verdict.reasons.join("; "));
    } else if verdict.fell_behind() {
        alert!("drome: {}", verdict.reasons.join("; "));
    }
    if let Some(output) = json {
        let text = report::load_json::report(plan, tally, &verdict, report::Detail::Summary, None);
        output.write(text.as_bytes())?;
    }
    Ok(())
}

/// Checks a file that the tool writes after the measurement: in its place, as [`tell`] does, so its folder need not be writable.
fn ensure_writable(tool: &str, option: &str, path: &Path) -> Result<(), WrongInput> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let tried = if path.exists() {
        OpenOptions::new().append(true).open(path).map(drop)
    } else {
        tempfile::tempfile_in(folder).map(drop)
    };
    if let Err(error) = tried {
        refuse!("{tool} {option} {} can't be written: {error}; choose another file", path.display());
    }
    Ok(())
}

/// Takes drome's own option out of the tool's.
fn without_json(args: &[OsString]) -> anyhow::Result<(Vec<String>, Option<PathBuf>)> {
    let mut args = args.to_vec();
    let mut json = None;
    if let Some(at) = args.iter().position(|arg| arg == JSON) {
        if at + 1 == args.len() {
            refuse!("{JSON} needs a file name");
        }
        json = Some(args.remove(at + 1).into());
        args.remove(at);
    }
    let text = |arg: OsString| {
        let wrong = |arg: OsString| {
            format!("{}: this argument is not UTF-8; rename the file, or use a link to it", arg.display())
        };
        arg.into_string().map_err(|arg| WrongInput(wrong(arg)))
    };
    Ok((args.into_iter().map(text).collect::<Result<_, _>>()?, json))
}

/// The plan on the load generator's cores, because the server's cores are unknown. A job itself says when its tool gives up.
pub fn on_cores(plan: &Plan) -> Plan {
    Plan { cpus: Cores::deal().for_load(plan.threads), abort_after: None, ..plan.clone() }
}

/// Handles a job's output; returns the exit code if the job asks to end.
pub type Tell<'t> = &'t mut dyn FnMut(&Printed) -> anyhow::Result<Option<u8>>;

/// Hears what the job hears.
pub type Hear<'h> = &'h mut dyn FnMut(&[Exchange]);

/// Runs the plan and passes the events to the job. Returns the exit code with which the job asked to end, if it did.
pub fn measure(
    plan: &Plan,
    job: &mut dyn Job,
    progress: Progress,
    watch: &impl Watch,
    tell: Tell<'_>,
    hear: Hear<'_>,
) -> anyhow::Result<(Result<Tally, LoadError>, Option<u8>)> {
    let (to, exchanges) = channel();
    let log = job.wants_exchanges().then_some(to);
    let progress = Progress { log, ..progress };
    std::thread::scope(|scope| {
        let engine = scope.spawn(|| load::run(plan, &progress, watch));
        let asked = listen(job, &exchanges, &progress, (&mut *tell, &mut *hear), || engine.is_finished());
        // Where its output can't be written, the measurement ends.
        progress.stop.fetch_or(asked.is_err(), Ordering::Relaxed);
        let result = engine.join().unwrap_or(Err(LoadError::Worker));
        // The last exchanges.
        let rest = exchanges.try_iter().flatten().collect::<Vec<_>>();
        hear(&rest);
        let last = tell(&job.hear(&rest))?;
        Ok((result, asked?.or(last)))
    })
}

fn listen(
    job: &mut dyn Job,
    exchanges: &Receiver<Vec<Exchange>>,
    progress: &Progress,
    (tell, hear): (Tell<'_>, Hear<'_>),
    is_over: impl Fn() -> bool,
) -> anyhow::Result<Option<u8>> {
    let mut asked = None;
    let mut tick = Instant::now() + TICK;
    while !is_over() {
        let printed = match exchanges.recv_timeout(TICK.min(tick.saturating_duration_since(Instant::now()))) {
            Ok(chunk) => {
                hear(&chunk);
                job.hear(&chunk)
            }
            Err(RecvTimeoutError::Timeout) => Printed::default(),
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(tick.saturating_duration_since(Instant::now()));
                Printed::default()
            }
        };
        asked = asked.or(tell(&printed)?);
        if Instant::now() >= tick {
            tick += TICK;
            asked = asked.or(tell(&job.tick(progress.completed.load(Ordering::Relaxed)))?);
        }
        if asked.is_some() {
            progress.stop.store(true, Ordering::Relaxed);
        }
    }
    Ok(asked)
}

/// Writes a job's output to both streams and to files, and returns its exit code.
fn tell(printed: &Printed) -> anyhow::Result<Option<u8>> {
    if !printed.out.is_empty() {
        console::print(&printed.out)?;
    }
    if !printed.err.is_empty() {
        // A closed pipe is no reason not to measure.
        let _ = stderr().write_all(printed.err.as_bytes());
    }
    for (path, text, appends) in &printed.files {
        let mut options = OpenOptions::new();
        options.create(true).write(true).append(*appends).truncate(!appends);
        options.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
            WrongInput(format!("can't write {} ({error}): choose another file", path.display()))
        })?;
    }
    Ok(printed.exit)
}

/// A copy of the error: an `io::Error` can't be cloned, but its number can.
fn same(error: &std::io::Error) -> std::io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error)
}

/// `drome dialects` lists the tools; `drome dialects link DIR` creates links with the tools' names that run drome.
pub fn list(link: Option<&Path>) -> anyhow::Result<ExitCode> {
    let Some(folder) = link else {
        let rows: String =
            dialects::DIALECTS.iter().map(|d| format!("{:<10} {}\n", d.name, d.about)).collect();
        console::print(&rows)?;
        if std::io::stdout().is_terminal() {
            note!(
                "\n`drome ab -n 100 URL` runs drome as `ab`; `drome dialects link DIR` creates symbolic links with these names that do the same"
            );
        }
        return Ok(ExitCode::SUCCESS);
    };
    let drome = std::env::current_exe()?;
    std::fs::create_dir_all(folder)?;
    for dialect in dialects::DIALECTS {
        let path = folder.join(dialect.name);
        match std::os::unix::fs::symlink(&drome, &path) {
            Err(_) if std::fs::read_link(&path).is_ok_and(|to| to == drome) => {}
            Err(error) => {
                refuse!("can't create the link {} ({error}): choose another folder", path.display());
            }
            Ok(()) => {}
        }
        console::print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_ends_where_its_output_cant_be_written() {
        // A server that never answers.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let args = ["-t1", "-c1", "-d20s", &url].map(str::to_owned).to_vec();
        let call = Call { program: "wrk".to_owned(), args, descriptors: 1024 };
        let Ok(mut job) = (dialects::named("wrk").unwrap().parse)(&call) else { panic!("{call:?}") };
        let plan = job.plan().clone();
        let begun = Instant::now();
        let mut full = |_: &Printed| anyhow::bail!("no space left on device");
        let result = measure(&plan, job.as_mut(), Progress::default(), &(), &mut full, &mut |_| {});
        assert!(result.is_err() && begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}
