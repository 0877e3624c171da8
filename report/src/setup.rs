//! How the contenders of a run were set up, which decides whether a comparison is fair.

use crate::document::Document;
use crate::table::Table;
use crate::text_style::Ink;
use model::Findings;
use model::run::Entrant;

/// The settings, the known faults, and the reasons for tuning; a terminal shows only the faults. Empty if nothing is known.
pub(crate) fn document(f: &Findings) -> Document {
    let of = |words: fn(&Entrant) -> Option<String>| present(f).filter_map(words).collect::<Vec<_>>();
    let faults = of(|e| Some(format!("{}, known fault: {}", e.title, e.faults.fragments.as_ref()?)));
    let reasons = of(|e| Some(format!("{}: {}", e.title, e.because.as_ref()?)));
    let settings = table(f);
    if settings.is_none() && faults.is_empty() && reasons.is_empty() {
        return Document::default();
    }
    let has_faults = !faults.is_empty();
    let document = Document::default()
        .heading(2, "How each contender was set up")
        .details(settings.into_iter().fold(Document::default(), Document::table))
        .painted_items(faults.into_iter().map(|fault| (fault, Ink::Doubt)))
        .details(Document::default().items(reasons));
    if has_faults { document } else { Document::default().details(document) }
}

/// The contenders that take part.
fn present(f: &Findings) -> impl Iterator<Item = &Entrant> {
    f.entrants.values().filter(|entrant| entrant.missing.is_none())
}

/// The settings of all contenders that take part; `None` if no setting is known.
pub(crate) fn table(f: &Findings) -> Option<Table> {
    let is_known = present(f).any(|e| e.settings.all().iter().any(|(_, value)| value.is_some()));
    is_known.then(|| {
        Table::of(present(f))
            .text("contender", |e| e.title.clone())
            .text("track", |e| e.track.word().to_owned())
            .known("keep-alive", |e| e.settings.keep_alive.clone())
            .known("logging", |e| e.settings.logging.clone())
            .known("workers", |e| e.settings.workers.clone())
            .known("caching", |e| e.settings.caching.clone())
            .table()
    })
}
