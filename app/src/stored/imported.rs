//! Imports of pages with reports of other tools, however the pages came here.

use crate::failure::WrongInput;
use dialects::page::{self, Page};
use model::Import;
use model::import::{Imported, Source};

/// A file's name and text.
pub struct NamedText {
    /// The name.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// The import of these texts, without messages.
pub fn of(texts: Vec<NamedText>) -> Import {
    of_pages(texts, |_, _| {})
}

/// The import of these texts; `tell` gets the name of each and what was read from it.
pub fn of_pages(texts: Vec<NamedText>, tell: impl Fn(&str, &Page)) -> Import {
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
    let imported_at = control::clock_text();
    Import {
        id: lab::setup::new_id(&imported_at),
        title: title(&sources),
        imported_at,
        drome: env!("CARGO_PKG_VERSION").to_owned(),
        sources,
        items,
    }
}

/// The error that the files contain no report; it lists what drome can read.
pub fn nothing(files: &[String], consequence: &str) -> WrongInput {
    let names: Vec<&str> = files.iter().map(|name| shown(name)).collect();
    let tools: Vec<&str> = dialects::readers().collect();
    WrongInput(format!(
        "no report and no table of figures in {}: {consequence}. drome reads the reports of {}, and tables in Markdown \
         or HTML with a column such as “requests/s” (no CSV, no TSV, no columns that spaces align)",
        names.join(", "),
        tools.join(", ")
    ))
}

/// What messages call a file.
pub fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}

/// The page's own title if there is one page, else the files' names.
fn title(sources: &[Source]) -> String {
    if let [Source { title: Some(title), .. }] = sources {
        return title.clone();
    }
    sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ")
}
