//! Generates the pages of the file formats and of the JSON that drome prints, from their schemas.

use super::tables::{Syntax, sections};
use anyhow::{Context, Result};
use std::path::Path;

/// The first line of every generated page.
const GENERATED: &str = "<!-- Written by `cargo xtask docs`: change the source, not this page. -->\n";

struct Page {
    file: &'static str,
    title: &'static str,
    before: &'static str,
    /// A file of the catalog that is shown first, as an example.
    example: Option<&'static str>,
    /// The name of its file in docs/schemas.
    schema: &'static str,
    syntax: Syntax,
    after: &'static str,
}

const PAGES: &[Page] = &[
    Page {
        file: "contender.md",
        title: "contender.toml",
        before: "A server that drome can measure is a folder with this file: `contenders/NAME/contender.toml`. How to add \
one: [CONTRIBUTING.md](../../CONTRIBUTING.md).",
        example: Some("catalog/contenders/nginx/contender.toml"),
        schema: "contender",
        syntax: Syntax::Toml,
        after: "Placeholders in `command` and in `files`: `{host}` (the address to listen on), `{port}`, `{workers}`, `{dir}` (a private folder for one start of the server), `{assets}` (the \
workloads' files), `{src}` and `{build}` (a copy of `src/`, and where `[build] command` puts what it makes), `{drome}` \
(drome's own program).",
    },
    Page {
        file: "workload.md",
        title: "A workload",
        before: "A request, and the answer that must come back: `workloads/NAME.toml`.",
        example: Some("catalog/workloads/echo.toml"),
        schema: "workload",
        syntax: Syntax::Toml,
        after: "If `query` has `{n}`, the text of the body must have it too: the same number replaces both, 1 under load and others \
in verification. A GET sends no body. A body that depends on the request has no `file`.",
    },
    Page {
        file: "study.md",
        title: "A study",
        before: "Contenders × cells and a design: `studies/NAME.toml`. Several servers are alive in a heat and are loaded in turns; in a \
round, every contender is started afresh in one heat.",
        example: Some("catalog/studies/today-static.toml"),
        schema: "study",
        syntax: Syntax::Toml,
        after: "",
    },
    Page {
        file: "load-json.md",
        title: "The JSON of `drome load --format json`",
        before: "```sh\ndrome load http://127.0.0.1:8080/ -d 2s --format json\n```\n\nOne line, schema 1. Keys stay stable, new ones may be \
added. A figure that was not measured is null, never 0. Units are in the names: `_ns`, `_s`, `_per_s`, `_bytes`.",
        example: None,
        schema: "load",
        syntax: Syntax::Json,
        after: "",
    },
    Page {
        file: "report-json.md",
        title: "The JSON of `drome report --format json`",
        before: "```sh\ndrome report --format json\n```\n\nThe findings of a run, schema 1; `drome run` and `drome race` print the same with \
`--format json`. Keys stay stable, new ones may be added. A figure that is not known is null, never 0. Units are in the names: `_ns`, `_s`, \
`_per_s`, `_bytes`.",
        example: None,
        schema: "report",
        syntax: Syntax::Json,
        after: "",
    },
];

/// Every page, with the name of its file.
pub fn pages(root: &Path) -> Result<Vec<(String, String)>> {
    PAGES.iter().map(|page| Ok((page.file.to_owned(), text(root, page)?))).collect()
}

fn text(root: &Path, page: &Page) -> Result<String> {
    let read =
        |path: &str| std::fs::read_to_string(root.join(path)).with_context(|| format!("can't read {path}"));
    let example = match page.example {
        None => String::new(),
        Some(path) => format!("\n[{path}](../../{path}):\n\n```toml\n{}\n```\n", read(path)?.trim()),
    };
    let schema = serde_json::from_str(&read(&format!("docs/schemas/{}.json", page.schema))?)?;
    let sections = sections(&schema, page.syntax).with_context(|| format!("the page {}", page.file))?;
    let mut text = format!("{GENERATED}# {}\n\n{}\n{example}{sections}", page.title, page.before);
    if !page.after.is_empty() {
        text.push_str(&format!("\n## Notes\n\n{}\n", page.after));
    }
    if page.syntax == Syntax::Toml {
        text.push_str("\nAn unknown key, or a value out of range, is an error that names the file, the line and what is allowed.\n");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_as_the_schemas_say() {
        let root = crate::root();
        for (name, text) in pages(&root).expect("pages") {
            let written =
                std::fs::read_to_string(root.join("docs/reference").join(&name)).unwrap_or_default();
            assert!(written == text, "docs/reference/{name} is out of date: run `cargo xtask docs`");
        }
    }
}
