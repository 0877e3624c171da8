//! A result as a document: headings, sentences, lists, tables, bars and code, made once. The files beside this one write it, one for each
//! format, and escape every text.

mod html;
mod markdown;
mod terminal;

use crate::chart::Chart;
use crate::table::Table;
use crate::text_style::Ink;

/// A result in the order in which it is read.
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct Document(Vec<(Scope, Part)>);

/// Where a part is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Everywhere,
    /// Where length does not matter: not in a terminal.
    Long,
    /// Only in a terminal.
    Short,
}

/// A part of a document. Backquotes in a sentence and in an item mark code; in all other texts they are ordinary characters.
#[derive(Clone, Debug)]
enum Part {
    /// The level, 1 for the title of the document; the text; and the id of the section on a page, if it is known by one.
    Heading(usize, String, Option<String>),
    /// The result in a sentence.
    Finding(String),
    Sentence(String),
    /// A sentence that explains what it follows.
    Remark(String),
    Items(Vec<(String, Ink)>),
    /// Names, and the command or another text as it stands for each.
    Commands(Vec<(String, String)>),
    Table(Table),
    /// Names and figures, as a chart of text.
    Bars(Vec<(String, f64)>),
    Code(String),
    /// Names, and what is known of each.
    Facts(Vec<(String, Vec<Value>)>),
    /// What opens at a click, under a title.
    Folded(String, Document),
    /// Charts, which only a page shows: other formats have them beside the text, if at all.
    Charts(Vec<Chart>),
}

/// What is known of something.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text in which backquotes mark code.
    Text(String),
    /// A name or a path.
    Code(String),
    /// A command or a file.
    Block(String),
}

impl Value {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Code(text) | Self::Block(text) => text,
        }
    }
}

impl Document {
    /// A document with this title.
    pub fn titled(title: impl Into<String>) -> Self {
        Self::default().heading(1, title)
    }

    /// Adds a heading; 1 is the title.
    pub fn heading(self, level: usize, text: impl Into<String>) -> Self {
        self.with(Part::Heading(level, text.into(), None))
    }

    /// Adds a heading of level 2 that has this id on a page.
    pub fn section(self, id: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(Part::Heading(2, text.into(), Some(id.into())))
    }

    /// Adds the result in a sentence.
    pub fn finding(self, text: impl Into<String>) -> Self {
        self.with(Part::Finding(text.into()))
    }

    /// Adds a sentence.
    pub fn sentence(self, text: impl Into<String>) -> Self {
        self.with(Part::Sentence(text.into()))
    }

    /// Adds a sentence that explains what it follows.
    pub fn remark(self, text: impl Into<String>) -> Self {
        self.with(Part::Remark(text.into()))
    }

    /// Adds a sentence for each text.
    pub fn sentences(self, all: impl IntoIterator<Item = impl Into<String>>) -> Self {
        all.into_iter().fold(self, Self::sentence)
    }

    /// Adds a list; an empty one is left out.
    pub fn items(self, all: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.painted_items(all.into_iter().map(|item| (item, Ink::Plain)))
    }

    /// Adds a list of items with colours; an empty one is left out.
    pub fn painted_items(self, all: impl IntoIterator<Item = (impl Into<String>, Ink)>) -> Self {
        let all: Vec<(String, Ink)> = all.into_iter().map(|(item, ink)| (item.into(), ink)).collect();
        if all.is_empty() { self } else { self.with(Part::Items(all)) }
    }

    /// Adds names with the command of each.
    pub fn commands(self, all: impl IntoIterator<Item = (String, String)>) -> Self {
        self.with(Part::Commands(all.into_iter().collect()))
    }

    /// Adds a table.
    pub fn table(self, table: Table) -> Self {
        self.with(Part::Table(table))
    }

    /// Adds a chart of bars made of text, one for each name and figure, if there are any.
    pub fn bars(self, bars: Vec<(String, f64)>) -> Self {
        if bars.is_empty() { self } else { self.with(Part::Bars(bars)) }
    }

    /// Adds a text that is shown as it stands.
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(Part::Code(text.into()))
    }

    /// Adds names, with what is known of each.
    pub fn facts(self, all: impl IntoIterator<Item = (impl Into<String>, Vec<Value>)>) -> Self {
        self.with(Part::Facts(all.into_iter().map(|(name, values)| (name.into(), values)).collect()))
    }

    /// The same with one text for each name.
    pub fn texts(self, all: impl IntoIterator<Item = (impl Into<String>, String)>) -> Self {
        self.facts(all.into_iter().map(|(name, text)| (name, vec![Value::Text(text)])))
    }

    /// Adds another document that opens at a click, under a title.
    pub fn folded(self, title: impl Into<String>, other: Self) -> Self {
        self.with(Part::Folded(title.into(), other))
    }

    /// Adds charts, which only a page shows.
    pub fn charts(self, all: impl IntoIterator<Item = Chart>) -> Self {
        self.with(Part::Charts(all.into_iter().collect()))
    }

    /// Adds all of another document.
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Adds all of another document, but not in a terminal.
    pub fn details(self, other: Self) -> Self {
        self.and(other.only(Scope::Long))
    }

    /// Adds all of another document, but only in a terminal.
    pub fn in_short(self, other: Self) -> Self {
        self.and(other.only(Scope::Short))
    }

    fn only(mut self, scope: Scope) -> Self {
        self.0.iter_mut().for_each(|(own, _)| *own = scope);
        self
    }

    fn with(mut self, part: Part) -> Self {
        self.0.push((Scope::Everywhere, part));
        self
    }

    /// The parts that are shown where this scope is not.
    fn parts_without(&self, left_out: Scope) -> impl Iterator<Item = &Part> {
        self.0.iter().filter(move |(scope, _)| *scope != left_out).map(|(_, part)| part)
    }
}
