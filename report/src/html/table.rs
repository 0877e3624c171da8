//! A table of the other reports as HTML: in a box that scrolls by itself, with a caption, and to be sorted and filtered where
//! there is JavaScript.

use crate::table::{Side, Table};
use maud::{Markup, html};

/// A table and how it is shown.
pub(super) struct Shown<'a> {
    /// No other has it.
    pub id: &'a str,
    /// What it is.
    pub caption: &'a str,
    /// Its cells.
    pub table: &'a Table,
    /// A word beside the name of a row, where there is something about it; none at all: about none of them.
    pub tags: &'a [Option<&'static str>],
    /// It has so many rows that it scrolls up and down as well.
    pub is_tall: bool,
}

/// The title of a column that belongs to the one before it.
const INTERVAL: &str = "95 %";

impl Shown<'_> {
    /// The box with the table in it.
    pub fn markup(&self) -> Markup {
        let caption = format!("{}-caption", self.id);
        let name = self.table.head().iter().position(|(_, side)| *side == Side::Left);
        html! {
            div.scroll.tall[self.is_tall] tabindex="0" role="region" aria-labelledby=(caption) {
                table.sortable #(self.id) {
                    caption #(caption) { (self.caption) }
                    thead { tr { @for i in 0..self.table.head().len() { (self.title(i)) } } }
                    tbody {
                        @for (i, row) in self.table.rows().enumerate() {
                            (self.row(row, name, self.tags.get(i).copied().flatten()))
                        }
                    }
                }
            }
        }
    }

    fn title(&self, i: usize) -> Markup {
        let (title, side) = self.table.head()[i];
        // Two columns of the same title are told apart by what is before them, which is seen but not heard.
        let of = (title == INTERVAL && i > 0).then(|| self.table.head()[i - 1].0);
        html! {
            th class=[number(side == Side::Right)] scope="col" { @if let Some(of) = of { span.heard { (of) ", " } } (title) }
        }
    }

    fn row<'t>(
        &self,
        row: impl Iterator<Item = &'t str>,
        name: Option<usize>,
        tag: Option<&'static str>,
    ) -> Markup {
        let sides = self.table.head().iter().map(|(_, side)| *side == Side::Right);
        html! {
            tr class=[tag] {
                @for (i, (cell, is_number)) in row.zip(sides).enumerate() {
                    @if Some(i) == name {
                        th scope="row" { (cell) @if let Some(tag) = tag { " " span.tag { (tag) } } }
                    } @else {
                        td class=[number(is_number)] { (cell) }
                    }
                }
            }
        }
    }
}

/// The class of a column of numbers.
fn number(is_number: bool) -> Option<&'static str> {
    is_number.then_some("n")
}
