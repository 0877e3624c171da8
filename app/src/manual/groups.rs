//! The commands in groups, as `drome --help` lists them.

use crate::console;
use clap::Command;
use report::TextStyle;

/// Every command, in the group of what it is for.
const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["load", "race", "sweep", "run", "heat"]),
    ("Read results", &["report", "compare", "history", "import", "push", "pull", "ui"]),
    ("Catalogue", &["list", "install", "verify", "new"]),
    ("Machine and tools", &["doctor", "serve", "dialects", "agent"]),
];

/// The widest help, in columns.
const WIDEST: usize = 100;

/// The template of `drome --help`: clap's own, with the commands in groups.
pub fn template(whole: &Command) -> String {
    let width = console::text_style().width.map_or(WIDEST, |width| width.min(WIDEST));
    let commands = TextStyle { width: Some(width), ..TextStyle::default() }.report(&listed(whole));
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}\nOptions:\n{{options}}{{after-help}}"
    )
}

fn listed(whole: &Command) -> String {
    let row = |name: &&str| {
        let about = whole.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
        format!("  {name:<13}{}\n", about.unwrap_or_default())
    };
    let group =
        |(title, names): &(&str, &[&str])| format!("{title}:\n{}", names.iter().map(row).collect::<String>());
    GROUPS.iter().map(group).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let whole = Cli::command();
        let mut all: Vec<&str> =
            whole.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn the_help_lists_commands_below_their_group() {
        let help = crate::manual::command().render_long_help().to_string();
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{help}"));
        assert!(at("Measure:") < at("\n  load ") && at("\n  load ") < at("Read results:"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= WIDEST), "{help}");
    }
}
