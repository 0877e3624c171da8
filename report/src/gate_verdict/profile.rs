//! Where the servers of a race spent their CPU time, in Markdown: a few short tables that open at a click. Every text that comes from the
//! document is inline code.

use crate::foreign_text::code;
use crate::function_name;
use crate::units::{self, UNKNOWN};
use model::gate_verdict::{ProfileDifference, ProfiledFunction, ProfiledServer, VerdictProfile};
use std::fmt::Write;

/// The longest name of a function that is shown, in characters.
const LONGEST_SHOWN: usize = 100;

/// The differences, then each server's own functions.
pub fn markdown(profile: &VerdictProfile) -> String {
    let mut out = String::from("<details><summary>Where the CPU time goes</summary>\n\n");
    if let Some(why) = &profile.why_not {
        let _ = writeln!(out, "Not all servers could be sampled: {}\n", code(why));
    }
    if let Some((first, others)) = profile.servers.split_first() {
        for server in others {
            if let Some(difference) = &server.difference {
                let _ = writeln!(out, "{}\n", sentence(server, first, difference));
                out.push_str(&changes(&server.title, difference));
            }
        }
    }
    out.push_str(&own(&profile.servers));
    for server in &profile.servers {
        let title = code(&server.title);
        if let Some(why) = &server.why_not {
            let _ = writeln!(out, "- {title} has no profile: {}", code(why));
        }
        if let Some(hint) = &server.hint {
            let _ = writeln!(out, "- {title}: {}", code(hint));
        }
    }
    if profile.left_out > 0 {
        let _ = writeln!(out, "- not shown: {}", units::several(profile.left_out, "more server"));
    }
    out.push_str("\n</details>\n\n");
    out
}

/// Which of the two spends more CPU time per answer, and how well that is known.
fn sentence(server: &ProfiledServer, first: &ProfiledServer, difference: &ProfileDifference) -> String {
    let (title, against) = (code(&server.title), code(&first.title));
    if difference.ns_per_answer == 0.0 && difference.standard_error_ns == 0.0 {
        return format!("{title} and {against} spend the same CPU time per answer.");
    }
    if !difference.is_significant() {
        let margin = units::duration(difference.margin_ns());
        return format!(
            "{title} and {against} spend the same CPU time per answer, within the error of sampling (±{margin})."
        );
    }
    let by = change(difference.ns_per_answer);
    let how_known = match (difference.standard_error_ns, first.ns_per_answer.filter(|whole| *whole > 0.0)) {
        (0.0, Some(whole)) => {
            format!("{}, by their processes' clocks", units::percent(difference.ns_per_answer.abs() / whole))
        }
        (0.0, None) => "by their processes' clocks".to_owned(),
        (error, _) => format!("standard error {}", units::duration(error)),
    };
    format!("{title} spends {by} CPU time per answer than {against} ({how_known}).")
}

/// The functions on which a server spends more and less than the first.
fn changes(title: &str, difference: &ProfileDifference) -> String {
    if difference.more.is_empty() && difference.less.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "| function of {} | its own CPU time per answer | standard error |\n| --- | ---: | ---: |\n",
        code(title)
    );
    let more = difference.more.iter().map(|function| (function, function.ns_per_answer));
    let less = difference.less.iter().map(|function| (function, -function.ns_per_answer));
    for (function, ns) in more.chain(less) {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            name(function),
            change(ns),
            units::duration(function.standard_error_ns)
        );
    }
    out.push('\n');
    out
}

/// The functions in which each server spends most.
fn own(servers: &[ProfiledServer]) -> String {
    let mut out = String::new();
    for server in servers {
        for function in &server.functions {
            let share = server.ns_per_answer.filter(|whole| *whole > 0.0);
            let share = share
                .map_or_else(|| UNKNOWN.to_owned(), |whole| units::percent(function.ns_per_answer / whole));
            let time = units::duration(function.ns_per_answer);
            let _ = writeln!(out, "| {} | {} | {time} | {share} |", code(&server.title), name(function));
        }
    }
    if out.is_empty() {
        return out;
    }
    let samples: Vec<String> = servers
        .iter()
        .filter(|server| server.samples > 0)
        .map(|server| format!("{} of {}", units::count(server.samples), code(&server.title)))
        .collect();
    format!(
        "| server | function | its own CPU time per answer | share |\n| --- | --- | ---: | ---: |\n{out}\nSamples, each of one more \
         start after the race: {}.\n\n",
        samples.join(", ")
    )
}

/// `2.61 µs more` or `3.00 µs less`.
fn change(ns: f64) -> String {
    let word = if ns < 0.0 { "less" } else { "more" };
    format!("{} {word}", units::duration(ns.abs()))
}

/// The name of a function.
fn name(function: &ProfiledFunction) -> String {
    code(&function_name::within(&function.name, LONGEST_SHOWN))
}
