//! Flame graphs: one profile, or the difference of two, as an SVG that can be zoomed and searched. Equal profiles give equal files.

use crate::cost::PerSample;
use crate::difference::Side;
use crate::error::ProfileError;
use crate::stacks::Profile;
use inferno::flamegraph::color::{BackgroundColor, Color, MultiPalette};
use inferno::flamegraph::{self, Options, Palette};
use std::collections::BTreeSet;
use std::io;

/// Colours for a browser in dark mode. The frames keep their own, because their text is black.
const DARK: &str = "@media (prefers-color-scheme: dark) { #background stop { stop-color: #16181d; } \
                    #title, #subtitle, #details, #unzoom, #search, #matched { fill: #e6e6e6; } }\n";

/// The background in light mode.
const LIGHT: Color = Color { r: 255, g: 255, b: 255 };

/// The largest CPU time per answer that can be drawn, in nanoseconds: the library multiplies whole numbers of picoseconds by 150, which
/// must not overflow.
const MOST_NS: f64 = 1e12;

/// The flame graph of a profile. The width of a frame is CPU time; each is as wide as its share of all samples.
///
/// # Errors
/// Without samples there is nothing to draw.
pub fn graph(profile: &Profile, title: &str) -> Result<String, ProfileError> {
    let lines: Vec<String> =
        profile.stacks.iter().map(|(stack, count)| format!("{} {count}", joined(stack))).collect();
    let mut options = options(title);
    options.subtitle =
        Some("orange: kernel, green: compiled at run time, yellow: C++ and Rust, red: others".to_owned());
    options.colors = Palette::Multi(MultiPalette::Java);
    options.deterministic = true;
    if profile.period_ns > 0 {
        "ms of CPU time".clone_into(&mut options.count_name);
        options.factor = profile.period_ns as f64 / 1e6;
    }
    draw(&lines, options)
}

/// How B differs from A, as the flame graph of B: the width of a frame is CPU time per answer of B; red frames take more of it than in A,
/// blue ones less. Functions that only A calls are not in it; swap A and B to see them.
///
/// # Errors
/// When one of the two has no samples or no answers, or an answer takes more than a thousand seconds.
pub fn difference(a: &Side<'_>, b: &Side<'_>, title: &str) -> Result<String, ProfileError> {
    let a_ns = PerSample::of(a.profile, &a.work).ok_or(ProfileError::Empty)?.ns;
    let b_ns = PerSample::of(b.profile, &b.work).ok_or(ProfileError::Empty)?.ns;
    let whole_ns = (a.profile.total() as f64 * a_ns).max(b.profile.total() as f64 * b_ns);
    if whole_ns.is_nan() || whole_ns > MOST_NS {
        return Err(ProfileError::Drawing(io::Error::other("an answer takes more than a thousand seconds")));
    }
    let stacks: BTreeSet<&Vec<String>> = a.profile.stacks.keys().chain(b.profile.stacks.keys()).collect();
    let line = |stack: &Vec<String>| {
        let picoseconds = |profile: &Profile, ns: f64| {
            let count = profile.stacks.get(stack).copied().unwrap_or(0);
            (count as f64 * ns * 1e3).round() as u64
        };
        let (of_a, of_b) = (picoseconds(a.profile, a_ns), picoseconds(b.profile, b_ns));
        format!("{} {of_a} {of_b}", joined(stack))
    };
    let lines: Vec<String> = stacks.into_iter().map(line).collect();
    let mut options = options(title);
    options.subtitle = Some(format!("width: {} per answer; red: more than {}, blue: less", b.name, a.name));
    "ns of CPU time per answer".clone_into(&mut options.count_name);
    options.factor = 1e-3;
    draw(&lines, options)
}

/// The names of a stack, for a line that the library reads. The library would take a number at the end of a name for a second count, so the
/// space before such a number is replaced by a non-breaking one.
fn joined(stack: &[String]) -> String {
    let names = stack.join(";");
    match names.rsplit_once(' ') {
        Some((names, number)) if number.chars().all(|c| c.is_ascii_digit() || c == '.') => {
            format!("{names}\u{a0}{number}")
        }
        _ => names,
    }
}

fn options(title: &str) -> Options<'static> {
    let mut options = Options::default();
    title.clone_into(&mut options.title);
    options.bgcolors = Some(BackgroundColor::Flat(LIGHT));
    options
}

fn draw(lines: &[String], mut options: Options<'_>) -> Result<String, ProfileError> {
    // What has no count at all would only make the library complain.
    if lines.iter().all(|line| line.ends_with(" 0")) {
        return Err(ProfileError::Empty);
    }
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
        .map_err(ProfileError::Drawing)?;
    let svg = String::from_utf8_lossy(&svg);
    Ok(svg.replacen("</style>", &format!("{DARK}</style>"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Work;

    const A: &str = "# period_ns=1000000\nmain;handle;write_[k] 60\nmain;handle;<a & b>::parse 40\n";

    fn profile(text: &str) -> Profile {
        Profile::from_folded(text).unwrap()
    }

    fn assert_well_formed(svg: &str) {
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let tree = roxmltree::Document::parse_with_options(svg, options).unwrap();
        assert_eq!(tree.root_element().tag_name().name(), "svg");
        assert!(
            !svg.contains("href=\"http") && !svg.contains("@import") && !svg.contains("src="),
            "self-contained"
        );
    }

    #[test]
    fn a_flame_graph_is_well_formed_and_has_every_frame() {
        let svg = graph(&profile(A), "nginx & co").unwrap();
        assert_well_formed(&svg);
        for text in [
            "nginx &amp; co",
            "handle",
            "write",
            "&lt;a &amp; b&gt;::parse",
            "ms of CPU time",
            "prefers-color-scheme",
        ] {
            assert!(svg.contains(text), "no {text} in\n{svg}");
        }
        assert_eq!(svg, graph(&profile(A), "nginx & co").unwrap(), "the same each time");
    }

    #[test]
    fn a_difference_is_red_where_b_takes_more() {
        let b = profile(&A.replace("write_[k] 60", "write_[k] 90"));
        let a = profile(A);
        let work = Work { answers: 100, cpu_ns: None };
        let (a, b) = (Side { name: "old", profile: &a, work }, Side { name: "new", profile: &b, work });
        let svg = difference(&a, &b, "old and new").unwrap();
        assert_well_formed(&svg);
        assert!(svg.contains("rgb(255,100,100)"), "the largest increase is the reddest: {svg}");
        assert!(svg.contains("red: more than old"), "{svg}");
        let svg = difference(&b, &a, "new and old").unwrap();
        assert!(svg.contains("rgb(100,100,255)") && !svg.contains("rgb(255,100,100)"), "{svg}");
    }

    #[test]
    fn a_name_may_end_in_a_number() {
        let svg = graph(&profile("main;case 5 70\nmain;case 6 30\n"), "numbers").unwrap();
        assert_well_formed(&svg);
        assert!(svg.contains("case\u{a0}5 (70 samples, 70.00%)"), "{svg}");
    }

    #[test]
    fn hostile_figures_are_an_error() {
        let profile = profile(&format!("# period_ns={}\nmain 200000000000000\n", u64::MAX));
        let side = Side { name: "a", profile: &profile, work: Work { answers: 1, cpu_ns: None } };
        assert!(matches!(difference(&side, &side, "t"), Err(ProfileError::Drawing(_))));
        assert_well_formed(&graph(&profile, "t").unwrap());
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(matches!(graph(&Profile::default(), "a"), Err(ProfileError::Empty)));
        assert!(matches!(graph(&profile("main 0"), "a"), Err(ProfileError::Empty)));
        let (empty, a) = (Profile::default(), profile(A));
        let work = Work { answers: 1, cpu_ns: None };
        let (empty, a) = (Side { name: "a", profile: &empty, work }, Side { name: "b", profile: &a, work });
        assert!(matches!(difference(&empty, &a, "t"), Err(ProfileError::Empty)));
    }
}
