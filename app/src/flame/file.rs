//! Flame graphs as files that need nothing else: the picture of the local page with its script and its style. Programs that only draw the
//! picture leave the search out. Equal profiles give equal files.

use super::{Graph, SCRIPT, View};
use maud::{PreEscaped, html};
use model::text::printable;
use profile::{CallTree, ProfileError, Report, Side};

/// Calls with less than this share of all CPU time are not drawn.
const LEAST_SHARE: f64 = 0.0001;

/// Where the boxes begin, in pixels. Above them are the title, how to read the picture, and the search.
const TOP: usize = 130;

/// The width in programs that don't fit it to their window, in pixels.
const WIDTH: usize = 1200;

const STYLE: &str = concat!(
    include_str!("../ui/pages/assets/palette.css"),
    include_str!("file.css"),
    include_str!("flame.css")
);

/// The flame graph of a profile.
///
/// # Errors
/// Without samples there is nothing to draw.
pub fn picture_alone(report: &Report, title: &str) -> Result<String, ProfileError> {
    let tree = CallTree::of(&report.profile, LEAST_SHARE);
    let graph = Graph {
        title,
        tree: &tree,
        cpu_ns_per_answer: report.profile.ns_per_answer(&report.work),
        changes_ns: None,
        least_share: LEAST_SHARE,
    };
    let about = "width: CPU time; yellow: kernel, green: compiled at run time, blue: all other code";
    if tree.samples() == 0 { Err(ProfileError::Empty) } else { Ok(write(&graph, about)) }
}

/// How B differs from A, as the flame graph of B: red functions take more CPU time per answer themselves than in A, blue ones less.
/// Functions that only A calls are not in it; swap A and B to see them.
///
/// # Errors
/// When one of the two has no samples or no answers.
pub fn difference(a: &Side<'_>, b: &Side<'_>, title: &str) -> Result<String, ProfileError> {
    let tree = CallTree::of(b.profile, LEAST_SHARE);
    let changes_ns = tree.changes_ns(a, b).ok_or(ProfileError::Empty)?;
    let graph = Graph {
        title,
        tree: &tree,
        cpu_ns_per_answer: b.profile.ns_per_answer(&b.work),
        changes_ns: Some(&changes_ns),
        least_share: LEAST_SHARE,
    };
    let about = format!("width: CPU time per answer of {}; red: more than in {}, blue: less", b.name, a.name);
    Ok(write(&graph, &about))
}

fn write(graph: &Graph<'_>, about: &str) -> String {
    let height = TOP + graph.height();
    // In a browser it is as wide as the window.
    let script =
        format!("<![CDATA[\ndocument.documentElement.setAttribute(\"width\", \"100%\");\n{SCRIPT}]]>");
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height) {
            style { (PreEscaped(STYLE)) }
            rect.paper width="100%" height="100%" {}
            text.title x="50%" y="28" { (graph.title) }
            text x="50%" y="48" { (about) }
            foreignObject x="8" y="58" width="98%" height=(TOP - 62) {
                div xmlns="http://www.w3.org/1999/xhtml" {
                    form data-flame-search="" {
                        label { "Search " (PreEscaped("<input type=\"search\"/>")) }
                        " "
                        button type="button" data-flame-reset="" { "Reset" }
                        " "
                        span aria-live="polite" data-flame-matched="" {}
                    }
                    p data-flame-here="" { (graph.words_of_zoomed(&View::default())) }
                    p.unseen aria-live="polite" data-flame-zoomed="" {}
                }
            }
            svg y=(TOP) { (graph.draw(&View::default(), |_| None)) }
            script { (PreEscaped(script)) }
        }
    };
    // Some of the characters that act instead of being shown are none of XML's.
    picture.into_string().chars().map(printable).chain(['\n']).collect()
}
