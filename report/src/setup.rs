//! How the contenders of a run were set up, which decides whether a comparison is fair.

use crate::table::{Side, Table};
use crate::{markdown_text as md, units};
use model::Findings;

/// A section of the Markdown report; empty if nothing is known about any contender.
pub fn section(f: &Findings) -> String {
    let (table, is_known) = table(f);
    let mut advice: Vec<String> = faults(f).collect();
    for entrant in f.entrants.values().filter(|entrant| entrant.missing.is_none()) {
        if let Some(because) = &entrant.because {
            advice.push(format!("{}: {because}", entrant.title));
        }
    }
    if !is_known && advice.is_empty() {
        return String::new();
    }
    let gap = if advice.is_empty() { "" } else { "\n" };
    format!("\n## How each contender was set up\n\n{}{gap}{}", table.markdown(), md::items(&advice))
}

/// The settings of all contenders that take part, and whether any setting is known.
pub fn table(f: &Findings) -> (Table, bool) {
    let mut table = Table::new(&[
        ("contender", Side::Left),
        ("track", Side::Left),
        ("keep-alive", Side::Left),
        ("logging", Side::Left),
        ("workers", Side::Left),
        ("caching", Side::Left),
    ]);
    let mut is_known = false;
    for entrant in f.entrants.values().filter(|entrant| entrant.missing.is_none()) {
        let settings = entrant.settings.all().map(|(_, value)| value);
        is_known |= settings.iter().any(Option::is_some);
        let words = settings.map(|value| value.unwrap_or(units::UNKNOWN).to_owned());
        let who = [entrant.title.clone(), entrant.track.word().to_owned()];
        table.row(who.into_iter().chain(words).collect());
    }
    (table, is_known)
}

/// The known faults of the contenders that take part.
pub fn faults(f: &Findings) -> impl Iterator<Item = String> {
    let present = f.entrants.values().filter(|entrant| entrant.missing.is_none());
    present.filter_map(|entrant| {
        let fault = entrant.faults.fragments.as_ref()?;
        Some(format!("{}, known fault: {fault}", entrant.title))
    })
}
