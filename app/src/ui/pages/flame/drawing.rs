//! Draws a flame graph as SVG within a page: a box for each call, below that of its caller, as wide as its share of the CPU time. Pure.
//! Places are percentages, so that it fits any window.

use super::super::url;
use maud::{Markup, html};
use profile::{Call, CallTree};
use report::units;

/// The height of a box with the gap below it, in pixels.
const ROW: usize = 20;

/// Calls with less than this share of all CPU time are not drawn.
pub const LEAST_SHARE: f64 = 0.001;

/// The part of a graph that is shown, and what is marked in it.
#[derive(Clone, Copy, Debug)]
pub struct View<'v> {
    /// The call that is as wide as the picture, by its number in the tree. All but its callers and the calls inside it are hidden. The
    /// number of a call that is not drawn counts as 0, the root.
    pub zoomed: usize,
    /// Functions whose names contain this are marked, whether in capitals or not. Empty: none is marked.
    pub sought: &'v str,
}

/// Where a box is, in percent of the width of the picture.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    left: f64,
    width: f64,
}

/// The picture. `cpu_ns_per_answer`: all CPU time, if it is known. `title`: what it shows.
pub fn draw(tree: &CallTree, cpu_ns_per_answer: Option<f64>, title: &str, view: &View<'_>) -> Markup {
    let zoomed = zoomed(tree, view);
    let places = places(tree.calls(), zoomed);
    let drawn = || tree.calls().iter().enumerate().filter(move |(_, call)| is_drawn(tree, call));
    let rows = drawn().map(|(_, call)| call.depth + 1).max().unwrap_or(1);
    let found = Sought::of(view.sought);
    html! {
        svg.flame width="100%" height=(rows * ROW) role="tree" aria-label=(title) data-flame="" {
            @for (at, call) in drawn() {
                a.frame.(kind(call)).found[found.is_in(&call.frame)] href=(link(at, view.sought)) role="treeitem"
                    aria-level=(call.depth + 1) aria-label={ (call.frame) ", " (figures(tree, call, cpu_ns_per_answer)) }
                    data-before=(call.samples_before) data-total=(call.total_samples)
                    tabindex=(if at == zoomed { "0" } else { "-1" }) hidden[places[at].is_none()] {
                    (shape(tree, call, cpu_ns_per_answer, places[at].unwrap_or_default()))
                }
            }
        }
    }
}

/// The box itself. What does not fit into it is cut off; the tooltip has the whole name.
fn shape(tree: &CallTree, call: &Call, cpu_ns_per_answer: Option<f64>, place: Place) -> Markup {
    html! {
        title { (call.frame) "\n" (figures(tree, call, cpu_ns_per_answer)) }
        svg x=(percent(place.left)) y=(call.depth * ROW) width=(percent(place.width)) height=(ROW - 1) aria-hidden="true" {
            rect width="100%" height="100%" {}
            text x="4" y="14" { (call.frame) }
        }
    }
}

/// The function that is as wide as the picture, with its figures.
pub fn words_of_zoomed(tree: &CallTree, cpu_ns_per_answer: Option<f64>, view: &View<'_>) -> String {
    let call = tree.calls().get(zoomed(tree, view));
    call.map(|call| format!("{}, {}", call.frame, figures(tree, call, cpu_ns_per_answer))).unwrap_or_default()
}

/// The share of the CPU time in functions that match the search, as a sentence; empty without a search.
pub fn matched(tree: &CallTree, sought: &str) -> String {
    if sought.is_empty() {
        return String::new();
    }
    let found = Sought::of(sought);
    match tree.samples_in(|frame| found.is_in(frame)) {
        0 => format!("No function in this graph matches “{sought}”."),
        samples => {
            let share = units::percent(share(tree, samples));
            format!("{share} of the CPU time is in functions that match “{sought}” and in what they call.")
        }
    }
}

/// The text of the search, in lower case.
struct Sought(String);

impl Sought {
    fn of(sought: &str) -> Self {
        Self(sought.to_lowercase())
    }

    fn is_in(&self, frame: &str) -> bool {
        !self.0.is_empty() && frame.to_lowercase().contains(&self.0)
    }
}

fn share(tree: &CallTree, samples: u64) -> f64 {
    samples as f64 / tree.samples().max(1) as f64
}

fn is_drawn(tree: &CallTree, call: &Call) -> bool {
    call.depth == 0 || (call.total_samples > 0 && share(tree, call.total_samples) >= LEAST_SHARE)
}

/// The number of the call that is as wide as the picture.
fn zoomed(tree: &CallTree, view: &View<'_>) -> usize {
    let call = tree.calls().get(view.zoomed);
    call.filter(|call| is_drawn(tree, call)).map_or(0, |_| view.zoomed)
}

/// Where each call is; `None`: it is hidden.
fn places(calls: &[Call], zoomed: usize) -> Vec<Option<Place>> {
    let mut places = vec![None; calls.len()];
    let Some(whole) = calls.get(zoomed) else { return places };
    places[zoomed] = Some(Place { left: 0.0, width: 100.0 });
    // Its callers are before it, each the latest with a smaller depth, and as wide.
    let mut depth = whole.depth;
    for (at, call) in calls.iter().enumerate().take(zoomed).rev() {
        if call.depth < depth {
            depth = call.depth;
            places[at] = places[zoomed];
        }
    }
    let samples = whole.total_samples.max(1) as f64;
    let inside = calls.iter().enumerate().skip(zoomed + 1).take_while(|(_, call)| call.depth > whole.depth);
    for (at, call) in inside {
        let before = call.samples_before.saturating_sub(whole.samples_before);
        places[at] = Some(Place {
            left: 100.0 * before as f64 / samples,
            width: 100.0 * call.total_samples as f64 / samples,
        });
    }
    places
}

/// The class by which a box is coloured: the profile marks the kernel's functions and those compiled at run time.
fn kind(call: &Call) -> &'static str {
    match call.frame.as_str() {
        frame if frame.ends_with("_[k]") => "kernel",
        frame if frame.ends_with("_[j]") => "jit",
        _ => "user",
    }
}

/// The same page with this call as wide as the picture.
fn link(at: usize, sought: &str) -> String {
    let search = if sought.is_empty() { String::new() } else { format!("&q={}", url::part(sought)) };
    format!("?frame={at}{search}")
}

/// `12.3 % of CPU time, 4.56 µs per answer`
fn figures(tree: &CallTree, call: &Call, cpu_ns_per_answer: Option<f64>) -> String {
    let share = share(tree, call.total_samples);
    let of_all = format!("{} of CPU time", units::percent(share));
    match cpu_ns_per_answer {
        Some(ns) => format!("{of_all}, {} per answer", units::duration(ns * share)),
        None => of_all,
    }
}

fn percent(place: f64) -> String {
    format!("{place:.4}%")
}
