//! The reference pages: every command with its arguments, options, defaults and exit codes, as Markdown.

use super::pages;
use clap::{Arg, Command};
use std::fmt::Write;
use std::path::Path;

/// The first line of every generated page.
const GENERATED: &str = "<!-- Written by `cargo xtask docs`: change the source, not this page. -->\n";

/// Every page with the name of its file.
pub fn pages() -> Vec<(String, String)> {
    let mut whole = super::command();
    whole.build();
    let shown = || whole.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    let mut all = vec![("README.md".to_owned(), index(&whole, shown()))];
    all.extend(shown().map(|c| (format!("{}.md", file(c.get_name())), page(c))));
    all
}

/// Writes all pages.
pub fn write(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    pages().into_iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
}

/// The name of a command's page; `command-` distinguishes it from the pages of files.
fn file(command: &str) -> String {
    format!("command-{command}")
}

fn index<'c>(whole: &Command, commands: impl Iterator<Item = &'c Command>) -> String {
    let mut text =
        format!("{GENERATED}# Reference\n\n## Commands\n\n| command | what it does |\n| --- | --- |\n");
    for command in commands {
        let name = command.get_name();
        let _ = writeln!(text, "| [drome {name}]({}.md) | {} |", file(name), about(command));
    }
    text.push_str("\nOptions of every command:\n\n");
    text.push_str(&table(whole.get_arguments().filter(|a| a.is_global_set())));
    text.push_str(
        "\n## Files\n\n- [contender.toml](contender.md)\n- [a workload](workload.md)\n- [a study](study.md)\n\n## JSON\n\n\
         - [`drome load --format json`](load-json.md)\n- [`drome report --format json`](report-json.md), and [the keys \
         of a race](../race.md#json)\n- [`drome sweep --format json`](../sweep.md#json-schema-1)\n- [`drome history --format \
         json`](../history.md#json-schema-1)\n- [JSON Schemas](../files.md#completion-in-an-editor) of files and JSON\n",
    );
    text
}

fn page(command: &Command) -> String {
    let name = command.get_name();
    let mut text = format!("{GENERATED}# drome {name}\n\n{}\n", sentence(command));
    let beside = pages::of(name);
    if let Some(page) = &beside {
        text.push_str("\n```sh\n");
        let width = page.examples.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
        for (line, about) in &page.examples {
            let _ = writeln!(text, "{line:<width$}  # {about}");
        }
        text.push_str("```\n");
    }
    text.push_str(&body(command));
    for inner in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        let _ =
            write!(text, "\n## drome {name} {}\n\n{}\n{}", inner.get_name(), sentence(inner), body(inner));
    }
    if let Some(page) = beside {
        text.push_str("\n## Exit codes\n\n| code | when |\n| ---: | --- |\n");
        for (code, meaning) in &page.codes {
            let _ = writeln!(text, "| {code} | {meaning} |");
        }
        let see: Vec<String> =
            page.see.iter().map(|(page, title)| format!("[{title}]({})", from(page))).collect();
        if !see.is_empty() {
            let _ = write!(text, "\nSee also: {}.\n", see.join(", "));
        }
    }
    text
}

/// The link from docs/reference/ to a page of docs/.
fn from(page: &str) -> String {
    page.strip_prefix("reference/").map_or_else(|| format!("../{page}"), str::to_owned)
}

/// A command's usage, and its arguments and options by heading.
fn body(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim().trim_start_matches("Usage:").split('\n').map(str::trim).collect::<Vec<_>>();
    let mut text = format!("\n```text\n{}\n```\n", usage.join("\n"));
    let own = || command.get_arguments().filter(|a| !a.is_hide_set() && !a.is_global_set() && !is_help(a));
    let mut headings: Vec<&str> = own().map(heading).collect();
    let mut seen = Vec::new();
    headings.retain(|heading| {
        !seen.contains(heading) && {
            seen.push(heading);
            true
        }
    });
    for wanted in headings {
        let _ = write!(text, "\n### {wanted}\n\n{}", table(own().filter(|arg| heading(arg) == wanted)));
    }
    text
}

fn is_help(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

fn heading(arg: &Arg) -> &str {
    arg.get_help_heading().unwrap_or(if arg.is_positional() { "Arguments" } else { "Options" })
}

fn table<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let mut text = "| option | default | what it does |\n| --- | --- | --- |\n".to_owned();
    for arg in args {
        let (default, what) = default_and_help(arg);
        let _ = writeln!(text, "| {} | {default} | {what} |", option(arg));
    }
    text
}

/// An option as it is written: `-c, --connections N`. A value in brackets can be left out.
fn option(arg: &Arg) -> String {
    let names: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let takes_none = arg.get_num_args().is_some_and(|n| n.max_values() == 0);
    let value = if arg.get_action().takes_values() && !takes_none { names.join(" ") } else { String::new() };
    if arg.is_positional() {
        let many = if arg.get_num_args().is_some_and(|n| n.max_values() > 1) { "…" } else { "" };
        return format!("`{value}{many}`");
    }
    let short = arg.get_short().map(|c| format!("-{c}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let both = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    let may_lack_value = arg.get_num_args().is_some_and(|n| n.min_values() == 0);
    let value = match (value.is_empty(), may_lack_value, arg.is_require_equals_set()) {
        (true, ..) => String::new(),
        (false, false, _) => format!(" {value}"),
        (false, true, false) => format!(" [{value}]"),
        (false, true, true) => format!("[={value}]"),
    };
    format!("`{}`", format!("{both}{value}").replace('|', "\\|"))
}

/// An option's default and description. A default that clap does not know stands in brackets at the end of the help.
fn default_and_help(arg: &Arg) -> (String, String) {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('|', "\\|");
    let given: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let (help, default) = match help.rsplit_once(" [default: ") {
        Some((help, default)) => (help.to_owned(), default.trim_end_matches(']').to_owned()),
        None if given.is_empty() || !arg.get_action().takes_values() => (help, String::new()),
        None => (help, format!("`{}`", given.join(","))),
    };
    let required = if arg.is_required_set() { "required".to_owned() } else { "–".to_owned() };
    let words: Vec<String> =
        arg.get_possible_values().iter().map(|v| format!("`{}`", v.get_name())).collect();
    let help = if words.is_empty() || !arg.get_action().takes_values() {
        help
    } else {
        format!("{help}: {}", words.join(", "))
    };
    (if default.is_empty() { required } else { default }, help)
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// What a command does, as a sentence.
fn sentence(command: &Command) -> String {
    let text = about(command);
    if text.ends_with(['?', '.', '…']) { text } else { format!("{text}.") }
}
