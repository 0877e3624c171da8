//! A document as GitHub Markdown, ready to be pasted.

use super::{Document, Part, Scope, Value};
use crate::bars;
use crate::markdown_text::{block, code, items, prose, words};

impl Document {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let mut before = None;
        for part in self.parts_without(Scope::Short) {
            // Lists that follow each other are one.
            let is_list = |part: &Part| matches!(part, Part::Items(_));
            if before.is_some_and(|before| !(is_list(before) && is_list(part))) {
                out.push('\n');
            }
            out += &shown(part);
            before = Some(part);
        }
        out
    }
}

fn shown(part: &Part) -> String {
    match part {
        Part::Heading(level, text, _) => format!("{} {}\n", "#".repeat(*level), words(text)),
        Part::Finding(text) => format!("**{}**\n", prose(&one_line(text))),
        Part::Sentence(text) | Part::Remark(text) => prose(&one_line(text)) + "\n",
        Part::Items(all) => items(all.iter().map(|(item, _)| item.as_str())),
        Part::Commands(all) => {
            all.iter().map(|(name, text)| format!("- {}: {}\n", words(name), code(text))).collect()
        }
        Part::Table(table) => table.markdown(),
        Part::Bars(bars) => block(&bars::within(bars.clone(), None)),
        Part::Code(text) => block(text),
        Part::Facts(all) => all.iter().map(|(name, values)| fact(name, values)).collect(),
        Part::Folded(title, other) => {
            let (title, other) = (words(title), other.markdown());
            format!("<details><summary>{title}</summary>\n\n{other}\n</details>\n")
        }
        Part::Charts(_) => String::new(),
    }
}

/// Names are from elsewhere, and may have line breaks.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn fact(name: &str, values: &[Value]) -> String {
    let value = |value: &Value| match value {
        Value::Text(text) => prose(text),
        Value::Code(text) | Value::Block(text) => code(text),
    };
    format!("- {}: {}\n", words(name), values.iter().map(value).collect::<Vec<_>>().join(", "))
}
