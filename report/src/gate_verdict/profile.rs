//! Where the servers of a race spent their CPU time: a few short tables that open at a click. Every text that comes from the file is code.

use crate::document::Document;
use crate::foreign_text::{code, inert};
use crate::function_name;
use crate::table::Table;
use crate::units;
use model::gate_verdict::{ProfileDifference, ProfiledFunction, ProfiledServer, VerdictProfile};

/// The longest name of a function that is shown, in characters.
const LONGEST_SHOWN: usize = 100;

/// The differences, then each server's own functions.
pub fn document(profile: &VerdictProfile) -> Document {
    let why_not =
        profile.why_not.iter().map(|why| format!("Not all servers could be sampled: {}", code(why)));
    let mut document = Document::default().sentences(why_not);
    if let Some((first, others)) = profile.servers.split_first() {
        for server in others {
            if let Some(difference) = &server.difference {
                document = document.sentence(sentence(server, first, difference));
                document = changes(&server.title, difference).into_iter().fold(document, Document::table);
            }
        }
    }
    let notes = profile.servers.iter().flat_map(|server| {
        let title = code(&server.title);
        let why_not = server.why_not.as_ref().map(|why| format!("{title} has no profile: {}", code(why)));
        let hint = server.hint.as_ref().map(|hint| format!("{title}: {}", code(hint)));
        why_not.into_iter().chain(hint)
    });
    let left_out = (profile.left_out > 0)
        .then(|| format!("not shown: {}", units::several(profile.left_out, "more server")));
    let document = document.and(own(&profile.servers)).items(notes.chain(left_out));
    Document::default().folded("Where the CPU time goes", document)
}

/// Which of the two spends more CPU time per answer, and how well that is known.
fn sentence(server: &ProfiledServer, first: &ProfiledServer, difference: &ProfileDifference) -> String {
    let (title, against) = (code(&server.title), code(&first.title));
    if difference.ns_per_answer == 0.0 && difference.standard_error_ns == 0.0 {
        return format!("{title} and {against} spend the same CPU time per answer.");
    }
    let change = change(difference.ns_per_answer);
    if difference.is_within_starts(first.ns_per_answer) {
        return format!(
            "{title} and {against} spend the same CPU time per answer, to within 1 % ({title} spends {change})."
        );
    }
    if !difference.is_significant() {
        let margin = units::duration(difference.margin_ns());
        return format!(
            "{title} and {against} spend the same CPU time per answer, within the error of sampling (±{margin})."
        );
    }
    let how_known = match (difference.standard_error_ns, first.ns_per_answer.filter(|whole| *whole > 0.0)) {
        (0.0, Some(whole)) => {
            format!("{}, by their processes' clocks", units::percent(difference.ns_per_answer.abs() / whole))
        }
        (0.0, None) => "by their processes' clocks".to_owned(),
        (error, _) => format!("standard error {}", units::duration(error)),
    };
    format!("{title} spends {change} CPU time per answer than {against} ({how_known}).")
}

/// The functions on which a server spends more and less than the first; `None`: on none.
fn changes(title: &str, difference: &ProfileDifference) -> Option<Table> {
    let more = difference.more.iter().map(|function| (function, function.ns_per_answer));
    let less = difference.less.iter().map(|function| (function, -function.ns_per_answer));
    let all: Vec<(&ProfiledFunction, f64)> = more.chain(less).collect();
    (!all.is_empty()).then(|| {
        Table::of(&all)
            .text(format!("function of {}", code(title)), |(function, _)| name(function))
            .code()
            .number("its own CPU time per answer", |(_, ns)| change(*ns))
            .number("standard error", |(function, _)| units::duration(function.standard_error_ns))
            .table()
    })
}

/// The functions in which each server spends most.
fn own(servers: &[ProfiledServer]) -> Document {
    let all =
        servers.iter().flat_map(|server| server.functions.iter().map(move |function| (server, function)));
    let all: Vec<(&ProfiledServer, &ProfiledFunction)> = all.collect();
    if all.is_empty() {
        return Document::default();
    }
    let share = |server: &ProfiledServer, function: &ProfiledFunction| {
        let whole = server.ns_per_answer.filter(|whole| *whole > 0.0)?;
        Some(units::percent(function.ns_per_answer / whole))
    };
    let samples: Vec<String> = servers
        .iter()
        .filter(|server| server.samples > 0)
        .map(|server| format!("{} of {}", units::count(server.samples), code(&server.title)))
        .collect();
    let samples = format!("Samples, each of one more start after the race: {}.", samples.join(", "));
    Document::default()
        .table(
            Table::of(&all)
                .text("server", |(server, _)| inert(&server.title))
                .code()
                .text("function", |(_, function)| name(function))
                .code()
                .number("its own CPU time per answer", |(_, function)| {
                    units::duration(function.ns_per_answer)
                })
                .figure("share", |(server, function)| share(server, function))
                .table(),
        )
        .sentence(samples)
}

/// `2.61 µs more` or `3.00 µs less`.
fn change(ns: f64) -> String {
    let word = if ns < 0.0 { "less" } else { "more" };
    format!("{} {word}", units::duration(ns.abs()))
}

/// The name of a function.
fn name(function: &ProfiledFunction) -> String {
    inert(&function_name::within(&function.name, LONGEST_SHOWN))
}
