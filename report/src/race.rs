//! A race in words: which contender is better, by how much, with which confidence, after how long, and what was the same for
//! all.

use crate::text_style::Ink;
use crate::{answer, machine, memory_growth, notes, offered, units};
use model::Metric;
use model::findings::{
    CellFindings, ContenderFindings, Decided, Figure, Findings, PairFindings, RaceFindings,
};
use model::run::Entrant;
use std::fmt::Write;

/// Which contender is better, by how much and with which confidence: some sentences for every pair, with the labels of the
/// contenders.
pub fn verdicts(f: &Findings) -> Vec<String> {
    let (Some(race), Some(cell)) = (&f.race, f.cells.first()) else { return Vec::new() };
    told(race).flat_map(|pair| verdict(cell, pair, is_with_first(race, pair), label)).collect()
}

/// With more pairs than this, only those with the first command are told one by one; ranks and letters tell the rest.
const MOST_PAIRS: usize = 6;

/// The pairs that a report tells one by one.
fn told(race: &RaceFindings) -> impl Iterator<Item = &PairFindings> {
    let tells_all = race.pairs.len() <= MOST_PAIRS;
    race.pairs.iter().filter(move |pair| tells_all || is_with_first(race, pair))
}

fn is_with_first(race: &RaceFindings, pair: &PairFindings) -> bool {
    race.pairs.first().is_some_and(|first| first.against == pair.against)
}

/// What a race of servers that already ran can't tell.
const NOT_STARTED: &str = "drome did not start these servers: a start is a new set of connections and a new warm-up, so what differs \
                           from one start of a server to the next, such as its memory layout or its compiled code, is not in the \
                           intervals";

/// What a sentence calls a contender.
type Naming = fn(&ContenderFindings) -> &str;

fn letter(c: &ContenderFindings) -> &str {
    &c.name
}

fn label(c: &ContenderFindings) -> &str {
    &c.title
}

/// The contenders in the order of their letters.
fn by_letter(cell: &CellFindings) -> Vec<&ContenderFindings> {
    let mut all: Vec<&ContenderFindings> = cell.contenders.iter().collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The contenders in the order of their letters: each with its letter and label, `A, old`, and its command or URL, `./old --port {port}`.
pub fn commands(f: &Findings, cell: &CellFindings) -> Vec<(String, String)> {
    let labelled = |c: &ContenderFindings| {
        let command = f.entrants.get(&c.name).map_or(c.title.as_str(), Entrant::raced_command);
        let label = if command == c.title { c.name.clone() } else { format!("{}, {}", c.name, c.title) };
        (label, command.to_owned())
    };
    by_letter(cell).into_iter().map(labelled).collect()
}

/// All lines below the table, each with its colour.
pub(crate) fn lines(f: &Findings, race: &RaceFindings, cell: &CellFindings) -> Vec<(String, Ink)> {
    let mut lines = Vec::new();
    for pair in told(race) {
        // The first line is the result; the others express it in other units.
        let inks = [if pair.faster.is_some() { Ink::Good } else { Ink::Plain }, Ink::Plain, Ink::Plain];
        lines.extend(verdict(cell, pair, is_with_first(race, pair), letter).into_iter().zip(inks));
    }
    let doubts = by_letter(cell).into_iter().flat_map(|c| [memory_growth::sentence(c), unsound(c)]);
    lines.extend(doubts.flatten().map(|line| (line, Ink::Doubt)));
    let background = answer::never_quiet(&cell.in_heats);
    lines.extend(background.map(|line| (line, Ink::Doubt)));
    lines.extend(notes::painted(cell));
    lines.extend(conditions(f).into_iter().map(|line| (line, Ink::Plain)));
    lines.push((format!("ended: {}; run {}", f.ended, f.run), Ink::Plain));
    lines.extend(machine::origin(f).map(|from| (from, Ink::Plain)));
    lines
}

/// What a race can't tell, what was the same for all contenders, and after how many rounds and how much time it was decided. Empty for a
/// study.
pub fn conditions(f: &Findings) -> Vec<String> {
    let (Some(race), Some(cell)) = (&f.race, f.cells.first()) else { return Vec::new() };
    let mut lines = Vec::new();
    lines.extend(race.running.then(|| NOT_STARTED.to_owned()));
    lines.push(held_equal(cell, race));
    let starts: usize = cell.contenders.iter().map(|c| c.trials + c.failed).sum();
    let decided = if race.decided.is_some() { "decided" } else { "not decided" };
    let (rounds, starts) = (units::several(race.rounds, "round"), units::several(starts, "start"));
    lines.push(format!("{decided} after {rounds}, {starts}, {:.1} s", race.elapsed_s));
    lines
}

/// The result of one pair. `has_more`: whether it is with the first contender, so that differences in time and CPU are known.
fn verdict(cell: &CellFindings, pair: &PairFindings, has_more: bool, name: Naming) -> Vec<String> {
    let find = |name: &str| cell.contenders.iter().find(|c| c.name == name);
    let (Some(base), Some(other)) = (find(&pair.against), find(&pair.contender)) else { return Vec::new() };
    let names = format!("{} and {}", name(base), name(other));
    if cell.metric == Metric::Rate
        && pair.ratio.is_none()
        && let Some(by) = base.both_held_back_by(other)
    {
        return vec![format!(
            "inconclusive for {names}: {by} limited both; --metric server-cpu compares their CPU use"
        )];
    }
    let Some(Figure { median, low: Some(low), high: Some(high) }) = pair.ratio else {
        return vec![format!("{} can't be compared with {}: too few sound starts", name(other), name(base))];
    };
    // There is no noise floor if something else than the servers limited both.
    let floor = cell
        .noise_floor
        .map_or_else(String::new, |floor| format!("; noise floor {}", units::noise_floor(floor)));
    let interval =
        format!("ratio {}, 95 % {}–{}", units::ratio(median), units::ratio(low), units::ratio(high));
    let Some(faster) = &pair.faster else {
        let words = match (pair.decided, held_back(cell, [base, other], median, name)) {
            (Some(Decided::Equal), _) => {
                format!("{names} are within {} of each other in {}", same(), what(cell))
            }
            (_, Some(words)) => return vec![format!("{words}{floor} ({interval})")],
            _ => undecided([base, other], low <= 1.0 && high >= 1.0, name),
        };
        return vec![format!("{words}{floor} ({interval})")];
    };
    let (better, worse) = if *faster == other.name { (other, base) } else { (base, other) };
    let (by, low, high) =
        if median > 1.0 { (median, low, high) } else { (1.0 / median, 1.0 / high, 1.0 / low) };
    // A narrow interval needs one more digit.
    let decimals = if high - low < 0.02 { 3 } else { 2 };
    let [by, low, high] = [by, low, high].map(|x| format!("{x:.decimals$}"));
    let first = format!("{}, 95 % {low}–{high}{floor}", sentence(cell, [better, worse], &by, name));
    let mut lines = vec![first];
    if cell.metric == Metric::Rate && has_more {
        // The figures are the excess of the second over the first; the report has that of the slower over the faster.
        let signed =
            |figure: Option<Figure>| if better.name == other.name { figure.map(negative) } else { figure };
        let (at_least, worse) = (at_least(better), name(worse));
        lines.extend(more(worse, "takes", at_least, signed(other.time_ns_more), ["longer", "less"]));
        lines.extend(more(
            worse,
            "costs the server",
            "",
            signed(other.server_cpu_ns_more),
            ["more CPU", "less CPU"],
        ));
    }
    lines
}

/// Why a pair is not decided. `may_be_equal`: its interval has 1.
fn undecided(pair: [&ContenderFindings; 2], may_be_equal: bool, name: Naming) -> String {
    let names = format!("{} and {}", name(pair[0]), name(pair[1]));
    if may_be_equal {
        return format!("inconclusive: no difference between {names} detected");
    }
    match pair.into_iter().find(|c| unsound(c).is_some() && c.rank_low.is_none()) {
        Some(lost) => {
            format!("inconclusive for {names}: {} failed or was void in some starts", name(lost))
        }
        None => format!("inconclusive: a difference between {names} is likely, but not sure enough"),
    }
}

/// The result of a decided pair, in the words of the metric.
fn sentence(cell: &CellFindings, [better, worse]: [&ContenderFindings; 2], by: &str, name: Naming) -> String {
    let (better_name, worse_name) = (name(better), name(worse));
    match cell.metric {
        Metric::Rate => format!("{better_name} is {}{by}× {worse_name}", at_least(better)),
        Metric::ServerCpu => {
            format!("{better_name} uses {by}× less server CPU per request than {worse_name}")
        }
        Metric::Latency(_) => format!("{better_name}'s {} is {by}× shorter than {worse_name}'s", what(cell)),
        Metric::Rss => format!("{better_name} uses {by}× less memory than {worse_name}"),
    }
}

/// The largest difference that counts as no difference.
fn same() -> String {
    format!("{:.0} %", stats::heats::SAME * 100.0)
}

/// What was compared.
fn what(cell: &CellFindings) -> String {
    match cell.metric {
        Metric::Rate => "throughput".to_owned(),
        Metric::ServerCpu => "server CPU per request".to_owned(),
        Metric::Latency(p) => {
            let at = cell.load.rate_per_s().map(|rate| format!(" {}", offered::words(rate)));
            format!("{}{}", p.word(), at.unwrap_or_default())
        }
        Metric::Rss => "memory".to_owned(),
    }
}

/// If the faster one's rate is a lower bound, so is the ratio.
fn at_least(faster: &ContenderFindings) -> &'static str {
    if faster.is_held_back() { "at least " } else { "" }
}

/// A warning if something else than the server limited the slower contender, so that the difference may not be real.
fn held_back(
    cell: &CellFindings,
    [base, other]: [&ContenderFindings; 2],
    median: f64,
    name: Naming,
) -> Option<String> {
    let (fast, slow) = if median > 1.0 { (other, base) } else { (base, other) };
    let by = slow.held_back_by().filter(|_| cell.metric == Metric::Rate)?;
    let (fast, slow) = (name(fast), name(slow));
    Some(format!("inconclusive: {by} limited {slow}, so {fast}'s lead may not be real"))
}

/// A warning if some or all starts of a contender were void or failed.
fn unsound(c: &ContenderFindings) -> Option<String> {
    let (all, sound) = (c.trials + c.failed, c.trials - c.void);
    let name = &c.name;
    match (sound, all - sound) {
        (_, 0) => None,
        (0, _) => Some(format!("no start of {name} was sound, so it has no figures")),
        (_, lost) => Some(format!(
            "{name} failed or was void in {lost} of {all} starts: its figures come from the others"
        )),
    }
}

fn held_equal(cell: &CellFindings, race: &RaceFindings) -> String {
    let equal = &race.held_equal;
    let body = equal.body_bytes.map(|n| format!("a body of {} bytes, ", units::count(n as u64)));
    let millis = |s: f64| units::duration(s * 1e9);
    // Where servers run that drome did not start is not known.
    let servers_on = if race.running {
        String::new()
    } else {
        format!("servers on core {}, ", units::cores(&equal.server_cpus))
    };
    let mut words = format!(
        "same for all: {}{}; {}load generator on core {}; {} of warm-up or more, until warm, and {} of measurement per start",
        body.unwrap_or_default(),
        offered::cell_words(&cell.load, cell.transport),
        servers_on,
        units::cores(&equal.client_cpus),
        millis(equal.warmup_s),
        millis(equal.measure_s),
    );
    if let Some(command) = &equal.prepare {
        let _ = write!(words, "; `{command}` before every start");
    }
    words
}

/// How much more time or CPU a request to the slower one takes.
fn more(
    slow: &str,
    verb: &str,
    at_least: &str,
    figure: Option<Figure>,
    [more, less]: [&str; 2],
) -> Option<String> {
    let figure = figure?;
    // The slower one may well use less CPU: the figure is worded so that it is positive.
    let (figure, unit) = if figure.median < 0.0 { (negative(figure), less) } else { (figure, more) };
    let Figure { median, low: Some(low), high: Some(high) } = figure else { return None };
    let shown = |ns: f64| format!("{}{}", if ns < 0.0 { "−" } else { "" }, units::duration(ns.abs()));
    let [ns, low, high] = [median, low, high].map(shown);
    Some(format!("a request to {slow} {verb} {at_least}{ns} {unit}, 95 % {low} to {high}"))
}

fn negative(f: Figure) -> Figure {
    Figure { median: -f.median, low: f.high.map(|high| -high), high: f.low.map(|low| -low) }
}
