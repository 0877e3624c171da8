//! The charts of a cell within the page. This is the only place that knows how charts are made.

use crate::chart::ranked;
use maud::{Markup, PreEscaped, html};
use model::findings::CellFindings;

/// A drawing with its words.
struct Drawn {
    finding: String,
    svg: String,
}

/// All charts of a cell; none where nobody has a figure.
pub(super) fn of_cell(id: &str, cell: &CellFindings) -> Markup {
    if cell.contenders.iter().all(|c| c.rate_per_s.is_none()) {
        return Markup::default();
    }
    let ranked = ranked::of_cell(cell);
    let drawn = [Drawn { finding: ranked.caption.finding.clone(), svg: ranked.svg() }];
    html! { @for (i, one) in drawn.iter().enumerate() { (figure(&format!("{id}-chart-{}", i + 1), one)) } }
}

fn figure(id: &str, drawn: &Drawn) -> Markup {
    html! {
        figure #(id) {
            div.scroll tabindex="0" role="region" aria-labelledby={ (id) "-words" } { (PreEscaped(alone(id, &drawn.svg))) }
            figcaption id={ (id) "-words" } { (drawn.finding) }
        }
    }
}

/// A drawing among others: what it calls by an id of its own gets one that no other drawing has.
fn alone(prefix: &str, svg: &str) -> String {
    let ids: Vec<&str> = svg.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let mut out = svg.to_owned();
    for id in ids {
        for (before, after) in
            [(" id=\"", "\""), ("url(#", ")"), ("href=\"#", "\""), ("aria-labelledby=\"", "\"")]
        {
            out = out.replace(&format!("{before}{id}{after}"), &format!("{before}{prefix}-{id}{after}"));
        }
    }
    out
}
