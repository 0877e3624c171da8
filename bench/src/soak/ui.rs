//! `drome ui` with clients that misbehave. It is sampled between two bouts, when no client is connected: what it still
//! holds then is leaked.

use super::Watched;
use super::misbehaving::{Site, misbehave};
use super::sample::Sample;
use crate::drome::Drome;
use crate::process::Running;
use anyhow::{Context, Result, bail};
use rand::Rng;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Number of misbehaving clients in a bout; some leave a connection open until its end.
const ACTS: usize = 300;

/// A study is started and stopped in one of this many bouts.
const BOUTS_PER_STUDY: usize = 6;

/// Number of runs stored before the first sample: as many as a page lists, so that studies started later don't make it
/// longer.
const RUNS: usize = 50;

/// The page must have released everything after this time. The longest timeout is that of a body that does not arrive:
/// two minutes.
const RELEASE_LIMIT: Duration = Duration::from_mins(3);

const STUDY: &str = r#"
title = "A study for misbehaving clients"
contenders = ["plain"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 4 } }
[design]
rounds = [40, 40]
warmup = "50ms"
slice = "20ms"
measure = "160ms"
precision = 0.001
budget = "10min"
"#;

const CONTENDER: &str = r#"
title = "plain"
language = "Rust"
kind = "server"
homepage = "https://example.org"
[version]
command = ["echo", "1.0"]
[run]
command = ["{drome}", "serve", "--port", "{port}"]
[serves]
hello = "/hello"
"#;

/// Runs bouts of misbehaving clients for this time, and samples the page at rest after each.
pub fn soak(drome: &Drome, time: Duration) -> Result<Watched> {
    let catalog = drome.home().join("own");
    let write = |path: &str, text: &str| {
        let path = catalog.join(path);
        std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        std::fs::write(path, text).map_err(anyhow::Error::from)
    };
    write("studies/soak.toml", STUDY)?;
    write("contenders/plain/contender.toml", CONTENDER)?;
    let mut command = drome.command(&["ui", "--port", "0", "--allow-busy", "--catalog"]);
    let mut page = Running::start(None, command.arg(catalog))?;
    let site = Site::of(&page.first_line().context("drome ui")?)?;
    let (pid, mut random) = (page.pid(), stats::random::generator(1));
    site.check()?;
    for _ in 0..RUNS {
        begin(&site)?;
        stop(&site)?;
    }
    // The threads that read the store start when they are first needed, and end when they are idle.
    let first = at_rest(pid, None)?;
    let (begun, mut samples) = (Instant::now(), Vec::new());
    while begun.elapsed() < time {
        bout(&site, &mut random, samples.len().is_multiple_of(BOUTS_PER_STUDY))?;
        let after = || format!("after bout {} of {ACTS} misbehaving clients", samples.len() + 1);
        site.check().with_context(after)?;
        let rest = at_rest(pid, Some(first)).with_context(after)?;
        samples.push(rest);
    }
    Ok(Watched { name: "drome ui", samples })
}

/// Misbehaving clients one after another; the connections that they leave open are closed at the end, all at once.
fn bout(site: &Site, random: &mut dyn Rng, with_study: bool) -> Result<()> {
    if with_study {
        begin(site)?;
    }
    let mut open = Vec::new();
    for _ in 0..ACTS {
        open.extend(misbehave(site, random)?);
    }
    drop(open);
    if with_study { stop(site) } else { Ok(()) }
}

fn begin(site: &Site) -> Result<()> {
    expect(site, "POST /studies/soak", "how=full&contender=plain", &[303])
}

fn stop(site: &Site) -> Result<()> {
    // 409: it has already ended by itself.
    expect(site, "POST /live/stop", "", &[303, 409])?;
    wait(RELEASE_LIMIT, || Ok(site.ask("GET /live", "")?.1.contains("data-over")))
        .context("the study does not end")
}

fn expect(site: &Site, line: &str, form: &str, statuses: &[u16]) -> Result<()> {
    match site.ask(line, form)? {
        (status, _) if statuses.contains(&status) => Ok(()),
        (status, text) => bail!("{line} is answered with {status}: {text}"),
    }
}

/// Waits until the page holds no more than in the first sample; for the first sample, until nothing changes any more.
fn at_rest(pid: u32, first: Option<Sample>) -> Result<Sample> {
    let look = || Sample::of(pid).context("drome ui has ended");
    let held = |sample: &Sample| (sample.descriptors, sample.threads);
    let mut last = look()?;
    // Threads without work end after ten seconds.
    let pause = Duration::from_secs(if first.is_some() { 1 } else { 12 });
    wait(RELEASE_LIMIT, || {
        sleep(pause);
        let before = std::mem::replace(&mut last, look()?);
        Ok(match &first {
            Some(first) => last.descriptors <= first.descriptors && last.threads <= first.threads,
            None => held(&before) == held(&last),
        })
    })
    .with_context(|| {
        let first = first.map_or_else(|| "?".to_owned(), |sample| format!("{:?}", held(&sample)));
        format!("it leaks: {:?} descriptors and threads, {first} at first", held(&last))
    })?;
    Ok(last)
}

fn wait(patience: Duration, mut is_done: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !is_done()? {
        if begun.elapsed() > patience {
            bail!("waited for {} s", patience.as_secs());
        }
        sleep(Duration::from_millis(100));
    }
    Ok(())
}
