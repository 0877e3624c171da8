//! The man pages: clap's definition, then examples and exit codes.

use super::pages::{self, ManualPage};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;
use std::path::Path;

/// The date of this version; the current date would make every build a different page.
const DATE: &str = "2026-11-21";

/// Writes `drome.1`, and a page for every command, such as `drome-load.1`.
pub fn write(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut whole = super::command().disable_help_subcommand(true);
    whole.build();
    std::fs::write(folder.join("drome.1"), page(&whole, None)?)?;
    for command in whole.get_subcommands().filter(|c| !c.is_hide_set()) {
        let text = page(command, pages::of(command.get_name()).as_ref())?;
        std::fs::write(folder.join(format!("drome-{}.1", command.get_name())), text)?;
        for inner in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            let name = format!("drome-{}-{}.1", command.get_name(), inner.get_name());
            std::fs::write(folder.join(name), page(inner, None)?)?;
        }
    }
    Ok(())
}

fn page(command: &Command, beside: Option<&ManualPage>) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    let mut out = title(command).into_bytes();
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.get_subcommands().any(|c| !c.is_hide_set()) {
        man.render_subcommands_section(&mut out)?;
    }
    let mut end = Roff::new();
    match beside {
        Some(beside) => of_command(&mut end, beside),
        None if command.get_name() == "drome" => of_whole(&mut end),
        None => {}
    }
    end.to_writer(&mut out)?;
    // A break, an empty line and a break are one paragraph; mandoc warns about three requests in a row.
    let text = String::from_utf8_lossy(&out).replace("\n.br\n\n.br\n", "\n.sp\n");
    Ok(text.into_bytes())
}

/// The title line. It is written here, because clap's own writer leaves out quotes that are not needed.
fn title(command: &Command) -> String {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_uppercase();
    format!(".TH \"{name}\" 1 \"{DATE}\" \"drome {}\" \"drome\"\n", env!("CARGO_PKG_VERSION"))
}

fn of_command(end: &mut Roff, page: &ManualPage) {
    end.control("SH", ["EXAMPLES"]);
    for (line, about) in &page.examples {
        end.control("TP", []).text([bold(*line)]).text([roman(*about)]);
    }
    end.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in &page.codes {
        end.control("TP", []).text([bold(code.to_string())]).text([roman(*meaning)]);
    }
    end.control("SH", ["SEE ALSO"]).text([bold("drome"), roman("(1)")]);
}

fn of_whole(end: &mut Roff) {
    end.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in pages::CODES {
        end.control("TP", []).text([bold(code.to_string())]).text([roman(*meaning)]);
    }
    end.control("SH", ["TOPICS"]);
    for topic in super::topics::TOPICS {
        let ask = format!("drome help {}", topic.name);
        end.control("TP", []).text([bold(ask)]).text([roman(topic.about)]);
    }
}
