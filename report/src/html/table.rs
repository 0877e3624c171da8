//! A table as HTML: in a scrollable box, with a caption, and with sorting and filtering if JavaScript is on.

use crate::chips::{self, Chip};
use crate::table::{Side, Table};
use maud::{Markup, html};

/// A table and how it is shown.
pub(super) struct Shown<'a> {
    /// An id that is unique on the page.
    pub id: &'a str,
    /// The caption.
    pub caption: &'a str,
    /// The cells.
    pub table: &'a Table,
    /// The chips beside the name of each row; may be empty if no row has any.
    pub chips: &'a [Vec<Chip>],
    /// Whether its rows can be filtered.
    pub has_filter: bool,
    /// Whether it has so many rows that it scrolls vertically too.
    pub is_tall: bool,
}

/// The title of a column that belongs to the column before it.
const INTERVAL: &str = "95 %";

impl Shown<'_> {
    /// The box with the table in it.
    pub fn markup(&self) -> Markup {
        let caption = format!("{}-caption", self.id);
        let name = self.table.name_column();
        html! {
            div.scroll.tall[self.is_tall] tabindex="0" role="region" aria-labelledby=(caption) {
                table.sortable.filterable[self.has_filter] #(self.id) {
                    caption #(caption) { (self.caption) }
                    thead { tr { @for i in 0..self.table.head().len() { (self.title(i)) } } }
                    tbody {
                        @for (i, row) in self.table.rows().enumerate() {
                            (self.row(row, name, self.chips.get(i).map_or(&[][..], Vec::as_slice)))
                        }
                    }
                }
            }
        }
    }

    fn title(&self, i: usize) -> Markup {
        let (title, side) = self.table.head()[i];
        // Several columns have this title. A screen reader says the title of the column before, which sighted readers see.
        let of = (title == INTERVAL && i > 0).then(|| self.table.head()[i - 1].0);
        html! {
            th class=[number(side == Side::Right)] scope="col" { @if let Some(of) = of { span.heard { (of) ", " } } (title) }
        }
    }

    fn row<'t>(&self, row: impl Iterator<Item = &'t str>, name: Option<usize>, chips: &[Chip]) -> Markup {
        let sides = self.table.head().iter().map(|(_, side)| *side == Side::Right);
        html! {
            tr class=[chips.first().map(Chip::class)] {
                @for (i, (cell, is_number)) in row.zip(sides).enumerate() {
                    @if Some(i) == name {
                        th scope="row" { (cell) (chips::draw(chips)) }
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
