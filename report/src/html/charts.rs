//! The charts of a run, each in its section. Charts escape their own text, and their labels state what they show.

use crate::RunReport;
use crate::chart::{self, Chart};
use maud::{Markup, PreEscaped, html};

/// All charts of a run.
pub(super) struct Charts(Vec<Chart>);

impl Charts {
    pub fn of(told: &RunReport) -> Self {
        Self(chart::of(told))
    }

    /// The charts of the cell with this index, except the one with the page's figures.
    pub fn of_cell(&self, i: usize) -> Markup {
        let names = ["ranked", "scatter", "percentiles", "course"].map(|kind| named(kind, i));
        self.those(|name| names.iter().any(|one| one == name))
    }

    /// The chart of the published and the measured figures of the cell with this index.
    pub fn published(&self, i: usize) -> Markup {
        self.those(|name| name == named("published", i))
    }

    /// The charts that cover more than one cell.
    pub fn of_all(&self) -> Markup {
        self.those(|name| name.starts_with("heat") || name.starts_with("load-"))
    }

    fn those(&self, is_one: impl Fn(&str) -> bool) -> Markup {
        html! { @for chart in self.0.iter().filter(|chart| is_one(&chart.name)) { (figure(chart)) } }
    }
}

fn named(kind: &str, i: usize) -> String {
    format!("{kind}-{}", i + 1)
}

fn figure(chart: &Chart) -> Markup {
    html! {
        figure id={ "chart-" (chart.name) } {
            div.scroll tabindex="0" role="region" aria-label={ "Chart: " (chart.caption.title) } {
                (PreEscaped(chart::bare(&chart.svg)))
            }
        }
    }
}
