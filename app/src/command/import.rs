//! `drome import`: pages with reports of other tools are read, and what they say is kept beside one's own runs.

use super::report::TellArgs;
use super::store;
use crate::cli::Common;
use crate::failure::WrongInput;
use clap::Args;
use dialects::page::{self, Page};
use model::Import;
use model::import::{Imported, Source};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, stdin};
use std::process::ExitCode;

/// No page is larger; what is, would only fill the memory.
const LARGEST_BYTES: u64 = 256 << 20;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Pages or texts in Markdown, HTML or as they came out of a terminal; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Read and show, but keep nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    tell: TellArgs,
}

/// Reads, keeps, shows.
pub fn run(args: &ImportArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let teller = args.tell.teller()?;
    let import = read(&args.files)?;
    if import.items.is_empty() {
        return Err(nothing(&args.files, "nothing is kept").into());
    }
    if args.dry_run {
        note!("nothing is kept: without --dry-run it would be");
    } else {
        store(common)?.add_import(&import)?;
        note!("kept as run {0}: `drome report {0}` shows it again", import.id);
    }
    teller.tell_import(&import)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads all files, or fails; says of each what was read and what was not understood.
pub fn read(files: &[String]) -> anyhow::Result<Import> {
    let named = |name: &String| Ok(NamedText { name: shown(name).to_owned(), text: text(name)? });
    let texts = files.iter().map(named).collect::<Result<Vec<_>, WrongInput>>()?;
    Ok(of_pages(texts, tell))
}

/// A page by the name of its file.
pub struct NamedText {
    /// The name.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// What these pages say.
pub fn of(texts: Vec<NamedText>) -> Import {
    of_pages(texts, |_, _| {})
}

fn of_pages(texts: Vec<NamedText>, tell: impl Fn(&str, &Page)) -> Import {
    let (mut sources, mut items) = (Vec::new(), Vec::new());
    for NamedText { name, text } in texts {
        let page = page::read(&text);
        tell(&name, &page);
        let source = sources.len();
        let bytes = text.len() as u64;
        sources.push(Source { name, title: page.title, bytes, strange: page.strange });
        items.extend(page.items.into_iter().map(|item| {
            let page::Item { reading, notes, strange } = item;
            Imported { source, reading, notes, strange }
        }));
    }
    let imported_at = lab::clock_text();
    Import {
        id: lab::setup::new_id(&imported_at),
        title: title(&sources),
        imported_at,
        drome: env!("CARGO_PKG_VERSION").to_owned(),
        sources,
        items,
    }
}

/// That there was nothing to read, what would have been, and the next step.
pub fn nothing(files: &[String], consequence: &str) -> WrongInput {
    let names: Vec<&str> = files.iter().map(|name| shown(name)).collect();
    let tools: Vec<&str> = dialects::readers().map(|(tool, _)| tool).collect();
    WrongInput(format!(
        "no report and no table of figures in {}, {consequence}: drome reads what {} print, and tables with a column \
         like “requests/s”",
        names.join(", "),
        tools.join(", ")
    ))
}

fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}

/// The text of a file. What is not UTF-8 in it is replaced, and that is said.
fn text(name: &str) -> Result<String, WrongInput> {
    let wrong = |why: String| WrongInput(format!("{}: {why}", shown(name)));
    let failed =
        |error: std::io::Error| wrong(format!("can't be read ({error}): name a file with a page in it"));
    let mut bytes = Vec::new();
    if name == "-" {
        stdin().take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let file = File::open(name).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(wrong("is a folder: name the files in it".to_owned()));
        }
        file.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(wrong(format!("is larger than {} MiB: cut out what is to be read", LARGEST_BYTES >> 20)));
    }
    if bytes.contains(&0) {
        return Err(wrong("is no text (it has bytes that are zero): save it as UTF-8 text first".to_owned()));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| {
        note!("{}: not all of it is UTF-8: what is not is replaced by \u{fffd}", shown(name));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    }))
}

/// Says what was read of a page, and what was not understood.
fn tell(name: &str, page: &Page) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for item in &page.items {
        *counts.entry(item.reading.tool.as_str()).or_default() += 1;
    }
    let words = counts.iter().map(|(tool, n)| {
        let (one, many) =
            if *tool == "table" { ("row of a table", "rows of tables") } else { ("report", "reports") };
        let of = if *tool == "table" { String::new() } else { format!(" of {tool}") };
        format!("{n} {}{of}", if *n == 1 { one } else { many })
    });
    let words: Vec<String> = words.collect();
    note!(
        "{}: {}",
        shown(name),
        if words.is_empty() { "nothing to read".to_owned() } else { words.join(", ") }
    );
    for item in &page.items {
        let whose = item.reading.title.as_deref().unwrap_or(&item.reading.tool);
        item.strange.iter().for_each(|line| note!("{}: {whose}: not understood: {line}", shown(name)));
    }
    page.strange.iter().for_each(|line| note!("{}: not understood: {line}", shown(name)));
}

/// The page's own title where there is one page, else the files' names.
fn title(sources: &[Source]) -> String {
    if let [Source { title: Some(title), .. }] = sources {
        return title.clone();
    }
    sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ")
}
