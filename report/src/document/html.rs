//! A document as HTML: a section for every heading of level 2, and tables that scroll, and that can be sorted if JavaScript is on.

use super::{Document, Part, Scope, Value};
use crate::chart::{self, Chart};
use crate::chips::{self, Chip};
use crate::table::{INTERVAL, Side, Table};
use crate::text_style::Ink;
use maud::{Markup, PreEscaped, html};
use model::text::printable;

impl Document {
    /// All sections, below what stands before the first one, for a page that others put together. The title and the items below it are
    /// left out: a page has them in its head.
    pub fn html(&self) -> Markup {
        // `maud` escapes what is markup.
        PreEscaped(self.sections().into_string().chars().map(printable).collect())
    }

    /// The same with all characters, for a page that replaces those that are not printable in all of its text.
    pub(crate) fn sections(&self) -> Markup {
        let parts: Vec<&Part> = self.parts_without(Scope::Short).collect();
        let levels = parts.iter().filter_map(|part| level(part)).filter(|level| *level > 1);
        let top = levels.min().unwrap_or(2);
        let sections = parts.chunk_by(|_, next| level(next) != Some(top));
        html! { @for (i, parts) in sections.enumerate() { (section(i, top, parts)) } }
    }

    /// Links to all sections.
    pub(crate) fn contents(&self) -> Markup {
        let headings = self.parts_without(Scope::Short).filter_map(|part| match part {
            Part::Heading(2, title, Some(id)) => Some((id, title)),
            _ => None,
        });
        html! {
            nav aria-label="Contents" {
                ul { @for (id, title) in headings { li { a href={ "#" (id) } { (title) } } } }
            }
        }
    }

    /// The items below the title.
    pub fn preface(&self) -> impl Iterator<Item = &str> {
        let head = self.parts_without(Scope::Short).skip_while(|part| level(part) == Some(1));
        let items = head.map_while(|part| if let Part::Items(all) = part { Some(all) } else { None });
        items.flatten().map(|(item, _)| item.as_str())
    }
}

/// The level of a heading.
fn level(part: &Part) -> Option<usize> {
    if let Part::Heading(level, ..) = part { Some(*level) } else { None }
}

fn section(i: usize, top: usize, parts: &[&Part]) -> Markup {
    let (title, id, parts) = match parts {
        [Part::Heading(level, title, id), parts @ ..] if *level == top => (Some(title), id.clone(), parts),
        [Part::Heading(1, ..), Part::Items(_), parts @ ..] | [Part::Heading(1, ..), parts @ ..] | parts => {
            (None, None, parts)
        }
    };
    let id = id.unwrap_or_else(|| format!("section-{i}"));
    let (mut heading, mut tables) = (None, 0);
    let body = parts.iter().map(|part| match part {
        Part::Heading(_, text, _) => {
            heading = Some(text);
            html! { h3 { (text) } }
        }
        Part::Table(table) => {
            tables += 1;
            // Every table of a page has a name of its own.
            let number = if tables > 1 { format!(" ({tables})") } else { String::new() };
            let section = title.map_or_else(String::new, |title| format!("{title}: "));
            let caption = format!("{section}{}{number}", heading.map_or(table.caption(), String::as_str));
            table.html(&format!("{id}-table-{tables}"), &caption)
        }
        part => part_markup(part),
    });
    let body = html! { @for part in body { (part) } };
    let Some(title) = title else { return body };
    html! {
        section id=(id) class="part" aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            (body)
        }
    }
}

/// A part that needs nothing of what is around it.
fn part_markup(part: &Part) -> Markup {
    match part {
        // A page has charts instead of bars.
        Part::Heading(..) | Part::Table(_) | Part::Bars(_) => Markup::default(),
        Part::Finding(text) => html! { p.finding { (prose(text)) } },
        Part::Sentence(text) => html! { p { (prose(text)) } },
        Part::Items(all) => html! { ul.notes { @for (item, _) in all { li { (prose(item)) } } } },
        Part::Commands(all) => html! {
            ul.letters { @for (name, command) in all { li { b { (name) } " " code { (command) } } } }
        },
        Part::Code(text) => block(text),
        Part::Remark(text) => html! { p.faint { (prose(text)) } },
        Part::Facts(all) => facts(all),
        Part::Folded(title, other) => html! { details { summary { (title) } (other.sections()) } },
        Part::Charts(all) => html! { @for chart in all { (figure(chart)) } },
    }
}

fn facts(all: &[(String, Vec<Value>)]) -> Markup {
    let value = |value: &Value| match value {
        Value::Text(text) => html! { div { (prose(text)) } },
        Value::Code(text) => html! { div { code { (text) } } },
        Value::Block(text) => block(text),
    };
    html! {
        dl.facts {
            @for (name, values) in all { dt { (name) } dd { @for one in values { (value(one)) } } }
        }
    }
}

fn block(text: &str) -> Markup {
    html! { pre tabindex="0" { code { (text) } } }
}

/// A chart, which escapes its own text. Its label says what it shows.
fn figure(chart: &Chart) -> Markup {
    html! {
        figure id={ "chart-" (chart.name) } {
            div.scroll tabindex="0" role="region" aria-label={ "Chart: " (chart.caption.title) } {
                (PreEscaped(chart::bare(&chart.svg)))
            }
        }
    }
}

/// A sentence in which backquotes mark code.
fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! { @for (i, part) in parts.iter().enumerate() { @if i % 2 == 0 { (part) } @else { code { (part) } } } }
}

impl Table {
    /// The table in a box that scrolls, with an id that is unique on the page.
    pub fn html(&self, id: &str, caption: &str) -> Markup {
        let caption_id = format!("{id}-caption");
        html! {
            div.scroll.tall[self.is_tall] tabindex="0" role="region" aria-labelledby=(caption_id) {
                table.sortable.cell.filterable[self.has_filter] #(id) {
                    caption #(caption_id) { (caption) }
                    thead { tr { @for i in 0..self.head().len() { (head(self, i)) } } }
                    tbody { @for (i, (cells, chips)) in self.rows().zip(self.chips()).enumerate() { (row(self, i, cells, chips)) } }
                }
            }
        }
    }
}

fn head(table: &Table, i: usize) -> Markup {
    let (title, side) = &table.head()[i];
    // Several columns have this title. A screen reader says the title of the column before, which sighted readers see.
    let of = (title == INTERVAL && i > 0).then(|| &table.head()[i - 1].0);
    let lane = table.lane().filter(|_| Some(i) == table.name_column());
    html! {
        th class=[number(*side)] scope="col" { @if let Some(of) = of { span.heard { (of) ", " } } (title) }
        @if let Some(lane) = lane { th.wide scope="col" { (lane.title) (lane.axis) } }
    }
}

fn row(table: &Table, i: usize, cells: &[(String, Ink)], chips: &[Chip]) -> Markup {
    let name = table.name_column();
    let text = |k: usize, cell: &str| html! { @if table.is_code(k) { code { (cell) } } @else { (cell) } };
    html! {
        tr class=[chips.first().map(Chip::class)] {
            @for (k, ((cell, ink), (title, side))) in cells.iter().zip(table.head()).enumerate() {
                @if Some(k) == name {
                    th scope="row" { (text(k, cell)) (chips::draw(chips)) }
                    @if let Some(lane) = table.lane() { td.wide { (lane.rows[i]) } }
                } @else {
                    td class=[number(*side)] data-label=[(!title.is_empty() && !table.is_tall).then_some(title)] {
                        @match (table.drawing(i, k), ink.class().filter(|_| !cell.is_empty())) {
                            (Some(drawing), _) => { (drawing) span.words { (cell) } }
                            (None, Some(class)) => { span.state.(class) { (cell) } }
                            (None, None) => { (text(k, cell)) }
                        }
                    }
                }
            }
        }
    }
}

/// The class of a column of numbers.
fn number(side: Side) -> Option<&'static str> {
    (side == Side::Right).then_some("n")
}
