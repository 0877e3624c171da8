//! The section of a run's page about CPU time: how the contenders differ in sentences, and the most expensive functions of each.

use super::error_page::ErrorPage;
use super::url;
use crate::stored::{counted, profiles};
use maud::{Markup, html};
use profile::{FrameCost, StoredDifference, StoredProfile};
use report::table::Table;
use report::units;
use store::Store;

/// The largest number of functions of a contender, and of differences.
const MOST_ROWS: usize = 6;

/// The profile of one contender.
#[derive(Debug)]
pub struct RunProfile {
    /// The contender's name; in a race its letter.
    pub name: String,
    /// What is stored; `None`: this drome can't read it.
    pub stored: Option<StoredProfile>,
}

/// The profiles that a run has.
pub fn of_run(store: &Store, run: &str) -> Result<Vec<RunProfile>, ErrorPage> {
    let all = store.profiles(run)?.into_iter();
    Ok(all.map(|(name, json)| RunProfile { name, stored: profiles::read(&json) }).collect())
}

/// What to call a contender: `A, old`.
pub fn title(name: &str, stored: &StoredProfile) -> String {
    if stored.title == name { name.to_owned() } else { format!("{name}, {}", stored.title) }
}

/// The address of a contender's flame graph.
pub fn flame_graph(run: &str, name: &str) -> String {
    format!("/runs/{}/flame/{}", url::part(run), url::part(name))
}

/// The section; nothing for a run without profiles.
pub fn section(run: &str, profiles: &[RunProfile]) -> Markup {
    let differences: Vec<(&str, &StoredDifference)> = profiles
        .iter()
        .filter_map(|of| Some((of.name.as_str(), of.stored.as_ref()?.difference.as_ref()?)))
        .collect();
    html! {
        @if !profiles.is_empty() {
            section.card aria-labelledby="cpu-time" {
                h2 id="cpu-time" { "Where the CPU time goes" }
                @for (_, difference) in &differences { p.finding { (difference.sentence) } }
                p.faint { "Sampled under the same load in one more start of each server, whose answers are in no other figure." }
                div.functions { @for (i, of) in profiles.iter().enumerate() { (one(run, i, of)) } }
                @for (i, (name, difference)) in differences.iter().enumerate() { (changes(i, name, difference)) }
            }
        }
    }
}

/// The most expensive functions of a contender.
fn one(run: &str, i: usize, of: &RunProfile) -> Markup {
    let Some(stored) = &of.stored else {
        return html! { p.note { "The profile of " (of.name) " can't be read: it is damaged, or a newer drome wrote it." } };
    };
    let title = title(&of.name, stored);
    let caption = format!("Functions of {title} with the most CPU time in themselves");
    let counted = counted::per_answer(&stored.counters, stored.work.answers);
    html! {
        div {
            h3 { (title) }
            p.faint { (stored.summary) }
            @if !counted.is_empty() { p.faint { "Per answer: " (counted.join(", ")) "." } }
            @if stored.top.is_empty() { p { "No CPU time per answer is known." } } @else {
                (functions(stored).html(&format!("functions-{i}"), &caption))
                p { a.button href=(flame_graph(run, &of.name)) { "Flame graph of " (of.name) } }
            }
        }
    }
}

fn functions(stored: &StoredProfile) -> Table {
    let share = |cost: &FrameCost| cost.self_samples as f64 / stored.samples.max(1) as f64;
    Table::of(stored.top.iter().take(MOST_ROWS))
        .text("Function", |cost| cost.frame.clone())
        .code()
        .number("Per answer", |cost| units::duration(cost.self_ns_per_answer))
        .number("Share", |cost| units::percent(share(cost)))
        .table()
}

/// The functions whose own CPU time differs most.
fn changes(i: usize, name: &str, difference: &StoredDifference) -> Markup {
    let against = difference.against.as_str();
    let table = Table::of(difference.by_self.iter().take(MOST_ROWS))
        .text("Function", |row| row.frame.clone())
        .code()
        .number(against, |row| units::duration(row.change.a_ns_per_answer))
        .number(name, |row| units::duration(row.change.b_ns_per_answer))
        .number("Change", |row| units::signed(row.change.difference_ns))
        .table();
    let caption = format!("Own CPU time per answer of {against} and of {name}");
    html! {
        @if !difference.by_self.is_empty() {
            details {
                summary { "Functions in which " (name) " differs most from " (against) }
                div.functions { (table.html(&format!("changes-{i}"), &caption)) }
            }
        }
    }
}

#[cfg(test)]
#[path = "profiles/tests.rs"]
mod tests;
