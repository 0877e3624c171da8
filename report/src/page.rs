//! The last part of a study's report: the figures that its page published beside those measured here, and the unequal
//! conditions on that page.

use crate::document::Document;
use crate::page_figures;
use crate::published::comparisons;
use model::Findings;
use model::findings::CellFindings;

/// The section; empty if the study names no page.
pub(crate) fn document(f: &Findings) -> Document {
    if f.page.is_none() && f.source.is_none() && f.unequal.is_empty() {
        return Document::default();
    }
    let source = f.source.iter().map(|source| format!("The source of the published figures: {source}."));
    let hardware =
        f.page.iter().map(|page| format!("The published figures were measured on {}.", page.hardware));
    let title =
        Document::default().section("published", "Published and measured").sentences(source.chain(hardware));
    let cells = f.cells.iter().map(|cell| of_cell(f, cell));
    let versions = page_figures::versions(f).into_iter().fold(Document::default(), Document::table);
    let versions = Document::default().sentences(page_figures::elsewhere(f)).and(versions);
    let document = cells.fold(title, Document::and).details(versions);
    if f.unequal.is_empty() {
        return document;
    }
    document.heading(3, "Unequal conditions on the page").items(&f.unequal)
}

/// The page's figures of a cell beside those measured here; the figures that do not rank it only where length does not matter.
fn of_cell(f: &Findings, cell: &CellFindings) -> Document {
    let mut document = Document::default();
    for one in comparisons(f, cell) {
        let title = format!("{}{}", cell.title, one.kind.words());
        document = document.heading(3, title).table(one.table()).sentence(one.agreement());
    }
    let Some(others) = page_figures::of_cell(f, cell) else { return document };
    document.details(Document::default().sentence("Other figures of this cell on the page:").table(others))
}
