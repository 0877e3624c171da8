//! siege 4.0.7, as Debian packages it.
//!
//! siege does some things that drome does not do: it follows redirects, fetches the parts of HTML pages, sends
//! cookies back, and answers challenges. All of these depend on answers, but drome measures a request that is the
//! same each time. So drome prints on standard error where siege would have done more. siege's timed runs may be
//! shorter by up to a second, because they end at a full second of the clock; drome's are not. siege rounds delays
//! of a second or more to whole seconds; drome does not. A truncated body counts as good in siege and as failed in
//! drome.

mod config;
mod help;
mod job;
mod messages;
mod rc;
mod report;
mod settings;
mod url;

use crate::command_line::{self, Item};
use crate::job::ask;
use crate::number::strerror;
use crate::{Call, Dialect, Job, Printed};
use help::help;
use job::{Shown, Siege};
use model::{Ask, Load, Order, Plan, Resumption, Target, Think, TlsChoice, Until};
use report::Sums;
use settings::{ONCE, OPTIONS, RC, Settings};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;
use url::{Asked, Unfit};

/// siege.
pub const DIALECT: Dialect =
    Dialect { name: "siege", about: "siege 4.0: simulated users who repeat their requests", parse };

/// siege waits for an answer without limit; this timeout has the same effect.
const PATIENCE: Duration = Duration::from_hours(24);

/// Parses siege's command line.
pub fn parse(call: &Call) -> Result<Box<dyn Job>, Printed> {
    let items = command_line::parse(OPTIONS, &call.args);
    // siege parses the options twice, first for its resource file only, and prints its errors each time.
    let (mut complaints, rc) = first_look(call, &items);
    let settings = rc::load(rc).map_err(|printed| after(&complaints, printed))?;
    complaints.push_str(&items.iter().filter_map(|item| wrong(call, item)).collect::<String>());
    settled(settings, &items, &mut complaints).map_err(|printed| after(&complaints, printed))
}

fn settled(
    mut settings: Settings,
    items: &[Item<Settings>],
    complaints: &mut String,
) -> Result<Box<dyn Job>, Printed> {
    settings.apply(items)?;
    // The last word that is not an option is the URL; siege ignores others before it.
    let mut words =
        items.iter().filter_map(|item| if let Item::Operand(word) = item { Some(word) } else { None });
    settings.url = words.next_back().cloned().or(settings.url);
    if let Some(word) = words.next() {
        return Err(Printed::stray("siege", word));
    }
    if settings.get && settings.url.is_none() {
        return Err(Printed::out("ERROR: -g/--get requires a commandline URL\n").exit(1));
    }
    complaints.push_str(&settings.settle());
    if settings.config {
        return Err(Printed::out(config::config(&settings)).exit(0));
    }
    let capped = cap(&mut settings);
    let lines = urls(&settings, complaints)?;
    let mut printed = Printed::out(capped);
    let result = job(settings, &lines, complaints, &mut printed);
    result.map(|job| Box::new(Siege { early: after(complaints, printed), ..job }) as Box<dyn Job>)
}

/// siege's errors and the resource file from its first pass, which ends at that option.
fn first_look<'a>(call: &Call, items: &'a [Item<Settings>]) -> (String, Option<&'a str>) {
    let mut complaints = String::new();
    for item in items {
        if let Item::Option(option, Some(file)) = item
            && option.name == RC
        {
            return (complaints, Some(file));
        }
        complaints.extend(wrong(call, item));
    }
    (complaints, None)
}

fn wrong(call: &Call, item: &Item<Settings>) -> Option<String> {
    match item {
        Item::Wrong(what) => Some(what.say(&call.program)),
        Item::Option(..) | Item::Operand(_) => None,
    }
}

fn after(complaints: &str, printed: Printed) -> Printed {
    Printed { err: format!("{complaints}{}", printed.err), ..printed }
}

/// Limits the users to what the resource file allows, and returns siege's warning if more were requested.
fn cap(settings: &mut Settings) -> String {
    if settings.users <= settings.limit {
        return String::new();
    }
    settings.users = settings.limit.max(1);
    let (line, limit) = ("=".repeat(64), settings.limit);
    let blanks = if limit > 999 { " " } else { "  " };
    format!(
        "\n{line}\nWARNING: The number of users is capped at {limit}.{blanks}To increase this\n         limit, search your .siegerc file for 'limit' and change\n         its value. Make sure you read the instructions there...\n{line}\n"
    )
}

/// The URL from the command line, or those from the file.
fn urls(settings: &Settings, complaints: &mut String) -> Result<Vec<String>, Printed> {
    if let Some(url) = &settings.url {
        return Ok(vec![url.clone()]);
    }
    let text = std::fs::read(&settings.file).map_err(|error| {
        let why = format!("unable to open file: {}: {}", settings.file, strerror(&error));
        complaints.push_str(&messages::alert(&why));
        help()
    })?;
    let mut variables = HashMap::new();
    let mut urls = Vec::new();
    for line in String::from_utf8_lossy(&text).lines() {
        let is_bare = line.contains(' ') && !line.contains('/');
        let line = if is_bare { line.split('#').next().unwrap_or_default() } else { line }.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let name = line.split('=').next().unwrap_or_default();
        if name.len() < line.len() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            let (key, value) = rc::pair(line);
            variables.insert(key.to_owned(), value.to_owned());
        } else {
            if let Some(what) = rc::unknown(line, &variables) {
                let why = "siege takes it for a variable without a value and leaves it out; put a body with `$` into a file \
                           (`POST <FILE`)";
                return Err(Printed::refuse(
                    "siege",
                    &format!("`{what}` in a line of {}", settings.file),
                    why,
                ));
            }
            urls.push(rc::evaluate(line, &variables));
        }
    }
    if urls.is_empty() { Err(help()) } else { Ok(urls) }
}

/// The plan.
fn job(
    settings: Settings,
    lines: &[String],
    complaints: &mut String,
    printed: &mut Printed,
) -> Result<Siege, Printed> {
    let mut asked = Vec::new();
    for line in lines {
        match url::parse(line, &settings) {
            Ok(url) => {
                complaints.push_str(&url.printed);
                asked.push(url);
            }
            Err(Unfit::Ftp) => return Err(Printed::refuse("siege", line, "drome supports only HTTP")),
            Err(Unfit::Credentials) => {
                let why = "drome does not answer challenges; `header = Authorization: …` is sent";
                return Err(Printed::refuse("siege", line, why));
            }
            // siege fails at it each time, and stops if it is the only URL.
            Err(Unfit::Scheme) if lines.len() == 1 => return Err(unsupported(settings, printed)),
            Err(Unfit::Scheme) => {
                return Err(Printed::refuse("siege", line, "siege does not read it as an HTTP URL"));
            }
        }
    }
    one_server(&asked)?;
    let first = asked.first().ok_or_else(help)?;
    if settings.get && first.method == "GET" && settings.head {
        asked[0].method = "HEAD";
    }
    let urls = asked.iter().map(|a| Shown { method: a.method, display: a.display.clone() }).collect();
    let Some(target) = asked[0].target() else {
        let mut job = siege(plan(&settings, &asked, nowhere()), settings, urls);
        let words = "Address resolution failed at sock.c:158 with the following error:";
        let words = messages::error(words) + &messages::error("Name or service not known");
        return Err(ended(&mut job, printed, |job| job.lose_all(&words)));
    };
    let mut job = siege(plan(&settings, &asked, target), settings, urls);
    if job.total == Some(0) {
        return Err(ended(&mut job, printed, |job| job.print(&model::Tally::default())));
    }
    Ok(job)
}

/// siege's message about an unknown scheme.
fn unsupported(settings: Settings, printed: &Printed) -> Printed {
    let words = if settings.verbose && !settings.get && !settings.print {
        messages::error("UNSPPRTD 501   0.00 secs:       0 bytes ==> PROTOCOL NOT SUPPORTED BY SIEGE\n")
    } else {
        String::new()
    };
    let mut job = siege(plan(&settings, &[], nowhere()), settings, vec![Shown::default()]);
    ended(&mut job, printed, |job| job.lose_all(&words))
}

fn siege(plan: Plan, settings: Settings, urls: Vec<Shown>) -> Siege {
    let total = total(&settings, urls.len());
    let (sums, undone, early) = (Sums::default(), job::Undone::default(), Printed::default());
    Siege { plan, settings, urls, total, sums, undone, early }
}

/// A run that ends before it begins.
fn ended(job: &mut Siege, printed: &Printed, end: impl FnOnce(&mut Siege) -> Printed) -> Printed {
    let begun = job.begin();
    let ended = end(job);
    let out = format!("{}{}{}", printed.out, begun.out, ended.out);
    Printed { out, err: begun.err + &ended.err, ..ended }
}

/// A target to which no connection is ever made.
fn nowhere() -> Target {
    let address = model::Address::Tcp(std::net::SocketAddr::from(([127, 0, 0, 1], 9)));
    Target::at(address)
}

/// Checks that all URLs are on one server, because a measurement is of one server.
fn one_server(asked: &[Asked]) -> Result<(), Printed> {
    let first = asked.first().map(|a| &a.host);
    match asked.iter().find(|a| Some(&a.host) != first) {
        Some(other) => {
            let (name, port, _) = &other.host;
            let why = "all URLs must be on one server, the one that is measured";
            Err(Printed::refuse("siege", &format!("a URL on {name}:{port} together with others"), why))
        }
        None => Ok(()),
    }
}

/// The number of transactions; `None` if the run ends by time.
fn total(settings: &Settings, urls: usize) -> Option<u64> {
    if settings.seconds > 0 {
        return None;
    }
    let each = match settings.reps {
        ONCE => urls as u64,
        reps => u64::try_from(reps).unwrap_or(0),
    };
    Some(each.saturating_mul(settings.users as u64))
}

fn plan(settings: &Settings, asked: &[Asked], target: Target) -> Plan {
    let asks: Vec<Ask> = asked.iter().map(|asked| ask(asked.request(settings))).collect();
    let per_connection = if settings.keep_alive { None } else { Some(1) };
    let load = Load::Closed { connections: settings.users.max(1) as usize, per_connection };
    let until = match total(settings, asks.len()) {
        None => Until::Elapsed(Duration::from_secs(settings.seconds)),
        Some(n) if settings.keep_alive => Until::Answered(n),
        Some(n) => Until::Closed(n),
    };
    let mut plan = Plan::new(target, Ask::default(), load, until);
    plan.asks = asks;
    plan.order = if settings.internet { Order::Random } else { Order::InTurn };
    if settings.delay_s >= 0.001 {
        let most = Duration::try_from_secs_f64(settings.delay_s).unwrap_or(PATIENCE);
        plan.think = Think::Between(Duration::ZERO, most);
    }
    plan.timeout = PATIENCE;
    plan.keep_first = true;
    let identity = settings.certificate.as_ref().map(|certificate| {
        let key = settings.key.as_ref().unwrap_or(certificate);
        (PathBuf::from(certificate), PathBuf::from(key))
    });
    plan.tls = TlsChoice { insecure: true, identity, resumption: Resumption::Off, ..TlsChoice::default() };
    plan
}
