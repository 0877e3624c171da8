//! Tests that keep the documentation correct: generated pages match the code, and every command line in it is valid.

use super::{command, pages, plain, reference, topics};
use clap::error::ErrorKind;
use model::{Arrivals, Ask, Bound, Load, Plan, Tally, Target, Until, Verdict};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_reference_is_as_the_command_line_says() {
    for (name, text) in reference::pages() {
        let written = std::fs::read_to_string(root().join("docs/reference").join(&name)).unwrap_or_default();
        assert!(written == text, "docs/reference/{name} is out of date: run `cargo xtask docs`");
    }
}

#[test]
fn every_key_of_a_measurement_is_in_the_reference() {
    let target = Target::resolve("http://127.0.0.1:1/").expect("an address");
    let rate = "1,2/1s".parse().expect("a rate");
    let load =
        Load::Open { rate_per_s: rate, connections: 1, arrivals: Arrivals::Constant, per_connection: None };
    let plan = Plan::new(target, Ask::default(), load, Until::Answered(1));
    let mut tally = Tally::default();
    for h in [&mut tally.latency, &mut tally.service, &mut tally.schedule_lag] {
        h.record(1000);
    }
    let verdict = Verdict { bound: Bound::Server, valid: true, reasons: Vec::new(), ..Verdict::default() };
    let json = report::load_json::report(&plan, &tally, &verdict, report::Detail::Spectrum, None);
    let page = std::fs::read_to_string(root().join("docs/reference/load-json.md")).expect("the page");
    let mut keys = Vec::new();
    all_keys(&serde_json::from_str(&json).expect("JSON"), &mut keys);
    assert!(keys.len() > 80, "only these keys: {keys:?}");
    for key in keys {
        let is_there = page.contains(&format!("| `{key}` |")) || page.contains(&format!(".{key}` |"));
        assert!(is_there, "docs/reference/load-json.md lacks `{key}`");
    }
}

fn all_keys(value: &serde_json::Value, keys: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            keys.push(key.clone());
            all_keys(value, keys);
        }),
        serde_json::Value::Array(values) => values.iter().for_each(|value| all_keys(value, keys)),
        _ => {}
    }
}

#[test]
fn every_command_has_a_page() {
    let whole = command();
    for sub in whole.get_subcommands().filter(|c| !c.is_hide_set()) {
        let name = sub.get_name();
        let page = pages::of(name)
            .unwrap_or_else(|| panic!("`{name}` has no examples and no exit codes: app/src/manual/pages.rs"));
        assert!(
            !page.examples.is_empty() && page.codes.iter().all(|(_, meaning)| !meaning.is_empty()),
            "{name}"
        );
    }
}

#[test]
fn every_exit_code_is_told() {
    let text = topics::named("exit-codes").expect("a topic").text;
    for (code, meaning) in pages::CODES {
        assert!(
            text.contains(&format!("| {code} | {meaning}")),
            "docs/exit-codes.md lacks: {code} {meaning}"
        );
    }
}

#[test]
fn every_command_line_in_the_documentation_is_one() {
    let mut wrong = Vec::new();
    let (mut in_blocks, mut in_prose) = (0, 0);
    for (file, text) in documents() {
        for line in blocks(&text) {
            in_blocks += 1;
            if let Err(why) = parsed(&line) {
                wrong.push(format!("{file}: {line}\n{why}"));
            }
        }
        for line in spans(&text) {
            in_prose += 1;
            if let Err(why) = begun(&line) {
                wrong.push(format!("{file}: {line}\n{why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(in_blocks > 50 && in_prose > 50, "too few were found: {in_blocks} and {in_prose}");
}

#[test]
fn a_wrong_command_line_is_found() {
    let text = "```sh\ndrome load --rat 3 http://a/  # no\n$ drome lod\n```\n`drome report --formt json`, `drome run`\n";
    let found: Vec<String> = blocks(text).into_iter().filter(|line| parsed(line).is_err()).collect();
    assert_eq!(found, ["drome load --rat 3 http://a/", "drome lod"]);
    let found: Vec<String> = spans(text).into_iter().filter(|line| begun(line).is_err()).collect();
    assert_eq!(found, ["drome report --formt json"]);
}

#[test]
fn markdown_is_shown_plainly() {
    let text = "<!-- no -->\n# A *page*\n\nIt has `code` and a [link](loads.md#x),\nand [more](race.md).\n\n- one\n  item that is long\n- two\n\n\
                | a | b |\n| --- | ---: |\n| `x\\|y` | several words here |\n\n## Below\n\n```sh\nls  # **\n```\n";
    let shown = "A PAGE\n\nIt has code and a link (drome help\nloads), and more (docs/race.md).\n\n- one item that is long\n- two\n\n    \
                 a    b\n    x|y  several words here\n\nBelow\n\n    ls  # **\n";
    assert_eq!(plain::plain(text, 36), shown);
    for topic in topics::TOPICS {
        let shown = plain::plain(topic.text, 80);
        assert!(!shown.contains("](") && !shown.contains("| ---"), "{}: {shown}", topic.name);
    }
}

/// Every page of the project that has command lines.
fn documents() -> Vec<(String, String)> {
    let (docs, reference) = (root().join("docs"), root().join("docs/reference"));
    let own = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|name| root().join(name));
    let listed =
        [docs, reference].into_iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let listed = listed.map(|entry| entry.expect("an entry").path());
    let pages = listed.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let read = |path: PathBuf| (path.display().to_string(), std::fs::read_to_string(&path).expect("a page"));
    own.into_iter().chain(pages).map(read).collect()
}

/// Command lines in blocks of code: at a line's beginning, or after a prompt. A block of text is what a command printed, and only
/// what follows a prompt in it was typed.
fn blocks(text: &str) -> Vec<String> {
    let (mut lines, mut block) = (Vec::new(), None);
    let joined = text.replace("\\\n", " ").replace("${{ runner.temp }}", "dir");
    for line in joined.lines().map(str::trim_start) {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
            continue;
        }
        let typed = line.strip_prefix("$ ").or(Some(line).filter(|_| block != Some("text")));
        let typed = typed.map(|line| line.trim_start_matches("- run: ")).unwrap_or_default();
        if block.is_some() && typed.starts_with("drome ") {
            lines.push(one_command(typed));
        }
    }
    lines
}

/// Command lines in prose, in backticks.
fn spans(text: &str) -> Vec<String> {
    let (mut spans, mut is_code) = (Vec::new(), false);
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            let inside = line.split('`').skip(1).step_by(2).filter(|span| span.starts_with("drome "));
            spans.extend(inside.map(one_command));
        }
    }
    spans
}

/// The line without what a shell handles itself: a comment, what follows a pipe, where the output goes.
fn one_command(line: &str) -> String {
    let (mut quote, mut end, mut before) = (None, line.len(), ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '#' | '|' | '>' | '&') if before == ' ' => {
                end = at;
                break;
            }
            _ => {}
        }
        before = c;
    }
    line[..end].trim_end().to_owned()
}

/// A shell's words.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote, mut word) = (vec![], None, None::<String>);
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Whether clap accepts the command line, or a dialect does, which has a parser of its own.
fn parsed(line: &str) -> Result<(), String> {
    let words = words(line);
    let of_topic =
        words.get(1).is_some_and(|w| w == "help") && words.get(2).is_some_and(|w| topics::named(w).is_some());
    if of_topic || words.get(1).is_some_and(|tool| dialects::named(tool).is_some()) {
        return Ok(());
    }
    match command().try_get_matches_from(&words) {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Prose may leave out what a command needs, and put `…` or a name in its place.
fn begun(line: &str) -> Result<(), String> {
    let line = line.trim_end_matches([' ', '…']);
    match command().try_get_matches_from(words(line)) {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::MissingRequiredArgument
                    | ErrorKind::MissingSubcommand
                    | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                    | ErrorKind::TooFewValues
            ) =>
        {
            Ok(())
        }
        _ if line.ends_with("DIALECT") || line.ends_with("TOPIC") || line.ends_with("COMMAND") => Ok(()),
        _ => parsed(line),
    }
}
