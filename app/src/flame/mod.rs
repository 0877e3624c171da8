//! Flame graphs as SVG, for the local page and for files: a box for each call, below that of its caller, as wide as its share of the CPU
//! time. Pure. Places are percentages, so that it fits any window.

pub mod file;

use maud::{Markup, html};
use profile::{Call, CallTree};
use report::units;

/// Zoom, search and the keyboard, in a page and in a file.
pub const SCRIPT: &str = include_str!("flame.js");

/// The height of a box with the gap below it, in pixels.
const ROW: usize = 20;

/// What a flame graph shows.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'g> {
    pub title: &'g str,
    pub tree: &'g CallTree,
    /// All CPU time, if it is known.
    pub cpu_ns_per_answer: Option<f64>,
    /// How much more CPU time per answer each call takes itself than in another profile, in nanoseconds; `None`: there is no other.
    pub changes_ns: Option<&'g [f64]>,
    /// Calls with less than this share of all CPU time are not drawn.
    pub least_share: f64,
}

/// The part of a graph that is shown, and what is marked in it.
#[derive(Clone, Copy, Debug, Default)]
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

impl Graph<'_> {
    /// The picture. `link`: where a box leads when there are no scripts, by its number.
    pub fn draw(&self, view: &View<'_>, link: impl Fn(usize) -> Option<String>) -> Markup {
        let zoomed = self.zoomed(view);
        let places = places(self.tree.calls(), zoomed);
        let found = Sought::of(view.sought);
        let largest_ns =
            self.changes_ns.unwrap_or_default().iter().fold(0.0_f64, |most, ns| most.max(ns.abs()));
        html! {
            svg.flame width="100%" height=(self.height()) role="tree" aria-label=(self.title) data-flame="" {
                @for (at, call) in self.drawn() {
                    @let figures = self.figures(at, call);
                    a.frame.(self.kind(at, call)).found[found.is_in(&call.frame)] href=[link(at)] role="treeitem"
                        aria-level=(call.depth + 1) aria-label={ (call.frame) ", " (figures) }
                        data-before=(call.samples_before) data-total=(call.total_samples)
                        tabindex=(if at == zoomed { "0" } else { "-1" }) hidden=[places[at].is_none().then_some("")] {
                        title { (call.frame) "\n" (figures) }
                        (self.shape(at, call, places[at].unwrap_or_default(), largest_ns))
                    }
                }
            }
        }
    }

    /// The height of the picture, in pixels.
    fn height(&self) -> usize {
        ROW * self.drawn().map(|(_, call)| call.depth + 1).max().unwrap_or(1)
    }

    /// The box itself. What does not fit into it is cut off; the tooltip has the whole name.
    fn shape(&self, at: usize, call: &Call, place: Place, largest_ns: f64) -> Markup {
        // The largest change has the strongest colour, on which text can still be read.
        let strength = self
            .change_ns(at)
            .map(|ns| format!("{:.3}", 0.55 * ns.abs() / largest_ns.max(f64::MIN_POSITIVE)));
        html! {
            svg x=(percent(place.left)) y=(call.depth * ROW) width=(percent(place.width)) height=(ROW - 1) aria-hidden="true" {
                rect width="100%" height="100%" fill-opacity=[strength] {}
                text x="4" y="14" { (call.frame) }
            }
        }
    }

    /// The function that is as wide as the picture, with its figures.
    pub fn words_of_zoomed(&self, view: &View<'_>) -> String {
        let zoomed = self.zoomed(view);
        let call = self.tree.calls().get(zoomed);
        call.map(|call| format!("{}, {}", call.frame, self.figures(zoomed, call))).unwrap_or_default()
    }

    /// The share of the CPU time in functions that match the search, as a sentence; empty without a search.
    pub fn matched(&self, sought: &str) -> String {
        if sought.is_empty() {
            return String::new();
        }
        let found = Sought::of(sought);
        match self.tree.samples_in(|frame| found.is_in(frame)) {
            0 => format!("No function in this graph matches “{sought}”."),
            samples => {
                let share = units::percent(self.share(samples));
                format!(
                    "{share} of the CPU time is in functions that match “{sought}” and in what they call."
                )
            }
        }
    }

    fn share(&self, samples: u64) -> f64 {
        samples as f64 / self.tree.samples().max(1) as f64
    }

    fn is_drawn(&self, call: &Call) -> bool {
        call.depth == 0 || (call.total_samples > 0 && self.share(call.total_samples) >= self.least_share)
    }

    /// The calls that are drawn, with their numbers.
    fn drawn(&self) -> impl Iterator<Item = (usize, &Call)> {
        self.tree.calls().iter().enumerate().filter(|(_, call)| self.is_drawn(call))
    }

    /// The number of the call that is as wide as the picture.
    fn zoomed(&self, view: &View<'_>) -> usize {
        let call = self.tree.calls().get(view.zoomed);
        call.filter(|call| self.is_drawn(call)).map_or(0, |_| view.zoomed)
    }

    /// The class by which a box is coloured: the profile marks the kernel's functions and those compiled at run time.
    fn kind(&self, at: usize, call: &Call) -> &'static str {
        match (self.change_ns(at), call.frame.as_str()) {
            (Some(ns), _) if ns > 0.0 => "more",
            (Some(_), _) => "less",
            (None, frame) if frame.ends_with("_[k]") => "kernel",
            (None, frame) if frame.ends_with("_[j]") => "jit",
            (None, _) => "user",
        }
    }

    fn change_ns(&self, at: usize) -> Option<f64> {
        self.changes_ns?.get(at).copied()
    }

    /// `12.3 % of CPU time, 4.56 µs per answer`, and for a difference `, +1.23 µs in itself`.
    fn figures(&self, at: usize, call: &Call) -> String {
        let share = self.share(call.total_samples);
        let mut figures = format!("{} of CPU time", units::percent(share));
        if let Some(ns) = self.cpu_ns_per_answer {
            figures.push_str(&format!(", {} per answer", units::duration(ns * share)));
        }
        if let Some(ns) = self.change_ns(at) {
            figures.push_str(&format!(", {} in itself", units::signed(ns)));
        }
        figures
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

fn percent(place: f64) -> String {
    format!("{place:.4}%")
}

#[cfg(test)]
mod tests;
