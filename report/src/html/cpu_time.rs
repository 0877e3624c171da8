//! How the servers that were sampled after the run differ in CPU time.

use super::table::Shown;
use crate::cpu_time::{HOW, TITLE, sentences, table};
use maud::{Markup, html};
use model::Findings;

pub(super) fn section(f: &Findings) -> Markup {
    if f.profiles.is_empty() {
        return Markup::default();
    }
    html! {
        section #cpu-time aria-labelledby="cpu-time-title" {
            h2 #cpu-time-title { (TITLE) }
            @for sentence in sentences(f) { p { (sentence) } }
            @if let Some(table) = table(f) {
                p.asked { (HOW) }
                (Shown {
                    id: "cpu-time-parts",
                    caption: "The largest parts of the differences",
                    table: &table,
                    chips: &[],
                    has_filter: false,
                    is_tall: false,
                }.markup())
            }
        }
    }
}
