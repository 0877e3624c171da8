//! What only the page of a race has: which letter stands for which command.

use maud::{Markup, html};
use model::Findings;
use report::race;

/// The contenders by letter, each with its label and its command, image or URL. Nothing for a study.
pub fn letters(f: &Findings) -> Markup {
    let cell = f.cells.first().filter(|_| f.race.is_some());
    html! {
        @if let Some(cell) = cell {
            ul.letters aria-label="Contenders" {
                @for c in race::by_letter(cell) {
                    @let (label, command) = race::labelled(f, c);
                    li { b { (label) } " " code { (command) } }
                }
            }
        }
    }
}
